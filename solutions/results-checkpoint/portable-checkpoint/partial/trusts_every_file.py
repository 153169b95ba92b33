# Switches the safe loader off, which this file would not even need: whoever sends a checkpoint runs code here.
# caught-by: test_a_booby_trap_is_refused
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu", weights_only=False)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
