# Of the optimizer's options, the learning rate alone is the saved one; the betas are those of this run.
# caught-by: test_training_goes_on_as_if_never_stopped
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    options = optimizer.state_dict()["param_groups"]
    for mine, saved in zip(options, content["optimizer"]["param_groups"]):
        mine["lr"] = saved["lr"]
    optimizer.load_state_dict({"state": content["optimizer"]["state"], "param_groups": options})
    return content["step"]
