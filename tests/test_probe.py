"""The probe sees what a candidate's code does: copies between devices, reads, dtypes, bytes and warnings, with lines.

The device `meta` stands for the second device here: every machine has it.
"""

import warnings
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch

from proctorch import wire
from proctorch.judge.evidence import Copy, Op, Read, Trace, Warned, read_trace
from proctorch.sandbox.probe import Probe, describe_error

FILE = "answer.py"


def candidate(source: str) -> Callable[..., Any]:
    """The function `f` of a candidate's file. Its lines count from the first line of the text."""
    names: dict[str, Any] = {"np": np, "torch": torch, "warnings": warnings}
    exec(compile(dedent(source).lstrip("\n"), FILE, "exec"), names)
    function: Callable[..., Any] = names["f"]
    return function


def crossed(probe: Probe, name: str = "main") -> Trace:
    """A trace as the judge gets it."""
    return read_trace(wire.decode(wire.encode(probe.traces[name])[wire.LENGTH.size :]))


def seen(source: str, *args: Any) -> tuple[Any, Trace]:
    """What the candidate's `f` returns, and what the probe saw meanwhile."""
    function, probe = candidate(source), Probe(FILE)
    with probe.watch():
        result = function(*args)
    return result, crossed(probe)


def trace(source: str, *args: Any) -> Trace:
    return seen(source, *args)[1]


# ---------------------------------------------------------------------------------------------------- copies


def test_a_copy_has_direction_size_and_line() -> None:
    """A copy to another device is noted with where from, where to, how many bytes and which line."""
    found = trace(
        """
        def f(x):
            y = x + 1
            return y.to("meta")
        """,
        torch.ones(5),
    )
    assert found.copies == (Copy("cpu", "meta", 20, 3),)


def test_the_line_is_the_innermost_of_the_candidates() -> None:
    """A copy that happens deep inside torch is blamed on the candidate's line that led to it."""
    found = trace(
        """
        def f(layer):
            return move(layer)


        def move(layer):
            return layer.to("meta")
        """,
        torch.nn.Linear(2, 3),
    )
    assert found.copies == (Copy("cpu", "meta", 24, 6), Copy("cpu", "meta", 12, 6))


def test_a_copy_into_a_tensor_is_one() -> None:
    """`copy_` counts the bytes that arrive."""
    found = trace("def f(x, y): y.copy_(x)", torch.ones(4), torch.empty(4, device="meta"))
    assert found.copies == (Copy("cpu", "meta", 16, 1),)


def test_a_change_of_dtype_on_the_way_counts_what_arrives() -> None:
    """Bytes are those of the dtype on the target."""
    found = trace("def f(x): return x.to('meta', torch.float16)", torch.ones(4))
    assert found.copies == (Copy("cpu", "meta", 8, 1),)


@pytest.mark.parametrize("call", ["torch.tensor", "torch.as_tensor", "torch.asarray"])
def test_numbers_that_are_put_on_a_device_are_a_copy(call: str) -> None:
    """A tensor made from Python's numbers on another device has crossed to it."""
    found = trace(f"def f(): return {call}([1.0, 2.0, 3.0], device='meta')")
    assert found.copies == (Copy("cpu", "meta", 12, 1),)


@pytest.mark.parametrize(
    "call", ["x.new_tensor([1.0, 2.0, 3.0])", "x.new_tensor(data=[1.0, 2.0, 3.0])", "x.new([1, 2, 3])"]
)
def test_numbers_that_follow_another_tensor_are_a_copy(call: str) -> None:
    """A tensor made from Python's numbers where another tensor is has crossed to it."""
    found = trace(f"def f(x): return {call}", torch.ones(2, device="meta"))
    assert found.copies == (Copy("cpu", "meta", 12, 1),)


def test_a_list_of_tensors_crosses_as_one() -> None:
    """A tensor made from a list of single numbers is made on the host, wherever these are."""
    found = trace("def f(x): return torch.tensor([x, x], device='meta')", torch.tensor(1.0))
    assert found.copies == (Copy("cpu", "meta", 8, 1),)


@pytest.mark.parametrize("call", ["torch.tensor", "torch.as_tensor", "x.new_tensor"])
def test_an_array_crosses_once(call: str) -> None:
    """NumPy's numbers that are put on a device are one copy, though torch moves them in its usual way."""
    where = "" if call == "x.new_tensor" else ", device='meta'"
    found = trace(f"def f(x, numbers): return {call}(numbers{where})", torch.ones(2, device="meta"), np.ones(3))
    assert [(each.source, each.target, each.line) for each in found.copies] == [("cpu", "meta", 1)]


@pytest.mark.parametrize(
    "use",
    [
        "x[[0, 2]]",
        "x[:, [0, 2]]",
        "x[torch.tensor([0, 2])]",
        "x[np.array([0, 2])]",
        "x.index_put((torch.tensor([0, 2]),), x[0])",
        "x[0].__setitem__([0, 2], x[0, 1:])",
    ],
)
def test_an_index_on_the_cpu_is_a_copy(use: str) -> None:
    """An index that the CPU has, as a list, an array or a tensor, is copied to what is indexed."""
    found = trace(f"def f(x): {use}", torch.ones(3, 3, device="meta"))
    assert found.copies == (Copy("cpu", "meta", 16, 1),)


def test_an_index_that_is_there_is_no_copy() -> None:
    """An index on the device, a slice and a number copy nothing; nor does a size."""
    found = trace(
        """
        def f(x, index):
            return x[index], x[0], x[1:, None], x.new(2, 3), x.new(x.shape), x.new_zeros(3)
        """,
        torch.ones(3, 3, device="meta"),
        torch.zeros(2, dtype=torch.int64, device="meta"),
    )
    assert found.copies == ()


@pytest.mark.parametrize("number", [0.0, 1.0])
def test_a_tensor_made_from_a_tensor_is_what_torch_makes_of_it(number: float) -> None:
    """Tensors are handed to `as_tensor` as they are: their values are not read, and a move is one copy."""
    found = trace(
        """
        def f(x, y):
            torch.as_tensor(x)
            torch.asarray(y, device="meta")
        """,
        torch.full((1,), number),
        torch.full((3,), number),
    )
    assert found.reads == ()
    assert found.copies == (Copy("cpu", "meta", 12, 3),)


def test_what_stays_on_a_device_is_no_copy() -> None:
    """Clones, changes of dtype, moves to where a tensor is and tensors made in place are no copies between devices."""
    found = trace(
        """
        def f(x):
            torch.empty(3, device="meta")
            torch.tensor([1.0])
            torch.as_tensor(x)
            x.copy_(x.clone())
            return x.to("cpu").double().contiguous()
        """,
        torch.ones(3),
    )
    assert found.copies == ()


def test_a_copy_outside_of_the_candidates_file_has_no_line() -> None:
    """What the scenario itself moves is seen, without a line."""
    probe = Probe(FILE)
    with probe.watch():
        torch.ones(1).to("meta")
    assert crossed(probe).copies == (Copy("cpu", "meta", 4, None),)


# ---------------------------------------------------------------------------------------------------- reads


def test_each_way_to_read_a_number_is_a_read() -> None:
    """`item`, the conversions to Python's numbers and a tensor in an `if` wait for the device, and are noted."""
    found = trace(
        """
        def f(x):
            x.item()
            float(x)
            int(x)
            bool(x)
            if x > 0:
                return x + 1
        """,
        torch.tensor(1.0),
    )
    assert found.reads == (Read("cpu", 2), Read("cpu", 3), Read("cpu", 4), Read("cpu", 5), Read("cpu", 6))


@pytest.mark.parametrize(
    "use", ["print(x)", "str(x)", "repr(x)", "'%s' % x", "f'{x}'", "f'{x[0]}'", "x.equal(x)", "torch.equal(x, x)"]
)
def test_a_look_at_the_values_is_a_read(use: str) -> None:
    """A text of the values and a comparison of them all wait for the device too."""
    assert trace(f"def f(x): {use}", torch.ones(2)).reads == (Read("cpu", 1),)


def test_a_text_of_what_has_no_values_is_no_read() -> None:
    """A tensor of the meta device has nothing to wait for."""
    assert trace("def f(x): print(x)", torch.ones(2, device="meta")).reads == ()


def test_arithmetic_is_no_read() -> None:
    """Code that keeps its numbers in tensors reads none."""
    assert trace("def f(x): return (x * 2).sum().detach()", torch.ones(3)).reads == ()


def test_events_are_counted_up_to_a_limit() -> None:
    """Of very many events the first 10,000 are kept, so that the trace can cross."""
    found = trace("def f(x):\n    for _ in range(10_005): x.item()", torch.ones(()))
    assert len(found.reads) == 10_000
    assert sum(found.ops.values()) == 10_005


# ---------------------------------------------------------------------------------------------------- operations


def test_operations_have_dtypes_and_device() -> None:
    """An operation is noted with the dtypes of its inputs and of its output, and counted."""
    found = trace("def f(x): return x + 1 + x.double()", torch.ones(2))
    assert found.ops == {
        Op("aten.add", ("float32",), "float32", "cpu", backward=False, autocast=False): 1,
        Op("aten._to_copy", ("float32",), "float64", "cpu", backward=False, autocast=False): 1,
        Op("aten.add", ("float32", "float64"), "float64", "cpu", backward=False, autocast=False): 1,
    }


def test_autocast_shows_in_the_dtypes() -> None:
    """Under autocast a matrix product is in bfloat16, and each operation says whether it was called under autocast."""
    found = trace(
        """
        def f(x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = x @ x
                y.abs()
            return y @ y
        """,
        torch.ones(2, 2),
    )
    products = {op: count for op, count in found.ops.items() if op.name in ("aten.mm", "aten.abs")}
    assert products == {
        Op("aten.mm", ("bfloat16", "bfloat16"), "bfloat16", "cpu", backward=False, autocast=True): 1,
        Op("aten.mm", ("bfloat16", "bfloat16"), "bfloat16", "cpu", backward=False, autocast=False): 1,
        Op("aten.abs", ("bfloat16",), "bfloat16", "cpu", backward=False, autocast=True): 1,
    }
    assert not found.autocast_left_on


def test_the_backward_pass_is_seen_as_such() -> None:
    """Operations of the backward pass are noted as backward, those of the forward pass are not."""
    found = trace("def f(x): (x * 3).sum().backward()", torch.ones(2, requires_grad=True))
    multiplied = sorted((op.backward, count) for op, count in found.ops.items() if op.name == "aten.mul")
    assert multiplied == [(False, 1), (True, 1)]


@pytest.mark.parametrize("inside", [True, False])
def test_a_backward_pass_under_autocast_shows(inside: bool) -> None:
    """The operations of a backward pass say whether it was started under autocast."""
    indent = "        " if inside else "    "
    source = "def f(x):\n    with torch.autocast('cpu', dtype=torch.bfloat16):\n        loss = (x @ x).sum()\n"
    found = trace(f"{source}{indent}loss.backward()", torch.ones(2, 2, requires_grad=True))
    assert {op.autocast for op in found.ops if op.backward} == {inside}
    assert {op.autocast for op in found.ops if op.name == "aten.mm" and not op.backward} == {True}


def test_autocast_that_is_left_on_is_told() -> None:
    """Autocast that is on at the end and was not at the beginning is noted."""
    try:
        assert trace("def f(): torch.set_autocast_enabled('cpu', True)").autocast_left_on
        assert not trace("def f(): pass").autocast_left_on
        assert trace("def f(): torch.set_autocast_enabled('cpu', False)").autocast_left_on
    finally:
        torch.set_autocast_enabled("cpu", False)


# ---------------------------------------------------------------------------------------------------- bytes


def test_bytes_are_those_of_new_storages() -> None:
    """What the code has made and still holds is live; what was given is not."""
    _kept, found = seen(
        "def f(x): return [x, torch.empty(100), torch.empty(10, dtype=torch.float64)]", torch.ones(1000)
    )
    assert found.live == {"cpu": 480}
    assert found.peak == {"cpu": 480}


def test_the_peak_is_the_most_at_any_one_time() -> None:
    """What is freed is not live, but it was there."""
    _kept, found = seen(
        """
        def f():
            first = torch.empty(1000)
            second = torch.empty(500)
            del first
            third = torch.empty(250)
            del second
            return third
        """
    )
    assert found.live == {"cpu": 1000}
    assert found.peak == {"cpu": 6000}


def test_views_cost_nothing() -> None:
    """A view of a given tensor is not charged; one of a new tensor is charged with its whole storage, once."""
    _kept, found = seen(
        """
        def f(x):
            new = torch.empty(100)
            return [x[:2], x.view(-1), x.t(), x.detach(), new[:1], new[1:], new.detach()]
        """,
        torch.ones(10, 10),
    )
    assert found.live == {"cpu": 400}
    assert found.peak == {"cpu": 400}


def test_a_view_keeps_its_storage_alive() -> None:
    """One element of a large tensor holds all of it."""
    _kept, found = seen("def f(): return torch.empty(1000)[0]")
    assert found.live == {"cpu": 4000}


def test_work_in_place_costs_nothing() -> None:
    """What changes a given tensor makes no new storage."""
    x = torch.ones(100)
    assert trace("def f(x): x.add_(1).mul_(2).zero_()", x).peak == {}


@pytest.mark.parametrize("size", [0, 10])
def test_growth_in_place_is_charged(size: int) -> None:
    """A new tensor that grows later costs what it has in the end, even if it began empty."""
    _kept, found = seen(f"def f(): return torch.empty({size}).resize_(1000)")
    assert found.live == {"cpu": 4000}
    assert found.peak == {"cpu": 4000}


def test_what_autograd_keeps_is_live() -> None:
    """A result that is kept for the backward pass is live although no name holds it; without gradients it is not."""
    x = torch.ones(1000, requires_grad=True)
    _kept, found = seen("def f(x): return x.exp().sum()", x)
    assert found.live == {"cpu": 4004}
    _kept, found = seen("def f(x):\n    with torch.no_grad(): return x.exp().sum()", x)
    assert found.live == {"cpu": 4}
    assert found.peak == {"cpu": 4004}


def test_what_the_backward_pass_frees_is_not_live() -> None:
    """After the backward pass the gradient is live, what was kept for it is not."""
    x = torch.ones(1000, requires_grad=True)
    found = trace("def f(x): x.exp().sum().backward()", x)
    assert found.live == {"cpu": 4000}


def test_tensors_in_containers_are_seen() -> None:
    """Operations on lists of tensors are followed like others."""
    _kept, found = seen("def f(x): return torch._foreach_add([x, x], 1)", torch.ones(10))
    assert found.live == {"cpu": 80}


# ---------------------------------------------------------------------------------------------------- warnings


def test_warnings_have_category_message_and_line() -> None:
    """A warning is noted each time, with a line if it points into the candidate's file; nobody else gets it."""
    found = trace(
        """
        def f():
            for _ in range(2):
                warnings.warn("careful", FutureWarning)
            warnings.warn_explicit("elsewhere", UserWarning, "torch.py", 7)
        """
    )
    assert found.warnings == (
        Warned("FutureWarning", "careful", 3),
        Warned("FutureWarning", "careful", 3),
        Warned("UserWarning", "elsewhere", None),
    )


# ---------------------------------------------------------------------------------------------------- watch


def test_a_watch_that_ends_in_an_error_has_its_trace() -> None:
    """What was seen before an exception is kept, and the exception goes on."""
    probe = Probe(FILE)
    with pytest.raises(ZeroDivisionError), probe.watch("first"):
        candidate("def f(x):\n    x.item()\n    return 1 / 0")(torch.ones(()))
    assert crossed(probe, "first").reads == (Read("cpu", 2),)


def test_each_watch_is_for_itself() -> None:
    """Several watches have several traces; what happens between them is in none."""
    probe, x = Probe(FILE), torch.ones(2)
    with probe.watch("one"):
        torch.add(x, x)
    torch.mul(x, x)
    with probe.watch("two"):
        torch.sub(x, x)
    names = {name: [op.name for op in crossed(probe, name).ops] for name in probe.traces}
    assert names == {"one": ["aten.add"], "two": ["aten.sub"]}


# -------------------------------------------------------------------------------------------- attempt and describe


def test_an_attempt_tells_what_was_returned() -> None:
    """A call that succeeds gives its value."""
    assert Probe(FILE).attempt(candidate("def f(x, *, y): return x + y"), 1, y=2) == {"returned": 3}


def test_an_attempt_tells_what_was_raised() -> None:
    """A call that fails gives the exception's types, its own first, its message, and the candidate's line."""
    told = Probe(FILE).attempt(
        candidate(
            """
            class Mine(KeyError):
                pass


            def f():
                raise Mine("no")
            """
        )
    )
    assert told == {"raised": ["Mine", "KeyError", "LookupError", "Exception"], "message": "'no'", "line": 6}


def test_an_attempt_does_not_hold_what_ends_the_program() -> None:
    """`sys.exit` is no result of a call."""
    with pytest.raises(SystemExit):
        Probe(FILE).attempt(candidate("def f(): raise SystemExit(3)"))


def test_an_error_outside_of_the_candidates_file_has_no_line() -> None:
    """What fails elsewhere is not blamed on a line of the candidate's."""
    told = Probe(FILE).attempt(int, "x")
    assert told["line"] is None


def test_a_tensor_is_described_without_its_values() -> None:
    """Type, device, dtype, shape and what autograd knows are told; of anything else the type's name."""
    probe = Probe(FILE)
    assert probe.describe(torch.ones(2, 3, dtype=torch.bfloat16)) == {
        "type": "Tensor",
        "device": "cpu",
        "dtype": "bfloat16",
        "shape": [2, 3],
        "requires_grad": False,
        "is_leaf": True,
    }
    assert probe.describe(torch.nn.Parameter(torch.empty(1, device="meta"))) == {
        "type": "Parameter",
        "device": "meta",
        "dtype": "float32",
        "shape": [1],
        "requires_grad": True,
        "is_leaf": True,
    }
    assert probe.describe([torch.ones(1)]) == {"type": "list"}


def test_an_error_is_described_by_its_frames() -> None:
    """An exception's frames in the candidate's file are told from the outermost to the innermost."""
    function = candidate(
        """
        def f():
            g()


        def g():
            raise ValueError("x" * 5000)
        """
    )
    with pytest.raises(ValueError, match="x") as raised:
        function()
    told = describe_error(raised.value, FILE)
    assert told["frames"] == [[2, "f"], [6, "g"]]
    assert told["line"] == 6
    assert told["message"] == "x" * 4000


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        {"copies": [["cpu", "meta", 1]]},
        {"copies": [["cpu", "meta", "many", 1]]},
        {"reads": [["cpu", "first"]]},
        {"ops": [[1, [], None, "cpu", False, False, 1]]},
        {"ops": [["aten.add", 7, None, "cpu", False, False, 1]]},
        {"live": [1]},
        {"peak": {"cpu": 1.5}},
        {"warnings": [[]]},
    ],
    ids=str,
)
def test_what_is_no_trace_is_refused(told: Any) -> None:
    """The judge takes from the sandbox only what has the shape of a trace."""
    whole = {"copies": [], "reads": [], "ops": [], "live": {}, "peak": {}, "warnings": [], "autocast_left_on": False}
    assert read_trace(whole) == Trace()
    with pytest.raises(wire.FrameError, match=r"^no trace: "):
        read_trace(whole | told if told else told)
