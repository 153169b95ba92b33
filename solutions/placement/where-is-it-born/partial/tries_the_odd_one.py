# Predicts all calls but one, and finds out about that one by a trial.
# caught-by: test_nothing_is_tried
import torch


def born(call, source, device, context):
    """Where the result is born, and whether it shares memory with the source; or "raises"."""
    if call == "torch.Tensor":
        try:
            return str(torch.Tensor(2, 3, device=device).device), False
        except RuntimeError:
            return "raises"
    if call == "torch.from_numpy":
        return "cpu", True
    if source is None or source == "list":
        return device or context or "cpu", False

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
