# Takes over the state and leaves the groups: the learning rates are those of a new optimizer again.
# caught-by: test_learning_rates
import copy


def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model.to(device))
    saved = copy.deepcopy(checkpoint["optimizer"])
    optimizer.load_state_dict({"state": saved["state"], "param_groups": optimizer.state_dict()["param_groups"]})
    return optimizer
