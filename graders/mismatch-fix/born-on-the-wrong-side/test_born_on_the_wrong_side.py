"""What is demanded of `Encoder`."""

import pytest
import torch

from proctorch.judge.checks import close, require

#: How far a result may be off, relative to its own length.
RELATIVE = {"float64": 1e-10, "float32": 1e-3, "bfloat16": 5e-2, "float16": 1e-2}
#: Bytes on the CPU that a few numbers explain, and a tensor of all positions does not.
FEW = 64
#: Torch's global settings as they are from the start, and as a program may have chosen them.
USUAL = {"device": "cpu", "dtype": "float32", "precision": "highest"}
CHOSEN = {"device": "meta", "dtype": "float64", "precision": "medium"}


def task(seed):
    """Sizes and weights of an encoder, tokens with the first and the last word, and a direction for the gradient."""
    dice = torch.Generator().manual_seed(seed)
    vocabulary, width, batch, time = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((10, 30), (3, 8), (2, 5), (9, 11))
    )
    length = time + 3

    def random(*shape):
        return torch.randn(*shape, generator=dice)

    tokens = torch.randint(0, vocabulary, (batch, time), generator=dice)
    tokens[0, :2] = torch.tensor([0, vocabulary - 1])
    return {
        "sizes": [vocabulary, width, length],
        "weights": {
            "words.weight": random(vocabulary, width),
            "places.weight": random(length, width),
            "cell.weight_ih": random(3 * width, width) / width**0.5,
            "cell.weight_hh": random(3 * width, width) / width**0.5,
            "cell.bias_ih": random(3 * width) / 4,
            "cell.bias_hh": random(3 * width) / 4,
        },
        "tokens": tokens,
        "direction": random(batch, time, width),
    }


def encoded(weights, tokens):
    """The encoder's result in the dtype of the weights."""
    time = tokens.shape[1]
    x = weights["words.weight"][tokens] + weights["places.weight"][:time]
    scores = x @ x.mT / x.shape[-1] ** 0.5
    later = torch.ones(time, time, dtype=torch.bool).triu(1)
    x = torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ x
    state, states = torch.zeros_like(x[:, 0]), []
    cell = [weights[f"cell.{name}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    for step in range(time):
        state = torch.gru_cell(x[:, step], state, *cell)
        states.append(state)
    return torch.stack(states, 1)


def wide(given):
    return {name: each.double() for name, each in given["weights"].items()}


def without(given, *names):
    return {name: each for name, each in given.items() if name not in names}


def same(seen, path, expected, what, *, dtype="float32", device=None):
    """A result has the right dtype, shape and place, and its values are right up to the rounding of the dtype."""
    mine = seen.tensor(*path, what=what, dtype=dtype, shape=tuple(expected.shape), device=device)
    error = float((mine.double() - expected).norm() / expected.norm())
    require(error <= RELATIVE[dtype], f"{what} is wrong", detail=f"relative error {error:.3g}")


def nothing_from_the_cpu(trace):
    """Nothing is copied between devices, and nothing but a few numbers is made on the CPU."""
    for each in trace.copies:
        what = f"forward copies {each.bytes} bytes from {each.source} to {each.target}"
        require(each.source == each.target, what, line=each.line)
    made = trace.peak.get("cpu", 0)
    require(made <= FEW, f"forward makes {made} bytes of tensors on the CPU")


def test_the_result_is_right(run, shared_seed, device):
    """Each of two calls with the same tokens gives the right result on the device, and so are its gradients."""
    given = task(shared_seed)
    leaves = {name: each.requires_grad_() for name, each in wide(given).items()}
    expected = encoded(leaves, given["tokens"])
    grads = torch.autograd.grad((expected * given["direction"]).sum(), [*leaves.values()])
    seen = run("encode", **given)
    for call, what in enumerate(("the result", "the result of a second call with the same tokens")):
        same(seen, ["results", call], expected.detach(), what, device=device.torch)
    for name, grad in zip(leaves, grads, strict=True):
        mine = seen.tensor("grads", name, what="a gradient", dtype="float32", shape=tuple(grad.shape))
        close(mine, grad, f"the gradient of {name}", rtol=1e-3, atol=1e-4 * float(grad.abs().max()))


def test_it_computes_where_it_was_moved(run, shared_seed):
    """A deep copy that was moved to the meta device, as a part of another module, computes there."""
    given = task(shared_seed)
    seen = run("elsewhere", **without(given, "direction"))
    batch, time, width = (*given["tokens"].shape, given["sizes"][1])
    there = seen.dict("there", what="the result on another device")
    require(there.get("device") == "meta", "after a move to another device, the result is not there")
    require(there.get("dtype") == "float32", "on another device, the result has another dtype")
    require(there.get("shape") == [batch, time, width], "on another device, the result has another shape")
    same(seen, ["here"], encoded(wide(given), given["tokens"]), "the result of the original, after a copy was moved")


def test_nothing_is_born_on_the_cpu(run, shared_seed):
    """On the meta device, forward copies nothing from the CPU and makes no tensor there."""
    seen = run("elsewhere", **without(task(shared_seed), "direction"))
    nothing_from_the_cpu(seen.trace())


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_the_dtype_follows(run, shared_seed, device, dtype):
    """An encoder that has worked in float32 and is cast to another dtype gives a right result in it."""
    if dtype == "float64" and device.type == "mps":  # which has none
        dtype = "float16"
    given = task(shared_seed)
    seen = run("encode", **given, dtype=dtype)
    same(seen, ["results", 0], encoded(wide(given), given["tokens"]), f"the result in {dtype}", dtype=dtype)


def test_batches_of_all_sizes(run, seed, device):
    """One encoder gives the right result for longer and shorter, larger and smaller batches in turn."""
    given = task(seed)
    dice = torch.Generator().manual_seed(seed + 1)
    vocabulary, _, length = given["sizes"]
    shapes = [(2, 3), (3, length), (1, 1), (4, 5)]
    batches = [torch.randint(0, vocabulary, shape, generator=dice) for shape in shapes]
    seen = run("in_turn", **without(given, "tokens", "direction"), batches=batches)
    for call, tokens in enumerate(batches):
        what = "the result of a later call with another size" if call else "the result of a first call"
        same(seen, [call], encoded(wide(given), tokens), what, device=device.torch)


def test_nothing_global_is_left(run, shared_seed):
    """After a call on the meta device, torch's global settings are what they were, be it the usual ones or others."""
    given = without(task(shared_seed), "direction")
    usual, chosen = run("elsewhere", **given), run("with_other_settings", **given, settings=CHOSEN)
    for name, what in {
        "device": "torch's default device",
        "dtype": "torch's default dtype",
        "precision": "the precision of torch's matrix products",
    }.items():
        why = f"after a call, {what} is another one"
        require(usual.text("settings", name, what=what) == USUAL[name], why)
        require(chosen.text(name, what=what) == CHOSEN[name], why)


def test_on_the_accelerator(run, shared_seed, device):
    """A deep copy on the accelerator gives the right result there, so does it back on the CPU, and so the original."""
    given = task(shared_seed)
    expected = encoded(wide(given), given["tokens"])
    seen = run("there_and_back", **without(given, "direction"))
    same(seen, ["there"], expected, "the result on the accelerator", device=device.torch)
    same(seen, ["here"], expected, "the result of the original, after a copy was moved", device="cpu")
    same(seen, ["back"], expected, "the result of the copy, back on the CPU", device="cpu")


def test_nothing_comes_from_the_host(run, shared_seed):
    """On the accelerator, forward copies nothing from the CPU and makes no tensor there."""
    seen = run("there_and_back", **without(task(shared_seed), "direction"))
    nothing_from_the_cpu(seen.trace())
