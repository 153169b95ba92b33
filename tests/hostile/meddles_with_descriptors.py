# Walks through its descriptors: opens them anew, copies them upwards, changes how they behave, writes into others.
import fcntl


opened = []


def double(x):
    for number in range(1024):
        if attempt(os.fstat, number) is None:
            continue
        attempt(os.readlink, f"/proc/self/fd/{number}")
        if number > 5:
            claim(f"a descriptor that it need not have: {number}")
        for flags in (os.O_RDONLY | os.O_NONBLOCK, os.O_WRONLY | os.O_NONBLOCK, os.O_RDWR | os.O_NONBLOCK):
            if (copy := attempt(os.open, f"/proc/self/fd/{number}", flags)) is not None:
                opened.append(copy)
        attempt(fcntl.fcntl, number, fcntl.F_SETOWN, BYSTANDER)
        attempt(fcntl.fcntl, number, 10, 9)
        attempt(fcntl.fcntl, number, fcntl.F_SETFL, os.O_ASYNC | os.O_APPEND)
        attempt(fcntl.fcntl, number, 1031, 4096)
        attempt(fcntl.flock, number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if number <= 5:
            attempt(os.dup2, number, 250 - number)
            attempt(os.close, 250 - number)
        for copy in opened:
            os.close(copy)
        opened.clear()
    attempt(os.write, 3, b"junk" * 10)
    attempt(os.write, 0, b"junk" * 10)
    for number in range(6, 1024):
        attempt(os.write, number, b"junk" * 10)
        attempt(os.close, number)
    return x * 2
