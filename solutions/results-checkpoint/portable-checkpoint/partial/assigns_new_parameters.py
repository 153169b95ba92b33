# assign=True puts new parameters into the model; the optimizer goes on with the old ones, and the loss stands still.
# caught-by: test_training_goes_on_as_if_never_stopped
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"], assign=True)
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
