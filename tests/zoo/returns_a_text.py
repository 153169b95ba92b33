# Returns where it is, not what it is.


def double(x):
    return str(x.device)
