# Reads each source as a device. A list has none.
# caught-by: test_made_of_nothing, test_made_of_an_array
import torch


def born(call, source, device, context):
    home = "cpu" if source is None else str(torch.device(source))
    if call == "torch.Tensor":
        return "raises" if device not in (None, "cpu") else ("cpu", False)
    if source is None or call == "torch.tensor":
        return device or context or home, False
    if call == "torch.as_tensor":
        return device or context or home, (device or context or home) == home
    if call == "Tensor.cpu":
        return "cpu", home == "cpu"
    if call == "Tensor.to":
        return device, device == home
    return device or home, call in ("Tensor.detach", "torch.nn.Parameter")
