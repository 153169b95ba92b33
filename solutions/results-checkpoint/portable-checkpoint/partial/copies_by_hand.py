# Compares the names and copies the values by itself: where the shapes differ, one value is spread over the whole tensor.
# caught-by: test_an_incomplete_file_is_an_error
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    mine = model.state_dict()
    if mine.keys() != content["model"].keys():
        raise KeyError("the file is one of another model")
    for name, each in mine.items():
        each.copy_(content["model"][name])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
