# Goes through a Python list, which knows nothing of tensors.
# caught-by: test_values, test_place


def double(x):
    return [2 * number for number in x.flatten().tolist()]
