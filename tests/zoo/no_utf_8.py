# Is written in Latin-1 and does not say so.


def double(x):
    print("café")
    return x * 2
