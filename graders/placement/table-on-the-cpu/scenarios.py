"""Makes a model of a table and a body, moves it about, trains it, and notes where its parts are and what crosses."""

import torch
from torch import nn

#: The large table: 48 MiB, of which a batch needs 12 KiB.
_ROWS, _WIDTH = 3 << 18, 16


def train(candidate, device, _probe, *, weights, batches, last, rate, momentum):
    """Some steps on the job's device, before and after them a forward pass without a graph.

    The gradient of a step is the sum of two halves, one of which is computed in evaluation mode.
    """
    table, body = _parts(weights)
    model = candidate.HybridModel(table, body).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=momentum)
    with torch.no_grad():
        outputs = [model(last)]
    for ids in batches:
        optimizer.zero_grad()
        for training in (True, False):
            model.train(training)
            output = model(ids)
            (output.square().mean() / 2).backward()
        outputs.append(output.detach().clone())
        optimizer.step()
    with torch.no_grad():
        outputs.append(model(last))
    trained = [_like(model, table.weight), *body.parameters()]
    return {"outputs": outputs, "weights": [None if each is None else each.detach() for each in trained]}


def move(candidate, _device, probe, *, weights, ids):
    """The model is moved to the meta device: a second device that every machine has, whose tensors have no values."""
    table, body = _parts(weights)
    model, weight = candidate.HybridModel(table, body), table.weight
    model.to(torch.device("meta"))
    same = weight is table.weight and any(each is weight for each in model.parameters())
    return _moved(probe, model, weight, weights, body, ids) | {"same": same}


def move_with_another(candidate, _device, probe, *, weights, ids):
    """A larger module is moved that has the model in it, with a body of one parameter."""
    table, body = _parts(weights)[0], nn.Linear(weights[0].shape[1], 2, bias=False)
    model, given = candidate.HybridModel(table, body), table.weight
    nn.ModuleDict({"ranker": model, "other": nn.Linear(2, 2)}).to(torch.device("meta"))
    weight = _like(model, given)
    same = given is table.weight
    return _moved(probe, model, given if weight is None else weight, weights, body, ids) | {"same": same}


def _moved(probe, model, weight, weights, body, ids):
    values = weight.device.type == "cpu" and torch.equal(weight.detach(), weights[0])
    return {
        "device": str(weight.device),
        "same_values": values,
        "body": [str(each.device) for each in body.parameters()],
        "result": probe.describe(model(ids)),
    }


def move_the_body(candidate, device, probe, *, weights, ids, when):
    """The body is moved before the model is made, or after by itself; or the model is moved there and back."""
    table, body = _parts(weights)
    meta = torch.device("meta")
    if when == "before":
        return probe.describe(candidate.HybridModel(table, body.to(meta))(ids))
    model = candidate.HybridModel(table, body)
    model(ids)
    if when == "after":
        body.to(meta)
        return probe.describe(model(ids))
    model.to(device)
    model(ids)
    return model.cpu()(ids)


def save_and_load(candidate, device, _probe, *, first, second, ids):
    """The state of one larger module is loaded into another one, whose model is on the job's device."""
    (table, body), other = _parts(first), _parts(second)
    outer = nn.ModuleDict({"ranker": candidate.HybridModel(table, body)})
    copy = nn.ModuleDict({"ranker": candidate.HybridModel(*other).to(device)})
    told = copy.load_state_dict(outer.state_dict())
    parts = [table.weight, *body.parameters()]
    shapes = [[each.shape for each in whole.parameters()] for whole in (outer, outer["ranker"])]
    loaded = [_like(copy, other[0].weight), *other[1].parameters()]
    return {
        "unexpected": [*told.missing_keys, *told.unexpected_keys],
        "counts": [of_one.count(each.shape) for of_one in shapes for each in parts],
        "all": sum(map(len, shapes)),
        "loaded": [None if each is None else each.detach() for each in loaded],
        "output": copy["ranker"](ids).detach(),
    }


def cross(candidate, device, probe, *, weights, ids, on_device):
    """A forward and a backward pass under watch, with ids on the CPU or on the job's device."""
    table, body = _parts(weights)
    model = candidate.HybridModel(table, body).to(device)
    given = ids.to(device) if on_device else ids
    model(given).square().mean().backward()
    for each in (*table.parameters(), *body.parameters()):
        each.grad = None
    with probe.watch():
        output = model(given)
        output.square().mean().backward()
    return {"output": output.detach()}


def large(candidate, device, probe):
    """A step with a table that does not fit on the device."""
    table, body = nn.Embedding(_ROWS, _WIDTH, _weight=torch.zeros(_ROWS, _WIDTH)), _body(_WIDTH, 2, 3)
    ids = torch.randint(0, _ROWS, (64, 3))

    def step():
        model = candidate.HybridModel(table, body).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        (1 - model(ids)).square().sum().backward()
        optimizer.step()

    with probe.watch():
        told = probe.attempt(step)
    return {
        "raised": told.get("raised"),
        "body": [str(each.device) for each in body.parameters()],
    }


class _Linear(nn.Linear):
    """With a buffer, and without a matmul, whose workspace on a GPU would be taken out of the budget."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("scale", torch.ones(self.out_features))

    def forward(self, x):
        return (x.unsqueeze(-2) * self.weight).sum(-1) * self.scale + self.bias


def _body(width, hidden, classes):
    return nn.Sequential(_Linear(width, hidden), nn.Tanh(), _Linear(hidden, classes))


def _parts(weights):
    rows, wide, _, narrow, _ = weights
    table = nn.Embedding(*rows.shape, _weight=rows.clone())
    body = _body(wide.shape[1], wide.shape[0], narrow.shape[0])
    with torch.no_grad():
        for parameter, given in zip(body.parameters(), weights[1:], strict=True):
            parameter.copy_(given)
    return table, body


def _like(model, weight):
    """The model's parameter that has the shape of the table, which no other has."""
    return next((each for each in model.parameters() if each.shape == weight.shape), None)
