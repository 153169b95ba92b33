"""Signs that answers were known beforehand: tables of numbers, branches on exact values, on shapes, on seeds."""

import ast
from collections.abc import Iterable, Iterator

from proctorch.judge.grade import FlagKind
from proctorch.judge.names import Scope, resolve

#: Numbers in a literal that make it a table; fewer, where it is returned or compared with.
_TABLE, _RETURNED, _COMPARED = 24, 10, 4
#: Digits of a number, and characters of a text, that nobody meets by chance.
_DIGITS, _LETTERS = 6, 32
_SEEDS = frozenset({"torch.initial_seed", "torch.cuda.initial_seed", "torch.random.initial_seed"})
_EQUALS = frozenset({"torch.equal", "torch.allclose", "torch.isclose", "torch.testing.assert_close", "math.isclose"})
_NAMES = frozenset({"__name__", "__qualname__", "__module__", "co_name", "co_filename"})
_LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_NODES = 2_000

_Found = tuple[int, FlagKind, str]


def hard_coded(nodes: Iterable[tuple[ast.AST, Scope]]) -> Iterator[_Found]:
    """The lines that deserve a look; `nodes` are all of a source, each after the one that holds it."""
    counted: set[int] = set()
    shapes: dict[tuple[int, ...], int] = {}
    for node, scope in nodes:
        match node:
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() if id(node) not in counted:
                numbers = _count(node, counted)
                if numbers >= _TABLE:
                    yield node.lineno, FlagKind.HARD_CODED, f"holds a table of {numbers} numbers"
            case ast.Return(value=ast.expr() as value):
                numbers = max((_count(each, set()) for each in _outer_literals(value)), default=0)
                if numbers >= _RETURNED:
                    yield node.lineno, FlagKind.HARD_CODED, f"returns {numbers} numbers that are written here"
            case ast.Compare():
                yield from _compare(node, scope, shapes)
            case ast.Call(func=func) if resolve(func, scope) in _EQUALS or getattr(func, "attr", "") == "equal":
                yield from ((node.lineno, FlagKind.HARD_CODED, does) for each in node.args for does in _exact(each))
            case _:
                pass
    if len(shapes) > 1:
        yield from ((line, FlagKind.HARD_CODED, f"asks for the shape {shape}") for shape, line in shapes.items())


def _compare(node: ast.Compare, scope: Scope, shapes: dict[tuple[int, ...], int]) -> Iterator[_Found]:
    sides = [node.left, *node.comparators]
    for op, *pair in zip(node.ops, sides, sides[1:], strict=False):
        if not isinstance(op, ast.Eq | ast.In):
            continue
        for literal, other in (pair, pair[::-1]):
            shape = _sizes(literal)
            if _is_shape(other, scope):
                if len(shape) > 1:
                    shapes.setdefault(shape, node.lineno)
                continue
            if _is_name(other) and _is_text(literal) and not _is_text(literal, "__main__"):
                yield node.lineno, FlagKind.GRADER, "asks for the name of a function or a module"
            if _is_seed(other, scope) and (_is_number(literal) or isinstance(literal, _LITERALS)):
                yield node.lineno, FlagKind.HARD_CODED, "asks for a seed that it knows"
            if isinstance(op, ast.Eq) or isinstance(literal, _LITERALS):
                yield from ((node.lineno, FlagKind.HARD_CODED, does) for does in _exact(literal))


def _exact(node: ast.expr) -> Iterator[str]:
    """What is compared with, if nobody meets it by chance."""
    if isinstance(node, ast.Call) and node.args:
        node = node.args[0]  # torch.tensor([…])
    if isinstance(node, _LITERALS):
        numbers = _count(node, set())
        if numbers >= _COMPARED:
            yield f"compares with {numbers} numbers that are written here"
        elif isinstance(node, ast.List | ast.Tuple | ast.Set) and any(map(_is_long, node.elts)):
            yield "compares with a long number"
    elif _is_long(node):
        yield "compares with a long number"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and len(node.value) >= _LETTERS:
        yield f"compares with a text of {len(node.value)} characters"


def _is_long(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() as value):
            while value and value % 10 == 0 and value < 1 << 64:
                value //= 10
            while value and value % 2 == 0 and value < 1 << 64:
                value //= 2
            return bool(value >= 10 ** (_DIGITS + 1))
        case ast.Constant(value=float() as value):
            digits = repr(value).partition("e")[0].replace(".", "").strip("0")
            return len(digits) >= _DIGITS
        case _:
            return False


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _is_text(node: ast.expr, text: str | None = None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and text in {None, node.value}


def _is_seed(node: ast.expr, scope: Scope) -> bool:
    match node:
        case ast.Name(id="seed") | ast.Attribute(attr="seed"):
            return True
        case ast.Call(func=func):
            return resolve(func, scope) in _SEEDS or (isinstance(func, ast.Attribute) and func.attr == "initial_seed")
        case _:
            return False


def _is_name(node: ast.expr) -> bool:
    """`__name__` of the module or of something, but for the name of a value's class, which errors are told apart by."""
    match node:
        case ast.Name(id="__name__"):
            return True
        case ast.Attribute(attr=attribute, value=value) if attribute in _NAMES:
            of_class = isinstance(value, ast.Attribute) and value.attr == "__class__"
            return not of_class and not isinstance(value, ast.Call)
        case _:
            return False


def _is_shape(node: ast.expr, scope: Scope) -> bool:
    match node:
        case ast.Attribute(attr="shape"):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[]):
            return True
        case ast.Call(func=func, args=[ast.Attribute(attr="shape")]):
            return resolve(func, scope) in {"builtins.tuple", "builtins.list"}
        case _:
            return False


def _sizes(node: ast.expr) -> tuple[int, ...]:
    """The sizes of a literal shape: `(2, 3)`, `torch.Size([2, 3])`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    items = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    sizes = [each.value for each in items if isinstance(each, ast.Constant) and isinstance(each.value, int)]
    return tuple(sizes) if len(sizes) == len(items) <= 8 else ()


def _outer_literals(node: ast.expr) -> Iterator[ast.expr]:
    """The literals in an expression that are in no other."""
    waiting: list[ast.AST] = [node]
    for _ in range(_NODES):
        if not waiting:
            return
        each = waiting.pop()
        if isinstance(each, _LITERALS):
            yield each
        else:
            waiting += ast.iter_child_nodes(each)


def _count(node: ast.expr, counted: set[int]) -> int:
    """How many numbers stand in a literal and in the literals within it, which are added to `counted`."""
    numbers = 0
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        counted.add(id(each))
        if isinstance(each, (*_LITERALS, ast.UnaryOp)):
            waiting += ast.iter_child_nodes(each)
        numbers += isinstance(each, ast.Constant) and _is_number(each)
    return numbers
