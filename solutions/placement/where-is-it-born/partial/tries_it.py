# Does the call on the meta device and looks. That is no prediction.
# caught-by: test_nothing_is_tried
import contextlib

import torch


def born(call, source, device, context):
    if call == "torch.Tensor":
        return "raises" if device not in (None, "cpu") else ("cpu", False)
    if call == "torch.from_numpy":
        return "cpu", True
    if source is None or source == "list":
        with torch.device(context) if context else contextlib.nullcontext():
            made = torch.zeros(2) if device is None else torch.zeros(2, device=device)
        return str(made.device), False

    home = "cpu" if source == "array" else source
    if call == "torch.tensor":
        return device or context or home, False
    if call == "torch.as_tensor":
        place = device or context or home
        return place, place == home
    if call == "Tensor.cpu":
        return "cpu", home == "cpu"
    if call == "Tensor.to":
        return device, device == home
    return device or home, call in ("Tensor.detach", "torch.nn.Parameter")
