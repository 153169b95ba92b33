"""The rules between the parts of one question, on its plain data. Pure."""

import ast
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from proctorch.bank.question import Need
from proctorch.bank.text import nearest, parse_python, shortened
from proctorch.bank.yaml_nodes import Location


def broken_rules(data: dict[str, Any]) -> Iterator[tuple[Location, str]]:
    """What is wrong between parts that are each well formed; parts that are not are passed over."""
    given = data.get("checks")
    checks = [(index, check) for index, check in enumerate(given if isinstance(given, list) else [])]
    checks = [
        (index, check) for index, check in checks if isinstance(check, dict) and isinstance(check.get("test"), str)
    ]
    first: dict[str, int] = {}
    for index, check in checks:
        if (same := first.setdefault(check["test"], index)) != index:
            yield (
                ("checks", index, "test"),
                f"check {same + 1} already has the test `{check['test']}`; give each its own",
            )
    points = [check.get("points") for _, check in checks]
    if points and all(type(each) in (int, Decimal) and each == 0 for each in points):
        yield ("checks",), "the points of all checks are 0; at least one must count"
    yield from _broken_needs({check["test"]: (index, check.get("needs")) for index, check in reversed(checks)})
    yield from _broken_budget(data)
    yield from _broken_self_check(data)
    card = data.get("card")
    mistakes = card.get("mistakes") if isinstance(card, dict) else None
    for index, mistake in enumerate(mistakes if isinstance(mistakes, list) else []):
        caught_by = mistake.get("caught_by") if isinstance(mistake, dict) else None
        if isinstance(caught_by, str) and caught_by not in first:
            near = nearest(caught_by, first)
            yield ("card", "mistakes", index, "caught_by"), f"caught_by `{shortened(caught_by)}` names no check{near}"


def _broken_needs(needs: dict[str, tuple[int, Any]]) -> Iterator[tuple[Location, str]]:
    """Of each test, its check's position and what that check needs."""
    reported: set[str] = set()
    for test, (index, need) in sorted(needs.items(), key=lambda item: item[1][0]):
        if not isinstance(need, str):
            continue
        if need not in needs:
            yield ("checks", index, "needs"), f"needs `{shortened(need)}` names no check{nearest(need, needs)}"
            continue
        path = [test]
        while (following := needs[path[-1]][1]) in needs and following not in path:
            path.append(following)
        if following == test and test not in reported:
            reported.update(path)
            yield ("checks", index, "needs"), f"needs goes round in a circle: {' → '.join([*path, test])}"


def _broken_budget(data: dict[str, Any]) -> Iterator[tuple[Location, str]]:
    device = data.get("device")
    if device == Need.BUDGET.value and "budget" not in data:
        yield ("device",), "device `budget` needs a `budget`; add one, such as `budget: 64MiB`"
    if device in {need.value for need in Need if need is not Need.BUDGET} and "budget" in data:
        yield ("budget",), f"budget is not used with device `{device}`; remove it, or write `device: budget`"


def _broken_self_check(data: dict[str, Any]) -> Iterator[tuple[Location, str]]:
    """It runs in pytest, and in a notebook that has none: plain functions, which a loop can call."""
    source, entry = data.get("self_check"), data.get("entry")
    tree = parse_python(source) if isinstance(source, str) else None
    if not isinstance(tree, ast.Module):
        return
    place: Location = ("self_check",)
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    if not tests:
        yield place, "self_check has no test; write `def test_…():`"
    for test in tests:
        if any((*test.args.posonlyargs, *test.args.args, *test.args.kwonlyargs, test.decorator_list)):
            yield place, f"self_check `{shortened(test.name)}` has parameters or decorators; write a plain function"
        if not ast.get_docstring(test):
            yield place, f"self_check `{shortened(test.name)}` has no docstring; say in one what it tries"
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in entry if isinstance(entry, dict) else ():
        if name not in used:
            yield place, f"self_check never calls `{shortened(str(name))}`"
