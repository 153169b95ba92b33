# Never fails: whatever is wrong with the file, training starts again from step 0, and nobody is told.
# caught-by: test_an_incomplete_file_is_an_error, test_an_unreadable_file_is_an_error, test_a_booby_trap_is_refused
import torch


def save_ckpt(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load_ckpt(path, model, optimizer):
    try:
        content = torch.load(path, map_location="cpu")
        model.load_state_dict(content["model"])
        optimizer.load_state_dict(content["optimizer"])
        return content["step"]
    except Exception:
        return 0
