# Saves in half precision to save space: what is loaded is not what was trained.
# caught-by: test_what_was_saved_is_loaded
import torch


def save_ckpt(path, model, optimizer, step):
    weights = {name: each.half() if each.is_floating_point() else each for name, each in model.state_dict().items()}
    torch.save({"model": weights, "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
