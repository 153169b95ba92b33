# Ends its lines as Windows does.


def double(x):
    return x.twice()
