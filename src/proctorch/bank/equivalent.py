"""`equivalent.yaml`, beside a question's solutions: mutants of them that are right too, each with the reason."""

from dataclasses import dataclass

from proctorch.bank import yaml_nodes
from proctorch.bank.question import Question
from proctorch.bank.text import Fault, shortened
from proctorch.errors import BankError, Diagnostic

#: The file's name, in the folder of a question's solutions.
EQUIVALENT = "equivalent.yaml"
_KEYS = ("solution", "mutant", "reason")


@dataclass(frozen=True)
class Equivalent:
    """One mutant that no grader can tell from its original."""

    #: The file's name in `accepted/`.
    solution: str
    #: The mutant's name: `before → after`.
    mutant: str
    reason: str
    #: Where it is written, counted from 1.
    line: int


def read_equivalent(question: Question) -> tuple[Equivalent, ...]:
    """What the question's file declares; nothing if it has none. BankError with every fault of the file."""
    path = question.solutions / EQUIVALENT
    if not path.is_file():
        return ()
    found, faults = parse_equivalent(path.read_bytes())
    if faults:
        raise BankError([Diagnostic(str(path), each.line, each.column, each.message) for each in faults])
    return found


def parse_equivalent(content: bytes) -> tuple[tuple[Equivalent, ...], tuple[Fault, ...]]:
    """The entries of a file's content, and its faults."""
    document = yaml_nodes.read(content)
    if isinstance(document, Fault):
        return (), (document,)
    faults = [*document.faults]
    entries = document.data.get("equivalent")
    if [*document.data] != ["equivalent"] or not isinstance(entries, list):
        return (), (*faults, Fault(1, 1, "is one list: `equivalent:`, then `- {solution: …, mutant: …, reason: …}`"))
    found: list[Equivalent] = []
    seen: dict[tuple[str, str], int] = {}
    for index, entry in enumerate(entries):
        line, column = document.place(("equivalent", index))
        if not isinstance(entry, dict) or sorted(entry) != sorted(_KEYS) or not _texts(entry):
            faults.append(Fault(line, column, f"an entry has three texts: {', '.join(_KEYS)}"))
            continue
        read = Equivalent(entry["solution"], entry["mutant"], entry["reason"], line)
        if (first := seen.setdefault((read.solution, read.mutant), line)) != line:
            told = shortened(read.mutant)
            faults.append(Fault(line, column, f"`{told}` is declared twice, first on line {first}; keep one"))
        found.append(read)
    return tuple(found), tuple(faults)


def _texts(entry: dict[str, object]) -> bool:
    return all(isinstance(entry[key], str) and str(entry[key]).strip() for key in _KEYS)
