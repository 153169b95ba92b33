# Knows Adam's two moments by their names. Adagrad and others call theirs something else.
# caught-by: test_the_next_updates, test_nested_state
import copy


def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model.to(device))
    saved = copy.deepcopy(checkpoint["optimizer"])
    for state in saved["state"].values():
        for name in ("exp_avg", "exp_avg_sq"):
            state[name] = state[name].to(device)
    optimizer.load_state_dict(saved)
    return optimizer
