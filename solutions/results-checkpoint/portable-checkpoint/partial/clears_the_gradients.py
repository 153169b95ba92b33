# Clears the gradients before it saves, as if they were written too; who accumulates over batches loses the first ones.
# caught-by: test_saving_leaves_the_live_model_alone
import torch


def save_ckpt(path, model, optimizer, step):
    optimizer.zero_grad()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
