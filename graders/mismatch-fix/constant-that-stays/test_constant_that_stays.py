"""What is demanded of `CameraNormalizer`."""

import pytest
import torch

from proctorch.judge.checks import close, require

#: How far a result may be off: in float32 by the order of operations, in the halves by their rounding.
FLOAT32 = {"rtol": 1e-5, "atol": 1e-5}
RELATIVE = {"float64": 1e-6, "bfloat16": 3e-2, "float16": 5e-3}


def task(seed):
    """Statistics of a few cameras, a gain, and images; there are more channels than cameras, and not three."""
    dice = torch.Generator().manual_seed(seed)
    cameras, channels, batch, height, width = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((2, 4), (4, 7), (1, 5), (2, 6), (2, 6))
    )
    return {
        "means": torch.rand(cameras, channels, generator=dice).tolist(),
        "stds": (0.3 + torch.rand(cameras, channels, generator=dice)).tolist(),
        "gain": 0.5 + torch.rand(channels, generator=dice),
        "images": torch.rand(batch, channels, height, width, generator=dice),
    }


def one_camera(seed):
    """Statistics of a single camera, and a gain."""
    given = task(seed)
    return {"means": given["means"][:1], "stds": given["stds"][:1], "gain": given["gain"]}


def reference(given):
    """For each camera the standardized images, and the same scaled by the gain, in float64."""
    plain = []
    for mean, std in zip(given["means"], given["stds"], strict=True):
        center, spread = (torch.tensor(each, dtype=torch.float64).view(-1, 1, 1) for each in (mean, std))
        plain.append((given["images"].double() - center) / spread)
    return plain, [each * given["gain"].double().view(-1, 1, 1) for each in plain]


def right(seen, path, expected, what, device=None):
    """A result is float32, where it should be, and has the right values."""
    shape = tuple(expected.shape)
    close(seen.tensor(*path, what=what, dtype="float32", shape=shape, device=device), expected, what, **FLOAT32)


def test_the_result_is_right(run, shared_seed, device):
    """The images of each camera are standardized and scaled in a new tensor, and the gain gets its gradient."""
    given = task(shared_seed)
    alone = one_camera(shared_seed) | {"images": given["images"]}
    seen = run("compute", **alone)
    right(seen, ["results", 0], reference(alone)[1][0], "the result of a rig's only camera", device.torch)
    plain, scaled = reference(given)
    seen = run("compute", **given)
    for camera, expected in enumerate(scaled):
        right(seen, ["results", camera], expected, "the result", device.torch)
    require(seen.flag("images_unchanged"), "the images that were given are changed")
    grad = sum(each.sum((0, 2, 3)) for each in plain)
    what = "the gradient of the gain"
    close(seen.tensor("grad", what=what, shape=tuple(grad.shape)), grad, what, rtol=1e-4, atol=1e-3)


def test_the_constants_follow_the_module(run, shared_seed):
    """Deep copies, alone and in a larger module, move to the meta device and compute there, copying nothing."""
    given = task(shared_seed)
    _, scaled = reference(given)
    seen = run("elsewhere", **given)
    for camera, expected in enumerate(scaled):
        for twin, whole in enumerate(("as a part of another module", "alone")):
            told = seen.dict("there", twin, camera, what="the result")
            require(told.get("device") == "meta", f"after a move to another device, {whole}, the result is not there")
        right(seen, ["beside", camera], expected, "the result of a deep copy that stays on the CPU")
        right(seen, ["here", camera], expected, "the result of the original, after copies of it were moved and cast")
    for each in seen.trace().copies:
        require(each.source == each.target, "forward copies a constant to the device", line=each.line)


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_the_dtype_follows_the_module(run, shared_seed, device, dtype):
    """A module that is cast to another dtype computes in it."""
    if dtype == "float64" and device.type == "mps":  # which has none
        dtype = "float16"
    given = task(shared_seed)
    _, scaled = reference(given)
    seen = run("compute", **given, dtype=dtype)
    for camera, expected in enumerate(scaled):
        what = f"the result of a module in {dtype}"
        mine = seen.tensor("results", camera, what=what, dtype=dtype, shape=tuple(expected.shape))
        error = float((mine.double() - expected).norm() / expected.norm())
        require(error <= RELATIVE[dtype], f"{what} is wrong", detail=f"relative error {error:.3g}")


def test_the_checkpoint_is_unchanged(run, shared_seed):
    """The state_dict has the gain alone, and a checkpoint with it alone loads strictly, also into a larger module."""
    given = one_camera(shared_seed)
    seen = run("checkpoint", **given)
    for at, (key, where) in enumerate((("gain", ""), ("normalizer.gain", ", as a part of another module,"))):
        keys = seen.list("keys", at)
        require(keys == [key], f"the state_dict{where} has the keys {', '.join(map(str, keys))}, not {key} alone")
        refused = seen.get("loads", at, "raised") is not None
        require(not refused, f"a checkpoint of the old code{where} does not load with strict=True")
        loaded = seen.tensor("gains", at, what="the gain", dtype="float32", shape=tuple(given["gain"].shape))
        require(torch.equal(loaded, given["gain"]), "after loading, the gain is not what the checkpoint has")


def test_only_the_gain_is_trained(run, shared_seed):
    """The module has one parameter, the gain, which is trained and starts with ones."""
    given = one_camera(shared_seed)
    seen = run("checkpoint", **given)
    names = [*seen.dict("parameters")]
    require(names == ["gain"], f"the parameters are {', '.join(map(str, names))}, not gain alone")
    require(seen.get("parameters", "gain", "requires_grad") is True, "the gain is not trained")
    gain = seen.tensor(
        "parameters", "gain", "value", what="the gain", dtype="float32", shape=tuple(given["gain"].shape)
    )
    require(bool((gain == 1).all()), "in a new module, the gain is not all ones")


def test_there_and_back(run, shared_seed, device):
    """On the accelerator, back on the CPU, and on the accelerator again, the result is there and right."""
    given = task(shared_seed)
    _, scaled = reference(given)
    seen = run("tour", **given)
    for stop, place in enumerate((device.torch, "cpu", device.torch)):
        for camera, expected in enumerate(scaled):
            right(seen, [stop, camera], expected, f"the result after move number {stop + 1}", place)


def test_nothing_crosses_in_forward(run, shared_seed):
    """No forward pass copies anything between devices, at no stop of the tour."""
    seen = run("tour", **task(shared_seed))
    for stop in range(3):
        for each in seen.trace(f"stop {stop}").copies:
            what = f"forward copies {each.bytes} bytes from {each.source} to {each.target}"
            require(each.source == each.target, what, line=each.line)
