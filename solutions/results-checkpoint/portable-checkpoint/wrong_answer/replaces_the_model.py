# Returns the step but fills copies: the caller's model and optimizer keep what they had.
# caught-by: test_what_was_saved_is_loaded
import copy

import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model = copy.deepcopy(model)
    model.load_state_dict(content["model"])
    return content["step"]
