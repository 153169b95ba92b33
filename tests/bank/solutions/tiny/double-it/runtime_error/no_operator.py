# Calls what tensors do not have.
# caught-by: test_values


def double(x):
    return x.twice()
