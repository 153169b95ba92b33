# Copies the outermost dict, and the dict of each parameter. The tensors in them are still the checkpoint's.
# caught-by: test_the_checkpoint_stays
def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model.to(device))
    saved = checkpoint["optimizer"].copy()
    saved["state"] = {number: state.copy() for number, state in saved["state"].items()}
    optimizer.load_state_dict(saved)
    return optimizer
