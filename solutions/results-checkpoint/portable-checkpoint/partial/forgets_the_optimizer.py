# Loads the weights alone: Adam starts with empty moments, and the learning rate is not the saved one.
# caught-by: test_training_goes_on_as_if_never_stopped, test_a_file_from_a_gpu_that_is_not_here
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu")
    model.load_state_dict(content["model"])
    return content["step"]
