# The optimizer that was loaded is thrown away, because the model has moved since.
# caught-by: test_the_next_updates
def resume(checkpoint, model, make_optimizer, device):
    optimizer = make_optimizer(model)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    model.to(device)
    return make_optimizer(model)
