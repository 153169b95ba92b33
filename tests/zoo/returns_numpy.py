# Returns an array.


def double(x):
    return x.numpy() * 2
