"""What comes over the wire is hostile: each thing ends a job with a verdict, in bounded time and memory.

Answers of every wrong shape are read without a sandbox; those that are wrong in when and how they are sent come from a
process that sends them.
"""

import select
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctorch import wire
from proctorch.bank.bank import Bank
from proctorch.bank.question import Limits
from proctorch.devices import CPU
from proctorch.judge import play as play_module
from proctorch.judge.evidence import Ended, Evidence
from proctorch.judge.grade import Place
from proctorch.judge.plan import Job
from proctorch.judge.play import Play
from proctorch.judge.sandbox import Sandbox
from proctorch.judge.submission import Submission
from proctorch.judge.supervise import Process, Stopped
from proctorch.judge.testimony import read_load, read_play, whereabouts
from proctorch.wire import Named, Opaque, Received

QUESTION = Bank.load(Path(__file__).parent / "bank").questions[0]
GARBLED = "sent the judge something that is no answer"
_fuzz = settings(
    derandomize=True,
    deadline=None,
    max_examples=250,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def read_loaded(answer: dict[str, Any]) -> Evidence:
    """What is read in an answer to `load`."""
    return read_load(answer, QUESTION, confined=True)[0]


def played(answer: dict[str, Any]) -> Evidence:
    """What is read in an answer to `play`."""
    return read_play(answer, QUESTION.limits, confined=True)


# ---------------------------------------------------------------------------------------------------- what is sent

RAISED: dict[str, Any] = {
    "types": ["ValueError", "Exception"],
    "message": "bad",
    "frames": [[7, "double"]],
    "line": 7,
    "limit": "",
    "trace": "…",
}
TRACE: dict[str, Any] = {
    "copies": [["cpu", "cuda:0", 4, 7]],
    "reads": [["cuda:0", None]],
    "ops": [["aten.mm", ["float32"], "float32", "cpu", False, True, 2]],
    "live": {"cpu": 4},
    "peak": {"cpu": 8},
    "warnings": [["UserWarning", "old", 3]],
    "autocast_left_on": False,
}
PLAYED: dict[str, Any] = {"value": [1], "traces": {"main": TRACE}, "moments": [[0.5, 3, 0]]}
BROKE: dict[str, Any] = {"raised": RAISED, "touched": True, "traces": {}, "moments": []}
LOADED: dict[str, Any] = {"functions": [["double", 4]], "entry": {"double": {}}}
FORMS = [
    PLAYED,
    BROKE,
    LOADED,
    {"invalid": RAISED},
    {"functions": [], "raised": RAISED},
    {"functions": [["twice", 1]], "entry": {"double": {"problem": "missing"}}},
    {"functions": [], "entry": {"double": {"problem": "parameters", "signature": "(x, /)"}}},
]

_anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([1 << 4095, -(1 << 63), 1e308, float("nan"), float("inf")])
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["\ud800", "x" * 100_000, "line\nline", b"\x00", Opaque("x"), Named("torch.dtype", "no")])
    | st.just(Received(torch.ones(2), "cpu", requires_grad=False, is_leaf=True)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an answer but the whole, which is a dict before it is read."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def put(value: Any, path: tuple[Any, ...], what: Any) -> Any:
    """The answer with something else at a place; without that place if it is `...`."""
    changed = value.copy()
    if len(path) > 1:
        changed[path[0]] = put(value[path[0]], path[1:], what)
    elif what is ...:
        del changed[path[0]]
    else:
        changed[path[0]] = what
    return changed


PLACES = [(form, path) for form in FORMS for path in places(form)]


def read(answer: dict[str, Any]) -> list[Evidence]:
    """The evidence in an answer, to whatever it is one."""
    return [read_loaded(answer), played(answer)]


@_fuzz
@given(st.sampled_from(PLACES), _anything | st.just(...))
def test_an_answer_of_another_shape_is_evidence(where: tuple[dict[str, Any], tuple[Any, ...]], what: Any) -> None:
    """An answer with anything in the place of a part of it, or without that part, is read or refused; what is told of
    it is one line, and its line is a line.
    """
    form, path = where
    for evidence in read(put(form, path, what)):
        assert "\n" not in evidence.reason
        assert len(evidence.reason) < 1000
        assert evidence.place is None or 0 <= evidence.place.line <= 1 << 24
        assert evidence.place is None or len(evidence.place.function) <= 301
        assert len(evidence.detail) <= 20_000


@_fuzz
@given(st.dictionaries(st.sampled_from([*PLAYED, *BROKE, *LOADED, "invalid", "broken"]), _anything, max_size=6))
def test_an_answer_of_no_shape_is_evidence(answer: dict[str, Any]) -> None:
    """A dict with anything in it is read or refused, and nothing else happens."""
    assert {type(each) for each in read(answer)} == {Evidence}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (put(BROKE, ("raised", "line"), 1 << 70), f"{GARBLED} (ValueError)"),
        (put(BROKE, ("raised", "frames", 0, 0), -1), f"{GARBLED} (ValueError)"),
        (put(BROKE, ("raised", "frames", 0, 0), True), f"{GARBLED} (TypeError)"),
        (put(BROKE, ("raised", "limit"), 1), f"{GARBLED} (TypeError)"),
        (put(PLAYED, ("moments", 0, 0), 1 << 4000), f"{GARBLED} (FrameError)"),
        (put(PLAYED, ("moments", 0, 0), float("nan")), f"{GARBLED} (FrameError)"),
        (put(PLAYED, ("traces", "main", "copies", 0, 2), 1 << 4000), f"{GARBLED} (FrameError)"),
        (put(PLAYED, ("traces", "main", "copies", 0, 3), 2**61 - 1), f"{GARBLED} (FrameError)"),
        (put(PLAYED, ("value",), ...), f"{GARBLED} (KeyError)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_numbers_that_cannot_be_are_refused(answer: dict[str, Any], reason: str) -> None:
    """A line, a size or a time that no program has, which sums and plots would trip over, makes an answer none."""
    evidence = played(answer)
    assert (evidence.ended, evidence.reason) == (Ended.GARBLED, reason)


def test_a_long_message_is_cut() -> None:
    """Of a megabyte in many lines, told as the message, the name and the traceback, the candidate reads a line."""
    long = "word\n" * 200_000
    told = RAISED | {"message": long, "trace": long, "frames": [[7, long]], "types": [long]}
    evidence = read_loaded({"invalid": told})
    assert evidence.reason == f"it is not valid Python: {'word ' * 60}…"
    assert evidence.place == Place(7, f"{'word ' * 60}…")
    assert len(played(BROKE | {"raised": told}).detail) == 20_000


def test_a_traceback_of_junk_is_read_in_time() -> None:
    """A text that begins the name of a file again and again and never ends it, which would take minutes if the end of
    each were looked for in all of it, has no line.
    """
    assert whereabouts('File "' * 50_000, "double_it.py") is None
    assert whereabouts('File "a" b.py", line 3 in f', 'a" b.py') == Place(3, "f")


# ---------------------------------------------------------------------------------------------------- how it is sent


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


def loaded(sandbox: Sandbox, source: str) -> Process:
    """A process that has loaded a submission, whose answers go to the descriptor 4."""
    process = sandbox.start(Limits(output=1 << 20))
    answer = process.ask(request(source), 30.0)
    assert answer["entry"] == {"double": {}}
    return process


def request(source: str) -> dict[str, Any]:
    return {
        "op": "load",
        "file": "double_it.py",
        "module": "double_it",
        "source": source.encode(),
        "helpers": (),
        "entry": {"double": [["x", None, False]]},
        "seed": 1,
    }


def asked_in_vain(process: Process, seconds: float = 30.0) -> Stopped:
    """Why there is no answer."""
    with pytest.raises(Stopped) as stopped:
        process.ask(request(""), seconds)
    assert not process.alive
    return stopped.value


LATE = """
import os, sys, threading, time
def late():
    {wait}
    os.write(4, sys.modules["proctorch.wire"].encode({{"id": {number}, "value": 7, "traces": {{}}}}))
{start}
def double(x): pass
"""


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_answer_before_the_question_is_refused(sandbox: Sandbox, number: int) -> None:
    """What a thread has written between two questions ends the job, even if it would be the next answer."""
    source = LATE.format(number=number, wait="time.sleep(0.05)", start="threading.Thread(target=late).start()")
    process = loaded(sandbox, source)
    assert select.select([process._pipes.answers], [], [], 60.0)[0]
    stopped = asked_in_vain(process)
    assert (stopped.ended, stopped.reason) == (Ended.GARBLED, "sent the judge something that it had not asked for")


SENDER = """
import os, sys, time
wire = sys.modules["proctorch.wire"]
answer = wire.encode({"id": 1, "functions": [["double", 1]], "entry": {"double": {}}})
def send(data):
    while data:
        data = data[os.write(4, data):]
def frame(header, body=b""):
    return (len(header) + len(body) + 4).to_bytes(8) + len(header).to_bytes(4) + header + body
"""
LATE_SECONDS = "took longer than 0.5 seconds and was stopped"
KEYS = """[b'[{"$i":"%#x"},0]' % (k * (2**61 - 1)) for k in range(30_000)]"""


@pytest.mark.parametrize(
    ("sent", "ended", "reason"),
    [
        ("send(answer * 2)", Ended.GARBLED, f"{GARBLED} (more than an answer)"),
        ("send(answer + b'x')", Ended.GARBLED, f"{GARBLED} (more than an answer)"),
        ("send(answer[8:] + answer)", Ended.GARBLED, f"{GARBLED} ("),
        ("send(wire.encode({'id': True}))", Ended.GARBLED, f"{GARBLED} (an answer to another question)"),
        ("send(wire.encode({'id': 1.0}))", Ended.GARBLED, f"{GARBLED} (an answer to another question)"),
        ("send(wire.encode({'id': '1'}))", Ended.GARBLED, f"{GARBLED} (an answer to another question)"),
        ("send(wire.encode({'id': 0}))", Ended.GARBLED, f"{GARBLED} (an answer to another question)"),
        ("send(wire.encode({}))", Ended.GARBLED, f"{GARBLED} (an answer to another question)"),
        ("send(wire.encode([1]))", Ended.GARBLED, f"{GARBLED} (an answer to another question)"),
        ("send(bytes(8))", Ended.GARBLED, f"{GARBLED} (no header)"),
        ("send(((64 << 20) + 1).to_bytes(8))", Ended.GARBLED, f"{GARBLED} (67,108,865 bytes)"),
        ("send(frame(b'[' * (1 << 20)))", Ended.GARBLED, f"{GARBLED} (too deep, or too many values)"),
        ("send(frame(b'9' * (1 << 20)))", Ended.GARBLED, f"{GARBLED} (a number out of range)"),
        ("send(frame(b'0', bytes((64 << 20) - 5)))", Ended.GARBLED, f"{GARBLED} (SafetensorError: "),
        (
            "send(frame(b'0', (1 << 62).to_bytes(8, 'little')))",
            Ended.GARBLED,
            f"{GARBLED} (the tensors' header is too ",
        ),
        (
            f"send(frame(b'{{\"$d\":[' + b','.join({KEYS}) + b']}}'))",
            Ended.GARBLED,
            f"{GARBLED} (a dict with more than 256 keys that are no text)",
        ),
        ("send(answer[:-1]); os.close(4)", Ended.GARBLED, "closed the channel to the judge"),
        ("send(answer[:-1]); os._exit(0)", Ended.DIED, "ended the process with exit code 0 before there was an answer"),
        ("send(answer[:-1])", Ended.TIMED_OUT, LATE_SECONDS),
        ("send((64 << 20).to_bytes(8) + bytes(1 << 20))", Ended.TIMED_OUT, LATE_SECONDS),
        ("[(os.write(4, answer[at:at + 1]), time.sleep(0.02)) for at in range(60)]", Ended.TIMED_OUT, LATE_SECONDS),
        ("send((60 << 20).to_bytes(8)); [os.write(4, b'x') for _ in range(1 << 40)]", Ended.TIMED_OUT, LATE_SECONDS),
        (
            "send((60 << 20).to_bytes(8)); [(os.write(4, b'x' * 999), os.write(1, b'y' * 99)) for _ in range(1 << 40)]",
            Ended.TOO_MUCH_OUTPUT,
            "printed more than 1 MiB and was stopped",
        ),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) and value.startswith(("send", "[(")) else "",
)
def test_each_hostile_sender_is_stopped(sandbox: Sandbox, sent: str, ended: Ended, reason: str) -> None:
    """Whatever a submission writes to the judge's channel has one end with its reason; the next one on the same fork
    server gets its answer.
    """
    process = sandbox.start(Limits(output=1 << 20))
    with pytest.raises(Stopped) as stopped:
        process.ask(request(f"{SENDER}\n{sent}\ntime.sleep(900)"), 0.5 if ended is Ended.TIMED_OUT else 30.0)
    assert not process.alive
    assert stopped.value.ended is ended
    assert stopped.value.reason.startswith(reason)
    loaded(sandbox, "def double(x): pass").close()


def test_an_answer_in_small_pieces_is_one(sandbox: Sandbox) -> None:
    """An answer that comes byte by byte, with output between the bytes, is an answer."""
    source = f"{SENDER}\nfor each in answer:\n    os.write(1, b'.')\n    os.write(4, bytes([each]))\ntime.sleep(900)"
    process = sandbox.start(Limits(output=1 << 20))
    answer = process.ask(request(source), 30.0)
    process.close()
    assert answer == {"id": 1, "functions": [["double", 1]], "entry": {"double": {}}}
    assert process.stdout.text == "." * len(wire.encode(answer))


def test_all_answers_together_have_a_limit(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers of a job are kept up to a size; those after them are not, and are charged to the submission."""
    assert play_module._MAX_ANSWERS == 256 << 20
    monkeypatch.setattr(play_module, "_MAX_ANSWERS", 4 << 20)
    source = b"import torch\ndef double(x):\n    return torch.zeros((1000, 1000), dtype=torch.uint8)\n"
    play = Play(Job(QUESTION, Submission("double_it.py", source), CPU), lambda: sandbox, 1)
    try:
        seen = [play.evidence("doubled", {"x": torch.full((1,), float(number))}) for number in range(6)]
    finally:
        play.close()
    assert [each.ended for each in seen] == [Ended.ANSWERED] * 4 + [Ended.GARBLED] * 2
    assert seen[-1].reason == "sent the judge more than 4 MiB in all"
    assert seen[-1].value is None
