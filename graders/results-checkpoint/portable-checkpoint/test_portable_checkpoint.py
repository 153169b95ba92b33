"""What is demanded of `save_ckpt` and `load_ckpt`."""

import pytest
import torch
from torch.nn.functional import batch_norm, linear, mse_loss

from proctorch.judge.checks import require

PARAMETERS = ["0.weight", "1.weight", "1.bias", "2.weight", "2.bias"]
FLOATS = [*PARAMETERS, "1.running_mean", "1.running_var"]
NAMES = [*FLOATS, "1.num_batches_tracked"]
#: How far the next update may be off, relative to its own length.
TOLERANCE = 1e-3
#: Adam's options where they are not those that it has by itself.
BETAS = (0.8, 0.99)


def task(seed, batches=1):
    """The parameters and buffers of a network (linear, batch norm, linear), batches for it, and a learning rate."""
    dice = torch.Generator().manual_seed(seed)
    rows, features, hidden, outputs = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((6, 13), (3, 9), (4, 9), (2, 5))
    )
    state = {
        "0.weight": torch.randn(hidden, features, generator=dice),
        "1.weight": 1 + torch.rand(hidden, generator=dice),
        "1.bias": torch.randn(hidden, generator=dice),
        "1.running_mean": torch.randn(hidden, generator=dice),
        "1.running_var": 1 + torch.rand(hidden, generator=dice),
        "1.num_batches_tracked": torch.tensor(int(torch.randint(1, 1000, (), generator=dice))),
        "2.weight": torch.randn(outputs, hidden, generator=dice),
        "2.bias": torch.randn(outputs, generator=dice),
    }
    pairs = [
        [torch.randn(rows, features, generator=dice), torch.randn(rows, outputs, generator=dice)]
        for _ in range(batches)
    ]
    return {"state": state, "batches": pairs, "rate": float(torch.rand((), generator=dice)) * 0.02 + 0.005}


def step_number(seed):
    return seed % 9000 + 1000


def trained(given, batches):
    """The parameters and running statistics after training with Adam on the batches, in float64."""
    state = {name: given["state"][name].double() for name in FLOATS}
    first = dict.fromkeys(PARAMETERS, 0.0)
    second = dict.fromkeys(PARAMETERS, 0.0)
    for count, (x, y) in enumerate(batches, 1):
        leaves = {name: state[name].detach().requires_grad_() for name in PARAMETERS}
        mean, var = state["1.running_mean"], state["1.running_var"]
        hidden = linear(x.double(), leaves["0.weight"])
        hidden = batch_norm(hidden, mean, var, leaves["1.weight"], leaves["1.bias"], training=True)
        loss = mse_loss(linear(hidden, leaves["2.weight"], leaves["2.bias"]), y.double())
        for name, grad in zip(PARAMETERS, torch.autograd.grad(loss, list(leaves.values())), strict=True):
            first[name] = BETAS[0] * first[name] + (1 - BETAS[0]) * grad
            second[name] = BETAS[1] * second[name] + (1 - BETAS[1]) * grad**2
            root = (second[name] / (1 - BETAS[1] ** count)).sqrt() + 1e-8
            scaled = first[name] / (1 - BETAS[0] ** count) / root
            state[name] = state[name] - given["rate"] * scaled
    return state


def state_at(seen, *path, what, given, device=None):
    """A model's whole state, each tensor plain and of the right shape and dtype."""
    held = seen.dict(*path, what=what)
    missing = [name for name in NAMES if name not in held]
    require(not missing, f"{what} lacks {len(missing)} of {len(NAMES)} parameters and buffers", detail=f"{missing}")
    state = {}
    for name in NAMES:
        dtype, shape = "float32" if name in FLOATS else "int64", tuple(given["state"][name].shape)
        label = f"{name} in {what}"
        state[name] = seen.tensor(*path, name, what=label, dtype=dtype, shape=shape, device=device)
    return state


def same_state(seen, mine, theirs, what, given, device=None):
    """Two states are equal in every bit."""
    actual = state_at(seen, *mine, what=what, given=given, device=device)
    expected = state_at(seen, *theirs, what="the saved model", given=given)
    for name in NAMES:
        kind = "a parameter" if name in PARAMETERS else "a buffer"
        require(torch.equal(actual[name], expected[name]), f"{kind} in {what} is not what was saved", detail=name)


def raised(seen, *path):
    """Whether the call raised."""
    return seen.get(*path, "raised") is not None


def test_what_was_saved_is_loaded(run, seed):
    """A fresh model gets every parameter and buffer as they were when saved, and the step comes back as an int."""
    given = task(seed)
    seen = run("round_trip", **given, step=step_number(seed))
    same_state(seen, ["loaded"], ["saved"], "the loaded model", given)
    require(type(seen.get("step")) is int, "load_ckpt does not return the step as an int")
    require(seen.get("step") == step_number(seed), "load_ckpt returns another step than was saved")


def test_the_default_loader_opens_the_file(run, seed):
    """The one file opens with the safe default loader and holds model, optimizer and step as plain data."""
    given = task(seed)
    seen = run("saved_file", **given, step=step_number(seed))
    require(seen.number("files") == 1, "save_ckpt does not leave one file")
    require(not raised(seen), "the default loader does not open the file", detail=str(seen.get("message")))
    for entry in ("model", "optimizer", "step"):
        require(entry in seen.dict("returned", what="the content of the file"), f"the file has no entry {entry!r}")
    same_state(seen, ["returned", "model"], ["model"], "the file", given)
    for entry in ("state", "param_groups"):
        held = seen.dict("returned", "optimizer", what="the entry 'optimizer'")
        require(entry in held, "the entry 'optimizer' is not an optimizer's state_dict")
    require(type(seen.get("returned", "step")) is int, "the entry 'step' is not an int")
    require(seen.get("returned", "step") == step_number(seed), "the entry 'step' is not the step")


def test_training_goes_on_as_if_never_stopped(run, seed):
    """After loading, the next update is that of uninterrupted training, for each who loads the file."""
    given = task(seed, batches=4)
    before, after = trained(given, given["batches"][:-1]), trained(given, given["batches"])
    seen = run("resume", **given, betas=list(BETAS))
    for twin in range(2):
        mine = state_at(seen, twin, what="the model that was trained on", given=given)
        update = torch.cat([(mine[name].double() - before[name]).flatten() for name in PARAMETERS])
        expected = torch.cat([(after[name] - before[name]).flatten() for name in PARAMETERS])
        error = float((update - expected).norm() / expected.norm())
        which = (
            "the first update after loading" if twin == 0 else "loading the same file a second time, the first update"
        )
        require(
            error <= TOLERANCE, f"{which} is not that of uninterrupted training", detail=f"relative error {error:.3g}"
        )


def test_a_file_from_a_gpu_that_is_not_here(run, seed, device):
    """A file that was saved on a GPU loads where that GPU is not, and everything ends where the model is."""
    given = task(seed)
    seen = run("file_from_a_gpu", **given, step=step_number(seed))
    same_state(seen, ["loaded"], ["saved"], "the loaded model", given, device)
    moments = seen.list("moments")
    require(len(moments) == 2 * len(PARAMETERS), "the optimizer has no state after loading")
    for at in range(len(moments)):
        seen.tensor("moments", at, what="the optimizer's state", dtype="float32", device=device)
    require(seen.get("step") == step_number(seed), "load_ckpt returns another step than is in the file")


def test_saving_leaves_the_live_model_alone(run, seed):
    """Saving neither moves nor casts nor changes the model that is being trained, not even for a moment."""
    given = task(seed)
    seen = run("save_beside_a_live_model", **given, step=step_number(seed))
    require(not seen.flag("moved"), "saving moves or casts the live model")
    require(seen.flag("same_tensors"), "after saving, the model has other parameters or buffers than before")
    require(seen.flag("same_gradients"), "after saving, the model has other gradients than before, or none")
    for at in range(len(PARAMETERS)):
        was, grad = (seen.tensor("gradients", when, at, what="a gradient", dtype="float32") for when in range(2))
        require(torch.equal(was, grad), "saving changes the values of the gradients")
    require(
        seen.get("after", 0) == seen.get("before", 0), "saving changes the device, dtype or requires_grad of a tensor"
    )
    same_state(seen, ["after", 1], ["before", 1], "the model after saving", given)
    require(seen.list("modes") == [False, True, True], "saving changes the training mode of a part of the model")


def test_a_booby_trap_is_refused(run, seed):
    """A file that would run code is refused, and the code does not run."""
    seen = run("booby_trap", **task(seed))
    require(not seen.flag("sprung"), "loading a file runs code that is hidden in it")
    require(raised(seen), "a file with code in it is loaded as if nothing were wrong")


@pytest.mark.parametrize(
    "fault",
    [
        "a parameter is missing",
        "a buffer is missing",
        "a parameter is too many",
        "a parameter has another shape",
        "a parameter of the optimizer is missing",
        "the optimizer is missing",
        "the model is missing",
        "the step is missing",
    ],
)
def test_an_incomplete_file_is_an_error(run, shared_seed, fault):
    """A file whose entries do not fit the model and the optimizer is an error."""
    require(
        raised(run("faulty_files", **task(shared_seed)), fault), f"{fault} in the file, and load_ckpt raises nothing"
    )


@pytest.mark.parametrize("fault", ["the file is empty", "the file is cut off", "there is no file"])
def test_an_unreadable_file_is_an_error(run, shared_seed, fault):
    """A file that is absent, empty or cut off is an error, not a fresh start."""
    require(raised(run("faulty_files", **task(shared_seed)), fault), f"{fault}, and load_ckpt raises nothing")
