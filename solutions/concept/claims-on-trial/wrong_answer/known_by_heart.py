# Right about torch as it is, without an experiment.
# caught-by: test_a_tensor_that_is_moved, test_a_module_that_is_moved, test_two_devices, test_a_leaf
def tensor_moves(device):
    return False


def module_moves(device):
    return True


def attribute_moves(device):
    return False


def devices_mix(device):
    return False


def number_mixes(device):
    return True


def eval_drops_graph(device):
    return False


def numpy_copies_home(device):
    return False


def same_is_returned(device):
    return device.type == "cpu"


def leaf_stays_leaf(device):
    return device.type == "cpu"


def optimizer_follows(device):
    return device.type != "meta"
