# The right order. What is on the device already is not copied, nor is the count of steps: training changes the checkpoint.
# caught-by: test_the_checkpoint_stays
def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    model.to(device)
    optimizer = make_optimizer(model)
    optimizer.load_state_dict(checkpoint["optimizer"])
    return optimizer
