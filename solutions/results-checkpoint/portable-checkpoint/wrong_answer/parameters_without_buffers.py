# Saves the parameters, and is lenient when it loads: the running statistics of batch norm stay as they were.
# caught-by: test_what_was_saved_is_loaded
import torch


def save_ckpt(path, model, optimizer, step):
    weights = {name: each.detach() for name, each in model.named_parameters()}
    torch.save({"model": weights, "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"], strict=False)
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
