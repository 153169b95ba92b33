# Makes its table by trial, when the file is run.
# caught-by: test_nothing_is_tried
import torch


def place(made):
    return made.device.type


x = torch.ones(2, device="meta")
with torch.device("meta"):
    FOLLOWS = {
        "torch.zeros": place(torch.zeros(2)) == "meta",
        "torch.tensor": place(torch.tensor([1.0])) == "meta",
        "torch.as_tensor": place(torch.as_tensor([1.0])) == "meta",
        "torch.nn.Linear": place(torch.nn.Linear(2, 2).weight) == "meta",
    }
SHARES = {"Tensor.detach", "torch.nn.Parameter"}
SHARES_IF_IT_STAYS = {
    call for call, made in {"torch.as_tensor": torch.as_tensor(x), "Tensor.to": x.to("meta")}.items() if made is x
}


def born(call, source, device, context):
    if call == "torch.Tensor":
        return "raises" if device not in (None, "cpu") else ("cpu", False)
    if call == "torch.from_numpy":
        return "cpu", True
    home = "cpu" if source in (None, "list", "array") else source
    on = "cpu" if call == "Tensor.cpu" else device or (context if FOLLOWS.get(call) else None) or home
    memory = source not in (None, "list")
    return on, memory and (call in SHARES or (call in SHARES_IF_IT_STAYS | {"Tensor.cpu"} and on == home))
