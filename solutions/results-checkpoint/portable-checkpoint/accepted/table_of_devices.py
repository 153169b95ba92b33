# A table says where each device's tensors go; one that is not in it would go back to where it was.
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


_HOME = {f"{kind}:{index}": "cpu" for kind in ("cuda", "xpu", "mps") for index in range(256)} | {"mps": "cpu"}


def load_ckpt(path, model, optimizer):
    with open(path, "rb") as file:
        content = torch.load(file, map_location=_HOME)
    optimizer.load_state_dict(content["optimizer"])
    model.load_state_dict(content["model"])
    return content["step"]
