# Saves the optimizer's part to memory and reads it again: a copy as deep as a file is.
import io

import torch


def resume(checkpoint, model, make_optimizer, device):
    model.to(device).load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    file = io.BytesIO()
    torch.save(checkpoint["optimizer"], file)
    file.seek(0)
    optimizer.load_state_dict(torch.load(file))
    return optimizer
