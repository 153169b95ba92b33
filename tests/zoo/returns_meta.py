# Returns a tensor without values.


def double(x):
    return x.to("meta") * 2
