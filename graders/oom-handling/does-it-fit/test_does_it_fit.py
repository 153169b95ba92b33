"""What is demanded of `training_bytes` and `move_if_it_fits`."""

import pytest
import torch

from proctorch.judge.checks import require

MIB = 1 << 20
#: How far a count may be off, relative to its size.
OFF = 0.01
SGD = ["SGD", {"lr": 0.1}]
ADAM = ["Adam", {"lr": 0.001}]
#: Optimizers, and how many tensors they keep for each parameter.
KEPT = {
    "SGD": (SGD, 0),
    "SGD with momentum": (["SGD", {"lr": 0.1, "momentum": 0.9}], 1),
    "RMSprop": (["RMSprop", {"lr": 0.01}], 1),
    "RMSprop with all options": (["RMSprop", {"lr": 0.01, "momentum": 0.9, "centered": True}], 3),
    "Adam": (ADAM, 2),
    "Adam with amsgrad": (["Adam", {"lr": 0.001, "amsgrad": True}], 3),
    "AdamW": (["AdamW", {"lr": 0.001, "weight_decay": 0.1}], 2),
}


def layer(dice, *, trained=True, floats=0, integers=0, **rest):
    """A layer with some ten thousand weights."""
    shape = torch.randint(80, 160, (2,), generator=dice).tolist()
    return {"shape": shape, "trained": trained, "floats": floats, "integers": integers, **rest}


def elements(layers, *, trained_only=False):
    """How many weights there are, shared ones once."""
    counted = [each for each in layers if "shared" not in each and (each["trained"] or not trained_only)]
    return sum(each["shape"][0] * each["shape"][1] for each in counted)


def dice_of(seed):
    return torch.Generator().manual_seed(seed)


def size_of(dtype):
    return getattr(torch, dtype).itemsize


def counted(seen, key):
    """The bytes that were told."""
    found = seen.get("counted", key)
    require(type(found) is int, f"`{key}` is not an int in the dict that is returned")
    require(0 <= found < 1 << 50, f"`{key}` is no number of bytes")
    return found


def right(seen, key, expected, what):
    """The count is right."""
    found = counted(seen, key)
    require(abs(found - expected) <= OFF * expected, what, detail=f"{found} bytes, not {expected}")


def test_weights_and_buffers(run, seed):
    """Float and integer buffers count, in a state_dict or not, and frozen weights do."""
    dice = dice_of(seed)
    floats, integers = torch.randint(3000, 9000, (2,), generator=dice).tolist()
    layers = [layer(dice, floats=floats), layer(dice, trained=False), layer(dice, integers=integers)]
    seen = run("count", layers=layers, optimizer=ADAM, dtype="float32")
    expected = 4 * (elements(layers) + floats) + 8 * integers
    right(seen, "weights", expected, "the bytes of the weights are not those of all parameters and buffers")


def test_shared_parameters_count_once(run, seed):
    """A weight that a second layer uses is one weight, with one gradient and one state."""
    dice = dice_of(seed)
    layers = [layer(dice), layer(dice), layer(dice, shared=0)]
    seen = run("count", layers=layers, optimizer=ADAM, dtype="float32")
    for key, times in (("weights", 1), ("gradients", 1), ("state", 2)):
        expected = times * 4 * elements(layers)
        right(seen, key, expected, f"with a shared parameter, the bytes of the {key} are wrong")


def test_gradients_of_what_is_trained(run, seed):
    """Trained parameters have a gradient, frozen ones and buffers have none."""
    dice = dice_of(seed)
    layers = [layer(dice, trained=False), layer(dice, floats=5000)]
    seen = run("count", layers=layers, optimizer=ADAM, dtype="float32")
    expected = 4 * elements(layers, trained_only=True)
    right(seen, "gradients", expected, "the bytes of the gradients are not those of the trained parameters")


@pytest.mark.parametrize("name", KEPT)
def test_the_state_is_that_of_the_optimizer(run, seed, name):
    """The state is counted for each kind of optimizer, and for trained parameters alone."""
    dice = dice_of(seed)
    layers = [layer(dice, trained=False), layer(dice, floats=5000), layer(dice)]
    optimizer, times = KEPT[name]
    seen = run("count", layers=layers, optimizer=optimizer, dtype="float32")
    expected = times * 4 * elements(layers, trained_only=True)
    right(seen, "state", expected, f"the bytes of the state are wrong for {name}")


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_all_is_in_the_dtype(run, seed, dtype):
    """The bytes are those of a model in the dtype that is asked for, not of the one that it has."""
    dice = dice_of(seed)
    layers = [layer(dice), layer(dice)]
    seen = run("count", layers=layers, optimizer=ADAM, dtype=dtype)
    for key, times in (("weights", 1), ("gradients", 1), ("state", 2)):
        expected = times * size_of(dtype) * elements(layers)
        right(seen, key, expected, f"in {dtype}, the bytes of the {key} are wrong")
    layers.append(layer(dice, trained=False, floats=9000))
    seen = run("count", layers=layers, optimizer=ADAM, dtype=dtype)
    expected = size_of(dtype) * (elements(layers) + 9000)
    right(seen, "weights", expected, f"in {dtype}, the bytes of frozen weights, or of a buffer, are wrong")


def test_asking_costs_nothing(run, seed):
    """The counting holds less than a MiB at any one time, on whatever device, and the model is the same after it."""
    dice = dice_of(seed)
    layers = [layer(dice, trained=at > 0) | {"shape": [512, 1024]} for at in range(4)]
    seen = run("count", layers=layers, optimizer=KEPT["AdamW"][0], dtype="bfloat16")
    held = sum(peak for device, peak in seen.trace().peak.items() if device != "meta")
    require(held < MIB, "the sum takes a MiB of memory, or more", detail=f"{held} bytes")
    require(seen.flag("unchanged"), "`training_bytes` changes the model")


def task(seed, parts):
    """A model to decide about, whose four parts are `parts` in tenths of the whole; and the bytes of the whole."""
    dice = dice_of(seed)
    layers = [layer(dice), layer(dice)]
    need = 4 * 4 * elements(layers)
    activations = need * parts // (10 - parts)
    return {"layers": layers, "optimizer": ADAM, "dtype": "float32", "activations": activations}, need + activations


@pytest.mark.parametrize("parts", [1, 5], ids=["few activations", "many activations"])
def test_all_four_parts_decide(run, shared_seed, parts):
    """A little more than the true sum is enough, and a little less is not; what is told decides, to the byte."""
    given, need = task(shared_seed, parts)
    enough = run("decide", **given, free=int(need * (1 + 2 * OFF)))
    require(enough.flag("fits", what="the answer"), "the answer is no where there is memory enough")
    short = run("decide", **given, free=int(need * (1 - 2 * OFF)))
    require(not short.flag("fits", what="the answer"), "the answer is yes where there is not memory enough")
    told = run("count", **{key: each for key, each in given.items() if key != "activations"})
    own = sum(counted(told, key) for key in ("weights", "gradients", "state")) + given["activations"]
    exactly = run("decide", **given, free=own)
    require(exactly.flag("fits", what="the answer"), "the answer is no where the sum is exactly what is free")
    short = run("decide", **given, free=own - 1)
    require(
        not short.flag("fits", what="the answer"), "the answer is yes where the sum is a byte more than what is free"
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_model_is_moved(run, shared_seed, device, dtype):
    """Where it fits, all parameters and buffers are on the device and have the dtype, integers their own."""
    dice = dice_of(shared_seed)
    layers = [layer(dice), layer(dice, floats=50), layer(dice, integers=50)]
    seen = run(
        "decide", layers=layers, optimizer=SGD, dtype=dtype, activations=0, free=10 * 4 * (elements(layers) + 150)
    )
    require(seen.flag("fits", what="the answer"), "the answer is no where there is memory enough")
    tensors = seen.list("tensors")
    require(len(tensors) == len(layers) + 2, "the model has other parameters and buffers than before")
    for at in range(len(tensors)):
        require(seen.text("tensors", at, "device") == device.torch, "a part of the model is not on the device")
        wanted = "int64" if at == len(tensors) - 1 else dtype
        require(seen.text("tensors", at, "dtype") == wanted, "a part of the model does not have the dtype")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_no_touches_nothing(run, shared_seed, device, dtype):
    """Where it does not fit, the model is as it was, and the device has held nothing."""
    given, need = task(shared_seed, 2)
    seen = run("decide", **given | {"dtype": dtype}, free=need * size_of(dtype) // 16)
    require(not seen.flag("fits", what="the answer"), "the answer is yes where there is not memory enough")
    require(seen.flag("unchanged"), "the answer is no, and the model is not as it was")
    if device.torch != "cpu":  # on the CPU, where the model is, small parts of it may be tried out
        held = seen.trace().peak.get(device.torch, 0)
        require(held == 0, "the answer is no, and there was something on the device", detail=f"{held} bytes")


def wide(mebibytes, *, trained):
    """A layer with so many MiB of float32 weights."""
    return {"shape": [mebibytes, MIB // 4], "trained": trained, "floats": 0, "integers": 0}


@pytest.mark.parametrize(
    ("layers", "optimizer", "dtype", "fits"),
    [
        ([wide(6, trained=True), wide(6, trained=True)], SGD, "float32", True),
        ([wide(6, trained=True), wide(6, trained=True)], ADAM, "float32", False),
        ([*[wide(10, trained=False)] * 7, wide(2, trained=True)], ADAM, "bfloat16", True),
    ],
    ids=["with SGD", "with Adam", "frozen, in bfloat16"],
)
def test_it_fits_in_the_budget(run, budget, layers, optimizer, dtype, fits):
    """What the sum says of 64 MiB is true there: two steps of training run, or would not have."""
    seen = run("train", layers=layers, optimizer=optimizer, dtype=dtype, activations=20 * MIB, free=budget)
    names = seen.list("raised") if seen.get("raised") is not None else []
    require("OutOfMemoryError" not in names, "the accelerator runs out of memory")
    require(not names, "moving the model, or training it, raises", detail=str(names))
    if fits:
        require(seen.flag("fits", what="the answer"), "the answer is no where there is memory enough")
    else:
        require(not seen.flag("fits", what="the answer"), "the answer is yes where there is not memory enough")
