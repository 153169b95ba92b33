# model.cpu() before saving: the model that is being trained leaves its device, and its optimizer's state stays there.
# caught-by: test_saving_leaves_the_live_model_alone
import torch


def save_ckpt(path, model, optimizer, step):
    model.cpu()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
