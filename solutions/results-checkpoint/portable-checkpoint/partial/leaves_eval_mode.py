# Saves in eval mode and forgets to go back: from the first checkpoint on, dropout and batch norm are off.
# caught-by: test_saving_leaves_the_live_model_alone
import torch


def save_ckpt(path, model, optimizer, step):
    model.eval()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
