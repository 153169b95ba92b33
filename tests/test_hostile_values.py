"""Whatever a scenario's answer is made into on its way, a check of the default bank passes or fails, and never breaks.

The answers of a right solution are taken once. Then the checks are made over them again and again, without a sandbox,
each time with one part of an answer put in another's place: a value of another type, a number out of range, a tensor of
another shape. A check that raised anything but a failure would turn a wrong answer into a fault of the judge's.
"""

import importlib.util
import inspect
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from proctorch import wire
from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.devices import VIRTUAL
from proctorch.judge.evidence import Copy, Ended, Evidence, Read, Trace, Warned
from proctorch.judge.plan import Job
from proctorch.judge.play import Play
from proctorch.judge.sandbox import Sandbox
from proctorch.judge.submission import Submission
from proctorch.wire import Named, Opaque, Received

BANK = Bank.load(Path(__file__).parents[1])
#: At each place of an answer, so many things are put; and of each question, checks are made over so many answers.
THINGS = 2
TRIES = 150
_INF, _NAN = float("inf"), float("nan")


def _received(tensor: torch.Tensor, device: str = "cuda:0") -> Received:
    return Received(tensor, device, requires_grad=True, is_leaf=False)


#: What is put in the place of a part of an answer.
HOSTILE: list[Any] = [
    *(None, True, False, 0, 1, -1, 7, 1 << 62, -(1 << 4095), 0.0, -0.5, 1e308, 5e-324, _INF, -_INF, _NAN),
    *("", "x", "cuda:0", "half \ud800\x1b[31m\n\x00", "9" * 5000, b"", b"\xff"),
    *([], (), {}, [[]], [{}], [None], [[1], 2], (_NAN,), {None: 1}, {1: 2, (1, 2): []}, {"device": []}, {"text": {}}),
    [[[[]]]] * 40,
    [{"raised": 1, "returned": [], "items": None, "device": {}, "in_use": "much", "done": 2}] * 9,
    {"raised": None, "returned": None, "device": None, "dtype": [], "shape": 3, "items": [{}]},
    *(Opaque("x\ny"), Opaque(""), Named("torch.device", "cuda:x"), Named("torch.dtype", "no"), Named("", "")),
    *(Named("torch.device", ":"), Named("torch.device", "cuda:" + "9" * 90), [Named("torch.dtype", "a,b")]),
    _received(torch.tensor(0.0)),
    _received(torch.tensor(_NAN)),
    _received(torch.tensor([1 + 2j, complex(_NAN, 1)])),
    _received(torch.zeros(0)),
    _received(torch.zeros(0, 3)),
    _received(torch.zeros(2, 0, 4, dtype=torch.uint8)),
    _received(torch.ones((1,) * 32)),
    _received(torch.tensor([True, False]), "cpu"),
    _received(torch.tensor([1 << 63], dtype=torch.uint64), ""),
    _received(torch.ones(3, 2, dtype=torch.float8_e5m2), "meta"),
    [_received(torch.ones(2)), _received(torch.ones(3, dtype=torch.complex64))],
    {"gain": _received(torch.ones(2)), "0.weight": _received(torch.ones(2))},
]
_COPY = Copy("cpu", "cuda:0", (1 << 63) - 1, 10_000_000)
#: What is put in the place of what the probe saw.
SEEN: list[Trace] = [
    Trace(),
    Trace(
        copies=(_COPY, replace(_COPY, source="", line=None)),
        reads=(Read("cuda:0", None), Read("\x1b", 0)),
        live={"cpu": 0},
        peak={"cpu": (1 << 63) - 1, "cuda:0": 0},
        warnings=(Warned("", "", None), Warned("x\n" * 999, "\ud800", 3)),
        autocast_left_on=True,
    ),
]


@dataclass(frozen=True)
class Call:
    """A check with one set of its parameters."""

    check: str
    function: Callable[..., None]
    values: dict[str, Any]


def calls_of(question: Question) -> list[Call]:
    """All checks of a question's grader, one for each of their parametrised cases."""
    spec = importlib.util.spec_from_file_location(f"hostile_{question.module}", question.tests)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    calls = []
    for check in question.checks:
        function = getattr(module, check.test)
        marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
        for case in itertools.product(*(mark.args[1] for mark in marks)):
            values: dict[str, Any] = {}
            for mark, given in zip(marks, case, strict=True):
                if isinstance(mark.args[0], str) and "," not in mark.args[0]:
                    values[mark.args[0]] = given
                else:
                    values.update(zip(mark.args[0], given, strict=True))
            calls.append(Call(check.test, function, values))
    return calls


class Replay:
    """Makes checks over answers that are there already. `spoil` has the answers that are other ones now."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._kept: dict[tuple[str, bytes], Evidence] = {}
        self.spoilt: dict[tuple[str, bytes], Evidence] = {}
        self.used: dict[tuple[str, bytes], Evidence] = {}

    def run(self, scenario: str, /, **inputs: Any) -> Evidence:
        key = (scenario, wire.encode(inputs))
        if key not in self._kept:
            self._kept[key] = self._play.evidence(scenario, inputs)
            assert self._kept[key].ended is Ended.ANSWERED
        self.used[key] = self._kept[key]
        return self.spoilt.get(key, self._kept[key])

    def make(self, call: Call) -> bool:
        """Whether the check passes. Whatever it raises but a failed demand is passed on."""
        fixtures = {
            "run": self.run,
            "device": VIRTUAL,
            "budget": self._play.job.question.budget,
            "seed": 1234,
            "shared_seed": 1234,
        }
        wanted = {name: fixtures[name] for name in inspect.signature(call.function).parameters if name in fixtures}
        try:
            call.function(**wanted, **call.values)
        except AssertionError:
            return False
        return True


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places in an answer: of a list's items the first and the last."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, (list, tuple)):
        for at in sorted({0, len(value) - 1} if value else ()):
            yield from places(value[at], (*path, at))


def put(value: Any, path: tuple[Any, ...], what: Any) -> Any:
    """The answer with something else at a place."""
    if not path:
        return what
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = put(value[path[0]], path[1:], what)
    return type(value)(changed)


def spoilt_answers(evidence: Evidence, dice: random.Random) -> list[Evidence]:
    """The answer with some hostile things at every place, and with other traces."""
    answers = [
        replace(evidence, value=put(evidence.value, path, what))
        for path in places(evidence.value)
        for what in dice.sample(HOSTILE, THINGS)
    ]
    return [
        *answers,
        replace(evidence, traces={}),
        *(replace(evidence, traces=dict.fromkeys(evidence.traces, seen)) for seen in SEEN),
    ]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(("torch._dynamo",), virtual=True) as sandbox:
        yield sandbox


@pytest.mark.parametrize("question", BANK.questions, ids=lambda question: question.id)
def test_a_spoilt_answer_never_breaks_a_check(sandbox: Sandbox, question: Question) -> None:
    """Each check of the default bank holds for a right answer, and passes or fails over every spoilt one."""
    submission = Submission(min(question.solutions.glob("accepted/*.py")))
    play = Play(Job(question, submission, VIRTUAL), lambda: sandbox, 1)
    try:
        replay = Replay(play)
        dice, pairs = random.Random(5), []
        for call in calls_of(question):
            replay.used = {}
            assert replay.make(call), call
            pairs += [(call, key, answer) for key, used in replay.used.items() for answer in spoilt_answers(used, dice)]
    finally:
        play.close()
    for call, key, answer in dice.sample(pairs, min(TRIES, len(pairs))):
        replay.spoilt = {key: answer}
        try:
            replay.make(call)
        except Exception as error:
            raise AssertionError(f"{call.check}{call.values} breaks over {answer.value!r}") from error
