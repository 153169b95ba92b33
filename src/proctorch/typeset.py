"""Text as Typst source: plain text, Markdown and listings. Nothing in a text is ever read as Typst.

Text goes into Typst's string literals alone, in which only the backslash and the quote mean something. The functions
that the source calls (`code`, `listing`, `lead`, `markdown-table`, `kw` and its like) are defined by `sheet.typ.j2`.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from proctorch import markup

if TYPE_CHECKING:
    from markdown_it.token import Token

#: After so many columns a line of a listing goes on in the next one, behind a mark.
_COLUMNS = 100
_TAB, _ZERO_WIDTH_SPACE = "    ", "\u200b"
#: A paragraph of at most so many characters stays with what follows, if it is one of these.
_SHORT, _LED = 120, {"bullet_list_open", "ordered_list_open", "table_open", "fence", "code_block"}
#: In a cell of a table, a word of code that is longer may be broken too.
_SHORT_WORD = 6
#: Pygments' kinds of tokens, by the beginnings of their names, and the functions that colour them.
_COLOURS = (
    ("Comment", "cm"),
    ("Keyword", "kw"),
    ("Operator.Word", "kw"),
    ("Literal.String", "st"),
    ("Literal", "li"),
    ("Name.Function", "nm"),
    ("Name.Class", "nm"),
    ("Name.Decorator", "nm"),
)


class Typst(str):
    """Typst source. Plain text is made such by the functions of this module, and by a template that shows it."""

    __slots__ = ()

    def __html__(self) -> str:
        """For Jinja, whose word for "escaped" this is."""
        return self


def string(text: object) -> Typst:
    """A string literal: `"…"`, for an argument."""
    return _literal(markup.visible(str(text)))


def text(value: object) -> Typst:
    """Plain text as content."""
    return Typst(f"#{string(value)};")


def typst_markdown(source: str, columns: int = _COLUMNS, heading: int = 3) -> Typst:
    """Markdown as Typst blocks. Its headings start at level `heading`, its listings have so many `columns`."""
    return Typst("".join(_blocks(markup.markdown_tokens(source), heading, columns)))


def typst_inline(source: str, *, narrow: bool = False) -> Typst:
    """One paragraph of Markdown, without the paragraph. In a `narrow` column code is broken sooner."""
    return Typst("".join(_inline(markup.inline_tokens(source), narrow=narrow)))


def typst_listing(source: str, columns: int = _COLUMNS, language: str = "python") -> Typst:
    """Code with numbered lines. What is wider than `columns` goes on in the next line, behind a mark."""
    rows = []
    for number, line in enumerate(markup.coloured_tokens(source, language), 1):
        for at, piece in enumerate(_folded(line, columns)):
            shown = "".join(map(_coloured, piece))
            rows.append(f"({number if at == 0 else 'none'}, [{shown}]),")
    return Typst(f"#listing(({''.join(rows)}))\n\n")


def _literal(shown: str) -> Typst:
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", _TAB)):
        shown = shown.replace(sign, written)
    return Typst(f'"{shown}"')


def _coloured(token: tuple[str, str]) -> str:
    kind, shown = token
    colour = next((name for start, name in _COLOURS if kind.startswith(start)), None) if shown.strip() else None
    return f"#{colour}({string(shown)});" if colour else text(shown)


def _folded(line: Sequence[tuple[str, str]], columns: int) -> Iterator[list[tuple[str, str]]]:
    """The tokens of a line in pieces of at most so many columns, that end with a space where there is one."""
    ends, begin = [], 0
    whole = "".join(shown for _, shown in line)
    while (end := _reach(whole, begin, columns)) < len(whole):
        space = whole.rfind(" ", _reach(whole, begin, columns * 3 // 4), end)
        begin = space + 1 if space >= 0 else max(end, begin + 1)
        ends.append(begin)
    piece: list[tuple[str, str]] = []
    at = 0
    for kind, shown in line:
        rest = shown
        for end in [each for each in ends if at < each <= at + len(shown)]:
            piece.append((kind, rest[: end - at]))
            yield piece
            piece, rest, at = [], rest[end - at :], end
        if rest:
            piece.append((kind, rest))
        at += len(rest)
    yield piece


def _reach(text: str, begin: int, columns: int) -> int:
    """How far `text` comes from `begin` on, in so many columns."""
    for at in range(begin, len(text)):
        columns -= _width(text[at])
        if columns < 0:
            return at
    return len(text)


def _width(sign: str) -> int:
    """Columns of a character: a tab is four, a wide sign of East Asia two, an accent on the one before it none."""
    if sign == "\t":
        return len(_TAB)
    if unicodedata.category(sign) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1


#: What stands for a token that says nothing more: with those below, all that the parser makes, HTML and pictures off.
_FIXED = {
    "paragraph_open": "",
    "heading_close": "]\n\n",
    "blockquote_open": "#quote(block: true)[",
    "blockquote_close": "]\n\n",
    "bullet_list_open": "#list(",
    "bullet_list_close": ")\n\n",
    "ordered_list_close": ")\n\n",
    "list_item_open": "[",
    "list_item_close": "],",
    "hr": "#rule()\n\n",
    "table_close": ")\n\n",
    "thead_open": "table.header(",
    "thead_close": "),",
    "tbody_open": "",
    "tbody_close": "",
    "tr_open": "",
    "tr_close": "",
    "th_open": "[",
    "th_close": "],",
    "td_open": "[",
    "td_close": "],",
    "softbreak": " ",
    "hardbreak": "#linebreak();",
    "strong_open": "#strong[",
    "strong_close": "];",
    "em_open": "#emph[",
    "em_close": "];",
    "link_close": "];",
}


def _blocks(tokens: Sequence["Token"], heading: int, columns: int) -> Iterator[str]:
    leads = {at for at in range(len(tokens) - 3) if _leads(tokens[at], tokens[at + 1], tokens[at + 3])}
    for at, token in enumerate(tokens):
        match token.type:
            case "paragraph_open" if at in leads:
                yield "#lead["
            case "paragraph_close" if at - 2 in leads:
                yield "]\n\n"
            case "inline":
                in_cell = tokens[at - 1].type in {"th_open", "td_open"}
                yield from _inline(token.children or [], narrow=in_cell)
            case "paragraph_close":
                yield " " if token.hidden else "\n\n"
            case "heading_open":
                level = int(token.tag[1:]) + heading - 1
                yield f"#heading(level: {level}, outlined: false, bookmarked: false)["
            case "ordered_list_open":
                yield f"#enum(start: {token.attrs.get('start', 1)}, "
            case "fence" | "code_block":
                yield typst_listing(token.content, columns, token.info.split(" ")[0])
            case "table_open":
                yield f"#markdown-table({_columns(tokens, token)}, "
            case _:
                yield _FIXED[token.type]


def _leads(paragraph: "Token", text: "Token", following: "Token") -> bool:
    """Whether a short paragraph leads over to a list, a table or code."""
    alone = paragraph.type == "paragraph_open" and not paragraph.level
    return alone and len(text.content) <= _SHORT and following.type in _LED


def _columns(tokens: Sequence["Token"], table: "Token") -> str:
    """The alignments of a table's columns, as Typst's array."""
    start = next(at for at, token in enumerate(tokens) if token is table)
    end = next(at for at, token in enumerate(tokens) if at > start and token.type == "thead_close")
    styles = [str(token.attrs.get("style", "")) for token in tokens[start:end] if token.type == "th_open"]
    sides = [
        style.removeprefix("text-align:").replace("left", "start").replace("right", "end") or "start"
        for style in styles
    ]
    return f"({', '.join(sides)},)"


def _inline(tokens: Sequence["Token"], *, narrow: bool = False) -> Iterator[str]:
    """In a `narrow` place, every word of code may end a line after a sign: else it would run into the next column."""
    for token in tokens:
        match token.type:
            case "text":
                yield text(token.content) if token.content else ""
            case "code_inline":
                pieces = markup.code_pieces(token.content, *[_SHORT_WORD] * narrow)
                yield f"#code({_literal(_ZERO_WIDTH_SPACE.join(pieces))});"
            case "link_open":
                yield f"#link({string(token.attrs.get('href', ''))})["
            case _:
                yield _FIXED[token.type]
