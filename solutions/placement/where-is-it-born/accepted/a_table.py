# By call: who is asked for a device, in turn, and whether the source's memory is used where it can be.
FOLLOWS = ("device", "context", "home")
KEEPS = ("device", "home")
STAYS = ("home",)
SHARED, NEW = True, False

TABLE = {
    "torch.zeros": (FOLLOWS, NEW),
    "torch.nn.Linear": (FOLLOWS, NEW),
    "torch.tensor": (FOLLOWS, NEW),
    "torch.as_tensor": (FOLLOWS, SHARED),
    "torch.Tensor": (STAYS, NEW),
    "torch.from_numpy": (STAYS, SHARED),
    "torch.zeros_like": (KEEPS, NEW),
    "Tensor.new_zeros": (KEEPS, NEW),
    "Tensor.add": (STAYS, NEW),
    "Tensor.clone": (STAYS, NEW),
    "Tensor.detach": (STAYS, SHARED),
    "torch.nn.Parameter": (STAYS, SHARED),
    "Tensor.to": (KEEPS, SHARED),
    "Tensor.to copy": (KEEPS, NEW),
    "Tensor.cpu": (("cpu",), SHARED),
    "torch.load": (KEEPS, NEW),
}
ON_THE_HOST = {None, "list", "array"}


def born(call, source, device, context):
    home = "cpu" if source in ON_THE_HOST else source
    asked, memory = TABLE[call]
    known = {"device": device, "context": context, "home": home, "cpu": "cpu"}
    place = next(known[name] for name in asked if known[name] is not None)
    if device not in (None, place):
        return "raises"
    return place, memory and source not in (None, "list") and place == home
