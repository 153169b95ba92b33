# Copies the parameters into place and assigns the buffers: they are the checkpoint's own, and change as the model trains.
# caught-by: test_the_checkpoint_stays
import copy


def resume(checkpoint, model, make_optimizer, device):
    parameters = dict(model.named_parameters())
    weights = {name: value.to(device) for name, value in checkpoint["model"].items()}
    weights |= {name: weights[name].clone() for name in parameters}
    model.load_state_dict(weights, assign=True)
    optimizer = make_optimizer(model)
    optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
    return optimizer
