# Documentation says that `as_tensor` of an array shares its memory. On the CPU it does.
# caught-by: test_made_of_an_array
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
        return place, place == home or source == "array"
    if call == "Tensor.cpu":
        return "cpu", home == "cpu"
    if call == "Tensor.to":
        return device, device == home
    return device or home, call in ("Tensor.detach", "torch.nn.Parameter")
