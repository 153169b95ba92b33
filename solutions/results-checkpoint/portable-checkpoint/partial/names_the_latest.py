# Leaves a second file, which tells the newest: it shows up in every folder that has a checkpoint.
# caught-by: test_the_default_loader_opens_the_file
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
    (path.parent / "latest.txt").write_text(path.name)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
