# A file without a step starts at 0: the schedule of the learning rate begins anew, and nobody is told.
# caught-by: test_an_incomplete_file_is_an_error
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content.get("step", 0)
