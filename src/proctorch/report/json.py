"""A report as JSON, and back. The format is the report's own dataclasses, field by field.

Points are strings such as "7/2" or "3", so that they stay exact. Points that follow from the checks are written for the
reader's sake and must agree when the file is read. Text is ASCII with escapes: a report that is shown in a terminal
cannot turn its words around.
"""

import dataclasses
import enum
import functools
import json
import math
import re
import types
import typing
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from proctorch.errors import UsageError
from proctorch.judge.grade import Grade
from proctorch.judge.integrity import audit
from proctorch.report.report import SCHEMA, Audience, Report

#: Written for each grade beside its fields; checked and dropped when read.
_DERIVED: dict[type, tuple[str, ...]] = {Grade: ("earned", "possible")}

_POINTS = re.compile(r"(0|[1-9]\d{0,17})(/[1-9]\d{0,17})?", re.ASCII)
_CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")


class _Mismatch(Exception):
    """Something in the file is not what a report has there."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where.removeprefix('.') or 'the file'} {what}")


def render(report: Report) -> str:
    """The report as a JSON document that `parse` reads and `report_schema` describes."""
    return json.dumps(_encode(report), indent=1, allow_nan=False) + "\n"


def parse(content: bytes) -> Report:
    """The report in a JSON document. Anything that is not exactly one is a UsageError."""
    try:
        data = json.loads(content.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise UsageError(f"is not a report: byte {error.start} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise UsageError("is not a report: its JSON is nested too deep") from error
    except ValueError as error:
        raise UsageError(f"is not a report: {error}") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if type(schema) is not int:
        raise UsageError("is not a report of Proctorch: it has no schema number")
    if schema not in {1, SCHEMA}:
        raise UsageError(f"is a report of schema {schema}; this version of Proctorch reads schemas 1 to {SCHEMA}")
    try:
        report: Report = _decode(Report, _from_first_schema(data) if schema == 1 else data, "")
        _cross_check(report)
    except _Mismatch as error:
        raise UsageError(f"is not a report of schema {schema}: {error}") from error
    return _with_flags(report) if schema == 1 else report


def report_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the documents that `render` writes."""
    definitions: dict[str, Any] = {}
    root = _schema(Report, definitions)
    definitions["Report"]["properties"]["schema"] = {"const": SCHEMA}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Proctorch report, schema {SCHEMA}",
        **root,
        "$defs": definitions,
    }


def _from_first_schema(data: dict[str, Any]) -> dict[str, Any]:
    """A document of schema 1 as one of schema 2, with flags, notes and cells; it may still be anything."""
    grades = data.get("grades")
    for n, grade in enumerate(grades if isinstance(grades, list) else ()):
        if not isinstance(grade, dict):
            continue
        for name in ("flags", "notes"):
            if grade.setdefault(name, []):
                raise _Mismatch(f"grades[{n}]", f"has '{name}', which is not known there")
        checks = grade.get("checks")
        for check in checks if isinstance(checks, list) else ():
            if isinstance(check, dict) and isinstance(check.get("place"), dict):
                check["place"].setdefault("cell", "")
    return data | {"schema": SCHEMA}


def _with_flags(report: Report) -> Report:
    """An interviewer's report of schema 1 with what its sources show, since nobody had looked then."""
    if report.audience is Audience.CANDIDATE:
        return report
    grades = tuple(dataclasses.replace(grade, flags=audit(grade.source)) for grade in report.grades)
    return dataclasses.replace(report, grades=grades)


def _encode(value: Any) -> Any:
    match value:
        case str():
            # A lone surrogate is no character: strict readers of JSON refuse the whole file for one.
            return _SURROGATES.sub("\ufffd", value)
        case enum.Enum():
            return value.value
        case Fraction():
            return str(value)
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case tuple():
            return [_encode(item) for item in value]
        case Mapping():
            return {key: _encode(item) for key, item in value.items()}
        case _:
            pass
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (*_fields(type(value)), *_DERIVED.get(type(value), ()))
        return {name: _encode(getattr(value, name)) for name in names}
    return value


def _decode(kind: Any, data: Any, where: str) -> Any:
    """`data` as a `kind`: a dataclass, or what a field of one may be annotated with."""
    origin = typing.get_origin(kind)
    if origin is types.UnionType:
        return None if data is None else _decode(typing.get_args(kind)[0], data, where)
    if origin is tuple:
        items = _expect(data, list, "a list", where)
        return tuple(_decode(typing.get_args(kind)[0], item, f"{where}[{n}]") for n, item in enumerate(items))
    if origin is Mapping:
        entries = _expect(data, dict, "an object", where)
        return {key: _decode(typing.get_args(kind)[1], item, f"{where}[{key!a}]") for key, item in entries.items()}
    if dataclasses.is_dataclass(kind):
        return _decode_object(typing.cast("type", kind), _expect(data, dict, "an object", where), where)
    if issubclass(kind, enum.Enum):
        names = [member.value for member in kind]
        return kind(data) if data in names else _refuse(where, data, f"one of {', '.join(names)}")
    if kind is Fraction:
        text = _expect(data, str, "points", where)
        return Fraction(text) if _POINTS.fullmatch(text) else _refuse(where, data, 'points such as "7/2" or "3"')
    if kind is datetime:
        return _decode_time(_expect(data, str, "a time", where), where)
    if kind is float:
        number = _expect(data, (int, float), "a number", where)
        return float(number) if 0 <= number < math.inf else _refuse(where, data, "a number of at least 0")
    value = _expect(data, kind, {str: "text", bool: "true or false", int: "a whole number"}[kind], where)
    return value if kind is not int or value >= 0 else _refuse(where, data, "a whole number of at least 0")


def _decode_object(kind: type, data: dict[str, Any], where: str) -> Any:
    fields, derived = _fields(kind), _DERIVED.get(kind, ())
    for name in (*fields, *derived):
        if name not in data:
            raise _Mismatch(where, f"has no {name!r}")
    for name in data:
        if name not in fields and name not in derived:
            raise _Mismatch(where, f"has {name!a}, which is not known there")
    value = kind(**{name: _decode(field, data[name], f"{where}.{name}") for name, field in fields.items()})
    for name in derived:
        if data[name] != _encode(getattr(value, name)):
            raise _Mismatch(f"{where}.{name}", f"does not follow from the checks: they make {getattr(value, name)}")
    return value


def _decode_time(text: str, where: str) -> datetime:
    try:
        if _CREATED.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    return typing.cast("datetime", _refuse(where, text, "a time such as 2026-01-31T12:00:00Z"))


def _cross_check(report: Report) -> None:
    for name, question in report.questions.items():
        if question.id != name:
            raise _Mismatch(f"questions[{name!a}].id", f"is {question.id!a}")
    for n, grade in enumerate(report.grades):
        if grade.question not in report.questions:
            raise _Mismatch(f"grades[{n}].question", f"is {grade.question!a}, which is not among the questions")


def _expect(data: Any, kind: type | tuple[type, ...], what: str, where: str) -> Any:
    # In Python, but not in JSON, true is a number.
    if isinstance(data, kind) and (kind is bool or not isinstance(data, bool)):
        return data
    return _refuse(where, data, what)


def _refuse(where: str, data: Any, what: str) -> Any:
    shown = ascii(data)
    raise _Mismatch(where, f"is {shown if len(shown) <= 60 else f'{shown[:57]}...'}, not {what}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name[:60]!a} is there twice in one object")
        found[name] = value
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


@functools.cache
def _fields(kind: type) -> dict[str, Any]:
    """The fields of a dataclass with their types, in order."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin = typing.get_origin(kind)
    if origin is types.UnionType:
        return {"anyOf": [_schema(typing.get_args(kind)[0], definitions), {"type": "null"}]}
    if origin is tuple:
        return {"type": "array", "items": _schema(typing.get_args(kind)[0], definitions)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(typing.get_args(kind)[1], definitions)}
    if dataclasses.is_dataclass(kind):
        return _object_schema(typing.cast("type", kind), definitions)
    if issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    scalars: dict[Any, dict[str, Any]] = {
        Fraction: {"type": "string", "pattern": f"^{_POINTS.pattern}$"},
        datetime: {"type": "string", "format": "date-time", "pattern": f"^{_CREATED.pattern}$"},
        float: {"type": "number", "minimum": 0},
        int: {"type": "integer", "minimum": 0},
        bool: {"type": "boolean"},
        str: {"type": "string"},
    }
    return scalars[kind]


def _object_schema(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        properties = {name: _schema(field, definitions) for name, field in _fields(kind).items()}
        properties |= {name: _schema(Fraction, definitions) for name in _DERIVED.get(kind, ())}
        definitions[kind.__name__] = {
            "description": (kind.__doc__ or "").partition("\n")[0],
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}
