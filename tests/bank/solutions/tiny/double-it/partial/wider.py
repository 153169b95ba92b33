# Doubles in float64, and leaves it so.
# caught-by: test_place


def double(x):
    return x.double() * 2
