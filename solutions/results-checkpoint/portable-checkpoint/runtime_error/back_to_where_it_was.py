# Loads without map_location: each tensor goes back to the device that it was saved from, and that one is not here.
# caught-by: test_a_file_from_a_gpu_that_is_not_here
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
