# A new optimizer over the right weights. It runs, and begins without its memory.
# caught-by: test_the_next_updates, test_learning_rates, test_nested_state
def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    return make_optimizer(model.to(device))
