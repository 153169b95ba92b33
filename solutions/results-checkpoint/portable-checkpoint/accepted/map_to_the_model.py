# Maps everything to the model's own device: no detour, for the price of a second copy there while loading.
import torch


def save_ckpt(path, model, optimizer, step):
    content = {name: part.state_dict() for name, part in (("model", model), ("optimizer", optimizer))}
    torch.save(content | {"step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location=next(model.parameters()).device)
    for name, part in (("model", model), ("optimizer", optimizer)):
        part.load_state_dict(content[name])
    return content["step"]
