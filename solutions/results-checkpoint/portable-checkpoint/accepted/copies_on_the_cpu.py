# Writes CPU copies, to a file beside the old one, so that a crash in between loses neither; a function maps what others wrote.
import os

import torch


def _on_the_cpu(value):
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()  # the tensor is copied; the model stays where it is
    if isinstance(value, dict):
        return {key: _on_the_cpu(each) for key, each in value.items()}
    return value


def save_ckpt(path, model, optimizer, step):
    content = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": int(step)}
    beside = f"{path}.new"
    torch.save(_on_the_cpu(content), beside)
    os.replace(beside, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location=lambda storage, location: storage, weights_only=True)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
