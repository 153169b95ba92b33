"""What is demanded of `forward_loss`."""

import functools
import itertools

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, linear

from proctorch.judge.checks import close, fail, require
from proctorch.wire import Named

HALVES = ["float16", "bfloat16"]
#: The layers that decide the weights; in a batch, their parameters come first.
ATTENTION = ("query", "key")
#: The sign, in `exact`, of a token whose score is 20000.
LIMIT = 20000 / 16384
#: Their results have a shape that depends on values, so the CPU waits for it.
SHAPED = ("aten.nonzero", "aten.masked_select", "aten.bincount", "aten._unique2", "aten.unique_consecutive")
#: Relative errors of the loss, and of the gradient's length, several times what the rounding of each dtype explains.
TOLERANCES = {"float16": (4e-3, 0.02), "bfloat16": (2e-2, 0.1), "float32": (1e-5, 1e-4)}


def sizes(dice, *ranges):
    return [int(torch.randint(low, high, (), generator=dice)) for low, high in ranges]


def ordinary(seed):
    """A batch of moderate numbers; each sequence has a hidden token and one that is not."""
    return moderate(telling(seed))


@functools.cache
def telling(seed):
    """The first seed from this one on whose attention learns, and where hidden tokens or another width would show."""
    for each in itertools.count(seed):
        given = moderate(each)
        loss, grads = reference(given)
        shown, _ = reference(given | {"keep": torch.ones_like(given["keep"])})
        divided, _ = reference(divided_by_the_width_of_values(given))
        attention = sum(part.numel() for name in ATTENTION for part in given["weights"][name])
        wrong = abs(shown / loss - 1) > 0.1 and abs(divided / loss - 1) > 0.05
        if wrong and grads[:attention].norm() > 0.1 * grads.norm():
            return each


def divided_by_the_width_of_values(given):
    """The same batch with the scores that come of `sqrt` of the wrong width."""
    widths = [len(given["weights"][name][1]) for name in ("query", "value")]
    query = [(widths[0] / widths[1]) ** 0.5 * each for each in given["weights"]["query"]]
    return given | {"weights": given["weights"] | {"query": query}}


def moderate(seed):
    dice = torch.Generator().manual_seed(seed)
    batch, length, features, width, of_value = sizes(dice, (4, 9), (4, 9), (5, 10), (6, 13), (40, 61))
    weights = {
        name: [torch.randn(rows, features, generator=dice) / features**0.5, torch.randn(rows, generator=dice) / 5]
        for name, rows in (*((each, width) for each in ATTENTION), ("value", of_value))
    }
    weights["out"] = [torch.randn(1, of_value, generator=dice) / of_value**0.5, torch.randn(1, generator=dice)]
    keep = torch.rand(batch, length, generator=dice) < 0.7
    keep[:, 0], keep[:, 1] = True, False
    return {
        "weights": weights,
        "question": torch.randn(batch, features, generator=dice),
        "tokens": torch.randn(batch, length, features, generator=dice),
        "keep": keep,
        "y": torch.randint(0, 2, (batch,), generator=dice).float(),
    }


def exact(seed, width, signs, label):
    """A batch whose scores are 16384 times `signs` (batch, length), and whose query times key is `sqrt(width)` larger.

    All of them, and the queries and keys, are exact in float16, and in bfloat16 where the signs are: nothing is lost
    but what does not fit. The whole product comes from one feature, so that even as a sum's only term it does not fit.
    A token adds 8 times its sign to the logit, so weights that are wrong show in the loss.
    """
    dice = torch.Generator().manual_seed(seed)
    of_query, of_key = torch.zeros(2, width, width)
    at = sizes(dice, (0, width), (0, width))
    of_query[*at], of_key[*at] = 512.0, 32.0 * width**0.5
    pattern = (torch.randint(0, 2, (width,), generator=dice) * 2 - 1).float()
    nothing = torch.zeros(width)
    of_out = torch.randn(width, generator=dice) / width**0.5
    of_value = torch.randn(width, width, generator=dice) / width**0.5
    rest = 8.0 - of_out @ of_value @ pattern
    of_value += rest * torch.outer(of_out / of_out.square().sum(), pattern / width)
    weights = {
        "query": [of_query, nothing],
        "key": [of_key, nothing],
        "value": [of_value, torch.randn(width, generator=dice) / 4],
        "out": [of_out[None], torch.randn(1, generator=dice)],
    }
    batch, length = signs.shape
    return {
        "weights": weights,
        "question": pattern.expand(batch, width).clone(),
        "tokens": signs[:, :, None] * pattern,
        "keep": torch.ones(batch, length, dtype=torch.bool),
        "y": torch.full((batch,), label),
    }


def large(seed):
    """Scores of up to 20000, products of more than 65504, no token hidden."""
    dice = torch.Generator().manual_seed(seed + 1)
    batch, length = sizes(dice, (4, 9), (5, 10))
    signs = torch.randint(-2, 3, (batch, length), generator=dice) / 2
    signs[0], signs[0, :3] = -1.0, torch.tensor([LIMIT, 1.0, 1.0])
    return exact(seed, (16, 64)[seed % 2], signs, label=0.0)


def low(seed):
    """The tokens that count have scores of -20000, the hidden ones have higher scores, of up to 20000."""
    dice = torch.Generator().manual_seed(seed + 1)
    batch, length = sizes(dice, (4, 9), (5, 10))
    keep = torch.rand(batch, length, generator=dice) < 0.6
    keep[:, 0], keep[:, 1] = True, False
    hidden = torch.randint(0, 4, (batch, length), generator=dice) / 4
    hidden[:, 1] = LIMIT
    return exact(seed, 16, torch.where(keep, -LIMIT, hidden), label=1.0) | {"keep": keep}


def empty(seed):
    """As ordinary, with sequences of which all tokens are hidden.

    Their logits are 3. Any weight in them would raise these by 6, and of labels of 0 none is cheap.
    """
    given = ordinary(seed)
    of_out = given["weights"]["out"][0][0]
    given["weights"]["out"][1] = torch.full((1,), 3.0)
    given["weights"]["value"][1] = 6 * of_out / of_out.square().sum()
    for row in (seed % len(given["keep"]), -1):
        given["keep"][row], given["y"][row] = False, 0.0
    return given


def confident(seed, factor):
    """As ordinary, with logits all on the wrong side; the largest in size is from 40 to 80 times the factor."""
    given = ordinary(seed)
    found = logits(doubled(given), given)
    largest = float(found[found.abs().argmax()])
    given["weights"]["out"] = [factor * (40 + seed % 41) / largest * each for each in given["weights"]["out"]]
    return on_the_wrong_side(given)


def smallest(seed, sequences, tokens):
    """So many sequences, and tokens of each, of an ordinary batch; logits on the wrong side, so no loss is tiny."""
    given = ordinary(seed)
    given |= {name: given[name][:sequences, :tokens] for name in ("tokens", "keep")}
    return on_the_wrong_side(given | {"question": given["question"][:sequences]})


def on_the_wrong_side(given):
    return given | {"y": (logits(doubled(given), given) < 0).float()}


def doubled(given):
    return {name: [each.double() for each in layer] for name, layer in given["weights"].items()}


def logits(weights, given):
    """The logit of each sequence in float64, by its definition, from the tokens that count alone."""
    question, tokens = given["question"].double(), given["tokens"].double()
    query, key, value = (
        linear(given, *weights[name]) for name, given in (("query", question), ("key", tokens), ("value", tokens))
    )
    contexts = []
    for at, keep in enumerate(given["keep"]):
        scores = key[at][keep] @ query[at] / query.shape[-1] ** 0.5
        contexts.append(torch.softmax(scores, 0) @ value[at][keep])
    return linear(torch.stack(contexts), *weights["out"])[:, 0]


def reference(given):
    """The loss, and its gradient as one long row, in float64."""
    weights = {name: [each.requires_grad_() for each in layer] for name, layer in doubled(given).items()}
    leaves = [each for layer in weights.values() for each in layer]
    loss = binary_cross_entropy_with_logits(logits(weights, given), given["y"].double())
    grads = torch.autograd.grad(loss, leaves, materialize_grads=True)
    return loss.detach(), torch.cat([each.flatten() for each in grads])


def loss_is_right(seen, given, dtype, when):
    """The loss is a float32 number, and that of float64 up to the rounding of the dtype."""
    loss = seen.tensor("loss", what=f"the loss {when}", dtype="float32", shape=())
    close(loss, reference(given)[0], f"the loss {when}", rtol=TOLERANCES[dtype][0], atol=0.0)


def gradients(seen, given, when):
    """All of them as one long row; finite, or the check fails."""
    require(seen.get("backward", "raised") is None, f"backward raises on the loss {when}")
    shapes = [tuple(each.shape) for layer in given["weights"].values() for each in layer]
    mine = [seen.tensor("grads", at, what=f"a gradient {when}", shape=shape) for at, shape in enumerate(shapes)]
    return torch.cat([each.flatten().double() for each in mine])


def gradients_are_right(seen, given, dtype, when):
    expected = reference(given)[1]
    error = float((gradients(seen, given, when) - expected).norm() / expected.norm())
    require(
        error <= TOLERANCES[dtype][1], f"the gradients {when} are wrong", detail=f"relative error {error:.2g} ({dtype})"
    )


@pytest.mark.parametrize("dtype", HALVES)
def test_ordinary_numbers(run, shared_seed, dtype):
    """With moderate numbers, the loss in half precision is that of float64, up to the rounding."""
    given = ordinary(shared_seed)
    loss_is_right(run("step", **given, dtype=dtype), given, dtype, "of a batch with moderate numbers")


@pytest.mark.parametrize("dtype", HALVES)
def test_large_scores(run, shared_seed, dtype):
    """Scores far from zero give the right loss, also where the product of query and key does not fit."""
    given = large(shared_seed)
    loss_is_right(run("step", **given, dtype=dtype), given, dtype, "of a batch with large scores")


@pytest.mark.parametrize("dtype", HALVES)
def test_hidden_tokens_do_not_count(run, shared_seed, dtype):
    """A hidden token has no weight, however low the scores of the others are."""
    given = low(shared_seed)
    when = "of a batch whose tokens that count have lower scores than the hidden ones"
    loss_is_right(run("step", **given, dtype=dtype), given, dtype, when)


@pytest.mark.parametrize("dtype", HALVES)
def test_nothing_to_attend_to(run, shared_seed, dtype):
    """A sequence whose tokens are all hidden has a context of zeros."""
    given = empty(shared_seed)
    loss_is_right(run("step", **given, dtype=dtype), given, dtype, "of a batch with a sequence that is hidden wholly")


@pytest.mark.parametrize(("sequences", "tokens"), [(1, None), (None, 1)], ids=["one sequence", "one token"])
def test_one_alone(run, shared_seed, sequences, tokens):
    """A batch may have one sequence, and a sequence one token."""
    given = smallest(shared_seed, sequences, tokens)
    when = "of a batch of one sequence" if sequences else "of a batch whose sequences have one token"
    loss_is_right(run("step", **given, dtype="float16"), given, "float16", when)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("factor", [1, 256, -256], ids=["large", "very large", "far below zero"])
def test_confident_and_wrong(run, shared_seed, factor, dtype):
    """A logit far on the wrong side costs as much as it is large."""
    given = confident(shared_seed, factor)
    loss_is_right(run("step", **given, dtype=dtype), given, dtype, "of a batch with large logits on the wrong side")


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients(run, shared_seed, dtype):
    """The gradients are those of float64, up to the rounding, and finite where nothing can be attended to."""
    given = ordinary(shared_seed)
    gradients_are_right(run("step", **given, dtype=dtype), given, dtype, "of a batch with moderate numbers")
    given = empty(shared_seed)
    gradients(run("step", **given, dtype=dtype), given, "of a batch with a sequence that is hidden wholly")


@pytest.mark.parametrize("dtype", HALVES)
def test_layers_stay_in_half(run, shared_seed, dtype):
    """All four linear layers compute in the dtype of autocast."""
    seen = run("step", **ordinary(shared_seed), dtype=dtype)
    given = [each.text for each in seen.list("linear_outputs") if isinstance(each, Named)]
    require(len(given) >= 4, "not all four layers are called")
    require({*given} == {f"torch.{dtype}"}, f"under autocast for {dtype}, a linear layer computes in another dtype")


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("batch", [ordinary, empty])
def test_no_value_is_read(run, shared_seed, batch, dtype, device):
    """In the forward pass, Python reads no value of a tensor, and makes no tensor whose shape depends on values."""
    trace = run("on_the_way", **batch(shared_seed), dtype=dtype).trace("forward")
    for read in trace.reads:
        fail("the forward pass reads a value of a tensor", line=read.line)
    for copy in trace.copies:
        if copy.source == device.torch != copy.target:
            fail("the forward pass takes a tensor from its device", line=copy.line)
    for op in trace.ops:
        shaped = op.name in SHAPED or (op.name == "aten.index" and "bool" in op.inputs[1:])
        require(not shaped, "the forward pass makes a tensor whose shape depends on values", detail=op.name)


def test_without_autocast(run, seed):
    """Without autocast the loss and the gradients are those of float32."""
    given = ordinary(seed)
    seen = run("step", **given, dtype="float32")
    loss_is_right(seen, given, "float32", "without autocast")
    gradients_are_right(seen, given, "float32", "without autocast")
