# Misspells the function.


class Doubler:
    pass


def duble(x):
    return x * 2
