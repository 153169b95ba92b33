# Returns a number of a million digits.


def double(x):
    return 1 << 3_000_000
