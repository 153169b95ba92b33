"""A team's `proctorch.yaml`, beside the bank's folders: what is decided once for all its sheets."""

from pathlib import Path
from typing import Any

from proctorch.bank import yaml_nodes
from proctorch.bank.text import Fault, nearest, shortened
from proctorch.bank.yaml_nodes import Document
from proctorch.errors import BankError, Diagnostic

FILE = "proctorch.yaml"
_KEYS = ("schema", "sheet")


class Team:
    """What the file says. Without a file it says nothing."""

    def __init__(self, path: Path, document: Document | None) -> None:
        self.path = path
        self._document = document
        #: The settings of sheets by name, as they are written.
        self.sheet: dict[str, Any] = document.data.get("sheet", {}) if document else {}

    def fault(self, name: str, told: str) -> BankError:
        """The error that says what is wrong with a setting, and where."""
        assert self._document
        return BankError([Diagnostic(str(self.path), *self._document.place(("sheet", name)), f"{name}: {told}")])


def read_team(root: Path) -> Team:
    """The file of the bank whose folder is `root`. BankError with its faults, if it has some."""
    path = root / FILE
    if not path.is_file():
        return Team(path, None)
    try:
        document = yaml_nodes.read(path.read_bytes())
    except OSError as error:
        raise BankError([Diagnostic(str(path), 1, 1, f"cannot be read: {error.strerror}")]) from None
    if isinstance(document, Fault):
        raise BankError([Diagnostic(str(path), *document)])
    faults = [Diagnostic(str(path), *each) for each in document.faults]
    data = document.data
    for key in data:
        if key not in _KEYS:
            told = f"unknown key `{shortened(key)}`{nearest(key, _KEYS) or '; the keys here are schema and sheet'}"
            faults.append(Diagnostic(str(path), *document.place((key,)), told))
    if data.get("schema") != 1 or type(data.get("schema")) is not int:
        faults.append(Diagnostic(str(path), *document.place(("schema",)), "write `schema: 1`"))
    if not isinstance(data.get("sheet", {}), dict):
        faults.append(Diagnostic(str(path), *document.place(("sheet",)), "sheet is not `name: value` lines"))
    if faults:
        raise BankError(faults)
    return Team(path, document)
