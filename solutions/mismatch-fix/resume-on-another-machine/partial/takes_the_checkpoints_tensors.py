# The model's parameters are the checkpoint's own tensors, where they are on the device already.
# caught-by: test_the_checkpoint_stays
import copy


def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"], assign=True)
    optimizer = make_optimizer(model.to(device))
    optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
    return optimizer
