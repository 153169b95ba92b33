# Does not write over a file, and says nothing: the second checkpoint is the first one.
# caught-by: test_what_was_saved_is_loaded
import torch


def save_ckpt(path, model, optimizer, step):
    if path.exists():
        return
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
