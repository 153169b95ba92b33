# Believes nothing.
# caught-by: test_a_tensor_that_is_moved, test_a_module_that_is_moved, test_two_devices, test_a_leaf
def tensor_moves(device):
    return False


def module_moves(device):
    return False


def attribute_moves(device):
    return False


def devices_mix(device):
    return False


def number_mixes(device):
    return False


def eval_drops_graph(device):
    return False


def numpy_copies_home(device):
    return False


def same_is_returned(device):
    return False


def leaf_stays_leaf(device):
    return False


def optimizer_follows(device):
    return False
