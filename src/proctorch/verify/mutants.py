"""One-change mutants of a solution, each with a name that says what was done (see `operators`)."""

import ast
import difflib
import itertools
from dataclasses import dataclass, field

from proctorch.verify.operators import changed

_NOTHING, _GONE = "(nothing)", "(gone)"
#: Characters of a change that is told whole, and around one that is not.
_LONG, _CONTEXT = 90, 30


@dataclass(frozen=True)
class Mutant:
    """A source with one change."""

    #: Where it is in the original, counted from 1.
    line: int
    #: The lines concerned, as `before → after`; the same as long as those lines are, wherever they stand.
    name: str
    source: str = field(repr=False)


def mutants(source: str) -> list[Mutant]:
    """All mutants of Python source, in the order of their lines. None is the same program as another or as `source`."""
    seen = {_normal(source)}
    found: list[Mutant] = []
    names: dict[str, int] = {}
    for code in changed(source):
        try:
            normal = _normal(code)
        except SyntaxError:
            continue
        if normal in seen:
            continue
        seen.add(normal)
        line, name = _describe(source, code)
        names[name] = names.get(name, 0) + 1
        told = name if names[name] == 1 else f"{name} ({names[name]})"
        found.append(Mutant(line, told, code))
    return sorted(found, key=lambda each: each.line)


def _normal(source: str) -> str:
    """The same text for programs that do the same as far as the text alone tells."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            while node.body and _ends_anyway(node.body[-1]):
                node.body.pop()
            node.body = node.body or [ast.Pass()]
    return ast.unparse(tree)


def _ends_anyway(last: ast.stmt) -> bool:
    if isinstance(last, ast.Return):
        return last.value is None or (isinstance(last.value, ast.Constant) and last.value.value is None)
    return isinstance(last, ast.Pass)


def _describe(source: str, code: str) -> tuple[int, str]:
    """The first line that differs, and the change in words: without comments, in one style of quotes and brackets."""
    [(first, *_), *_] = _differences(source.splitlines(), code.splitlines())
    before, after = (ast.unparse(ast.parse(each)).splitlines() for each in (source, code))
    places = _differences(before, after)
    if len(places) == 2 and _exchanged(before, after, *places):
        (start, _, low, _), (_, end, _, high) = places
        places = [(start, end, low, high)]
    parts = [_arrow(_joined(before[start:end]), _joined(after[low:high])) for start, end, low, high in places]
    return min(first + 1, len(source.splitlines())), " | ".join(parts)


def _exchanged(before: list[str], after: list[str], *places: tuple[int, int, int, int]) -> bool:
    """Whether what goes at one place comes at the other."""
    gone = [_joined(before[start:end]) for start, end, _, _ in places]
    new = [_joined(after[low:high]) for _, _, low, high in places]
    return new == gone[::-1]


def _arrow(before: str, after: str) -> str:
    """Long texts are cut to what differs and a little around it."""
    if before == after:
        return f"{before} → the same, in another block"
    if before and after and max(len(before), len(after)) > _LONG:
        head = _alike(before, after)
        tail = min(_alike(before[::-1], after[::-1]), len(before) - head, len(after) - head)
        before, after = (_around(each, head, len(each) - tail) for each in (before, after))
    return f"{before or _NOTHING} → {after or _GONE}"


def _alike(first: str, second: str) -> int:
    """How many characters are the same at their beginnings."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return sum(1 for _ in same)


def _around(text: str, start: int, end: int) -> str:
    low, high = max(0, start - _CONTEXT), end + _CONTEXT
    return ("…" if low else "") + text[low:high] + ("…" if high < len(text) else "")


def _joined(lines: list[str]) -> str:
    return "; ".join(line.strip() for line in lines if line.strip())


def _differences(before: list[str], after: list[str]) -> list[tuple[int, int, int, int]]:
    """Where lines differ: of both, the first and the one after the last. Indentation counts where nothing else does."""
    first, second = ([line.strip() for line in lines] for lines in (before, after))
    if first == second:
        first, second = before, after
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    return [(start, end, low, high) for kind, start, end, low, high in matcher.get_opcodes() if kind != "equal"]
