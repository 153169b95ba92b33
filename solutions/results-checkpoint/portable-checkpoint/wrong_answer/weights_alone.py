# Saves the weights alone: neither the optimizer nor the step is there to go on with.
# caught-by: test_what_was_saved_is_loaded
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save(model.state_dict(), path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content.get("model", content))
    return 0
