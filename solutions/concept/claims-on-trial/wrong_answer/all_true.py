# Believes everything.
# caught-by: test_a_tensor_that_is_moved, test_a_module_that_is_moved, test_two_devices, test_a_leaf
def tensor_moves(device):
    return True


def module_moves(device):
    return True


def attribute_moves(device):
    return True


def devices_mix(device):
    return True


def number_mixes(device):
    return True


def eval_drops_graph(device):
    return True


def numpy_copies_home(device):
    return True


def same_is_returned(device):
    return True


def leaf_stays_leaf(device):
    return True


def optimizer_follows(device):
    return True
