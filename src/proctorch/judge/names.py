"""What the names in a source stand for: after `import torch as t` and `c = t.cuda`, `c.x` is `torch.cuda.x`.

The order in which lines run is not followed: a name that stands for something imported anywhere in a scope does so in
all of it. Every walk is a loop or has a fixed depth, so that no source can exhaust the stack.
"""

import ast
import builtins
import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

_BUILTINS = {name: f"builtins.{name}" for name in dir(builtins)} | {"__builtins__": "builtins"}
#: Scopes within scopes; what is nested deeper shares the last one.
_DEEPEST = 40
#: Steps from an expression to what it stands for, and nodes of one that are looked at.
_STEPS, _NODES = 20, 60
#: Steps from a name to the text that it was given, and characters of one: a short source can spell a very long text.
_NAMED_STEPS, _LONGEST = 5, 300
_OWN_NAMES = {"builtins.globals", "builtins.locals", "builtins.vars"}
#: Nodes that hold nothing, one beside each name and operator.
_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
_BINDERS = (
    *(ast.stmt, ast.NamedExpr, ast.comprehension, ast.withitem, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar),
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Binding:
    """What a name is bound to in a scope."""

    #: The dotted path of something imported or built in that it stands for, if that is known.
    path: str | None = None
    #: What was last assigned to it.
    value: ast.expr | None = None
    #: Whether it is a parameter, or was made from one.
    given: bool = False


class Scope:
    """A module, a class body or a function, with the names that are bound in it."""

    def __init__(self, outer: "Scope | None" = None, *, is_class: bool = False) -> None:
        self.is_class = is_class
        self.depth: int = outer.depth + 1 if outer else 0
        #: Names in a class body are not seen from its functions.
        self.outer: Scope | None = outer.outer if outer and outer.is_class else outer
        #: The first parameter of a method: its instance or class.
        self.receiver = ""
        self.names: dict[str, Binding] = {}
        #: `global` and `nonlocal`: where a name is bound instead.
        self.elsewhere: dict[str, Scope] = {}

    def bind(self, name: str, new: Binding = Binding()) -> None:
        """Binds a name once more. It keeps a path that it had; it is given only if it always was."""
        scope = self
        while name in scope.elsewhere:
            scope = scope.elsewhere[name]
        old = scope.names.get(name, Binding(given=True))
        scope.names[name] = Binding(new.path or old.path, new.value, new.given and old.given)

    def find(self, name: str) -> Binding:
        """What a name is bound to, here or in a scope around."""
        scope: Scope | None = self
        while scope and name not in scope.names:
            scope = scope.elsewhere.get(name) or scope.outer
        return scope.names[name] if scope else Binding(_BUILTINS.get(name))

    @property
    def module(self) -> "Scope":
        """The outermost scope."""
        scope = self
        while scope.outer:
            scope = scope.outer
        return scope


def read_scopes(tree: ast.Module) -> list[tuple[ast.AST, Scope]]:
    """Every node with the scope that it is in, each after the one that holds it, and with all names bound."""
    nodes: list[tuple[ast.AST, Scope]] = []
    waiting: deque[tuple[list[ast.AST], Scope]] = deque([([tree], Scope())])
    # A function's body is read after all that stands around it, since that is when it runs.
    while waiting:
        stack, scope = waiting.popleft()
        places = [(node, scope) for node in reversed(stack)]
        while places:
            node, scope = places.pop()
            nodes.append((node, scope))
            if isinstance(node, _BINDERS):
                _bind(node, scope)
            inside = scope
            children = [child for child in ast.iter_child_nodes(node) if not isinstance(child, _SIGNS)]
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
                if scope.depth < _DEEPEST:
                    inside = Scope(scope, is_class=isinstance(node, ast.ClassDef))
                if not isinstance(node, ast.ClassDef):
                    _bind_parameters(node, scope, inside)
                    held = set(map(id, body))
                    children = [child for child in children if id(child) not in held]
                    waiting.append((body, inside))
                    inside = scope
            places += [(child, inside) for child in reversed(children)]
    return nodes


def resolve(node: ast.AST | None, scope: Scope, steps: int = _STEPS) -> str | None:
    """The dotted path of something imported or built in that an expression stands for; None if it is not known."""
    if not steps:
        return None
    match node:
        case ast.Name():
            return scope.find(node.id).path
        case ast.NamedExpr() | ast.Attribute(attr="__dict__"):
            return resolve(node.value, scope, steps - 1)
        case ast.Attribute():
            base = resolve(node.value, scope, steps - 1)
            return base and f"{base}.{node.attr}"
        case ast.Subscript():
            return _entry(namespace(node.value, scope, steps - 1), spelled(node.slice, scope), scope)
        case ast.Call(args=[_, *_]):
            return _result(node, scope, steps)
        case _:
            return None


def _result(call: ast.Call, scope: Scope, steps: int) -> str | None:
    """The dotted path of what a call gives, if it is one that looks something up."""
    first, rest = call.args[0], call.args[1:]
    match resolve(call.func, scope, steps - 1):
        case "builtins.vars":
            return resolve(first, scope, steps - 1)
        case "builtins.getattr" | "builtins.object.__getattribute__" | "builtins.type.__getattribute__" if rest:
            return _entry(resolve(first, scope, steps - 1), spelled(rest[0], scope), scope)
        case "builtins.__import__" | "importlib.import_module" | "importlib.__import__" | "sys.modules.get":
            return spelled(first, scope)
        case str() as path if path.endswith(".__getattribute__"):
            return _entry(path.rpartition(".")[0], spelled(first, scope), scope)
        case _:
            return None


def namespace(node: ast.expr, scope: Scope, steps: int = _STEPS) -> str | None:
    """Whose names an expression is a table of: `torch` for `vars(torch)`; None if it is no such table."""
    match node:
        case ast.Attribute(attr="__dict__", value=value):
            return resolve(value, scope, steps - 1)
        case ast.Call(func=func, args=[]) if resolve(func, scope, steps - 1) in _OWN_NAMES:
            return "globals()"
        case ast.Call(func=func, args=[value]) if resolve(func, scope, steps - 1) == "builtins.vars":
            return resolve(value, scope, steps - 1)
        case _:
            path = resolve(node, scope, steps - 1)
            return path if path in {"sys.modules", "builtins"} else None


def _entry(base: str | None, name: str | None, scope: Scope) -> str | None:
    """What a table of names has under one of them."""
    if name is None or base is None:
        return None
    if base == "globals()":
        return scope.module.find(name).path
    return name if base == "sys.modules" else f"{base}.{name}"


def spelled(node: ast.expr, scope: Scope, steps: int = _STEPS) -> str | None:
    """The text that an expression of literals makes, as far as it is put together simply."""
    if not steps:
        return None
    match node:
        case ast.Constant(value=str() as text):
            return text[:_LONGEST]
        case ast.Name():
            value = scope.find(node.id).value
            return spelled(value, scope, min(steps - 1, _NAMED_STEPS)) if value else None
        case ast.BinOp(op=ast.Add()):
            left, right = spelled(node.left, scope, steps - 1), spelled(node.right, scope, steps - 1)
            return None if left is None or right is None else (left + right)[:_LONGEST]
        case ast.Subscript(slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub()))):
            word = spelled(node.value, scope, steps - 1)
            return None if word is None else word[::-1]
        case ast.JoinedStr():
            parts = [spelled(part, scope, steps - 1) for part in node.values[:_STEPS]]
            return "".join(part or "" for part in parts)[:_LONGEST] if None not in parts else None
        case _:
            return None


def is_built(node: ast.expr, scope: Scope) -> bool:
    """Whether a text is put together of literals alone, which could have been written as one."""
    if isinstance(node, ast.Name):
        node = scope.find(node.id).value or node
    if not isinstance(node, ast.BinOp | ast.JoinedStr | ast.Call | ast.Subscript):
        return False
    literal = False
    for part in _parts(node):
        text = spelled(part, scope) if isinstance(part, ast.Name) else None
        literal |= text is not None or isinstance(part, ast.Constant)
        if isinstance(part, ast.Name) and text is None and not scope.find(part.id).path:
            return False
    return literal


def is_given(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is made from a parameter, or is in a scratch folder; a path from the root is neither."""
    given = False
    ends: list[ast.AST] = []
    for count, part in enumerate(_parts(node)):
        if count == _NODES - 1 or (_is_rooted(part) and not any(part is end for end in ends)):
            return False
        match part:  # a path goes on where another part of it stands before
            case ast.JoinedStr(values=[_, *later]):
                ends += later
            case ast.BinOp(right=later):
                ends.append(later)
            case _:
                pass
        given |= isinstance(part, ast.Name) and (
            scope.find(part.id).given or (scope.find(part.id).path or "").startswith("tempfile")
        )
    return given


def is_literal(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression holds a text of the source's own, itself or by a name for it, and no parameter."""
    if isinstance(node, ast.Name):
        node = scope.find(node.id).value or node
    texts = any(isinstance(part, ast.Constant) and isinstance(part.value, str | bytes) for part in _parts(node))
    return texts and not is_given(node, scope)


def _is_rooted(node: ast.AST) -> bool:
    """Whether a literal is a path from the root."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/")


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    return itertools.islice(ast.walk(node), _NODES)


def _bind(node: ast.AST, scope: Scope) -> None:
    """Binds the names that a node binds, but for parameters."""
    match node:
        case ast.Import():
            for alias in node.names:
                scope.bind(alias.asname or alias.name.partition(".")[0], Binding(_named(alias)))
        case ast.ImportFrom(module=str() as module, level=0):
            for alias in node.names:
                scope.bind(alias.asname or alias.name, Binding(f"{module}.{alias.name}"))
        case ast.Global():
            scope.elsewhere |= {name: scope.module for name in node.names if scope is not scope.module}
        case ast.Nonlocal() if scope.outer:
            scope.elsewhere |= dict.fromkeys(node.names, scope.outer)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope.bind(name)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.bind(name)
        case _:
            _bind_value(node, scope)


def _bind_value(node: ast.AST, scope: Scope) -> None:
    match node:
        case ast.Assign():
            for target in node.targets[:_NODES]:
                _bind_target(target, node.value, scope)
        case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            _bind_target(node.target, value, scope)
        case ast.AugAssign(target=ast.Name(id=name)):
            scope.bind(name, Binding(given=scope.find(name).given))
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            _bind_target(node.target, node.iter, scope, of=True)
        case ast.withitem(optional_vars=ast.expr() as target):
            _bind_target(target, node.context_expr, scope)
        case _:
            pass


def _named(alias: ast.alias) -> str:
    """What `import a.b` and `import a.b as c` bind."""
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _bind_target(target: ast.expr, value: ast.expr, scope: Scope, *, of: bool = False) -> None:
    """Binds what an assignment sets; `of`: each to an element of `value`, as a loop does."""
    waiting = [(target, value, of, is_given(value, scope))]
    while waiting:
        target, value, of, given = waiting.pop()
        items = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, ast.Name):
            sources = items[:_STEPS] if of else [value]
            path = next(filter(None, (resolve(source, scope) for source in sources)), None)
            scope.bind(target.id, Binding(path, None if of else value, given))
        elif isinstance(target, ast.Tuple | ast.List):
            if not of and len(items) == len(target.elts):
                waiting += [
                    (one, item, False, is_given(item, scope)) for one, item in zip(target.elts, items, strict=True)
                ]
            else:
                waiting += [(one, value, True, given) for one in target.elts]


def _bind_parameters(function: ast.AST, scope: Scope, inside: Scope) -> None:
    """A parameter is given, unless its default is something imported: then it is that."""
    arguments: ast.arguments = function.args  # type: ignore[attr-defined]  # each of _FUNCTIONS has them
    plain = [*arguments.posonlyargs, *arguments.args]
    if scope.is_class and plain:
        inside.receiver = plain[0].arg
    starred = [each for each in (arguments.vararg, arguments.kwarg) if each]
    for each in (*plain, *arguments.kwonlyargs, *starred):
        inside.bind(each.arg, Binding(given=True))
    with_default = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
    with_default += [
        (each, value) for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    ]
    for each, value in with_default:
        if (path := resolve(value, scope)) and not isinstance(value, ast.Constant):
            inside.bind(each.arg, Binding(path, given=True))
