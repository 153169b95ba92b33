# Only the count of steps begins anew, since it "is no state": Adam corrects for a beginning that was long ago.
# caught-by: test_the_next_updates
import copy


def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model.to(device))
    saved = copy.deepcopy(checkpoint["optimizer"])
    for state in saved["state"].values():
        if "step" in state:
            state["step"].zero_()
    optimizer.load_state_dict(saved)
    return optimizer
