# Forgets to return.


def double(x):
    x * 2
