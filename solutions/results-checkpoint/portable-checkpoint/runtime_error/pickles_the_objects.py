# Pickles the module and the optimizer themselves: bound to today's classes, refused by the safe loader, and of another format.
# caught-by: test_the_default_loader_opens_the_file, test_a_file_from_a_gpu_that_is_not_here, test_a_booby_trap_is_refused
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model, "optimizer": optimizer, "step": step}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu", weights_only=False)
    model.load_state_dict(content["model"].state_dict())
    optimizer.load_state_dict(content["optimizer"].state_dict())
    return content["step"]
