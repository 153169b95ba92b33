# Loops in Python for ever.


def double(x):
    while True: pass
