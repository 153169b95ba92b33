# Forgets a breakpoint.


def double(x):
    breakpoint()
    return x * 2
