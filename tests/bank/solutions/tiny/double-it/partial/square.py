# Squares: the same as doubling for 2, and for nothing else.
# caught-by: test_values


def double(x):
    return x**2
