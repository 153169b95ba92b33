"""What is demanded of `train_step`."""

import torch
from torch.nn.functional import cross_entropy, linear

from proctorch.judge.checks import close, require

EPOCHS = 2
#: What float32 and the order of its sums explain many times over.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def task(seed):
    """A network's weights, batches of images and labels for it, and a learning rate."""
    dice = torch.Generator().manual_seed(seed)
    rows, size, hidden, classes = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((4, 9), (2, 5), (5, 10), (3, 7))
    )
    features = 3 * size * size
    return {
        "weights": [
            torch.randn(hidden, features, generator=dice) / features**0.5,
            torch.randn(hidden, generator=dice) / 10,
            torch.randn(classes, hidden, generator=dice) / hidden**0.5,
            torch.randn(classes, generator=dice) / 10,
        ],
        "batches": [
            [
                torch.randn(rows, 3, size, size, generator=dice),
                torch.randint(0, classes, (rows,), generator=dice),
            ]
            for _ in range(2)
        ],
        "rate": float(torch.rand((), generator=dice)) * 0.2 + 0.2,
        "epochs": EPOCHS,
    }


def trained(given):
    """The losses of all steps and the weights after them, in float64."""
    weights, losses = [each.double() for each in given["weights"]], []
    for images, labels in given["batches"] * EPOCHS:
        leaves = [each.detach().requires_grad_() for each in weights]
        wide, bias, narrow, shift = leaves
        hidden = torch.relu(linear(images.double().flatten(1), wide, bias))
        loss = cross_entropy(linear(hidden, narrow, shift), labels)
        grads = torch.autograd.grad(loss, leaves)
        weights = [each.detach() - given["rate"] * grad for each, grad in zip(leaves, grads, strict=True)]
        losses.append(loss.detach())
    return losses, weights


def all_on(seen, where):
    """What the model computed, its parameters, and its gradients at each step of the optimizer are on one device."""
    computed = seen.list("computed_on")
    require(computed, "the model was not called")
    require(computed == [where], f"the model computes on {', '.join(map(str, computed))}, not on {where}")
    for at in range(len(seen.list("parameters"))):
        got = seen.get("parameters", at, "device")
        require(got == where, f"after a step, a parameter is on {got}, not on {where}")
        for step in range(len(seen.list("steps"))):
            got = seen.get("steps", step, at, "device")
            require(got is not None, "the optimizer steps without a gradient")
            require(got == where, f"the optimizer steps with a gradient on {got}, not on {where}")


def losses_on(seen, where):
    """Each loss is a tensor on the device, without a graph."""
    for step in range(len(seen.list("losses"))):
        told = seen.dict("losses", step, what="the loss")
        require("device" in told, "the loss is no tensor")
        require(told.get("device") == where, f"the loss is on {told.get('device')}, not on the device that was given")
        require(told.get("requires_grad") is False, "the loss that is returned has a graph")


def test_it_trains(run, shared_seed):
    """Two epochs over the same batches give the losses and the weights of gradient descent on each batch."""
    given = task(shared_seed)
    losses, weights = trained(given)
    seen = run("train", **given)
    steps = len(seen.list("steps"))
    require(steps == len(losses), f"in {len(losses)} steps of training, the optimizer steps {steps} times")
    runs = seen.list("runs")
    require(runs == [*range(len(losses))], f"in {len(losses)} steps of training, the model runs {len(runs)} times")
    for step, loss in enumerate(losses):
        mine = seen.tensor("losses", step, what="the loss", dtype="float32", shape=())
        require(not seen.received("losses", step).requires_grad, "the loss that is returned has a graph")
        close(mine, loss, "the loss of a later step" if step else "the loss of the first step", **TOLERANCE)
    for at, expected in enumerate(weights):
        what = "a weight after training"
        mine = seen.tensor("weights", at, what=what, dtype="float32", shape=tuple(expected.shape))
        close(mine, expected, what, **TOLERANCE)


def test_it_trains_on_another_device(run, shared_seed):
    """The same code runs on the meta device, and all of the step is there."""
    seen = run("train_elsewhere", **task(shared_seed))
    all_on(seen, "meta")
    losses_on(seen, "meta")


def test_each_batch_crosses_once(run, shared_seed, device):
    """On the accelerator, the forward pass, the loss and every gradient are there, and the model stays there.

    In each step the bytes of the images and of the labels arrive there, once, and nothing goes back.
    """
    given = task(shared_seed)
    seen = run("train", **given)
    all_on(seen, device.torch)
    for step in range(len(seen.list("losses"))):
        seen.tensor("losses", step, what="the loss", device=device.torch)
    for step, batch in enumerate(given["batches"] * EPOCHS):
        trace = seen.trace(f"step {step}")
        which = "in the second epoch" if step >= len(given["batches"]) else "in a step"
        back = [each for each in trace.copies if each.source == device.torch]
        reads = [each.line for each in trace.reads if each.device == device.torch]
        lines = [each.line for each in back] + reads
        require(not lines, f"{which}, something is brought back from the device", line=next(iter(lines), None))
        there = sorted(each.bytes for each in trace.copies if each.target == device.torch)
        expected = sorted(each.numel() * each.element_size() for each in batch)
        lines = [each.line for each in trace.copies if each.target == device.torch]
        require(
            there == expected,
            f"{which}, {len(there)} copies with {sum(there)} bytes go to the device, not the batch's two tensors",
            line=lines[0] if lines else None,
            detail=f"{there}, not {expected}",
        )


def test_it_trains_on_the_device_that_is_given(run, shared_seed):
    """On the accelerator after the current one, all of the step is there."""
    seen = run("train_on_the_second", **task(shared_seed))
    where = seen.text("given", what="the device")
    all_on(seen, where)
    losses_on(seen, where)


def test_the_batch_is_left_alone(run, shared_seed):
    """The tensors in the caller's batch are on the CPU afterwards, have their values, and need no gradient."""
    for scenario in ("train_elsewhere", "train"):
        seen = run(scenario, **task(shared_seed))
        for at in range(len(seen.list("batches"))):
            told = [seen.dict("batches", at, which) for which in range(len(seen.list("batches", at)))]
            where = [each.get("device") for each in told]
            require(where == ["cpu", "cpu"], "after the step, the caller's batch is on another device than before")
            graph = any(each.get("requires_grad") for each in told)
            require(not graph, "after the step, the caller's batch requires a gradient")
        for at in range(len(seen.list("same_values"))):
            require(all(seen.list("same_values", at)), "the step changes the values in the caller's batch")


def test_the_model_is_not_moved(run, shared_seed):
    """Neither the model nor a part of it is asked to move or to cast itself."""
    require(not run("train", **task(shared_seed)).flag("moved"), "the step moves the model")
