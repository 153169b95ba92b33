# Takes whatever comes.


def double(*args, **kwargs):
    [x] = [*args, *kwargs.values()]
    return x * 2
