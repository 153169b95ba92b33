"""What comes from the sandbox is checked before it is used, and what is wrong is said in words for the candidate."""

from typing import Any

import pytest
import torch

from proctorch.devices import CPU
from proctorch.judge import checks
from proctorch.judge.checks import CheckFailure, close, fail, require
from proctorch.judge.evidence import Copy, Ended, Evidence, read_moments, read_trace
from proctorch.judge.grade import Moment
from proctorch.wire import FrameError, Named, Opaque, Received


def evidence(value: Any) -> Evidence:
    return Evidence(Ended.ANSWERED, value={"it": value})


def tensor(value: torch.Tensor, device: str = "cpu") -> Evidence:
    return evidence(Received(value, device, requires_grad=False, is_leaf=True))


def failure(call: Any) -> str:
    """The candidate's line of the failure that the call gives."""
    with pytest.raises(CheckFailure) as raised:
        call()
    return raised.value.reason


# ---------------------------------------------------------------------------------------------------- accessors


def test_values_of_the_right_type_are_given() -> None:
    """Each accessor gives what it is named after; a path leads into dicts, lists and tuples."""
    seen = Evidence(Ended.ANSWERED, value={"a": [1, (2.5, "text", True)], "b": {"c": None}})
    assert seen.number("a", 0) == 1
    assert seen.number("a", 1, 0) == 2.5
    assert seen.text("a", 1, 1) == "text"
    assert seen.flag("a", -1, -1) is True
    assert seen.list("a", 1) == [2.5, "text", True]
    assert seen.dict("b") == {"c": None}
    assert seen.get("b", "c") is None
    assert seen.get("nowhere", 7) is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "None"),
        (True, "a bool"),
        ("4", "a str"),
        ([4], "a list"),
        ((4,), "a tuple"),
        (b"4", "a bytes"),
        (Named("torch.device", "cpu"), "a torch.device"),
        (Opaque("object"), "an object"),
        (Opaque("numpy.ndarray"), "a numpy.ndarray"),
        (Received(torch.ones(1), "cpu", requires_grad=False, is_leaf=True), "a tensor"),
    ],
    ids=repr,
)
def test_what_is_no_number_is_named(value: Any, kind: str) -> None:
    """A value of another type fails the check with the name of what it is; True is no number."""
    assert failure(lambda: evidence(value).number("it")) == f"it is {kind}, not a number"


def test_each_accessor_says_what_it_wants() -> None:
    """The message names the thing by its path, or as the check's author calls it."""
    seen = evidence(4)
    assert failure(lambda: seen.text("it")) == "it is an int, not a text"
    assert failure(lambda: seen.flag("it")) == "it is an int, not True or False"
    assert failure(lambda: seen.list("it")) == "it is an int, not a list"
    assert failure(lambda: seen.dict("it")) == "it is an int, not a dict"
    assert failure(lambda: seen.tensor("it")) == "it is an int, not a plain tensor"
    assert failure(lambda: seen.received("it", what="the loss")) == "the loss is an int, not a plain tensor"
    assert failure(lambda: seen.number("final_loss", 0)) == "final loss.0 is missing, not a number"
    assert failure(seen.number) == "the result is a dict, not a number"


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, 10**400])
def test_a_number_that_nothing_can_be_compared_with_is_refused(value: int) -> None:
    """An int of more than 64 bits fails the check, instead of breaking the arithmetic of its author."""
    assert failure(lambda: evidence(value).number("it")) == "it is out of range"
    assert evidence((1 << 63) - 1).number("it") == 9_223_372_036_854_775_807


def test_a_watch_that_was_never_entered_fails() -> None:
    """If the code ended before the part that is looked at, that is said."""
    assert failure(lambda: evidence(1).trace()) == "the code ended before the part that is looked at"


def test_a_tensor_is_what_is_asked_for() -> None:
    """Shape, dtype and device are compared, in this order; the shape that is wanted is for the interviewer alone."""
    seen = tensor(torch.ones(2, 3), "cuda:0")
    assert seen.tensor("it", shape=(2, 3), dtype="float32", device="cuda:0").tolist() == [[1.0] * 3] * 2
    assert failure(lambda: seen.tensor("it", shape=(3, 2), dtype="float16")) == "it has the shape (2, 3)"
    assert failure(lambda: seen.tensor("it", dtype="float16", device=CPU)) == "it has the dtype float32, not float16"
    assert failure(lambda: seen.tensor("it", device=CPU)) == "it is on cuda:0, not on cpu"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.complex64, torch.float8_e5m2], ids=str)
def test_a_tensor_that_is_not_finite_fails(dtype: torch.dtype) -> None:
    """Where finite values are due, infinities and NaN fail before any comparison, whatever the dtype."""
    seen = tensor(torch.tensor([1.0, float("inf")]).to(dtype))
    assert failure(lambda: seen.tensor("it")) == "it is not finite (nan or inf)"
    assert seen.tensor("it", finite=False).dtype is dtype


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2fnuz], ids=str)
def test_a_tensor_of_a_rare_dtype_is_given(dtype: torch.dtype) -> None:
    """A dtype for which torch has no arithmetic does not break the check."""
    assert tensor(torch.ones(2).to(dtype)).tensor("it").dtype is dtype


# ---------------------------------------------------------------------------------------------------- close


def test_the_tolerance_is_that_of_the_dtype() -> None:
    """A float16 result is held to float16's precision, a float32 result to its own, against the same reference."""
    reference = torch.tensor([1.0, 2.0], dtype=torch.float64)
    close(torch.tensor([1.0005, 2.0], dtype=torch.float16), reference, "it")
    told = failure(lambda: close(torch.tensor([1.0005, 2.0]), reference, "it"))
    assert told == "it is wrong in 1 of 2 values (tolerance: 1.3e-06 relative, 1e-05 absolute)"
    close(torch.tensor([1.0005, 2.0]), reference, "it", rtol=0.001, atol=0.0)


def test_numbers_are_compared_too() -> None:
    """Plain numbers are compared like tensors of one value."""
    close(0.5, 0.5, "it")
    assert failure(lambda: close(0.5, 0.75, "it")) == "it is wrong (tolerance: 1.3e-06 relative, 1e-05 absolute)"


def test_what_is_not_finite_is_told_first() -> None:
    """NaN is not close to anything, not even to zero times itself, unless it is what is wanted."""
    nan = float("nan")
    assert failure(lambda: close(torch.tensor([nan, 1.0]), torch.zeros(3), "it")) == (
        "it is not finite (1 of 2 values are nan or inf)"
    )
    assert failure(lambda: close(torch.zeros(2), torch.tensor([nan, 0.0]), "it")).startswith("it is wrong in 1 of 2")


def test_shapes_are_not_broadcast() -> None:
    """One value is not three equal ones."""
    assert failure(lambda: close(torch.ones(1), torch.ones(3), "it")) == "it has the shape (1,)"


def test_a_complex_result_is_not_a_real_one() -> None:
    """An imaginary part is never dropped."""
    numbers = torch.tensor([1 + 5j])
    assert failure(lambda: close(numbers, torch.ones(1), "it")) == "it has the dtype complex64"
    assert failure(lambda: close(torch.ones(1), numbers, "it")) == "it has the dtype float32"
    assert failure(lambda: close(numbers, numbers.conj(), "it")).startswith("it is wrong")
    close(numbers, numbers.clone(), "it")


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.bool, torch.uint16, torch.bfloat16], ids=str)
def test_a_result_of_a_rare_dtype_is_compared(dtype: torch.dtype) -> None:
    """Values of a dtype for which torch has no arithmetic are compared all the same."""
    close(torch.ones(2).to(dtype), torch.ones(2), "it")
    assert failure(lambda: close(torch.ones(2).to(dtype), torch.zeros(2), "it")).startswith("it is wrong in 2 of 2")


def test_a_failure_has_two_audiences() -> None:
    """The reason and the line are for the candidate, the detail follows for the interviewer."""
    require(True, "it is not")
    with pytest.raises(CheckFailure) as raised:
        require([], "it is empty", line=3, detail="one was wanted")
    assert (raised.value.reason, raised.value.line, str(raised.value)) == (
        "it is empty",
        3,
        "it is empty\none was wanted",
    )
    with pytest.raises(CheckFailure) as raised:
        fail("no")
    assert str(raised.value) == "no"


# ---------------------------------------------------------------------------------------------------- what was seen

TOLD: dict[str, Any] = {
    "copies": [["cpu", "cuda:0", 4, 7]],
    "reads": [["cuda:0", None]],
    "ops": [["aten.mm", ["float32"], "float32", "cpu", False, True, 2]],
    "live": {"cpu": 4},
    "peak": {"cpu": 8},
    "warnings": [["UserWarning", "old", 3]],
    "autocast_left_on": False,
}


def test_a_trace_is_read() -> None:
    """A trace that has the shape of one is what it says."""
    trace = read_trace(TOLD)
    assert trace.copies == (Copy("cpu", "cuda:0", 4, 7),)
    assert (trace.live, trace.peak) == ({"cpu": 4}, {"cpu": 8})
    assert trace.warnings[0].message == "old"
    assert read_moments([[0.5, 3, 0], [1.0, 4, 9]]) == (Moment(0.5, 3), Moment(1.0, 4, 9))


@pytest.mark.parametrize(
    "spoilt",
    [
        {"copies": 7},
        {"copies": [["cpu", "cpu", 4]]},
        {"copies": [["cpu", "cpu", -1, 7]]},
        {"copies": [["cpu", "cpu", 1 << 63, 7]]},
        {"copies": [["cpu", "cpu", 1.5, 7]]},
        {"copies": [["cpu", "cpu", True, 7]]},
        {"copies": [["cpu", "cpu", 1, 1 << 25]]},
        {"copies": [["cpu", "cpu", 1, -1]]},
        {"copies": [[b"cpu", "cpu", 1, 1]]},
        {"reads": {"cuda:0": 1}},
        {"ops": [["aten.mm", [["float32"]], None, "cpu", False, False, 1]]},
        {"ops": [["aten.mm", [], None, "cpu", "no", False, 1]]},
        {"ops": [["aten.mm", [], None, "cpu", False, False, float("nan")]]},
        {"live": [["cpu", 4]]},
        {"live": {1: 4}},
        {"peak": {"cpu": -8}},
        {"warnings": [["UserWarning", None, 3]]},
        {"autocast_left_on": 1},
    ],
    ids=repr,
)
def test_a_trace_that_is_none_is_refused(spoilt: dict[str, Any]) -> None:
    """Where a part of a trace is of another type, or a number that cannot be, all of it is refused."""
    with pytest.raises(FrameError, match=r"^no trace: (TypeError|ValueError|AttributeError)$"):
        read_trace(TOLD | spoilt)


def test_a_trace_without_a_part_is_refused() -> None:
    """A trace that lacks something, or is no dict at all, is none."""
    tensor = Received(torch.ones(2), "cpu", requires_grad=False, is_leaf=True)
    wrong: tuple[Any, ...] = (None, [], {}, {"copies": []}, tensor)
    for told in wrong:
        with pytest.raises(FrameError, match=r"^no trace: "):
            read_trace(told)


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        "moments",
        [7],
        [[0.5, 3]],
        [[1 << 4000, 3, 0]],
        [["0.5", 3, 0]],
        [[float("inf"), 3, 0]],
        [[float("nan"), 3, 0]],
        [[-0.5, 3, 0]],
        [[1e300, 3, 0]],
        [[0.5, -3, 0]],
        [[0.5, 3.0, 0]],
        [[0.5, 1 << 63, 0]],
        [[0.5, 3, True]],
        [[0.5, 3, 0]] * 1001,
    ],
    ids=lambda told: repr(told)[:30],
)
def test_moments_that_are_none_are_refused(told: Any) -> None:
    """Times and sizes that cannot be, which a plot would trip over, are refused."""
    with pytest.raises(FrameError, match=r"^no moments: (TypeError|ValueError)$"):
        read_moments(told)


def test_long_names_are_cut() -> None:
    """Of a name in a trace no more is kept than can be read."""
    assert read_trace(TOLD | {"reads": [["x" * 5000, None]]}).reads[0].device == "x" * 1000


def test_a_large_tensor_is_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether 32 MiB of numbers are finite is told without 256 MiB of wider ones, and one that is not is found."""
    wide, widened = checks.wide, []

    def noted(part: torch.Tensor) -> torch.Tensor:
        widened.append(part.numel())
        return wide(part)

    monkeypatch.setattr(checks, "wide", noted)
    values = torch.zeros(32 << 20, dtype=torch.float8_e5m2)
    assert tensor(values).tensor("it") is values
    assert sum(widened) == 32 << 20
    assert max(widened) <= 1 << 20
    values[-1] = float("nan")
    assert failure(lambda: tensor(values).tensor("it")) == "it is not finite (nan or inf)"
