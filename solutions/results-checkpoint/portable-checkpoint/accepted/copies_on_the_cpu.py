# Writes the weights as CPU copies, to a file beside the old one, so that a crash loses neither; a function maps what others wrote.
import os

import torch


def save_ckpt(path, model, optimizer, step):
    weights = {name: each.cpu() for name, each in model.state_dict().items()}  # the model itself stays where it is
    beside = f"{path}.new"
    torch.save({"model": weights, "optimizer": optimizer.state_dict(), "step": step}, beside)
    os.replace(beside, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location=lambda storage, location: storage)
    optimizer.load_state_dict(content["optimizer"])
    model.load_state_dict(content["model"])
    return content["step"]
