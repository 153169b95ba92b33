# Doubles the caller's own tensor.
# caught-by: test_new_tensor


def double(x):
    return x.mul_(2)
