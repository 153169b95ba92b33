# Returns a dict of more numbers than cross as keys.


def double(x):
    return dict.fromkeys(range(300))
