"""A submission's helper files: what it imports of the files beside it, and what those import."""

import ast
import functools
import site
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder

MAX_HELPERS = 64
#: Bytes of all of them together.
MAX_HELPER_BYTES = 1 << 20
#: Names that are looked for: a source may hold hundreds of thousands.
_MAX_NAMES = 2_000
_IMPORTERS = {"import_module", "__import__"}

Helpers = tuple[tuple[str, bytes], ...]


class Refused(Exception):
    """There is such a file, but it is not taken. The text says why."""


def find_helpers(source: bytes, own: str, read: Callable[[str], bytes | None]) -> tuple[Helpers, tuple[str, ...]]:
    """The helper files of a submission, sorted by name, and what is to be said about them, a line each.

    `own` is the submission's file name. `read` gives the content of a file of the submission's folder by its relative
    name, such as `tools/shapes.py`: None if there is none, Refused if it is none to take. Only files that the source
    imports are asked for, and what those import in turn. A file whose name Python or an installed package has is not
    taken: `import random` means Python's own.
    """
    search = _Search(own, read)
    search.run(source)
    return tuple(sorted(search.found.items())), tuple(search.notes)


@functools.cache
def is_taken(name: str) -> bool:
    """Whether a module of this name is Python's own or installed, so that no submission's file can have it."""
    if name in sys.stdlib_module_names or name in {"proctorch", "__main__"}:
        return True
    return PathFinder.find_spec(name, site.getsitepackages()) is not None


class _Search:
    def __init__(self, own: str, read: Callable[[str], bytes | None]) -> None:
        self._own = own
        self._read = read
        self._asked: set[str] = set()
        #: Sources that are still to be looked through, with the package that each is in.
        self._open: list[tuple[bytes, tuple[str, ...]]] = []
        self.found: dict[str, bytes] = {}
        self.notes: list[str] = []

    def run(self, source: bytes) -> None:
        self._open.append((source, ()))
        while self._open:
            for name in _imported(*self._open.pop()):
                self._want(name)
        if self.found:
            self.notes.insert(0, f"with its helper file{'s' * (len(self.found) > 1)} {', '.join(sorted(self.found))}")

    def _want(self, module: str) -> None:
        parts = module.split(".")
        if module in self._asked or len(self._asked) >= _MAX_NAMES or not all(map(str.isidentifier, parts)):
            return
        self._asked.add(module)
        for end in range(1, len(parts) + 1):
            stem, package = "/".join(parts[:end]), tuple(parts[:end])
            taken = end == 1 and is_taken(parts[0])
            if self._take(f"{stem}/__init__.py", package, taken):
                continue
            if self._take(f"{stem}.py", package[:-1], taken) or taken:
                return

    def _take(self, name: str, package: tuple[str, ...], taken: bool) -> bool:
        """Whether there is such a file; if so, it is taken if it may be."""
        if name in self.found or name == self._own:
            return True
        try:
            content = self._read(name)
            if content is None:
                return False
            if taken:
                raise Refused("Python has a module of that name, or a package that is installed")
            if len(self.found) >= MAX_HELPERS:
                raise Refused(f"a submission has at most {MAX_HELPERS} helper files")
            if sum(map(len, self.found.values())) + len(content) > MAX_HELPER_BYTES:
                raise Refused(f"helper files have at most {MAX_HELPER_BYTES:,} bytes together")
        except Refused as reason:
            if len(self.notes) < MAX_HELPERS:
                self.notes.append(f"{name} is not taken along: {reason}")
            return True
        self.found[name] = content
        self._open.append((content, package))
        return True


def _imported(source: bytes, package: tuple[str, ...]) -> Iterator[str]:
    """The dotted names that a module imports, or may: `from a import b` may mean the module `a.b`."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # it will not be imported either
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, level):
                above = package[: len(package) - (level or 1) + 1] if level else ()
                if level and not above:
                    continue
                base = ".".join((*above, *([module] if module else [])))
                yield base
                yield from (f"{base}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(called) | ast.Attribute(attr=called), args=[ast.Constant(str() as name), *_]):
                if called in _IMPORTERS:
                    yield unicodedata.normalize("NFKC", name)
            case _:
                pass
