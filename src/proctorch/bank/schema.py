"""One YAML file to a `Question`, or to every fault in it.

Three levels, each told in one go: syntax (the YAML parser's mark), shape (the validator's location, walked down the
YAML nodes to a line and a column), and the rules between the parts of one question. What needs more than the one file
is told in `bank.py`.
"""

import ast
import keyword
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from proctorch.bank.question import (
    Card,
    Check,
    EntryPoint,
    FollowUp,
    Limits,
    Mistake,
    Need,
    Parameter,
    Question,
    QuestionType,
    Rubric,
)
from proctorch.bank.rules import broken_rules
from proctorch.bank.shape import CODE, ONE_LINE, TEST, shape_faults
from proctorch.bank.text import Fault, parse_python, shortened
from proctorch.bank.yaml_nodes import Document, read
from proctorch.errors import BankError, Diagnostic

#: The layout that this Proctorch reads: the `schema:` of every question.
SCHEMA = 1

_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SIZE = re.compile(r"([0-9]{1,15}) ?(B|KiB|MiB|GiB|)")
_BYTES = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_STAR = Parameter("*")
# Defaults of keys that may be left out, but not be left empty: so their types are without None. No `default_factory`:
# pydantic inspects each one's signature, which costs more than reading a question.
_ABSENT: Any = None
_NONE: Any = ()


def _refuse(message: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{message}", {"message": message})


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
    if not name.isidentifier() or keyword.iskeyword(name):
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


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, pattern=ONE_LINE)]
Test = Annotated[str, StringConstraints(pattern=TEST)]
Size = Annotated[
    int,
    PlainValidator(_size),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": f"^{_SIZE.pattern}$"}]}),
]
DeviceType = Literal["cpu", "cuda", "mps", "xpu", "virtual"]


class _Model(BaseModel):
    # Built once, as part of the question's validator, rather than each on its own.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class LimitsYaml(_Model):
    """What one played scenario may use."""

    seconds: Annotated[
        float, PlainValidator(_seconds), WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 86_400})
    ] = Field(default=Limits.seconds, description="wall-clock seconds, such as 10")
    memory: Size = Field(default=Limits.memory, description="bytes of memory, such as 2GiB")
    output: Size = Field(default=Limits.output, description="bytes of what is printed, such as 4MiB")


class CheckYaml(_Model):
    """One graded demand."""

    test: Test = Field(description="the name of the pytest function in the grader that decides, `test_…`")
    title: Line = Field(description="the line that a candidate sees")
    points: Annotated[
        Fraction, PlainValidator(_points), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1_000_000})
    ] = Field(description="a number from 0 up, such as 2 or 0.5")
    hint: Annotated[
        list[Text],
        BeforeValidator(_hints),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = Field(default=_NONE, description="help, or a list of helps, the gentlest first")
    needs: Test = Field(default=_ABSENT, description="the `test` of a check that must pass before this one is made")
    only: Annotated[list[DeviceType], Field(min_length=1)] = Field(
        default=_NONE, description="the device types on which the check is made; all, if left out"
    )


class MistakeYaml(_Model):
    """A common wrong answer."""

    mistake: Text = Field(description="what people do")
    why: Text = Field(description="why it fails")
    caught_by: Test = Field(default=_ABSENT, description="the `test` of the check that catches it")


class FollowUpYaml(_Model):
    """A question to ask next."""

    question: Text = Field(description="what to ask next")
    answer: Text = Field(description="a short right answer")


class RubricYaml(_Model):
    """How to score an oral answer."""

    strong: Text = Field(description="what a strong answer has")
    passing: Text = Field(alias="pass", description="what a passing answer has")
    weak: Text = Field(description="what a weak answer sounds like")
    probes: list[Text] = Field(default=_NONE, description="what to say when the candidate stalls")


class CardYaml(_Model):
    """The interview card."""

    question: Text = Field(description="the question as it is asked aloud")
    in_depth: Annotated[list[Text], Field(min_length=1)] = Field(description="what a full answer explains, as a list")
    scenario: Text = Field(description="where this happens in practice")
    mistakes: list[MistakeYaml] = Field(description="a list of `mistake`, `why` and `caught_by`")
    follow_ups: list[FollowUpYaml] = Field(description="a list of `question` and `answer`")
    related: list[Text] = Field(default=_NONE, description="neighbouring ideas")
    rubric: RubricYaml = Field(description="`strong`, `pass`, `weak` and `probes`")


class QuestionYaml(_Model):
    """A question of a Proctorch bank: `questions/<topic>/<id>.yaml`."""

    model_config = ConfigDict(title="Proctorch question", defer_build=False)

    schema_: Literal[1] = Field(alias="schema", description=f"the layout of this file: {SCHEMA}")
    code: Annotated[str, StringConstraints(pattern=CODE)] = Field(
        default=_ABSENT, description="its short code, such as MF1"
    )
    title: Line = Field(description="one line that names the exercise")
    type: QuestionType = Field(strict=False, description="code-fix, implement, predict or explain")
    difficulty: int = Field(ge=1, le=5, description="1 (first week) to 5 (expert)")
    minutes: int = Field(ge=1, le=600, description="how long it takes, in whole minutes")
    tags: list[Line] = Field(default=_NONE, description="words to select by")
    device: Need = Field(strict=False, description="what the hidden checks need: any, second or budget")
    prompt: Text = Field(description="the exercise, in Markdown")
    starter: str = Field(min_length=1, description="Python source that a candidate starts from; it does not pass")
    entry: Annotated[
        dict[
            Annotated[str, AfterValidator(_identifier)],
            Annotated[
                list[Annotated[Parameter, PlainValidator(_parameter), WithJsonSchema({"type": "string"})]],
                AfterValidator(_signature),
            ],
        ],
        Field(min_length=1),
    ] = Field(description="what the submission must define, such as `{train_step: [model, batch, device]}`")
    limits: LimitsYaml = Field(default=LimitsYaml.model_construct(), description="what one played scenario may use")
    budget: Size = Field(default=_ABSENT, description="bytes of the accelerator, such as 64MiB; with `device: budget`")
    checks: Annotated[list[CheckYaml], Field(min_length=1)] = Field(
        description="a list of `test`, `title` and `points`"
    )
    card: CardYaml = Field(description="the interview card")
    sources: list[Line] = Field(default=_NONE, description="where it comes from")


_MODELS: dict[tuple[str, ...], type[BaseModel]] = {
    (): QuestionYaml,
    ("limits",): LimitsYaml,
    ("checks",): CheckYaml,
    ("card",): CardYaml,
    ("card", "mistakes"): MistakeYaml,
    ("card", "follow_ups"): FollowUpYaml,
    ("card", "rubric"): RubricYaml,
}


def _layout() -> dict[tuple[str, ...], dict[str, str]]:
    """Of each mapping in a question, its keys and what belongs there."""
    models: dict[tuple[str, ...], type[BaseModel]] = {
        (): QuestionYaml,
        ("limits",): LimitsYaml,
        ("checks",): CheckYaml,
        ("card",): CardYaml,
        ("card", "mistakes"): MistakeYaml,
        ("card", "follow_ups"): FollowUpYaml,
        ("card", "rubric"): RubricYaml,
    }
    return {
        names: {field.alias or name: field.description or "" for name, field in model.model_fields.items()}
        for names, model in models.items()
    }


class QuestionFile(NamedTuple):
    """A question, and the file that it was read from: `document.place(…)` tells where a part of it is written."""

    question: Question
    document: Document


def read_question(path: Path, shown: str | None = None) -> QuestionFile:
    """The question at `…/questions/<topic>/<id>.yaml`.

    Raises BankError with every fault of the file; its diagnostics name the file as `shown`.
    """
    faults = list(_misnamed(path))
    document: Document | Fault
    try:
        document = read(path.read_bytes())
    except OSError as error:
        document = Fault(1, 1, f"cannot be read: {error.strerror}")
    if isinstance(document, Fault):
        faults.append(document)
    else:
        model, more = _validated(document)
        faults += more
        if model and not faults:
            return QuestionFile(_question(path, model), document)
    raise BankError([Diagnostic(shown or str(path), *fault) for fault in faults])


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a question file, for editors."""
    schema = QuestionYaml.model_json_schema()
    _without_empty_defaults(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _without_empty_defaults(part: Any) -> None:
    """`default: null` says that null may be written; it may not."""
    if isinstance(part, dict):
        if "default" in part and part["default"] is None:
            del part["default"]
        for each in part.values():
            _without_empty_defaults(each)


def _misnamed(path: Path) -> Iterator[Fault]:
    for what, name in (("file", path.stem), ("folder", path.parent.name)):
        if not _SLUG.fullmatch(name):
            yield Fault(
                1, 1, f"the {what} name `{name}` is not lowercase letters, digits and single hyphens; rename it"
            )


def _validated(document: Document) -> tuple[QuestionYaml | None, list[Fault]]:
    faults = list(document.faults)
    data = document.data
    if type(number := data.get("schema")) is int and number != SCHEMA:
        # Another layout: what else seems wrong in it would be noise.
        message = f"schema {number} is not known; this Proctorch reads schema {SCHEMA}"
        return None, [*faults, Fault(*document.place(("schema",)), message)]
    model = None
    try:
        model = QuestionYaml.model_validate(data)
    except ValidationError as error:
        faults += shape_faults(document, error.errors(include_url=False), _layout())
    faults += (Fault(*document.place(location), message) for location, message in broken_rules(data))
    faults += _starter_faults(document)
    return model, faults


def _starter_faults(document: Document) -> Iterator[Fault]:
    starter = document.data.get("starter")
    fault = parse_python(starter) if isinstance(starter, str) else None
    if isinstance(fault, Fault):
        place = document.block(("starter",), fault.line, fault.column)
        if place:
            yield Fault(*place, f"starter {fault.message}")
        else:
            yield Fault(*document.place(("starter",)), f"starter {fault.message} (in its line {fault.line})")


def _question(path: Path, model: QuestionYaml) -> Question:
    card, rubric = model.card, model.card.rubric
    return Question(
        id=path.stem,
        topic=path.parent.name,
        path=path,
        code=model.code,
        title=model.title,
        type=model.type,
        difficulty=model.difficulty,
        minutes=model.minutes,
        tags=tuple(model.tags),
        device=model.device,
        prompt=model.prompt,
        starter=model.starter,
        entry=tuple(EntryPoint(name, tuple(parameters)) for name, parameters in model.entry.items()),
        limits=Limits(model.limits.seconds, model.limits.memory, model.limits.output),
        budget=model.budget,
        checks=tuple(
            Check(each.test, each.title, each.points, tuple(each.hint), each.needs, tuple(each.only))
            for each in model.checks
        ),
        card=Card(
            question=card.question,
            in_depth=tuple(card.in_depth),
            scenario=card.scenario,
            mistakes=tuple(Mistake(each.mistake, each.why, each.caught_by) for each in card.mistakes),
            follow_ups=tuple(FollowUp(each.question, each.answer) for each in card.follow_ups),
            related=tuple(card.related),
            rubric=Rubric(rubric.strong, rubric.passing, rubric.weak, tuple(rubric.probes)),
        ),
        sources=tuple(model.sources),
    )
