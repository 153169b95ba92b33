"""YAML with the place of everything: bytes to plain data, and every fault of the text itself.

Stricter than YAML, because a question is data that people copy: a key may be given once, values are written where they
are used (no aliases, no `<<`), and there are no tags. Numbers stay exact: what has a decimal point is a `Decimal`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml

from proctorch.bank.text import Fault, shortened

#: A question of 30 checks and a long prompt is about a tenth of this.
MOST_BYTES = 512 * 1024
#: A question needs five levels.
MOST_LEVELS = 20

#: Where something is: keys and list positions from the top.
Location = tuple[str | int, ...]

# libyaml is some twenty times faster; wheels of PyYAML have it, some distributions' packages do not.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Invisible characters: control characters, the line breaks that editors do not count (and YAML does), the BOM.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"[-+]?([0-9]{1,18}\.[0-9]{0,18}|\.[0-9]{1,18})([eE][-+][0-9]{1,2})?")

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + "str", _TAG + "value", _TAG + "merge", "!"}
_ODD_TAGS = {
    _TAG + "int": "a number in an unusual form",
    _TAG + "float": "a number in an unusual form",
    _TAG + "timestamp": "a date",
}

# What libyaml (and PyYAML's own parser) says, and what it means to someone who writes questions.
_PLAIN_WORDS = {
    "mapping values are not allowed": "a colon where no key can be; put the text in quotes, or mend the indentation",
    "could not find expected ':'": "a line without `key:`; mend the colon or the indentation",
    "did not find expected key": "the indentation or a quote is wrong here or just above",
    "did not find expected '-'": "the indentation or a quote is wrong here or just above",
    "expected <block end>": "the indentation or a quote is wrong here or just above",
    "cannot start any token": "plain text cannot start with this character; put the text in quotes",
    "found unexpected end of stream": "the file ends inside a quoted text; close the quote",
    "expected ',' or ']'": "a list that `[` opened is not closed with `]`",
    "expected ',' or '}'": "a mapping that `{` opened is not closed with `}`",
    "found another document": "a second document starts here; one file holds one question",
    "found undefined alias": "text that starts with `*` is an alias; put the text in quotes",
    "maximum nesting depth": f"nested deeper than {MOST_LEVELS} levels; a question is not",
}


@dataclass(frozen=True)
class Odd:
    """A scalar that YAML reads as neither text, a plain number, true, false nor nothing: what it is instead."""

    text: str
    kind: str


@dataclass(frozen=True)
class Document:
    """One YAML document: its plain data, and where each part of it is written."""

    text: str
    root: yaml.MappingNode
    data: dict[str, Any]
    #: Faults that leave the rest readable, such as a key given twice.
    faults: tuple[Fault, ...]

    def written(self, location: Location) -> str | None:
        """The text of the scalar at `location`, or None if a list or a mapping is there."""
        node = self._walk(location)[1]
        return node.value if isinstance(node, yaml.ScalarNode) else None

    def place(self, location: Location) -> tuple[int, int]:
        """Line and column: of the key for what a key names, of the item for an item of a list."""
        return _place(self._walk(location)[0])

    def block(self, location: Location, line: int, column: int) -> tuple[int, int] | None:
        """Where a place inside a literal block (`|`) is in the file, or None if the text is written in another way."""
        node = self._walk(location)[1]
        if not isinstance(node, yaml.ScalarNode) or node.style != "|":
            return None
        content = node.value.splitlines()
        line = min(line, len(content))  # Python also complains about the line after the last
        first = node.start_mark.line + 1
        written = self.text.splitlines()[first + line - 1]
        return first + line, len(written) - len(content[line - 1]) + column

    def _walk(self, location: Location) -> tuple[yaml.Node, yaml.Node]:
        """The node to point at, and the node of the value."""
        shown: yaml.Node = self.root
        node: yaml.Node = self.root
        for step in location:
            if isinstance(node, yaml.MappingNode):
                found = next((pair for pair in node.value if pair[0].value == step), None)
                if found is None:
                    break
                shown, node = found
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                shown = node = node.value[step]
            else:
                break
        return shown, node


def read(content: bytes) -> Document | Fault:
    """The document in `content`, or the one fault that makes it unreadable."""
    if len(content) > MOST_BYTES:
        return Fault(1, 1, f"the file is larger than {MOST_BYTES // 1024} KiB; a question is not")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        return Fault(*_at(before), f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8")
    if invisible := _INVISIBLE.search(text):
        return Fault(*_at(text[: invisible.start()]), _invisible(invisible[0]))
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        return _syntax(error, text)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        return Fault(1, 1, f"cannot be read: {shortened(str(error), 80)}")
    if root is None:
        return Fault(1, 1, "the file is empty; a question starts with `schema: 1`")
    if not isinstance(root, yaml.MappingNode):
        return Fault(*_place(root), "a question is `key: value` lines, starting with `schema: 1`")
    builder = _Builder()
    try:
        data = builder.value(root, 0)
    except _RepeatedError:
        return _first_alias(text)
    except _DeepError as error:
        return Fault(*_place(error.node), f"nested deeper than {MOST_LEVELS} levels; a question is not")
    return Document(text, root, data, tuple(builder.faults))


class _RepeatedError(Exception):
    """A node was met twice: an alias."""


class _DeepError(Exception):
    def __init__(self, node: yaml.Node) -> None:
        self.node = node


class _Builder:
    """Nodes to plain data. Every node is met once, so the work is bounded by the file's size."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._met: set[int] = set()

    def value(self, node: yaml.Node, level: int) -> Any:
        if id(node) in self._met:
            raise _RepeatedError
        self._met.add(id(node))
        if level > MOST_LEVELS:
            raise _DeepError(node)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if isinstance(node, yaml.SequenceNode):
            self._expect_tag(node, _TAG + "seq")
            return [self.value(item, level + 1) for item in node.value]
        self._expect_tag(node, _TAG + "map")
        return self._mapping(node.value, level)

    def _mapping(self, pairs: Sequence[tuple[yaml.Node, yaml.Node]], level: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in pairs:
            key = self.value(key_node, level + 1)
            value = self.value(value_node, level + 1)
            if not isinstance(key_node, yaml.ScalarNode):
                self._fault(key_node, "a key must be one word")
                continue
            key = key_node.value  # as written: `on:` is the key `on`, not true
            if key_node.tag == _TAG + "merge":
                self._fault(key_node, "`<<` copies keys from elsewhere; write them out here")
            elif key in mapping:
                self._fault(key_node, f"`{shortened(key)}` is given twice, first on line {lines[key]}; keep one")
            else:
                mapping[key] = value
                lines[key] = key_node.start_mark.line + 1
        return mapping

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text, tag = node.value, node.tag
        if tag in _TEXT_TAGS:
            # Only escapes in double quotes can bring an invisible character in now.
            if node.style == '"' and (invisible := _INVISIBLE.search(text)):
                self._fault(node, _invisible(invisible[0]))
                return _INVISIBLE.sub("?", text)
            return text
        if tag == _TAG + "null":
            return None
        if tag == _TAG + "bool":
            return text.lower() in {"yes", "true", "on"}
        if tag == _TAG + "int" and _WHOLE.fullmatch(text):
            return int(text)
        if tag == _TAG + "float" and _DECIMAL.fullmatch(text):
            return Decimal(text)
        if tag in _ODD_TAGS:
            return Odd(text, _ODD_TAGS[tag])
        self._expect_tag(node, _TAG + "str")
        return text

    def _expect_tag(self, node: yaml.Node, tag: str) -> None:
        if node.tag not in {tag, "!"}:
            self._fault(node, f"tag `{shortened(node.tag.replace(_TAG, '!!'))}` is not read here; remove it")

    def _fault(self, node: yaml.Node, message: str) -> None:
        self.faults.append(Fault(*_place(node), message))


def _syntax(error: yaml.MarkedYAMLError, text: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    written = [*text.splitlines(), ""][line]
    if "\t" in written[: len(written) - len(written.lstrip())]:
        words = "a tab indents this line; indent with spaces"
    else:
        problem = error.problem or error.context or "unreadable"
        words = next((plain for part, plain in _PLAIN_WORDS.items() if part in problem), shortened(problem, 80))
    return Fault(line + 1, column + 1, f"cannot be read: {words}")


def _first_alias(text: str) -> Fault:
    """A composed alias is the very node it stands for: only the events still know where it was written."""
    mark: Any = next(
        event.start_mark for event in yaml.parse(text, Loader=_LOADER) if isinstance(event, yaml.AliasEvent)
    )
    return Fault(mark.line + 1, mark.column + 1, "aliases (`*name`, also with `<<`) are not read; write the value out")


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _at(before: str) -> tuple[int, int]:
    """The place that comes after the text `before`."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _invisible(character: str) -> str:
    return f"invisible character U+{ord(character):04X}; remove it"
