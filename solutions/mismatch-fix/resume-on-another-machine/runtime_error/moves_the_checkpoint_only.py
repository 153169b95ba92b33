# What is loaded is on the device before. It goes where the parameters are all the same, and these are moved later.
# caught-by: test_the_models_own_parameters
import io

import torch


def resume(checkpoint, model, make_optimizer, device):
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    saved = torch.load(file, map_location=device)
    optimizer = make_optimizer(model)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    model.to(device)
    return optimizer
