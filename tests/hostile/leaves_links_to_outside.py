# Leaves links to folders of others, closed folders, and names that a careless cleaner would stumble over.


def double(x):
    os.symlink(VICTIM, "link")
    os.symlink(VICTIM + "/inner", "-rf")
    os.symlink("/", "root")
    os.makedirs("closed/inner")
    os.symlink(VICTIM, "closed/inner/link")
    for name in ("--help", "new\nline", "*", " ", "\\", "\x1b[31m", "x" * 255, b"\xff\xfe", f"{MARKER}"):
        attempt(os.mkdir, name)
    for path in ("closed/inner", "closed", "."):
        os.chmod(path, 0)
    attempt(os.mkdir, "nobody", 0)
    return x * 2
