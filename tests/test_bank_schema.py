"""One YAML file: a question, or every fault in it at its line and column."""

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctorch.bank import yaml_nodes
from proctorch.bank.question import EntryPoint, Limits, Need, Parameter, QuestionType
from proctorch.bank.reading import read_question
from proctorch.bank.schema import json_schema
from proctorch.errors import BankError

HERE = Path(__file__).parent
TINY = HERE / "bank" / "questions" / "tiny" / "double-it.yaml"
BAD = HERE / "bad_bank" / "shape"

TITLE = "title: Double a tensor where it is"
NO_TITLE = "1:1: there is no `title`; add one line that names the exercise"
NO_BUDGET = "budget is not used with device `any`; remove it, or write `device: budget`"
NO_DEFAULT = "has a default that is no Python expression"
UNUSUAL = "a number in an unusual form"
NOT_WHOLE = "not a whole number; write digits without quotes"
NOT_A_SIZE = "is not a size; write bytes, or a whole number with KiB, MiB or GiB, such as 64MiB"
NOT_A_PARAMETER = "is not a parameter; write `name`, `name=default`, or `*` in quotes"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a question may be written."""
    path = tmp_path / "tiny" / "double-it.yaml"
    path.parent.mkdir()
    return path


def faults(path: Path, content: str | bytes) -> list[str]:
    """The faults of `content` as a question, without the path."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    try:
        read_question(path, "q")
    except BankError as error:
        return [str(diagnostic).removeprefix("q:") for diagnostic in error.diagnostics]
    return []


def edited(old: str, new: str) -> str:
    """The tiny question with one part written otherwise."""
    text = TINY.read_text(encoding="utf-8")
    assert text.count(old) == 1
    return text.replace(old, new)


def test_a_question_is_read_whole() -> None:
    """Every part of a right file arrives, under its own type."""
    question, document = read_question(TINY)
    assert (question.id, question.topic, question.code, question.path) == ("double-it", "tiny", "T1", TINY)
    assert (question.type, question.device, question.difficulty, question.minutes) == (
        QuestionType.IMPLEMENT,
        Need.ANY,
        1,
        3,
    )
    assert question.starter == "def double(x):\n    return x\n"
    assert question.self_check.startswith("import torch\n\n\ndef test_doubled():\n")
    assert question.prompt.endswith("Leave `x` as it was.")
    assert question.entry == (EntryPoint("double", (Parameter("x"),)),)
    assert question.limits == Limits(seconds=5.0, memory=1 << 30, output=4 << 20)
    assert [check.points for check in question.checks] == [Fraction(2), Fraction(1, 2), Fraction(1)]
    assert [check.needs for check in question.checks] == [None, "test_values", None]
    assert question.checks[0].hints == ("which operator doubles a number?", "it does the same to a tensor")
    assert question.checks[2].hints == ("a tensor that you make from numbers is on the default device",)
    assert [mistake.caught_by for mistake in question.card.mistakes] == ["test_new_tensor", None]
    assert question.card.rubric.passing == "writes `x * 2`"
    assert question.sources == ("written for the tests",)
    assert document.place(("checks", 1, "points")) == (27, 5)


def test_points_are_exact(place: Path) -> None:
    """Points are the decimal number that is written, not the nearest float."""
    place.write_text(edited("points: 0.5", "points: 0.1"), encoding="utf-8")
    assert read_question(place).question.checks[1].points == Fraction(1, 10)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = double\n", "self_check has no test; write `def test_…():`"),
        (
            "def test_a(x):\n    'It doubles.'\n    double(x)\n",
            "self_check `test_a` has parameters or decorators; write a plain function",
        ),
        (
            "@double\ndef test_a():\n    'It doubles.'\n",
            "self_check `test_a` has parameters or decorators; write a plain function",
        ),
        ("def test_a():\n    double(2)\n", "self_check `test_a` has no docstring; say in one what it tries"),
        ("def test_a():\n    'It doubles.'\n", "self_check never calls `double`"),
        ("def test_a(:\n    pass\n", "self_check does not parse: invalid syntax (in its line 1)"),
    ],
)
def test_a_self_check_that_cannot_be_run_everywhere(place: Path, source: str, told: str) -> None:
    """It runs in pytest and in a notebook without it, and tries what is asked for: anything else is a fault."""
    text = TINY.read_text(encoding="utf-8")
    before = text[: text.index("self_check:")]
    assert faults(place, f"{before}self_check: {json.dumps(source)}\n") == [f"55:1: {told}"]


def test_signatures_are_read(place: Path) -> None:
    """A parameter may have a default of any expression, and `*` makes those after it keyword-only."""
    place.write_text(edited("{double: [x]}", '{double: [x, "y=(1, {})", "*", strict=False, z]}'), encoding="utf-8")
    (entry,) = read_question(place).question.entry
    assert entry.signature == "double(x, y=(1, {}), *, strict=False, z)"


def test_a_byte_order_mark_is_no_fault(place: Path) -> None:
    """A file from an editor that starts UTF-8 with a byte order mark is read as if it had none."""
    assert faults(place, b"\xef\xbb\xbf" + TINY.read_bytes()) == []


def test_every_fault_of_shape_is_told_in_one_go() -> None:
    """Thirty faults in one file are thirty lines, in order, without a word about containers whose items failed."""
    assert told(BAD / "every-fault.yaml") == [
        "2:1: code `mf1` is not a code; write capital letters and a number, such as MF1",
        "3:1: title is `no`, which YAML reads as false, not text; put it in quotes",
        "4:1: type `codefix` is not one of code-fix, implement, predict, explain; did you mean `code-fix`?",
        "5:1: difficulty 9 is not 1 to 5",
        "6:1: minutes is the text `8`, not a whole number; write digits without quotes",
        "7:17: item 2 of tags is the number 3, not text; put it in quotes",
        "8:1: device `gpu` is not one of any, second, budget, two",
        "9:1: prompt is empty; write the exercise, in Markdown",
        "13:14: starter does not parse: '(' was never closed",
        f"14:29: parameter 2 of train_step `device=` {NOT_A_PARAMETER}",
        f"14:38: parameter 3 of train_step `class` {NOT_A_PARAMETER}",
        "14:46: entry `2nd` is not a Python name",
        "15:10: seconds 0 is not above 0 and at most 86400",
        f"15:22: memory `2GB` {NOT_A_SIZE}",
        "18:5: check 1 has no `title`; add the line that a candidate sees",
        "19:5: points `1e-5` is text to YAML, not a number; write digits without quotes, such as 2 or 0.00001",
        "20:5: test `TestB` is not a test's name; write `test_` and lowercase letters, digits or `_`",
        "23:5: points -1 is not 0 to 1000000",
        "24:5: unknown key `hints`; did you mean `hint`?",
        "25:12: item 1 of only `tpu` is not one of cpu, cuda, mps, xpu, virtual; did you mean `xpu`?",
        "27:3: question is a list, not text; write text",
        "28:3: in_depth is empty; write what a full answer explains, as a list",
        "29:3: scenario is `2026-01-01`, which YAML reads as a date, not text; put it in quotes",
        "31:7: item 1 of mistakes has no `why`; add why it fails",
        "32:7: caught_by `test_c` names no check; did you mean `test_a`?",
        "33:3: follow_ups is the text `none`, not a list; write `[…]`, or a line with `- ` for each item",
        "34:3: rubric has no `pass`; add what a passing answer has",
        "34:23: unknown key `passing`; did you mean `pass`?",
        "35:1: sources is the text `pytorch`, not a list; write `[…]`, or a line with `- ` for each item",
        "36:1: `sources` is given twice, first on line 35; keep one",
    ]


def test_parts_that_do_not_fit_together_are_told() -> None:
    """Circles, references to no check, repeated tests, no points at all and a missing budget each have a line."""
    assert told(BAD / "broken-rules.yaml") == [
        "6:1: device `budget` needs a `budget`; add one, such as `budget: 64MiB`",
        "9:9: entry solve has a `*` with no parameter of its own after it",
        "9:26: entry other has a parameter without a default after `x`, which has one",
        "9:43: entry third names the parameter `x` twice",
        "10:1: the points of all checks are 0; at least one must count",
        "11:41: needs goes round in a circle: test_a → test_b → test_c → test_a",
        "14:6: check 1 already has the test `test_a`; give each its own",
        "15:41: needs goes round in a circle: test_d → test_d",
        "16:41: needs `test_bee` names no check; did you mean `test_e`?",
        "23:28: caught_by `test_ff` names no check; did you mean `test_f`?",
    ]


def test_a_bomb_of_aliases_is_one_line() -> None:
    """Aliases that would grow to a billion items are refused where the first one is written."""
    assert told(BAD / "bomb.yaml") == ["3:8: aliases (`*name`, also with `<<`) are not read; write the value out"]


def told(path: Path) -> list[str]:
    with pytest.raises(BankError) as raised:
        read_question(path, "q")
    return [str(diagnostic).removeprefix("q:") for diagnostic in raised.value.diagnostics]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "1:1: the file is empty; a question starts with `schema: 1`"),
        (b"# to do\n", "1:1: the file is empty; a question starts with `schema: 1`"),
        (b"- schema: 1\n", "1:1: a question is `key: value` lines, starting with `schema: 1`"),
        (
            b"schema: 1\n---\nschema: 1\n",
            "2:1: cannot be read: a second document starts here; one file holds one question",
        ),
        (b"title: caf\xe9\n", "1:11: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("schema: 1\n".encode("utf-16"), "1:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"schema: 1\ntitle: a\x00b\n", "2:9: invisible character U+0000; remove it"),
        ("title: a\u2028b\n".encode(), "1:9: invisible character U+2028; remove it"),
        (b"card:\n\tquestion: why?\n", "2:1: cannot be read: a tab indents this line; indent with spaces"),
        (
            b"title: Devices: a start\n",
            "1:15: cannot be read: a colon where no key can be; put the text in quotes, or mend the indentation",
        ),
        (b"title: `no`\n", "1:8: cannot be read: plain text cannot start with this character; put the text in quotes"),
        (b"tags: [a, b\ntitle: c\n", "2:6: cannot be read: a list that `[` opened is not closed with `]`"),
        (b"title: *all\n", "1:8: cannot be read: text that starts with `*` is an alias; put the text in quotes"),
        (b"a: " + b"[" * 30 + b"]" * 30, "1:24: nested deeper than 20 levels; a question is not"),
        (b"a: " + b"[" * 9000, "1:1003: cannot be read: nested deeper than 20 levels; a question is not"),
        (b"a: &a [*a]\n", "1:8: aliases (`*name`, also with `<<`) are not read; write the value out"),
        (b"#" * 600_000, "1:1: the file is larger than 512 KiB; a question is not"),
        (b"schema: 2\nname: x\n", "1:1: schema 2 is not known; this Proctorch reads schema 1"),
    ],
)
def test_what_is_no_yaml_of_one_question_is_one_line(place: Path, content: bytes, fault: str) -> None:
    """A file that cannot be read at all has one fault, at the place where reading stopped, in plain words."""
    assert faults(place, content) == [fault]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("schema: 1\n", "", ["1:1: there is no `schema`; add the layout of the file, `schema: 1`"]),
        ("schema: 1", "schema: yes", ["1:1: schema `yes` is not the number 1; write `schema: 1`"]),
        ("schema: 1", "schema: 1.0", ["1:1: schema 1.0 is not the number 1; write `schema: 1`"]),
        ("minutes: 3", "minutes: 1:30", [f"6:1: minutes is `1:30`, which YAML reads as {UNUSUAL}, {NOT_WHOLE}"]),
        ("minutes: 3", "minutes: 0x3", [f"6:1: minutes is `0x3`, which YAML reads as {UNUSUAL}, {NOT_WHOLE}"]),
        ("minutes: 3", "minutes: 3.5", [f"6:1: minutes is the number 3.5, {NOT_WHOLE}"]),
        ("minutes: 3", "minutes: yes", [f"6:1: minutes is `yes`, which YAML reads as true, {NOT_WHOLE}"]),
        ("minutes: 3", "minutes: 0", ["6:1: minutes 0 is not 1 to 600"]),
        (TITLE, "title: !name Double", ["3:8: tag `!name` is not read here; remove it"]),
        (TITLE, 'title: "a\\x1b"', ["3:8: invisible character U+001B; remove it"]),
        (TITLE, 'title: "a\\nb"', ["3:1: title `a b` is more than one line; write one"]),
        (TITLE, "titel: Double", [NO_TITLE, "3:1: unknown key `titel`; did you mean `title`?"]),
        (
            "memory: 1GiB",
            "speed: 3",
            [
                (
                    "17:22: unknown key `speed`; the keys here are seconds, cpu, memory, output, processes, threads, "
                    "disk, open_files"
                )
            ],
        ),
        ("points: 0.5", "points: .nan", ["27:5: points `.nan` is not a number; write digits, such as 2 or 0.5"]),
        ("points: 0.5", "points: 1.0e+99", ["27:5: points 1.0e+99 is not 0 to 1000000"]),
        ("device: any", "device: any\nbudget: 1GiB", [f"9:1: {NO_BUDGET}"]),
        ("device: any", "device: budget\nbudget: 0", [f"9:1: budget 0 {NOT_A_SIZE}"]),
        ("device: any", "device: budget\nbudget: 64MB", [f"9:1: budget `64MB` {NOT_A_SIZE}"]),
        ("{seconds: 5, memory: 1GiB}", "5", ["17:1: limits is the number 5, not a mapping; write `key: value` lines"]),
        ("[tiny, tensors]", '[""]', ["7:8: item 1 of tags is empty; write it or remove it"]),
        ("[x]}", '["x=1 # one"]}', [f"16:18: parameter 1 of double `x=1 # one` {NO_DEFAULT}: `1 # one`"]),
        ("[x]}", '["x=1, y=2"]}', [f"16:18: parameter 1 of double `x=1, y=2` {NO_DEFAULT}: `1, y=2`"]),
        ("[x]}", "[{x: int}]}", [f"16:18: parameter 1 of double {NOT_A_PARAMETER}"]),
        ("  related:", "  <<: {a: 1}\n  related:", ["48:3: `<<` copies keys from elsewhere; write them out here"]),
        ("  related:", "  ? [a]\n  : b\n  related:", ["48:5: a key must be one word"]),
    ],
)
def test_a_wrong_part_is_told_at_its_place(place: Path, old: str, new: str, expected: list[str]) -> None:
    """A message says where, what is wrong, and what to do."""
    assert faults(place, edited(old, new)) == expected


@pytest.mark.parametrize(
    ("starter", "fault"),
    [
        ("starter: |\n  def double(x):\n      return x +\n", "15:17: starter does not parse: invalid syntax"),
        ("starter: |\n\n  # a\n  def double(\n", "16:13: starter does not parse: '(' was never closed"),
        ("starter: |2-\n    # deeper\n  x = (\n", "15:7: starter does not parse: '(' was never closed"),
        ('starter: "def double(x)"\n', "13:1: starter does not parse: expected ':'"),
        ('starter: "x = 1\\n)"\n', "13:1: starter does not parse: unmatched ')' (in its line 2)"),
    ],
)
def test_a_starter_is_blamed_in_its_own_line(place: Path, starter: str, fault: str) -> None:
    """A starter that does not parse is told at the line of the file where Python stopped, inside a literal block."""
    content = edited("starter: |\n  def double(x):\n      return x\n", starter)
    assert [each for each in faults(place, content) if "starter" in each] == [fault]


def test_a_doubtful_escape_is_no_fault(place: Path) -> None:
    """What Python only warns about is no fault of the bank, even where warnings are errors."""
    assert faults(place, edited("      return x\n", '      return "\\d"\n')) == []


@pytest.mark.parametrize("name", ["Double.yaml", "double_it.yaml", "double--it.yaml", "2-double.yaml"])
def test_a_file_is_named_like_its_question(tmp_path: Path, name: str) -> None:
    """An id is lowercase letters, digits and single hyphens, and starts with a letter."""
    path = tmp_path / "tiny" / name
    path.parent.mkdir()
    stem = name.removesuffix(".yaml")
    assert faults(path, TINY.read_bytes()) == [
        f"1:1: the file name `{stem}` is not lowercase letters, digits and single hyphens; rename it"
    ]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A file that the system does not give is a fault of the bank, not a traceback."""
    assert told(tmp_path / "tiny" / "gone.yaml") == ["1:1: cannot be read: No such file or directory"]


@pytest.mark.parametrize("name", ["every-fault.yaml", "broken-rules.yaml", "bomb.yaml"])
def test_both_yaml_parsers_tell_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Where PyYAML was built without libyaml, the same faults have the same places."""
    with_libyaml = told(BAD / name)
    monkeypatch.setattr(yaml_nodes, "_LOADER", yaml.SafeLoader)
    assert told(BAD / name) == with_libyaml


ODD_PIECES = st.sampled_from(
    [b"\n---\n", b"\t", b"\r", b"\xff", b"\x00", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\\x00", b": ", b"- ", b"? "]
    + [bytes([each]) for each in b"[]{}|>\"'#~"]
    + b"*a &a <<: !!int !x 0x 1e9999 1_0 .inf".split()
)


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """The tiny question after a few careless edits."""
    content = TINY.read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 40)))
        content = content[:start] + draw(ODD_PIECES | st.binary(max_size=6)) + content[end:]
    return content


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=mangled() | st.binary(max_size=60))
def test_any_bytes_are_a_question_or_faults(place: Path, content: bytes) -> None:
    """Whatever is in the file, the answer is a question or lines of the form `line:column: message`."""
    for fault in faults(place, content):
        line, column, message = fault.split(":", 2)
        assert int(line) >= 1
        assert int(column) >= 1
        assert message.startswith(" ")
        assert message.isprintable()


def test_the_json_schema_says_the_same() -> None:
    """Editors are told, in JSON Schema 2020-12, of every key, and accept and refuse what Proctorch does."""
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    right = yaml.safe_load(TINY.read_text(encoding="utf-8"))
    wrong = yaml.safe_load((BAD / "every-fault.yaml").read_text(encoding="utf-8"))
    assert list(validator.iter_errors(right)) == []
    refused = {str(error.absolute_path[0]) for error in validator.iter_errors(wrong) if error.absolute_path}
    assert refused == {
        *("code", "title", "type", "difficulty", "minutes", "tags", "device", "prompt", "limits", "checks", "card")
    }
    assert schema["properties"]["difficulty"] == {
        "description": "1 (first week) to 5 (expert)",
        "maximum": 5,
        "minimum": 1,
        "title": "Difficulty",
        "type": "integer",
    }
    assert all("description" in each for each in schema["properties"].values())
