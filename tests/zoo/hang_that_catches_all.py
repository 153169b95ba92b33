# Catches whatever could end its loop.


def double(x):
    while True:
        try:
            while True: pass
        except BaseException:
            pass
