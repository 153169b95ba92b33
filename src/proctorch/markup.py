"""Text as HTML that cannot harm a page: Markdown of the bank, Python source, and whatever a stranger's code printed."""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: Characters of a source, and of a line in it, that are coloured. Some of the lexer's patterns take quadratic time.
_LONGEST_COLOURED, _WIDEST_COLOURED = 40_000, 1_000


def _shown() -> Iterator[tuple[int, str]]:
    """Each code point that would be invisible, or change how others are shown, and what is shown instead."""
    for code in (*range(0x20), 0x7F):
        if code not in b"\t\n":
            yield code, chr(0x2421 if code == 0x7F else 0x2400 + code)
    for first, last in (
        (0x80, 0x9F),  # C1 controls
        (0xAD, 0xAD),  # soft hyphen
        (0x061C, 0x061C),  # Arabic letter mark
        (0x115F, 0x1160),  # Hangul fillers: letters that cannot be seen
        (0x180E, 0x180E),
        (0x200B, 0x200B),  # zero width space; its neighbours join and part letters in real words, and stay
        (0x200E, 0x200F),  # direction marks
        (0x2028, 0x202E),  # line and paragraph separators, direction embeddings and overrides
        (0x2060, 0x206F),  # word joiner, invisible operators, direction isolates
        (0x3164, 0x3164),
        (0xFE00, 0xFE0D),  # variation selectors, but for those of emoji
        (0xFEFF, 0xFEFF),  # byte order mark
        (0xFFA0, 0xFFA0),
        (0xFFF9, 0xFFFB),
        (0xFFFE, 0xFFFF),
        (0xE0000, 0xE01EF),  # tags and more variation selectors: a text hidden in a text
    ):
        for code in range(first, last + 1):
            yield code, f"⟨U+{code:04X}⟩"
    for code in range(0xD800, 0xE000):
        # How Python holds a byte that was not UTF-8.
        is_byte = 0xDC80 <= code <= 0xDCFF
        yield code, f"⟨0x{code - 0xDC00:02X}⟩" if is_byte else f"⟨U+{code:04X}⟩"


_SHOWN = dict(_shown())
_HIDDEN = re.compile(f"[{''.join(re.escape(chr(code)) for code in _SHOWN)}]")
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
_SIGNS = re.compile(r"([/\\_])")
#: A word of inline code that is longer may be broken, after one of the signs.
_LONG_WORD, _PIECE = 20, re.compile(r"(?<=[._/,=(\[{])")
_TICKS = re.compile(r"`([^`\n]+)`")


def visible(text: str) -> str:
    """`text` with each character that hides, or turns the text around, shown as a sign: `␛`, `⟨U+202E⟩`, `⟨0xFF⟩`.

    What comes back can be encoded, and stands in one direction. Tabs and line feeds stay.
    """
    return text.translate(_SHOWN)


def printed(text: str) -> str:
    """What a program wrote to a terminal, as plain lines: colours are dropped, other controls made visible."""
    return visible(_COLOURS.sub("", text.replace("\r\n", "\n")))


def ticks(text: str) -> Markup:
    """Plain text, in which only `backticks` mean something. For reasons, which may quote a candidate's text."""
    return Markup(_TICKS.sub(r"<code>\1</code>", str(escape(visible(text)))))  # noqa: S704 - it is escaped first


def breakable(path: str) -> Markup:
    """A file's name in which a line may end after a slash or an underscore."""
    return Markup(_SIGNS.sub(r"\1<wbr>", str(escape(visible(path)))))  # noqa: S704 - it is escaped first


def markdown(text: str, heading: int = 3) -> Markup:
    """Markdown as HTML blocks: CommonMark and tables, without HTML and pictures. Its headings start at `heading`."""
    parser = _markdown()
    tokens = parser.parse(visible(text))
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1:]) + heading - 1)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the parser passes no HTML through


def inline_markdown(text: str) -> Markup:
    """One paragraph of Markdown, without the paragraph."""
    return Markup(_markdown().renderInline(visible(text)))  # noqa: S704 - the parser passes no HTML through


def markdown_tokens(text: str) -> "list[Token]":
    """The blocks of a Markdown text, for another form than HTML; pictures and HTML are plain text in it."""
    return _markdown().parse(visible(text))


def inline_tokens(text: str) -> "list[Token]":
    """What stands in one paragraph of Markdown."""
    return _markdown().parseInline(visible(text))[0].children or []


def code_pieces(code: str, longest: int = _LONG_WORD) -> list[str]:
    """Inline code in the pieces between which a line may end: after a sign, if a word has more than `longest` ones."""
    if max(map(len, code.split(" "))) <= longest:
        return [code]
    return [each for each in _PIECE.split(code) if each]


def coloured_tokens(source: str, language: str) -> list[list[tuple[str, str]]]:
    """The lines of a source, each as (kind, text) with Pygments' names of kinds; `""` where it is not coloured."""
    source = _plain(source)
    lines = source.split("\n")
    if language not in {"python", "py"} or not _is_short(source, lines):
        return [[("", visible(line))] for line in lines]
    from pygments.lexers.python import PythonLexer  # noqa: PLC0415 - as in `_coloured`

    coloured: list[list[tuple[str, str]]] = [[]]
    for kind, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens("\n".join(_lexed(lines))):
        for at, part in enumerate(text.split("\n")):
            if at:
                coloured.append([])
            if part:
                coloured[-1].append((str(kind).removeprefix("Token."), visible(part)))
    return [tokens if line.strip() else [("", line)] for line, tokens in zip(lines, coloured, strict=False)]


def python_lines(source: str) -> list[Markup]:
    """Python source as coloured lines, counted as Python counts them. Signs for hidden characters stand out.

    The classes are the short ones of Pygments; `odd` marks a sign. An overlong source comes back without colours.
    """
    source = _plain(source)
    lines = source.split("\n")
    lines = _coloured(lines) if _is_short(source, lines) else [str(escape(line)) for line in lines]
    return [Markup(_HIDDEN.sub(_sign, line)) for line in lines]  # noqa: S704 - both roads escape


def _plain(source: str) -> str:
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")


def _is_short(source: str, lines: list[str]) -> bool:
    return len(source) <= _LONGEST_COLOURED and len(max(lines, key=len)) <= _WIDEST_COLOURED


def _lexed(lines: list[str]) -> list[str]:
    """The lines as the lexer gets them: over blank ones its time grows with the cube of their number."""
    return [line if line.strip() else "#" for line in lines]


def _sign(hidden: re.Match[str]) -> str:
    return f'<span class="odd">{_SHOWN[ord(hidden[0])]}</span>'


def _coloured(lines: list[str]) -> list[str]:
    import pygments  # noqa: PLC0415 - a terminal needs `visible` alone, and not to wait
    from pygments.formatters import HtmlFormatter  # noqa: PLC0415 - as above
    from pygments.lexers.python import PythonLexer  # noqa: PLC0415 - as above

    source = "\n".join(_lexed(lines))
    # nowrap: the lines alone, each with all its tags closed.
    coloured = pygments.highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).split("\n")
    return [html if line.strip() else line for line, html in zip(lines, coloured, strict=False)]


def _highlight(code: str, language: str, _attributes: str) -> str:
    """A fenced block of a Markdown text; empty: the parser shows it as it is."""
    return "\n".join(python_lines(code)) if language in {"python", "py"} else ""


def _inline_code(_: object, tokens: "Sequence[Token]", at: int, *_more: object) -> str:
    pieces = code_pieces(tokens[at].content)
    return f"<code>{'<wbr>'.join(str(escape(each)) for each in pieces)}</code>"


@functools.cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - as above

    options = {"html": False, "highlight": _highlight}
    parser = MarkdownIt("commonmark", options).enable("table").disable("image")
    parser.add_render_rule("code_inline", _inline_code)
    return parser
