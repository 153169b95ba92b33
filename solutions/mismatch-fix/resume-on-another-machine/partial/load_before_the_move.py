# As in the starter, with a copy: what is loaded goes beside the parameters, and they move on.
# caught-by: test_the_models_own_parameters, test_nested_state
import copy


def resume(checkpoint, model, make_optimizer, device):
    optimizer = make_optimizer(model)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
    model.to(device)
    return optimizer
