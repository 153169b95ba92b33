# Returns more values than cross.


def double(x):
    return [0] * 200_000
