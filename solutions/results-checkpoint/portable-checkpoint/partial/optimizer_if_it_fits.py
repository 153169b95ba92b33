# An optimizer that does not fit starts afresh: a line in the log, which nobody reads.
# caught-by: test_an_incomplete_file_is_an_error
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    try:
        optimizer.load_state_dict(content["optimizer"])
    except ValueError:
        print("the optimizer starts afresh")
    return content["step"]
