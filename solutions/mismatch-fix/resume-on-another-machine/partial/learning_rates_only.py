# Takes over the learning rates of the groups, and leaves their other settings as they are in a new optimizer.
# caught-by: test_learning_rates
import copy


def resume(checkpoint, model, make_optimizer, device):
    model.to(device).load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    groups = optimizer.state_dict()["param_groups"]
    for group, saved in zip(groups, checkpoint["optimizer"]["param_groups"]):
        group["lr"] = saved["lr"]
    state = copy.deepcopy(checkpoint["optimizer"]["state"])
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    return optimizer
