# Is written in Latin-1 and does not say so.


def double(x):
    return x * 2  # café
