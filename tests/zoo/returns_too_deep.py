# Returns a list nested a hundred thousand deep.


def double(x):
    result = []
    for _ in range(100_000):
        result = [result]
    return result
