# Yields instead of returning.


def double(x):
    yield x * 2
