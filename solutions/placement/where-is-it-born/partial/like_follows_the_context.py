# `zeros_like` is a factory like `zeros`, it seems.
# caught-by: test_it_takes_after_a_tensor
def born(call, source, device, context):
    """Where the result is born, and whether it shares memory with the source; or "raises"."""
    if call == "torch.Tensor":
        return "raises" if device not in (None, "cpu") else ("cpu", False)
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
    if call in ("torch.zeros_like", "Tensor.new_zeros"):
        return device or context or home, False
    return device or home, call in ("Tensor.detach", "torch.nn.Parameter")
