"""What the sandbox says of a submission, read as evidence. Testimony: types are checked, sizes are bounded."""

import re
from dataclasses import dataclass, replace
from typing import Any

from proctorch import wire
from proctorch.bank.question import Limits, Question
from proctorch.judge.evidence import Ended, Evidence, checked, line_number, read_moments, read_trace
from proctorch.judge.grade import Place

_SHOWN = 300
_MAX_TRACE = 20_000
#: The names are bounded, or text that begins many of them and ends none takes time with the square of its length.
_FRAME = re.compile(r'File "(.{1,255}?)", line (\d{1,9}) in (\S+)')
#: What is added to the message of an error that code brings along from a notebook.
_HINTS = {
    f"name '{name}' is not defined": f": {name} is a notebook's own, and the code runs as plain Python"
    for name in ("display", "get_ipython")
} | {
    f"'{word}' outside {where}": ": a notebook allows it at top level, plain Python does not"
    for word, where in (
        *(("await", "function"), ("async with", "async function"), ("async for", "async function")),
        ("asynchronous comprehension", "of an asynchronous function"),
    )
}
_FORBIDDEN = " (a submission has a folder of its own, and no other files, no network and no further processes)"


@dataclass(frozen=True)
class _Told:
    """An exception as the sandbox tells it, its types checked."""

    types: tuple[str, ...]
    message: str
    frames: tuple[tuple[int, str], ...]
    line: int | None
    #: Which limit was exceeded: `memory`, `processes`, `threads`, `disk`, `open_files`, or none.
    limit: str = ""
    trace: str = ""
    #: Where in a helper file it was raised, as `shapes.py, line 3`; empty if it was not.
    helper: str = ""

    @property
    def place(self) -> Place | None:
        if self.frames:
            return Place(*self.frames[-1])
        return None if self.line is None else Place(self.line, "<module>")

    @property
    def headline(self) -> str:
        text = next(iter(self.message.strip().splitlines()), "")
        name = self.types[0] if self.types else "an exception"
        hint = _HINTS.get(text, "")
        return shorten(f"{name}: {text}{hint}" if text else name) + (f" ({self.helper})" if self.helper else "")


def read_prepare(answer: dict[str, Any]) -> str:
    """Why the grader's scenarios could not be loaded, the first line for the candidate; empty if they could."""
    if "broken" not in answer:
        return ""
    told = _told(answer["broken"])
    return f"scenarios.py broke: {told.headline}\n{told.trace}"


def read_load(answer: dict[str, Any], question: Question, *, confined: bool) -> tuple[Evidence, dict[str, int]]:
    """The evidence in an answer to `load`, whatever it claims to be, and the lines where functions begin.

    `confined`: whether the sandbox forbids more than limits do.
    """
    lines: dict[str, int] = {}
    try:
        if "invalid" in answer:
            told = _told(answer["invalid"])
            reason = f"it is not valid Python: {shorten(told.message)}{_HINTS.get(told.message, '')}"
            return Evidence(Ended.INVALID, reason=reason, place=told.place), lines
        functions = [(_name(name), line_number(line)) for name, line in answer["functions"]]
        lines = dict(functions)
        if "raised" in answer:
            return _raised(_told(answer["raised"]), "at import: ", question.limits, confined=confined), lines
        problems = [
            problem
            for entry in question.entry
            if (problem := _problem(entry.name, entry.signature, answer["entry"][entry.name], functions))
        ]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        return _garbled(error), lines
    if problems:
        return Evidence(Ended.INVALID, reason="; ".join(problems)), lines
    return Evidence(Ended.ANSWERED), lines


def read_play(answer: dict[str, Any], limits: Limits, *, confined: bool) -> Evidence:
    """The evidence in an answer to `play`, whatever it claims to be."""
    try:
        traces = {checked(str, name): read_trace(told) for name, told in answer["traces"].items()}
        moments = read_moments(answer.get("moments", []))
        if "raised" not in answer:
            return Evidence(Ended.ANSWERED, value=answer["value"], traces=traces, moments=moments)
        told = _told(answer["raised"])
        if not answer["touched"] and not told.frames:
            return Evidence(Ended.JUDGE, reason=f"the scenario broke: {told.headline}", detail=told.trace)
        return replace(_raised(told, "", limits, confined=confined), traces=traces, moments=moments)
    except (TypeError, ValueError, KeyError, AttributeError, wire.FrameError) as error:
        return _garbled(error)


def _raised(told: _Told, prefix: str, limits: Limits, *, confined: bool) -> Evidence:
    if exceeded := _exceeded(told.limit, limits):
        ended, what = exceeded
        return Evidence(ended, reason=f"{prefix}{what}", place=told.place, detail=told.trace)
    if told.types[:1] == ("SystemExit",):
        reason = f"{prefix}ended the program (sys.exit)"
    elif told.place is None:
        used = f"what the code returned could not be used: {told.headline}"
        reason = f"{prefix}{used if told.types else shorten(told.message)}"
    else:
        reason = f"{prefix}{told.headline}"
    if told.types[:1] == ("PermissionError",) and confined:
        reason += _FORBIDDEN
    return Evidence(Ended.RAISED, reason=reason, place=told.place, detail=told.trace)


def shorten(text: str) -> str:
    """One line of at most a few hundred characters."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _problem(name: str, signature: str, told: Any, functions: list[tuple[str, int]]) -> str:
    """Why an entry point is not what the question asks for, in one line; empty if it is."""
    match told:
        case {"problem": "missing"}:
            found = ", ".join(f"{each} (line {line})" for each, line in functions) or "none"
            return f"it has no function `{name}`; found: {shorten(found)}"
        case {"problem": "not callable"}:
            return f"`{name}` is no function"
        case {"problem": "parameters", "signature": str() as has}:
            return f"`{name}{shorten(has)}` cannot be called as `{signature}` by place and by name"
        case {}:
            return ""
        case _:
            raise TypeError("no entry point")


def _exceeded(limit: str, limits: Limits) -> tuple[Ended, str] | None:
    """How an exception that tells of a limit ends a job, and what the candidate is told."""
    match limit:
        case "memory":
            return Ended.OUT_OF_MEMORY, f"needed more memory than the limit of {limits.memory / (1 << 30):g} GiB"
        case "threads":
            return Ended.TOO_MANY_PROCESSES, f"started more threads than the limit of {limits.threads}"
        case "processes":
            return Ended.TOO_MANY_PROCESSES, f"started more processes than the limit of {limits.processes}"
        case "disk":
            return Ended.TOO_MANY_FILES, f"wrote more files than the limit of {limits.disk / (1 << 20):g} MiB"
        case "open_files":
            return Ended.TOO_MANY_FILES, f"had more files open than the limit of {limits.open_files}"
        case _:
            return None


def _told(raised: Any) -> _Told:
    line = raised["line"]
    return _Told(
        types=tuple(_name(each) for each in raised["types"]),
        message=checked(str, raised["message"]),
        frames=tuple((line_number(number), _name(function)) for number, function in raised["frames"]),
        line=None if line is None else line_number(line),
        limit=checked(str, raised.get("limit", "")),
        trace=checked(str, raised.get("trace", ""))[-_MAX_TRACE:],
        helper=shorten(checked(str, raised.get("helper", ""))),
    )


def whereabouts(traceback: str, file: str) -> Place | None:
    """The innermost line of the candidate's file in a traceback of faulthandler's."""
    for name, line, function in _FRAME.findall(traceback):
        if name == file:
            return Place(int(line), function)
    return None


def _name(value: Any) -> str:
    return shorten(checked(str, value))


def _garbled(error: Exception) -> Evidence:
    return Evidence(Ended.GARBLED, reason=f"sent the judge something that is no answer ({type(error).__name__})")
