# Moves the model to the CPU and back: two trips, other buffers than before, and a model on the CPU if saving fails.
# caught-by: test_saving_leaves_the_live_model_alone
import torch


def save_ckpt(path, model, optimizer, step):
    device = next(model.parameters()).device
    model.to("cpu")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
    model.to(device)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
