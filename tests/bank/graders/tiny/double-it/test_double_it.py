"""What is demanded of `double`."""

import torch

from proctorch.judge.checks import close


def numbers(seed):
    """Six numbers, none of them near 0: there, twice would look like once."""
    return torch.rand(2, 3, generator=torch.Generator().manual_seed(seed)) + 1


def test_values(run, shared_seed):
    x = numbers(shared_seed)
    seen = run("doubled", x=x)
    close(seen.tensor("result", what="the result", shape=(2, 3)), x.double() * 2, "the result")


def test_new_tensor(run, shared_seed):
    x = numbers(shared_seed)
    seen = run("doubled", x=x)
    close(seen.tensor("given", what="the given tensor", shape=(2, 3)), x.double(), "the given tensor")


def test_place(run, shared_seed, device):
    seen = run("doubled", x=numbers(shared_seed))
    seen.tensor("result", what="the result", device=device, dtype="float32")
