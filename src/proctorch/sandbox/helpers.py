"""A submission's helper files as modules: imported from memory, under their own names, and never in place of others."""

import contextlib
import importlib.abc
import importlib.machinery
import io
import linecache
import sys
import types
from collections.abc import Iterable, Sequence
from importlib.util import decode_source


def install(files: Iterable[tuple[str, bytes]]) -> frozenset[str]:
    """Makes modules of files, each a relative name and a content; returns the names.

    They are asked for last: what Python or an installed package has under a name stays what it is.
    """
    sources = dict(files)
    for name, content in sources.items():
        remember(name, content)
    if sources:
        sys.meta_path.append(_Files(sources))
    return frozenset(sources)


def remember(file: str, source: bytes) -> None:
    """Shows `source` to whoever asks for the lines of `file`: tracebacks, `inspect`, `torch.jit`."""
    text = source.decode("utf-8", "replace")
    with contextlib.suppress(SyntaxError, ValueError, LookupError):  # an encoding that the compiler will refuse
        text = decode_source(source)
    # Not splitlines: a form feed ends no line of Python.
    linecache.cache[file] = (len(text), None, io.StringIO(text).readlines(), file)


class _Files(importlib.abc.SourceLoader):
    """Finds and loads modules among files in memory: an entry of `sys.meta_path`."""

    def __init__(self, sources: dict[str, bytes]) -> None:
        self._sources = sources

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - what Python calls it with; a full name is enough here
        target: types.ModuleType | None = None,  # noqa: ARG002 - as above
    ) -> importlib.machinery.ModuleSpec | None:
        stem = fullname.replace(".", "/")
        for name, is_package in ((f"{stem}/__init__.py", True), (f"{stem}.py", False)):
            if name in self._sources:
                spec = importlib.machinery.ModuleSpec(fullname, self, origin=name, is_package=is_package)
                spec.has_location = True
                return spec
        if any(name.startswith(f"{stem}/") for name in self._sources):  # a package without an __init__.py
            return importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        return None

    def get_filename(self, fullname: str) -> str:
        spec = self.find_spec(fullname, None)
        if spec is None or spec.origin is None:
            raise ImportError(f"no helper file of the name {fullname}", name=fullname)
        return spec.origin

    def get_data(self, path: str) -> bytes:
        if path not in self._sources:
            raise FileNotFoundError(path)  # its compiled form: there is none
        return self._sources[path]
