"""Looks through a submission's source for what deserves a person's look: tampering, hidden code, known answers.

What is found is advice. Who wants to can hide from it, and an honest line can look like something else, so that no
verdict depends on it. The source is read, never run or imported.
"""

import ast
import functools
import io
import tokenize
import unicodedata
import warnings
from collections.abc import Iterable, Iterator

from proctorch.judge import answers, names, suspects
from proctorch.judge.grade import Flag, FlagKind
from proctorch.judge.names import Scope, resolve

#: Characters that are looked through: each costs up to 1 KiB of memory, and 30 µs.
LONGEST_SOURCE = 100_000
#: Flags of one source; the last one counts those that are left out.
MOST_FLAGS = 50
_CODE, _NAME = 100, 60

_Seen = tuple[FlagKind, str]
_Found = tuple[int, FlagKind, str]

#: Methods of a table that change it.
_CHANGES = frozenset({"update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__"})
_SETTERS = frozenset(
    f"builtins.{holder}{name}attr{tail}"
    for name in ("set", "del")
    for holder, tail in (("", ""), ("object.__", "__"), ("type.__", "__"))
)
#: Methods by which an object says what it is, whatever it is.
_POSING = frozenset({"__class__", "__torch_function__", "__torch_dispatch__", "__instancecheck__", "__subclasscheck__"})
_COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_TENSORS = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer"})
#: Calls that open the file that their argument names, and where that stands.
_OPENERS = {"builtins.open": 0, "io.open": 0, "_io.open": 0, "io.FileIO": 0, "os.listdir": 0, "os.scandir": 0}
#: As above, but the argument may as well be an open file.
_LOADERS = {"torch.load": 0, "torch.save": 1, "torch.jit.load": 0, "numpy.load": 0, "safetensors.torch.load_file": 0}
#: Calls that take an attribute's name, and where that stands.
_BY_NAME = {"builtins.getattr": 1, "builtins.hasattr": 1, "operator.attrgetter": 0}
_PATH_READERS = frozenset({"read_text", "read_bytes", "write_text", "write_bytes", "open", "iterdir", "glob", "rglob"})
_PATHS = frozenset(f"pathlib.{name}" for name in ("Path", "PosixPath", "PurePath"))
_VARIABLE_READERS = frozenset({"os.environ.get", "os.environ.setdefault", "os.getenv"})
_UNPICKLERS = frozenset(
    f"{name}.{call}" for name in ("pickle", "_pickle", "dill", "cloudpickle") for call in ("load", "loads")
)
_SYSTEM_FOLDERS = ("/proc", "/sys/", "/dev/")
_ENCODED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=_-")
_LONGEST_WORD = 120
#: Letters of other scripts, and those that they look like.
_LOOK = str.maketrans(
    "\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043e\u0440\u051b\u0455\u051d\u0445\u0443"  # Cyrillic
    "\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422\u0425"
    "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"  # Greek
    "\u0585\u0578\u057d",  # Armenian
    "acdehijlopqswxyABCEHIJKMOPSTXoABEZHIKMNOPTYXonu",
)
#: Letters that are not seen at all.
_BLANKS = frozenset("\u115f\u1160\u3164\uffa0")
#: They join and part letters in the words of some languages, and emoji.
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")


@functools.lru_cache(maxsize=8)  # a submission is graded on several devices
def audit(source: str) -> tuple[Flag, ...]:
    """The lines of a Python source that deserve a look, in their order; each kind once for a line.

    What is no Python has none: that is the verdict's to say.
    An overlong source, or one that is nested too deeply to be parsed, is one flag that says so.
    """
    lines = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(source) > LONGEST_SOURCE:
        return (_unread(lines, f"of {len(source):,} characters: too long to be looked through"),)
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse("\n".join(lines))
    except (RecursionError, MemoryError):
        return (_unread(lines, "that is too deeply nested to be read"),)
    except (SyntaxError, ValueError):
        return ()
    found: dict[tuple[int, FlagKind], str] = {}
    for line, kind, does in (*_unseen(lines), *_Audit(tree).found()):
        found.setdefault((line, kind), does)
    flags = [
        _flag(lines, line, kind, does) for (line, kind), does in sorted(found.items(), key=lambda each: each[0][0])
    ]
    if len(flags) > MOST_FLAGS:
        more = flags[MOST_FLAGS - 1 :]
        does = f"begins {len(more)} more findings that are not listed"
        flags[MOST_FLAGS - 1 :] = [_flag(lines, more[0].line, FlagKind.UNREAD, does)]
    return tuple(flags)


def _flag(lines: list[str], line: int, kind: FlagKind, does: str) -> Flag:
    code = lines[line - 1].strip() if line <= len(lines) else ""
    return Flag(kind, line, code if len(code) <= _CODE else f"{code[:_CODE]}…", does)


def _unread(lines: list[str], why: str) -> Flag:
    return _flag(lines, 1, FlagKind.UNREAD, f"begins a file {why}")


def _quote(name: str) -> str:
    """A name as it is shown."""
    return f"`{name if len(name) <= _NAME else f'{name[:_NAME]}…'}`"


class _Audit:
    """Looks at each node of a source once."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = names.read_scopes(tree)
        #: Nodes that what holds them has accounted for.
        self._seen: set[int] = set()
        self._threads: list[int] = []
        self._joins = False

    def found(self) -> Iterator[_Found]:
        for node, scope in self._nodes:
            for kind, does in self._look(node, scope):
                yield getattr(node, "lineno", 1), kind, does
        if not self._joins:
            yield from ((line, FlagKind.LATER, "starts a thread that is never joined") for line in self._threads)
        yield from answers.hard_coded(self._nodes)

    def _look(self, node: ast.AST, scope: Scope) -> Iterator[_Seen]:
        match node:
            case ast.expr():
                yield from self._expression(node, scope)
            case ast.Import():
                for alias in node.names:
                    yield from _use(alias.name, "imports")
            case ast.ImportFrom(module=str() as module, level=0):
                for alias in node.names:
                    yield from _use(module if alias.name == "*" else f"{module}.{alias.name}", "imports")
            case ast.Module() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if node.body and isinstance(node.body[0], ast.Expr):
                    self._seen.add(id(node.body[0].value))  # a docstring
                yield from _definition(node, scope)
            case ast.Assign(targets=[ast.Name(id=name)]) if scope.is_class:
                arguments = node.value.args if isinstance(node.value, ast.Lambda) else None
                yield from _method(name, arguments, node.value)
            case _:
                pass

    def _expression(self, node: ast.expr, scope: Scope) -> Iterator[_Seen]:
        match node:
            case ast.Name(ctx=ast.Load()):
                yield from self._read(node, scope)
            case ast.Attribute() | ast.Subscript():
                if isinstance(node, ast.Attribute):
                    yield from self._attribute(node.attr, node)
                loads = isinstance(node.ctx, ast.Load)
                yield from self._read(node, scope) if loads else self._store(node, scope)
            case ast.Call():
                yield from self._read(node, scope)
                yield from self._call(node, scope)
            case ast.Constant(value=str() | bytes() as value) if id(node) not in self._seen:
                yield from _text(value)
            case _:
                pass

    def _read(self, node: ast.expr, scope: Scope) -> Iterator[_Seen]:
        path = resolve(node, scope)
        if path and id(node) not in self._seen:
            yield from _use(path, "uses")

    def _attribute(self, name: str, node: ast.AST) -> Iterator[_Seen]:
        """An attribute that tells by its name alone, whatever it is an attribute of."""
        loads = not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        if name in suspects.FRAME_ATTRIBUTES:
            yield FlagKind.FRAMES, f"looks into {_quote(name)}"
        elif name == "__traceback__" and loads and id(node) not in self._seen:
            yield FlagKind.FRAMES, "reads a traceback"
        elif name == "__class__" and not loads:
            yield FlagKind.DISGUISE, "changes the class of an object"
        elif name == "daemon" and not loads:
            yield FlagKind.LATER, "makes a thread that goes on by itself"

    def _store(self, node: ast.Attribute | ast.Subscript, scope: Scope) -> Iterator[_Seen]:
        does = "deletes from" if isinstance(node.ctx, ast.Del) else "assigns into"
        if isinstance(node, ast.Attribute):
            yield from _patch(resolve(node.value, scope), node.attr, does)
            yield from _class_patch(node.value, does, scope)
            return
        table = names.namespace(node.value, scope) or resolve(node.value, scope)
        key = names.spelled(node.slice, scope)
        if table in {"os.environ", "os.environb"}:
            if key and suspects.is_variable(key):
                self._seen.add(id(node.value))
        elif table != "globals()":
            if table and suspects.kind_of(table):
                self._seen.add(id(node.value))  # one flag says it
            yield from _patch(table, key, does)

    def _call(self, node: ast.Call, scope: Scope) -> Iterator[_Seen]:
        path = resolve(node.func, scope) or ""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        first = node.args[0] if node.args else None
        if path.startswith("traceback.") or method == "with_traceback":
            self._seen.update(map(id, node.args))
        yield from self._threading(node, path, method)
        yield from self._changes(node, path, method, scope)
        yield from self._opens(node, path, method, scope)
        if path == "builtins.type" and len(node.args) == 3:
            yield from _bases([node.args[1]], scope)
        if path in _BY_NAME and len(node.args) > _BY_NAME[path]:
            yield from self._named(node, node.args[_BY_NAME[path]], scope)
        if path in _UNPICKLERS and first and names.is_literal(first, scope):
            yield FlagKind.BUILT_CODE, "unpickles a literal"
        if path == "types.FunctionType":
            yield FlagKind.BUILT_CODE, "makes a function from code"

    def _named(self, node: ast.Call, name: ast.expr, scope: Scope) -> Iterator[_Seen]:
        """An attribute that a text names."""
        yield from self._attribute(names.spelled(name, scope) or "", node)
        if names.is_built(name, scope):
            yield FlagKind.HIDDEN, "puts the name of an attribute together from pieces"

    def _threading(self, node: ast.Call, path: str, method: str) -> Iterator[_Seen]:
        """Threads that are started, and whether any is joined; a text joins too, but a list of others."""
        if method == "join" and all(isinstance(each, ast.Constant | ast.Name) for each in node.args[:1]):
            self._joins |= not (isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant))
        if path in {"threading.Thread", "threading.Timer"}:
            if any(each.arg == "daemon" and _is_true(each.value) for each in node.keywords):
                yield FlagKind.LATER, "makes a thread that goes on by itself"
            else:
                self._threads.append(node.lineno)
        elif method == "setDaemon":
            yield FlagKind.LATER, "makes a thread that goes on by itself"

    def _changes(self, node: ast.Call, path: str, method: str, scope: Scope) -> Iterator[_Seen]:
        """Calls that assign."""
        first = node.args[0] if node.args else None
        if path in _SETTERS and first:
            does = "deletes from" if "del" in path else "assigns into"
            name = names.spelled(node.args[1], scope) if len(node.args) > 1 else None
            yield from _patch(resolve(first, scope), name, does)
            yield from _class_patch(first, does, scope)
        elif path.endswith((".__setattr__", ".__delattr__")) and first:
            yield from _patch(path.rpartition(".")[0], names.spelled(first, scope), "assigns into")
        elif method in _CHANGES and isinstance(node.func, ast.Attribute):
            table = names.namespace(node.func.value, scope)
            if table and table != "globals()":
                self._seen.add(id(node.func.value))
                yield from _patch(table, None, "assigns into")
        if first and path in _VARIABLE_READERS and suspects.is_variable(names.spelled(first, scope) or ""):
            self._seen.update(map(id, ast.walk(node.func)))

    def _opens(self, node: ast.Call, path: str, method: str, scope: Scope) -> Iterator[_Seen]:
        """Files whose path is not an argument's."""
        at = _OPENERS.get(path)
        if at is not None and not (node.args and names.is_given(node.args[at], scope)):
            yield FlagKind.FILES, f"opens a file of its own choice with {_quote(path.removeprefix('builtins.'))}"
        at = _LOADERS.get(path)
        if at is not None and len(node.args) > at and names.is_literal(node.args[at], scope):
            yield FlagKind.FILES, f"opens a file of its own choice with {_quote(path)}"
        if path == "os.fdopen" and node.args and isinstance(node.args[0], ast.Constant):
            yield FlagKind.PROCESS, "opens a descriptor by its number"
        if method in _PATH_READERS and isinstance(node.func, ast.Attribute):
            holder: ast.AST | None = node.func.value
            if isinstance(holder, ast.Name):
                holder = scope.find(holder.id).value
            if _is_path(holder, scope) and isinstance(holder, ast.expr) and not names.is_given(holder, scope):
                yield FlagKind.FILES, f"opens a file of its own choice with {_quote(method)}"


def _use(path: str, does: str) -> Iterator[_Seen]:
    if kind := suspects.kind_of(path):
        yield kind, f"{does} {_quote(path.removeprefix('builtins.'))}"


def _patch(base: str | None, name: str | None, does: str) -> Iterator[_Seen]:
    if base:
        path = f"{base}.{name}" if name else base
        if not suspects.is_setting(path):
            yield FlagKind.PATCH, f"{does} {_quote(path)}"


def _class_patch(node: ast.expr, does: str, scope: Scope) -> Iterator[_Seen]:
    """`type(value).name = …` and `value.__class__.name = …`, but for a method's own instance."""
    match node:
        case ast.Call(func=func, args=[value]) if resolve(func, scope) == "builtins.type":
            pass
        case ast.Attribute(attr="__class__", value=value):
            pass
        case _:
            return
    if not (isinstance(value, ast.Name) and scope.receiver and value.id == scope.receiver):
        yield FlagKind.PATCH, f"{does} the class of a value"


def _definition(node: ast.AST, scope: Scope) -> Iterator[_Seen]:
    if isinstance(node, ast.ClassDef):
        yield from _bases(node.bases, scope)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and scope.is_class:
        yield from _method(node.name, node.args, node)


def _method(name: str, arguments: ast.arguments | None, function: ast.AST) -> Iterator[_Seen]:
    if name == "__del__":
        yield FlagKind.LATER, "runs code when an object goes, in `__del__`"
    elif name in _POSING:
        yield FlagKind.DISGUISE, f"defines {_quote(name)}"
    elif name in {"__reduce__", "__reduce_ex__"}:
        yield FlagKind.BUILT_CODE, f"says in {_quote(name)} what runs where an object is copied or loaded"
    elif name in _COMPARISONS and arguments:
        plain = [*arguments.posonlyargs, *arguments.args]
        other = plain[1].arg if len(plain) > 1 else ""
        if not any(isinstance(each, ast.Name) and each.id == other for each in ast.walk(function)):
            yield FlagKind.DISGUISE, f"compares in {_quote(name)} without a look at the other value"


def _bases(bases: Iterable[ast.expr], scope: Scope) -> Iterator[_Seen]:
    for base in bases:
        for each in base.elts if isinstance(base, ast.Tuple) else [base]:
            path = resolve(each, scope)
            if path in _TENSORS:
                yield FlagKind.DISGUISE, f"makes a class of {_quote(path)}"


def _is_path(node: ast.AST | None, scope: Scope) -> bool:
    """Whether an expression makes a path: `Path("a")`, `Path("a") / "b"`."""
    for _ in range(10):
        if isinstance(node, ast.BinOp):
            node = node.left
        elif isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call):
            if resolve(node.func, scope) in _PATHS:
                return True
            node = node.func
        elif isinstance(node, ast.Name):
            node = scope.find(node.id).value
    return False


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _text(value: str | bytes) -> Iterator[_Seen]:
    """What a literal text tells."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if text.startswith(_SYSTEM_FOLDERS) and text not in {"/dev/null", "/dev/shm"}:  # noqa: S108 - nothing is written
        yield FlagKind.FILES, f"names {_quote(text)}"
    if "pytest" in text.lower() or "proctorch" in text.lower():
        yield FlagKind.GRADER, "names the grader in a text"
    if _is_encoded(text, binary=isinstance(value, bytes)):
        yield FlagKind.HIDDEN, f"holds an encoded text of {len(text):,} characters"


def _is_encoded(text: str, *, binary: bool) -> bool:
    letters = set(text.replace("\n", ""))
    if binary and len(text) >= _LONGEST_WORD // 2 and sum(not " " <= each <= "~" for each in text) > len(text) // 4:
        return True
    if len(text) < _LONGEST_WORD // 2 or not letters <= _ENCODED:
        return False
    if letters <= set("0123456789abcdefABCDEF"):
        return len(letters) > 8
    kinds = (any(map(str.isupper, letters)), any(map(str.islower, letters)), any(map(str.isdigit, letters)))
    return len(text) >= _LONGEST_WORD and all(kinds)


def _unseen(lines: list[str]) -> Iterator[_Found]:
    """Characters that are not seen, and names that look like others."""
    if all(map(str.isascii, lines)) and not any(set(line) - _PLAIN for line in lines):
        return
    for number, line in enumerate(lines, start=1):
        for letter in line:
            if letter not in _PLAIN and _is_unseen(letter):
                yield number, FlagKind.HIDDEN, f"holds a character that is not seen, U+{ord(letter):04X}"
                break
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            if token.type == tokenize.NAME and not token.string.isascii() and (seems := _seems(token.string)):
                yield token.start[0], FlagKind.HIDDEN, f"has a name that only looks like `{seems}`"
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return


_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("\t\f")


def _is_unseen(letter: str) -> bool:
    if letter in _BLANKS or "\ufe00" <= letter <= "\ufe0d" or "\U000e0000" <= letter <= "\U000e01ef":
        return True
    return unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp"} and letter not in _JOINERS


def _seems(name: str) -> str:
    """The plain name for which another is taken; empty if it is one that people write."""
    read = unicodedata.normalize("NFKC", name)
    look = read.translate(_LOOK)
    return look if look != name and look.isascii() and len(name) > 1 else ""
