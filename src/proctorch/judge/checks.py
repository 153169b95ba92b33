"""What hidden checks are written with, beside plain `assert`.

The first line of a failure's message is shown to the candidate: it says what was demanded or seen, never an expected
value. All after the first line is for the interviewer.
"""

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import torch


_PART = 1 << 20


class CheckFailure(AssertionError):
    """The candidate's code does not do what a check demands."""

    def __init__(self, reason: str, *, line: int | None = None, detail: str = "") -> None:
        self.reason = reason
        self.line = line
        super().__init__(f"{reason}\n{detail}" if detail else reason)


def fail(reason: str, *, line: int | None = None, detail: str = "") -> NoReturn:
    """Fails the check. `reason` is one line for the candidate, `line` is in their file, `detail` for interviewers."""
    __tracebackhide__ = True  # a failure is shown at the check that demands
    raise CheckFailure(reason, line=line, detail=detail)


def require(condition: object, reason: str, *, line: int | None = None, detail: str = "") -> None:
    """Fails the check unless `condition` is true."""
    __tracebackhide__ = True
    if not condition:
        fail(reason, line=line, detail=detail)


def wide(tensor: "torch.Tensor") -> "torch.Tensor":
    """The values in float64 or complex128, where torch can compare all that it can store."""
    import torch  # noqa: PLC0415 - the plugin must not cost other people's test runs an import of torch

    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def count_not_finite(tensor: "torch.Tensor") -> int:
    """How many values are nan or inf. Looks at some at a time: all of them, widened, could be eight times as large."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return 0
    row = tensor.detach().flatten()
    parts = (wide(row[start : start + _PART]) for start in range(0, row.numel(), _PART))
    return sum(part.numel() - int(part.isfinite().sum()) for part in parts)


def close(
    actual: "torch.Tensor | float",
    expected: "torch.Tensor | float",
    what: str,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    line: int | None = None,
) -> None:
    """Fails the check unless `actual` is `expected` within the tolerance: first finite, then of its shape, then equal.

    Values are compared in float64, complex ones in complex128 and with complex ones alone. The tolerance is
    `torch.testing`'s for the dtype of `actual` where none is given, so that a float16 result is not held to float32's
    precision. `rtol` and `atol` are given together or not at all.
    """
    __tracebackhide__ = True
    import torch  # noqa: PLC0415 - as above
    from torch.testing._comparison import default_tolerances  # noqa: PLC0415 - as above

    given, wanted = torch.as_tensor(actual), torch.as_tensor(expected)
    if given.is_complex() != wanted.is_complex():
        fail(f"{what} has the dtype {str(given.dtype).removeprefix('torch.')}", line=line, detail=f"not {wanted.dtype}")
    if (count := count_not_finite(given)) and not count_not_finite(wanted):
        fail(f"{what} is not finite ({count} of {given.numel()} values are nan or inf)", line=line)
    if given.shape != wanted.shape:
        shape = f"expected the shape {tuple(wanted.shape)}"
        fail(f"{what} has the shape {tuple(given.shape)}", line=line, detail=shape)
    mine, theirs = wide(given), wide(wanted)
    if rtol is None or atol is None:
        rtol, atol = default_tolerances(given)
    try:
        torch.testing.assert_close(mine, theirs, rtol=rtol, atol=atol)
    except AssertionError as error:
        wrong = torch.isclose(mine, theirs, rtol=rtol, atol=atol).logical_not()
        values = "is wrong" if mine.numel() == 1 else f"is wrong in {int(wrong.sum())} of {mine.numel()} values"
        fail(f"{what} {values} (tolerance: {rtol:g} relative, {atol:g} absolute)", line=line, detail=str(error))
