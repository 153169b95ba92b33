"""How true the virtual device is: PyTorch's own operator database on it and on the CPU, and tables of what CUDA does.

    python -m proctorch.virtual.conformance [--sample N]

For every entry of torch's OpInfo database (`torch/testing/_internal/common_methods_invocations.py`) sample inputs are
run on the CPU and on the virtual device, and shapes, strides, dtypes, values and gradients must be the same. The two
tables are about what the CPU cannot tell: `same_device` (which expressions raise, and on which device the result is)
and `memory_table` (bytes after each step). They need no virtual device to be run, so a real one can be compared with
it.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from proctorch import virtual
from proctorch.virtual import memory_table, same_device

#: Entries whose values differ from call to call: only shapes, strides and dtypes are compared.
RANDOM = (
    *("normal", "uniform", "bernoulli", "multinomial", "randn", "rand", "randint", "dropout", "exponential", "cauchy"),
    *("geometric", "log_normal", "empty", "rrelu", "random", "fractional_max_pool"),
)
#: Entries that are known to differ on torch 2.13, and why.
_SPARSE = "sparse tensors on the device are not simulated"
KNOWN: dict[str, str] = {"sparse.sampled_addmm": _SPARSE, "sparse.mm.reduce": _SPARSE, "to_sparse": _SPARSE}
#: Entries with samples that drop at random.
_WITH_DROPOUT = ("nn.functional.multi_head_attention_forward",)
#: Entries with arguments that CUDA wants on the CPU.
_ARGUMENTS_STAY = ("tensor_split",)
_SAMPLES = 6


@dataclass(frozen=True)
class Result:
    """Of one entry: the number of samples compared, and the first difference (None: there is none)."""

    name: str
    compared: int
    difference: str | None


def entries() -> list[Any]:
    """The operator database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415 - half a minute

    return list(op_db)


def name_of(entry: Any) -> str:
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else str(entry.name)


def sweep(chosen: list[Any], samples: int = _SAMPLES) -> Iterator[Result]:
    """Compares each entry on the CPU and on cuda:0, which must be on."""
    for entry in chosen:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the database's own
            yield _compare(entry, samples)


def _compare(entry: Any, samples: int) -> Result:
    if not entry.dtypes:
        return Result(name_of(entry), 0, None)
    dtype = torch.float32 if torch.float32 in entry.dtypes else min(entry.dtypes, key=str)
    random = any(word in entry.name for word in RANDOM)
    differentiable = entry.supports_autograd and dtype.is_floating_point
    compared = 0
    try:
        torch.manual_seed(0)
        for number, sample in enumerate(entry.sample_inputs("cpu", dtype, requires_grad=differentiable)):
            if number >= samples:
                break
            if sample.kwargs.get("dropout_p", 0) or (entry.name in _WITH_DROPOUT and 0.5 in _floats(sample.args)):
                continue
            compared += _compare_sample(entry, sample, dtype, random=random)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        first = " ".join(str(error).split())[:300]
        return Result(name_of(entry), compared, f"{type(error).__name__}: {first}")
    return Result(name_of(entry), compared, None)


def _compare_sample(entry: Any, sample: Any, dtype: torch.dtype, *, random: bool) -> bool:
    given = (sample.input, sample.args, sample.kwargs)
    for tensor in _tensors(given):
        if tensor.is_leaf:
            tensor.grad = None
    moved = _to_device(given)
    if entry.name in _ARGUMENTS_STAY:
        moved = (moved[0], sample.args, sample.kwargs)
    try:
        expected = entry(given[0], *given[1], **given[2])
    except Exception:  # noqa: BLE001 - what the CPU cannot do is nothing to compare with
        return False
    try:
        outcome = entry(moved[0], *moved[1], **moved[2])
    except NotImplementedError:
        if dtype in entry.supported_dtypes("cuda"):
            raise
        return True  # refused, and the database does not say that CUDA can do it
    results, got = _tensors(expected), _tensors(outcome)
    assert len(results) == len(got), f"{len(got)} results instead of {len(results)}"
    for one, other in zip(results, got, strict=True):
        _compare_tensors(one, other, random=random)
    if not random and entry.supports_autograd:
        _compare_gradients(results, got, given, moved)
    return True


def _compare_tensors(expected: torch.Tensor, got: torch.Tensor, *, random: bool) -> None:
    assert got.is_cuda, "the result is not on the device"
    facts = [(each.shape, each.dtype, each.layout) for each in (expected, got)]
    assert facts[0] == facts[1], f"{facts[1]} instead of {facts[0]}"
    if expected.layout is torch.strided:
        assert expected.stride() == got.stride(), f"strides {got.stride()} instead of {expected.stride()}"
    if not random:
        values, wanted = got.detach().cpu(), expected.detach()
        if wanted.is_floating_point() and wanted.element_size() == 1:  # eight bits have no tolerance
            values, wanted = values.float(), wanted.float()
        torch.testing.assert_close(values, wanted, rtol=1e-3, atol=1e-4, equal_nan=True)


def _compare_gradients(results: list[torch.Tensor], got: list[torch.Tensor], given: Any, moved: Any) -> None:
    summed = []
    for tensors in (results, got):
        through = [each for each in tensors if each.requires_grad and each.is_floating_point()]
        if not through:
            return
        summed.append(sum((each.sum() for each in through), start=torch.zeros((), device=through[0].device)))
    for total in summed:
        total.backward()
    wanting = [[each for each in _tensors(inputs) if each.requires_grad] for inputs in (given, moved)]
    for one, other in zip(*wanting, strict=True):
        if one.grad is not None:
            assert other.grad is not None, "no gradient"
            torch.testing.assert_close(other.grad.cpu(), one.grad, rtol=1e-3, atol=1e-3, equal_nan=True)


def _to_device(values: Any) -> Any:
    from torch.utils._pytree import tree_map  # noqa: PLC0415 - only a sweep needs it

    def move(tensor: Any) -> Any:
        if not isinstance(tensor, torch.Tensor):
            return torch.device("cuda") if isinstance(tensor, (str, torch.device)) and str(tensor) == "cpu" else tensor
        if not tensor.is_leaf or tensor.layout is not torch.strided or tensor.is_conj() or tensor.is_neg():
            return tensor.detach().cuda().requires_grad_(tensor.requires_grad) if tensor.is_leaf else tensor.cuda()
        storage = torch.empty(0, dtype=tensor.dtype).set_(
            tensor.untyped_storage()
        )  # all of it, and the same place in it
        moved = storage.cuda().as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        return moved.detach().requires_grad_(tensor.requires_grad)

    return tree_map(move, values)


def _floats(values: Any) -> list[float]:
    return [each for each in values if isinstance(each, float)]


def _tensors(values: Any) -> list[torch.Tensor]:
    from torch.utils._pytree import tree_leaves  # noqa: PLC0415 - as above

    return [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m proctorch.virtual.conformance", description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, metavar="N", help="every N-th entry of the database instead of all")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these entries")
    arguments = parser.parse_args()
    say = sys.stdout.write
    torch.set_num_threads(1)
    with virtual.cuda(memory="6GiB", devices=2):
        say("same-device table\n")
        rows = same_device.differences("cuda:0")
        for line in rows:
            say(f"  differs: {line}\n")
        say(f"  {len(same_device.TABLE) - len(rows)} of {len(same_device.TABLE)} as on CUDA\n")
        say("memory table\n")
        rows = memory_table.differences("cuda:0")
        for line in rows:
            say(f"  differs: {line}\n")
        say(f"  {len(memory_table.TABLE) - len(rows)} of {len(memory_table.TABLE)} as on CUDA\n")
        say("operator database\n")
        try:
            chosen = entries()[:: arguments.sample or 1]
        except ModuleNotFoundError as missing:
            say(f"  not compared: torch's operator database needs the package {missing.name}\n")
            sys.exit(1)
        if arguments.only:
            chosen = [entry for entry in entries() if name_of(entry) in arguments.only]
        equal = known = empty = 0
        for result in sweep(chosen):
            equal += result.difference is None
            empty += not result.compared
            if result.difference is not None:
                reason = KNOWN.get(result.name)
                known += reason is not None
                say(f"  {'known' if reason else 'DIFFERS'}: {result.name}: {reason or result.difference}\n")
                sys.stdout.flush()
        say(f"  {equal} of {len(chosen)} entries equal, {known} known to differ\n")
        say(f"  {empty} of the equal ones have no sample that the CPU can run\n")
    sys.exit(0 if equal + known == len(chosen) else 1)


if __name__ == "__main__":
    main()
