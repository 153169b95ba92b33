# Forgets a parenthesis.


def double(x:
    return x * 2
