# Wants a second argument that nobody gives.


def double(x, factor):
    return x * factor
