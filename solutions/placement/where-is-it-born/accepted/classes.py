import torch

FACTORIES = {"torch.zeros", "torch.nn.Linear", "torch.tensor", "torch.as_tensor"}
ALIASES = {"torch.from_numpy", "torch.as_tensor", "Tensor.to", "Tensor.cpu", "Tensor.detach", "torch.nn.Parameter"}


def born(call, source, device, context):
    """A context is for calls that make something; all others go by their source, unless they are told."""
    host = torch.device("cpu")
    told = torch.device(device) if device else None
    mode = torch.device(context) if context and call in FACTORIES else None
    memory = source not in (None, "list")
    home = torch.device(source) if memory and source != "array" else host
    match call:
        case "torch.Tensor" if told and told.type != "cpu":
            return "raises"
        case "Tensor.cpu":
            place = host
        case _:
            place = told or mode or home
    return [str(place), memory and place == home and call in ALIASES]
