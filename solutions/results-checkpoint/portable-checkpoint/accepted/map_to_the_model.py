# Maps everything to the model's own device: no detour, for the price of a second copy there while loading.
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    device = next(model.parameters()).device
    content = torch.load(path, map_location=device)
    step = content["step"]
    model.load_state_dict(content["model"], strict=True)
    optimizer.load_state_dict(content["optimizer"])
    return step
