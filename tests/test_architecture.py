"""The rules of the house that a machine can hold: who imports whom, and what starts without torch."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "proctorch"

#: Each room and what it may import; everything may import `errors` and `wire`, and itself.
ROOMS: dict[str, set[str]] = {
    "errors": set(),
    "wire": set(),
    "shipped": set(),
    "files": set(),
    "bank": {"files", "prose", "shipped"},
    "devices": {"bank"},
    "markup": set(),
    "prose": {"markup"},
    "typeset": {"markup"},
    "templating": {"markup", "shipped", "typeset"},
    "judge": {"bank", "devices"},
    "virtual": set(),
    "sandbox": {"virtual"},
    "report": {"bank", "files", "judge", "markup", "templating"},
    "sheet": {"bank", "files", "judge", "markup", "prose", "templating", "typeset"},
    "verify": {"bank", "devices", "files", "judge"},
    "doctor": {"bank", "devices", "judge"},
    "terminal": {"bank", "judge", "markup", "report", "verify"},
    "cli": {
        "bank",
        "devices",
        "doctor",
        "files",
        "judge",
        "markup",
        "report",
        "sheet",
        "shipped",
        "terminal",
        "verify",
    },
    "__init__": {"bank", "devices", "judge", "report"},
}

#: Each library that is heavy or decides a format, and the rooms that own it.
OWNERS = {
    "click": {"cli"},
    "rich": {"terminal", "cli"},
    "jinja2": {"templating"},
    "yaml": {"bank"},
    "pydantic": {"bank"},
    "pydantic_core": {"bank"},
    "markdown_it": {"markup", "prose", "typeset"},
    "matplotlib": {"report"},
    "pygments": {"markup"},
    "safetensors": {"wire", "sandbox"},
    "pytest": {"judge", "virtual"},
    "libcst": {"verify"},
    "typst": {"sheet"},
    "torch": {"sandbox", "judge", "verify", "virtual", "wire"},
}


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the package with the room that it is in."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield parts[0], path


def imported(path: Path) -> Iterator[str]:
    """The dotted names that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(("room", "path"), list(modules()), ids=lambda value: getattr(value, "name", value))
def test_rooms(room: str, path: Path) -> None:
    """A room imports only from the rooms below it, and a heavy library only where it is owned."""
    allowed = ROOMS[room] | {room, "errors", "wire"}
    for name in imported(path):
        top, _, rest = name.partition(".")
        if top == "proctorch":
            target = rest.partition(".")[0]
            assert target in allowed or not rest, f"{path.name} imports {name}"
        elif top in OWNERS:
            assert room in OWNERS[top], f"{path.name} imports {name}"


def test_the_sandbox_is_never_imported() -> None:
    """The sandbox is started as a program; no other room imports it."""
    for room, path in modules():
        if room != "sandbox":
            assert not any(name.startswith("proctorch.sandbox") for name in imported(path)), path


def test_nothing_but_the_command_prints() -> None:
    """Only the command writes to the terminal or ends the process."""
    for room, path in modules():
        if room in {"cli", "terminal", "sandbox"}:
            continue
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        named = {call.id for call in calls if isinstance(call, ast.Name)}
        assert not named & {"print", "exit", "quit"}, path


@pytest.mark.parametrize(
    "code",
    [
        "import proctorch",
        "from proctorch import Bank; Bank.load()",
        "from proctorch.cli import cli; cli.main(['list'], standalone_mode=False)",
        "from proctorch.cli import cli; cli.main(['show', 'DC1'], standalone_mode=False)",
        "from proctorch.cli import cli; cli.main(['list', '--sets'], standalone_mode=False)",
        "from proctorch.cli import cli; cli.main(['schema'], standalone_mode=False)",
        "import proctorch.sheet.kit, proctorch.sheet.markdown",
        "from proctorch.report.report import Report; import proctorch.report.html, proctorch.report.json",
        "import proctorch.judge.by_hand",
    ],
)
def test_starts_without_torch(code: str) -> None:
    """What grades nothing imports neither torch nor, where it need not, pytest."""
    check = f"import sys\n{code}\nassert 'torch' not in sys.modules, 'torch was imported'"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_public_names() -> None:
    """The public names are these, and each of them can be had."""
    import proctorch

    assert sorted(proctorch.__all__) == [
        "Bank",
        "Device",
        "Grade",
        "Outcome",
        "Plan",
        "ProctorchError",
        "Question",
        "Report",
        "Submission",
        "Verdict",
        "grade",
    ]
    assert all(getattr(proctorch, name).__name__ == name for name in proctorch.__all__)
