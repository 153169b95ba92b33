# Saves lists, as if for JSON: the file is many times larger, and no other loader knows what to do with it.
# caught-by: test_the_default_loader_opens_the_file
import torch


def save_ckpt(path, model, optimizer, step):
    weights = {name: each.tolist() for name, each in model.state_dict().items()}
    torch.save({"model": weights, "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict({name: torch.as_tensor(each) for name, each in content["model"].items()})
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
