"""The Markdown that a bank's texts may have: what each form of a sheet shows alike. What else is written is a fault."""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from proctorch.markup import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Unset(NamedTuple):
    """A part of a text that not every sheet shows. Lines and columns count from 1."""

    line: int
    column: int
    #: What it is, and what to write instead.
    message: str


# Most texts have no sign of what is looked for, and need no parser, which takes long to load.
_SIGNS = re.compile(r"!\[|<[A-Za-z/!?]|\$[^\s$]|~~|\[[\^!]|\](?:\(|:)|\[[ xX]\]|&[#A-Za-z]")
_NESTED_HEADING = re.compile(
    r"^[ \t]*(?:[>*+-]|[0-9]+[.)]).*#|^ *>.*\n *> *[-=]|^[ \t]+(?:[-=]+[ \t]*$|#)", re.MULTILINE
)
_OTHER_BLOCK = re.compile(r"^[ \t]*(?:[#>|+*=~-]|```|[0-9]+[.)]|$)|(?:\\|  )\n|^(?: {4}|\t)", re.MULTILINE)
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
_BOX = re.compile(r"\[[ xX]\]\s")
_ADDRESS = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_FOOTNOTE = "a footnote; say it where it belongs"
#: What plain text means to some readers of Markdown.
_READ_AS_MORE = (
    (
        re.compile(r"\$[^\s$](?:[^$]*[^\s$])?\$"),
        "text between dollar signs, a formula to notebooks; write it as `code`",
    ),
    (re.compile(r"\[\^[^\]\s]+\]"), _FOOTNOTE),
    (re.compile(r"\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]"), "a note with a sign, `[!…]`; write a quotation"),
)
_BLOCKS = {
    "heading_open": "a heading",
    "bullet_list_open": "a list",
    "ordered_list_open": "a list",
    "blockquote_open": "a quotation",
    "fence": "a block of code",
    "code_block": "a block of code",
    "table_open": "a table",
    "hr": "a rule",
    "paragraph_open": "a second paragraph",
}


def unset(text: str, *, blocks: bool = True) -> list[Unset]:
    """What not every sheet shows of a Markdown text, in order. Without `blocks`, the text has to be one paragraph."""
    written = text.strip()  # as it will be shown
    if not _SIGNS.search(written) and not (_NESTED_HEADING if blocks else _OTHER_BLOCK).search(written):
        return []
    env: dict[str, Any] = {}
    tokens = _reader().parse(written, env)
    above = text[: len(text) - len(text.lstrip())].count("\n")
    lines = text.split("\n")
    found = set()
    told = [
        *_of_addresses(env),
        *_of_blocks(tokens, blocks=blocks),
        *_of_paragraphs(tokens, references="references" in env),
    ]
    for line, sign, message in ((above + line, sign, message) for line, sign, message in told):
        # A paragraph is told with its first line alone: the sign is looked for from there on.
        at = next((at for at in range(line, len(lines)) if sign in lines[at]), line)
        found.add(Unset(at + 1, max(lines[at].find(sign), 0) + 1, message))
    return sorted(found)


def lowered(text: str, levels: int) -> str:
    """Markdown whose headings are so many levels lower, for a place under a heading of its own; 6 is the lowest."""
    lines: list[str | None] = list(text.split("\n"))
    tokens = _reader().parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.map:
            begin, end = token.map
            marks, title = "#" * min(6, int(token.tag[1:]) + levels), " ".join(tokens[at + 1].content.split())
            lines[begin:end] = [f"{marks} {title}", *[None] * (end - begin - 1)]
    return "\n".join(line for line in lines if line is not None)


def plain(text: str) -> str:
    """Plain text as Markdown of one line: no sign of it is read as Markdown or HTML."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def _of_addresses(env: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    for label, reference in env.get("references", {}).items():
        apart = "an address apart from its link; write `[text](https://…)`"
        yield reference["map"][0], "[", _FOOTNOTE if label.startswith("^") else apart


def _of_blocks(tokens: Sequence["Token"], *, blocks: bool) -> Iterator[tuple[int, str, str]]:
    paragraphs = 0
    for token in tokens:
        line = token.map[0] if token.map else 0
        if token.type == "html_block":
            yield line, "<", _html(token)
        elif token.type == "heading_open" and token.level:
            yield line, "", "a heading inside a list or a quotation; write it as **bold** text"
        if not blocks and token.type in _BLOCKS and not token.level:
            paragraphs += token.type == "paragraph_open"
            if token.type != "paragraph_open" or paragraphs == 2:
                yield line, "", f"{_BLOCKS[token.type]}, where one paragraph is shown; write it as sentences"
                blocks = True  # once is enough
        if not blocks and token.type == "inline" and any(each.type == "hardbreak" for each in token.children or []):
            yield line, "", "a line that is broken, where one paragraph is shown; write it as sentences"


def _of_paragraphs(tokens: Sequence["Token"], *, references: bool) -> Iterator[tuple[int, str, str]]:
    line = 0
    for at, token in enumerate(tokens):
        line = token.map[0] if token.map else line
        if token.type == "inline":
            if at > 1 and tokens[at - 2].type == "list_item_open" and (box := _BOX.match(token.content)):
                yield line, box[0], "a box to tick; write a list without boxes"
            for each in token.children or []:
                # Where an address stands apart, that is told.
                if not (references and each.type == "link_open"):
                    yield from ((line, sign, message) for sign, message in _of_token(each))


def _of_token(token: "Token") -> Iterator[tuple[str, str]]:
    """The sign to look for, and what is told."""
    match token.type:
        case "image":
            yield "![", "a picture, which no sheet can show; say it in words, or as a table"
        case "html_inline" if not token.content.startswith("</"):
            yield token.content.split("\n")[0], _html(token)
        case "s_open":
            yield "~~", "text that is struck out; leave it out"
        case "link_open" if not _ADDRESS.match(address := str(token.attrs.get("href", ""))):
            yield "](", f"a link to `{address}`, which leads nowhere from a sheet; write https://…"
        case "text":
            if visible(token.content) != token.content:
                yield "&", "a character that cannot be seen; leave it out"
            for odd, told in _READ_AS_MORE:
                yield from ((found[0], told) for found in odd.finditer(token.content))
        case _:
            pass


def _html(token: "Token") -> str:
    tag = " ".join(token.content.split())
    shown = tag if len(tag) <= 20 else tag[:19] + "…"
    return f"HTML, `{shown}`, which is not read; write it as `code`"


@functools.cache
def _reader() -> "MarkdownIt":
    """Knows more than is set, so that it is seen."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - most texts need no parser

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    # None is followed here, and what is said of the others holds for `javascript:` too.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parser
