# Raises in a function of its own, with a message of two lines.


def double(x):
    return twice(x)


def twice(x):
    raise ValueError("bad <b>\nsecond line")
