# Adds a date, which the safe loader refuses, and answers by switching it off.
# caught-by: test_the_default_loader_opens_the_file, test_a_booby_trap_is_refused
import datetime

import torch


def save_ckpt(path, model, optimizer, step):
    content = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(content | {"saved_at": datetime.datetime.now()}, path)


def load_ckpt(path, model, optimizer):
    content = torch.load(path, map_location="cpu", weights_only=False)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return content["step"]
