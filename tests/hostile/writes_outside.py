# Writes, makes, moves, links and removes outside its own folder, by path and through links in it.


def double(x):
    os.symlink(VICTIM, "out")
    os.symlink(VICTIM + "/file", "out_file")
    os.symlink(VICTIM + "/new_" + MARKER, "out_new")
    places = (VICTIM, "out", HOME, "/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/etc", os.path.dirname(sys.executable), os.path.dirname(os.__file__))
    for place in places:
        name = f"{place}/{MARKER}"
        for action in (
            lambda: open(name, "w").write("here"),
            lambda: os.mkdir(name),
            lambda: os.symlink("/", name),
            lambda: os.mkfifo(name),
            lambda: os.mknod(name),
            lambda: os.link(VICTIM + "/file", name),
            lambda: os.rename("out_file", name),
            lambda: os.open(place, os.O_TMPFILE | os.O_RDWR),
        ):
            if place != "/tmp" or os.getcwd() != "/tmp":
                attempt(action)
    for path in (VICTIM + "/file", "out/file", "out_file", "out_new"):
        for mode in ("w", "a", "r+"):
            attempt(lambda: open(path, mode).write("changed"))
        attempt(os.remove, path)
    attempt(os.rmdir, VICTIM + "/inner")
    attempt(os.rename, VICTIM + "/file", VICTIM + "/other")
    attempt(os.rename, VICTIM, "taken")
    return x * 2
