"""What people get wrong in one place: the changes that mutants are made of.

Text for people (docstrings, annotations, messages of exceptions) is left as it is, and so are imports and the
definitions at top level, without which any code fails.
"""

from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m

#: A node of the source, and what is put in its place.
_Change = tuple[cst.CSTNode, cst.CSTNode]

_COMPARE: dict[type[cst.BaseCompOp], tuple[type[cst.BaseCompOp], ...]] = {
    cst.LessThan: (cst.LessThanEqual, cst.GreaterThanEqual),
    cst.LessThanEqual: (cst.LessThan, cst.GreaterThan),
    cst.GreaterThan: (cst.GreaterThanEqual, cst.LessThanEqual),
    cst.GreaterThanEqual: (cst.GreaterThan, cst.LessThan),
    cst.Equal: (cst.NotEqual,),
    cst.NotEqual: (cst.Equal,),
    cst.Is: (cst.IsNot,),
    cst.IsNot: (cst.Is,),
    cst.In: (cst.NotIn,),
    cst.NotIn: (cst.In,),
}
_ARITHMETIC: dict[type[cst.BaseBinaryOp], type[cst.BaseBinaryOp]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.Divide,
    cst.Divide: cst.Multiply,
    cst.FloorDivide: cst.Multiply,
    cst.Modulo: cst.FloorDivide,
    cst.Power: cst.Multiply,
    cst.MatrixMultiply: cst.Multiply,
}
_IN_PLACE: dict[type[cst.BaseBinaryOp], type[cst.BaseAugOp]] = {
    cst.Add: cst.AddAssign,
    cst.Subtract: cst.SubtractAssign,
    cst.Multiply: cst.MultiplyAssign,
    cst.Divide: cst.DivideAssign,
}
_AUGMENTED: dict[type[cst.BaseAugOp], type[cst.BaseAugOp]] = {
    cst.AddAssign: cst.SubtractAssign,
    cst.SubtractAssign: cst.AddAssign,
    cst.MultiplyAssign: cst.DivideAssign,
    cst.DivideAssign: cst.MultiplyAssign,
}
#: Methods whose result stands for their tensor or module, so that they are easily forgotten.
_FORGOTTEN = frozenset(
    {"to", "cpu", "cuda", "detach", "clone", "eval", "train", "float", "half", "bfloat16", "double", "contiguous"}
    | {"pin_memory", "item", "requires_grad_"}
)
#: Names, of functions, methods and dtypes, that are taken for one another.
_TAKEN_FOR: dict[str, tuple[str, ...]] = {
    "mean": ("sum",),
    "sum": ("mean",),
    "max": ("min",),
    "min": ("max",),
    "amax": ("amin",),
    "float16": ("bfloat16", "float32"),
    "half": ("bfloat16", "float"),
    "bfloat16": ("float16", "float32"),
    "float32": ("float16", "float64"),
    "float64": ("float32",),
    "float": ("half",),
    "double": ("float",),
    "cuda": ("cpu",),
    "add": ("add_",),
    "mul": ("mul_",),
    "div": ("div_",),
    "no_grad": ("enable_grad",),
}
_TEXTS = {"cuda": "cpu", "cpu": "cuda", "mean": "sum", "sum": "mean", "none": "mean"}


def changed(source: str) -> Iterator[str]:
    """Python source with one change, for each that there can be. Some of it may be no Python, or the same program."""
    module = cst.parse_module(source)
    for old, new in _changes(module):
        result = new if old is module else module.deep_replace(old, new)
        assert isinstance(result, cst.Module)
        yield result.code


def _changes(module: cst.Module) -> Iterator[_Change]:
    collector = _Collector()
    module.visit(collector)
    for node in collector.nodes:
        yield from _of_expression(node, whole_statement=id(node) in collector.statements)
        yield from _of_statement(node)
        if isinstance(node, cst.IndentedBlock):
            yield from ((node, node.with_changes(body=body)) for body in _bodies(node.body))
        elif isinstance(node, cst.Module):
            yield from ((node, node.with_changes(body=body)) for body in _bodies(node.body, top=True))


class _Collector(cst.CSTVisitor):
    """The nodes that may be changed."""

    def __init__(self) -> None:
        self.nodes: list[cst.CSTNode] = []
        #: Expressions that are statements: to drop a call of theirs is to drop them.
        self.statements: set[int] = set()
        self._raising = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Import | cst.ImportFrom):
            return False
        if self._raising and isinstance(node, cst.BaseString):
            return False
        if isinstance(node, cst.Expr):
            if isinstance(node.value, cst.BaseString):  # a docstring, or a comment in its form
                return False
            self.statements.add(id(node.value))
        self._raising += _speaks(node)
        self.nodes.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        self._raising -= _speaks(original_node)


def _speaks(node: cst.CSTNode) -> bool:
    """Whether the texts in it are messages."""
    return isinstance(node, cst.Raise) or m.matches(node, m.Call(func=m.Attribute(attr=m.Name("warn"))))


# ------------------------------------------------------------------------------------------------- expressions


def _of_expression(node: cst.CSTNode, *, whole_statement: bool) -> Iterator[_Change]:  # noqa: C901, PLR0912 - a table of cases
    match node:
        case cst.ComparisonTarget(operator=operator):
            for swapped in _COMPARE.get(type(operator), ()):
                yield operator, swapped()
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            yield operator, cst.Or() if isinstance(operator, cst.And) else cst.And()
            yield node, left
            yield node, right
        case cst.BinaryOperation(operator=operator) if type(operator) in _ARITHMETIC:
            yield operator, _ARITHMETIC[type(operator)]()
        case cst.UnaryOperation(operator=cst.Not() | cst.Minus(), expression=inner):
            yield node, inner
        case cst.IfExp(test=test, body=body, orelse=orelse):
            yield from _negated(test)
            yield node, body
            yield node, orelse
        case cst.CompIf(test=test):
            yield from _negated(test)
        case cst.Integer(value=value):
            number = int(value.replace("_", ""), 0)
            yield node, cst.Integer(str(number + 1))
            if number:
                yield node, cst.Integer(str(number - 1))
        case cst.Float(value=value):
            yield node, cst.Float("1.0" if float(value) == 0 else repr(float(value) * 2))
        case cst.Name(value="True" | "False" as value):
            yield node, cst.Name("False" if value == "True" else "True")
        case cst.SimpleString(value=value):
            text = node.raw_value
            if text in _TEXTS:
                yield node, cst.SimpleString(repr(_TEXTS[text]))
            if text:
                yield node, cst.SimpleString('""')
        case cst.Slice(lower=lower, upper=upper):
            for bound in (lower, upper):
                if bound is not None and not isinstance(bound, cst.Integer):
                    yield bound, _plus_one(bound)
        case cst.Attribute(attr=name):
            for other in _TAKEN_FOR.get(name.value, ()):
                yield name, cst.Name(other)
        case cst.Call():
            yield from _of_call(node, whole_statement=whole_statement)
        case _:
            pass


def _of_call(call: cst.Call, *, whole_statement: bool) -> Iterator[_Change]:
    args = call.args
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in _FORGOTTEN and not whole_statement:
        yield call, call.func.value
    for index, arg in enumerate(args):
        if arg.keyword is not None:
            rest = [*args[:index], *args[index + 1 :]]
            yield call, call.with_changes(args=_separated(rest))
        if _names_device(arg.value):
            yield arg.value, cst.SimpleString('"cpu"')
    for index in range(len(args) - 1):
        first, second = args[index], args[index + 1]
        if not (first.keyword or second.keyword or first.star or second.star):
            swapped = [*args]
            swapped[index], swapped[index + 1] = (
                first.with_changes(value=second.value),
                second.with_changes(value=first.value),
            )
            yield call, call.with_changes(args=swapped)
    if m.matches(call.func, m.Name("range")) and args:
        stop = args[min(1, len(args) - 1)]
        if not isinstance(stop.value, cst.Integer):
            minus = cst.BinaryOperation(_bracketed(stop.value), cst.Subtract(), cst.Integer("1"))
            yield stop.value, minus
    if m.matches(call.func, m.Attribute(attr=m.Name("append"))) and len(args) == 1:
        yield args[0].value, _item_of(args[0].value)


def _names_device(value: cst.BaseExpression) -> bool:
    return m.matches(value, m.Name("device") | m.Attribute(attr=m.Name("device")))


def _separated(args: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Arguments without a comma after the last."""
    return [*args[:-1], args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)] if args else []


def _negated(test: cst.BaseExpression) -> Iterator[_Change]:
    """A condition turned round, where no change of an operator in it does the same."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return
    if not (isinstance(test, cst.Comparison) and len(test.comparisons) == 1):
        yield test, cst.UnaryOperation(cst.Not(), _bracketed(test))


def _bracketed(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.Name | cst.Attribute | cst.Call | cst.Integer | cst.Subscript) or value.lpar:
        return value
    bracketed = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    assert isinstance(bracketed, cst.BaseExpression)
    return bracketed


def _plus_one(value: cst.BaseExpression) -> cst.BinaryOperation:
    return cst.BinaryOperation(_bracketed(value), cst.Add(), cst.Integer("1"))


def _item_of(value: cst.BaseExpression) -> cst.Call:
    return cst.Call(cst.Attribute(_bracketed(value), cst.Name("item")))


# -------------------------------------------------------------------------------------------------- statements


def _of_statement(node: cst.CSTNode) -> Iterator[_Change]:  # noqa: C901, PLR0912 - a table of cases
    match node:
        case cst.If(test=test) | cst.While(test=test):
            yield from _negated(test)
        case cst.Return(value=cst.BaseExpression() as value) if not m.matches(value, m.Name("None")):
            yield value, cst.Name("None")
        case cst.Break():
            yield node, cst.Continue()
        case cst.Continue():
            yield node, cst.Break()
        case cst.AugAssign(operator=operator, value=value):
            if type(operator) in _AUGMENTED:
                yield operator, _AUGMENTED[type(operator)]()
            if not isinstance(value, cst.Integer | cst.Float):
                yield value, _item_of(value)
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.BinaryOperation() as value):
            if type(value.operator) in _IN_PLACE and target.deep_equals(value.left):
                yield node, cst.AugAssign(target, _IN_PLACE[type(value.operator)](), value.right)
        case cst.ExceptHandler(type=cst.BaseExpression() as caught):
            yield from _other_exceptions(caught)
        case cst.Raise(exc=cst.Call(func=cst.Name(value=name) as raised)) if name != "Exception":
            yield raised, cst.Name("Exception")
        case cst.Expr(value=call) if m.matches(call, m.Call(func=m.Attribute(attr=m.Name("register_buffer")))):
            yield from _plain_attribute(node)
        case cst.FunctionDef(decorators=decorators):
            for index in range(len(decorators)):
                yield node, node.with_changes(decorators=[*decorators[:index], *decorators[index + 1 :]])
        case cst.With(items=items) if len(items) > 1:
            for index in range(len(items)):
                rest = [*items[:index], *items[index + 1 :]]
                rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                yield node, node.with_changes(items=rest)
        case cst.Try():
            yield from _of_try(node)
        case _:
            pass


def _other_exceptions(caught: cst.BaseExpression) -> Iterator[_Change]:
    if isinstance(caught, cst.Tuple) and len(caught.elements) > 1:
        for each in caught.elements:
            yield caught, each.value
    if not m.matches(caught, m.Name("Exception") | m.Name("BaseException")):
        yield caught, cst.Name("Exception")
    if m.matches(caught, m.Name("RuntimeError") | m.Name("Exception")):
        yield caught, cst.parse_expression("torch.OutOfMemoryError")
    if m.matches(caught, m.Attribute(attr=m.Name("OutOfMemoryError"))):
        yield caught, cst.Name("RuntimeError")


def _plain_attribute(statement: cst.Expr) -> Iterator[_Change]:
    """`self.register_buffer("name", value)` as `self.name = value`."""
    call = cst.ensure_type(statement.value, cst.Call)
    owner = cst.ensure_type(call.func, cst.Attribute).value
    if len(call.args) >= 2 and isinstance(name := call.args[0].value, cst.SimpleString):
        target = cst.Attribute(owner, cst.Name(str(name.raw_value)))
        yield statement, cst.Assign([cst.AssignTarget(target)], call.args[1].value)


def _of_try(node: cst.Try) -> Iterator[_Change]:
    """Code in another part of the same `try`."""
    body = _statements(node.body)
    if node.orelse and node.handlers:
        yield node, node.with_changes(body=_block([*body, *_statements(node.orelse.body)]), orelse=None)
    elif len(body) > 1 and node.handlers:
        yield node, node.with_changes(body=_block(body[:-1]), orelse=cst.Else(_block(body[-1:])))
    if node.finalbody and node.handlers:
        rest = _statements(node.finalbody.body)
        yield (
            node,
            node.with_changes(
                finalbody=None,
                orelse=cst.Else(_block([*(_statements(node.orelse.body) if node.orelse else []), *rest])),
            ),
        )


_Body = Sequence[cst.BaseStatement]


def _bodies(
    body: Sequence[cst.BaseStatement | cst.SimpleStatementLine], *, top: bool = False
) -> Iterator[list[cst.BaseStatement]]:
    """A block with one statement dropped, unwrapped, exchanged with its neighbour or moved into or out of a `try`."""
    for index, statement in enumerate(body):
        before, after = [*body[:index]], [*body[index + 1 :]]
        if _can_go(statement, top=top):
            yield [*before, *after] if before or after else [_pass()]
        if isinstance(statement, cst.With) and len(statement.items) == 1 and not statement.items[0].asname:
            yield [*before, *_statements(statement.body), *after]
        if after and _order_matters(statement, after[0]):
            yield [*before, after[0], statement, *after[1:]]
        if isinstance(statement, cst.Try):
            yield from _around_try(before, statement, after)


def _around_try(
    before: list[cst.BaseStatement], node: cst.Try, after: list[cst.BaseStatement]
) -> Iterator[list[cst.BaseStatement]]:
    """Code moved over the edge of a `try`."""
    body = _statements(node.body)
    if before and isinstance(before[-1], cst.SimpleStatementLine) and _can_go(before[-1]):
        yield [*before[:-1], node.with_changes(body=_block([before[-1], *body])), *after]
    if after and isinstance(after[0], cst.SimpleStatementLine) and _can_go(after[0]):
        yield [*before, node.with_changes(body=_block([*body, after[0]])), *after[1:]]
    if len(body) > 1:
        yield [*before, body[0], node.with_changes(body=_block(body[1:])), *after]
    if node.finalbody:
        rest = _statements(node.finalbody.body)
        if node.handlers:
            yield [*before, node.with_changes(finalbody=None), *rest, *after]
        else:
            yield [*before, *body, *rest, *after]
    for index, handler in enumerate(node.handlers):
        inside = _statements(handler.body)
        if len(inside) > 1:
            left = handler.with_changes(body=_block(inside[:-1]))
            handlers = [*node.handlers[:index], left, *node.handlers[index + 1 :]]
            yield [*before, node.with_changes(handlers=handlers), inside[-1], *after]


def _statements(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    return [*block.body] if isinstance(block, cst.IndentedBlock) else [cst.SimpleStatementLine([*block.body])]


def _block(body: _Body) -> cst.IndentedBlock:
    return cst.IndentedBlock([*body])


def _pass() -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Pass()])


def _can_go(statement: cst.CSTNode, *, top: bool = False) -> bool:
    """Whether leaving it out is a mistake of its own: not what fails at once, nor what `return None` does already."""
    if isinstance(statement, cst.SimpleStatementLine):
        [small, *_] = statement.body
        if isinstance(small, cst.Expr):
            return not isinstance(small.value, cst.BaseString)
        if isinstance(small, cst.Assign | cst.AnnAssign):
            return not top
        return isinstance(small, cst.AugAssign | cst.Raise | cst.Return | cst.Del | cst.Break | cst.Continue)
    return isinstance(statement, cst.If | cst.For | cst.While | cst.With | cst.Try) and not top


def _order_matters(first: cst.CSTNode, second: cst.CSTNode) -> bool:
    """Whether two neighbours might be exchanged by mistake: both act, or one acts on what the other assigns from."""
    if _acts(first) and _acts(second):
        return True
    if (_acts(first) and _assigns(second)) or (_assigns(first) and _acts(second)):
        return bool(_names_in(first) & _names_in(second))
    return False


def _names_in(statement: cst.CSTNode) -> set[str]:
    return {cst.ensure_type(each, cst.Name).value for each in m.findall(statement, m.Name())}


def _acts(statement: cst.CSTNode) -> bool:
    return m.matches(statement, m.SimpleStatementLine(body=[m.Expr(value=m.Call() | m.Await()) | m.AugAssign()]))


def _assigns(statement: cst.CSTNode) -> bool:
    return m.matches(statement, m.SimpleStatementLine(body=[m.Assign()]))
