"""The layout of a question's YAML file, key by key: what belongs there, and what becomes of it.

The validator is pydantic's, written in its core schema: models would double the time that every command needs to start.
"""

import ast
import keyword
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic_core import PydanticCustomError, SchemaValidator
from pydantic_core import core_schema as core

from proctorch.bank.question import Need, Parameter, QuestionType
from proctorch.bank.shape import CODE, ONE_LINE, TEST
from proctorch.bank.text import parse_python, shortened

#: The layout that this Proctorch reads: the `schema:` of every question.
SCHEMA = 1

_SIZE = re.compile(r"([0-9]{1,15}) ?(B|KiB|MiB|GiB|)")
_BYTES = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_STAR = Parameter("*")


def _refuse(message: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{message}", {"message": message})


def _layout_number(value: object) -> int:
    if type(value) is not int or value != SCHEMA:  # 1.0 and true are equal to 1
        raise _refuse(f"is not the number {SCHEMA}; write `schema: {SCHEMA}`")
    return value


def _number(value: object) -> int | Decimal:
    if isinstance(value, str):
        raise _refuse("is text to YAML, not a number; write digits without quotes, such as 2 or 0.00001")
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        raise _refuse("is not a number; write digits, such as 2 or 0.5")
    return value


def _points(value: object) -> Fraction:
    number = _number(value)
    if not 0 <= number <= 1_000_000:
        raise _refuse("is not 0 to 1000000")
    return Fraction(number)  # exact: a Decimal holds the digits as they were written


def _seconds(value: object) -> float:
    number = _number(value)
    if not 0 < number <= 86_400:
        raise _refuse("is not above 0 and at most 86400")
    return float(number)


def _size(value: object) -> int:
    written = _SIZE.fullmatch(str(value)) if isinstance(value, int | str) and not isinstance(value, bool) else None
    size = int(written[1]) * _BYTES[written[2]] if written else 0
    if not size:
        raise _refuse("is not a size; write bytes, or a whole number with KiB, MiB or GiB, such as 64MiB")
    return size


def _identifier(value: str) -> str:
    if not value.isidentifier() or keyword.iskeyword(value):
        raise _refuse("is not a Python name")
    return value


def _parameter(value: object) -> Parameter:
    if not isinstance(value, str):
        raise _refuse("is not a parameter; write `name`, `name=default`, or `*` in quotes")
    if value == "*":
        return _STAR
    name, equals, default = (part.strip() for part in value.partition("="))
    if not name.isidentifier() or keyword.iskeyword(name) or (equals and not default):
        raise _refuse("is not a parameter; write `name`, `name=default`, or `*` in quotes")
    if not equals:
        return Parameter(name)
    # Inside a call, where a comment, a second argument or an unbalanced bracket shows.
    call = parse_python(f"f({name}={default})")
    match call:
        case ast.Module(body=[ast.Expr(value=ast.Call(func=ast.Name(), args=[], keywords=[_]))]) if "\n" not in default:
            return Parameter(name, default)
        case _:
            raise _refuse(f"has a default that is no Python expression: `{shortened(default)}`")


def _signature(parameters: list[Parameter]) -> list[Parameter]:
    """The parameters in order, the star taken out of the list and into those that come after it."""
    if parameters.count(_STAR) > 1 or parameters[-1:] == [_STAR]:
        raise _refuse("has a `*` with no parameter of its own after it")
    star = parameters.index(_STAR) if _STAR in parameters else len(parameters)
    positional = parameters[:star]
    signature = positional + [Parameter(each.name, each.default, keyword_only=True) for each in parameters[star + 1 :]]
    names = [each.name for each in signature]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise _refuse(f"names the parameter `{repeated}` twice")
    defaults = [each.default is not None for each in positional]
    if defaults != sorted(defaults):
        raise _refuse(
            f"has a parameter without a default after `{positional[defaults.index(True)].name}`, which has one"
        )
    return signature


def _hints(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _key(schema: core.CoreSchema, description: str, *, optional: bool = False) -> core.TypedDictField:
    """A key and what belongs there. An optional one may be left out, but not be left empty."""
    return core.typed_dict_field(schema, required=not optional, metadata={"description": description})


def _mapping(**keys: core.TypedDictField) -> core.TypedDictSchema:
    return core.typed_dict_schema(keys, strict=True, extra_behavior="forbid")


def _list(items: core.CoreSchema, least: int = 0) -> core.ListSchema:
    return core.list_schema(items, strict=True, min_length=least)


def _read_by(function: Callable[[object], object], json: dict[str, Any]) -> core.CoreSchema:
    """What `function` makes of a value, or refuses; editors are told `json` instead."""
    return core.no_info_plain_validator_function(function, metadata={"json": json})


_TEXT = core.str_schema(strict=True, strip_whitespace=True, min_length=1)
_LINE = core.str_schema(strict=True, strip_whitespace=True, min_length=1, pattern=ONE_LINE)
_TEST = core.str_schema(strict=True, pattern=TEST)
_BYTES_OR_SIZE = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": f"^{_SIZE.pattern}$"}]}
_TEXT_OR_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}

_LIMITS = _mapping(
    seconds=_key(
        _read_by(_seconds, {"type": "number", "exclusiveMinimum": 0, "maximum": 86_400}),
        "seconds of one scenario by the clock, not counted in line for a core, such as 10",
        optional=True,
    ),
    cpu=_key(
        _read_by(_seconds, {"type": "number", "exclusiveMinimum": 0, "maximum": 86_400}),
        "seconds of CPU time of the whole job, such as 60",
        optional=True,
    ),
    memory=_key(_read_by(_size, _BYTES_OR_SIZE), "bytes of memory, such as 2GiB", optional=True),
    output=_key(_read_by(_size, _BYTES_OR_SIZE), "bytes of printed output, such as 4MiB", optional=True),
    processes=_key(
        core.int_schema(strict=True, ge=0, le=64),
        "processes beside the job's own, 0 to 64, such as 2 for two workers",
        optional=True,
    ),
    threads=_key(
        core.int_schema(strict=True, ge=1, le=1024), "threads beside the first, 1 to 1024, such as 64", optional=True
    ),
    disk=_key(_read_by(_size, _BYTES_OR_SIZE), "bytes of all files together, such as 64MiB", optional=True),
    open_files=_key(core.int_schema(strict=True, ge=16, le=4096), "open files, 16 to 4096, such as 256", optional=True),
)
_CHECK = _mapping(
    test=_key(_TEST, "the name of the pytest function in the grader that decides, `test_…`"),
    title=_key(_LINE, "the line that a candidate sees"),
    points=_key(
        _read_by(_points, {"type": "number", "minimum": 0, "maximum": 1_000_000}),
        "a number from 0 up, such as 2 or 0.5",
    ),
    hint=_key(
        core.no_info_before_validator_function(_hints, _list(_TEXT, 1), metadata={"json": _TEXT_OR_TEXTS}),
        "help, or a list of helps, the gentlest first",
        optional=True,
    ),
    needs=_key(_TEST, "the `test` of a check that must pass before this one is made", optional=True),
    device=_key(
        core.literal_schema([each.value for each in Need]),
        "what this check needs, if it is not what the question says",
        optional=True,
    ),
    only=_key(
        _list(core.literal_schema(["cpu", "cuda", "mps", "xpu", "virtual"]), 1),
        "the device types on which the check is made, such as `[cuda]`; all, if left out",
        optional=True,
    ),
    low_precision=_key(
        _LINE, "why numbers as coarse as bfloat16's pass this check, where they do: one line", optional=True
    ),
)
_MISTAKE = _mapping(
    mistake=_key(_TEXT, "what people do"),
    why=_key(_TEXT, "why it fails"),
    caught_by=_key(_TEST, "the `test` of the check that catches it", optional=True),
)
_FOLLOW_UP = _mapping(
    question=_key(_TEXT, "what to ask next"),
    answer=_key(_TEXT, "a short right answer"),
)
_RUBRIC = _mapping(
    strong=_key(_TEXT, "what a strong answer has"),
    **{"pass": _key(_TEXT, "what a passing answer has")},
    weak=_key(_TEXT, "what a weak answer sounds like"),
    probes=_key(_list(_TEXT), "what to say when the candidate stalls, as a list", optional=True),
)
_CARD = _mapping(
    question=_key(_TEXT, "the question as it is asked aloud"),
    in_depth=_key(_list(_TEXT, 1), "what a full answer explains, as a list"),
    scenario=_key(_TEXT, "where this happens in practice"),
    mistakes=_key(_list(_MISTAKE), "a list of `mistake`, `why` and `caught_by`"),
    follow_ups=_key(_list(_FOLLOW_UP), "a list of `question` and `answer`"),
    related=_key(_list(_TEXT), "neighbouring ideas, as a list", optional=True),
    rubric=_key(_RUBRIC, "`strong`, `pass`, `weak` and `probes`"),
)
_ENTRY = core.dict_schema(
    core.no_info_after_validator_function(_identifier, core.str_schema(strict=True)),
    core.no_info_after_validator_function(_signature, _list(_read_by(_parameter, {"type": "string"}))),
    strict=True,
    min_length=1,
)
_QUESTION = _mapping(
    schema=_key(_read_by(_layout_number, {"const": SCHEMA}), f"the layout of the file, `schema: {SCHEMA}`"),
    code=_key(core.str_schema(strict=True, pattern=CODE), "its short code, such as MF1", optional=True),
    title=_key(_LINE, "one line that names the exercise"),
    type=_key(core.literal_schema([each.value for each in QuestionType]), "code-fix, implement, predict or explain"),
    difficulty=_key(core.int_schema(strict=True, ge=1, le=5), "1 (first week) to 5 (expert)"),
    minutes=_key(core.int_schema(strict=True, ge=1, le=600), "how long it takes, in whole minutes"),
    tags=_key(_list(_LINE), "words to select by, as a list", optional=True),
    device=_key(
        core.literal_schema([each.value for each in Need]),
        "what a check needs, if it does not say: any, second, budget or two",
    ),
    prompt=_key(_TEXT, "the exercise, in Markdown"),
    starter=_key(
        core.str_schema(strict=True, min_length=1),
        "the Python that a candidate starts from; it runs, and does not pass",
    ),
    self_check=_key(
        core.str_schema(strict=True, min_length=1),
        "`def test_…():` functions that try what the prompt shows; a candidate gets them",
        optional=True,
    ),
    entry=_key(_ENTRY, "what the submission must define, such as `{train_step: [model, batch, device]}`"),
    limits=_key(
        _LIMITS, "`seconds`, `cpu`, `memory`, `output`, `processes`, `threads`, `disk`, `open_files`", optional=True
    ),
    budget=_key(
        _read_by(_size, _BYTES_OR_SIZE),
        "bytes of the accelerator, such as 64MiB; with `device: budget` only",
        optional=True,
    ),
    checks=_key(_list(_CHECK, 1), "a list of `test`, `title` and `points`"),
    card=_key(_CARD, "the interview card"),
    sources=_key(_list(_LINE), "where it comes from, as a list", optional=True),
)

#: Of each mapping in a question, its keys and what belongs there.
LAYOUT = {
    names: {key: str(field["metadata"]["description"]) for key, field in mapping["fields"].items()}
    for names, mapping in {
        (): _QUESTION,
        ("limits",): _LIMITS,
        ("checks",): _CHECK,
        ("card",): _CARD,
        ("card", "mistakes"): _MISTAKE,
        ("card", "follow_ups"): _FOLLOW_UP,
        ("card", "rubric"): _RUBRIC,
    }.items()
}
VALIDATOR = SchemaValidator(_QUESTION)


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a question file, for editors."""
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415 — slow to import, and only editors need it

    class Generate(GenerateJsonSchema):
        def function_plain_schema(self, schema: core.PlainValidatorFunctionSchema) -> dict[str, Any]:
            return dict(schema["metadata"]["json"])

        def function_before_schema(self, schema: core.BeforeValidatorFunctionSchema) -> dict[str, Any]:
            return dict(schema["metadata"]["json"])

        def typed_dict_field_schema(self, schema: core.TypedDictField) -> dict[str, Any]:
            return {**super().typed_dict_field_schema(schema), "description": schema["metadata"]["description"]}

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A question of a Proctorch bank: questions/<topic>/<id>.yaml",
        **Generate().generate(_QUESTION),
    }
