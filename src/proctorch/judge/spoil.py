"""Evidence with an error put into its numbers, to try whether the checks notice."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from proctorch import wire

if TYPE_CHECKING:
    import torch


def spoilt(value: Any, error: float, given: Any) -> Any:
    """The same plain data, each floating-point number in it wrong by the relative `error`, up and down in turn.

    Those of float32 and float64 are: lower precisions have errors of their own. What was `given` to the scenario stays
    as it was, where it comes back.
    """
    return _Spoiler(error, list(_leaves(given))).value(value)


class _Spoiler:
    def __init__(self, error: float, given: list[Any]) -> None:
        import torch  # noqa: PLC0415 - as in `checks`

        self._error = error
        self._tensors = [each for each in given if isinstance(each, torch.Tensor)]
        self._numbers = {each for each in given if type(each) is float}
        self._dtypes = (torch.float32, torch.float64, torch.complex64, torch.complex128)

    def value(self, value: Any) -> Any:
        match value:
            case wire.Received():
                return replace(value, tensor=self._tensor(value.tensor))
            case float():
                return value if value in self._numbers else value * (1 + self._error)
            case dict():
                return {key: self.value(each) for key, each in value.items()}
            case list():
                return [self.value(each) for each in value]
            case tuple():
                return tuple(self.value(each) for each in value)
            case _:
                return value

    def _tensor(self, tensor: "torch.Tensor") -> "torch.Tensor":
        import torch  # noqa: PLC0415 - as in `checks`

        if tensor.dtype not in self._dtypes or any(_same(tensor, each) for each in self._tensors):
            return tensor
        turns = 1 - 2 * (torch.arange(tensor.numel()) % 2)
        return tensor.detach() * (1 + self._error * turns.reshape(tensor.shape)).to(tensor.dtype)


def _same(one: "torch.Tensor", other: "torch.Tensor") -> bool:
    import torch  # noqa: PLC0415 - as in `checks`

    return one.dtype == other.dtype and one.shape == other.shape and torch.equal(one, other)


def _leaves(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            for each in value.values():
                yield from _leaves(each)
        case list() | tuple():
            for each in value:
                yield from _leaves(each)
        case _:
            yield value
