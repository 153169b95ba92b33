# Gathers parameters and buffers by itself, also those that the model does not save, and a strict load refuses the file.
# caught-by: test_what_was_saved_is_loaded
import torch


def save_ckpt(path, model, optimizer, step):
    weights = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    torch.save({"model": weights, "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
