# strict=False: a layer that is missing in the file keeps its random weights.
# caught-by: test_an_incomplete_file_is_an_error
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"], strict=False)
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
