# Remembers what was read: the optimizer's state is then shared by all who load it, and trained on by each.
# caught-by: test_training_goes_on_as_if_never_stopped
import functools

import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


@functools.lru_cache
def _read(path):
    return torch.load(path, map_location="cpu")


def load_ckpt(path, model, optimizer):
    content = _read(path)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
