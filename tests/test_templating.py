"""Templates, and text as HTML."""

import html
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctorch import templating
from proctorch.errors import ProctorchError, UsageError
from proctorch.markup import breakable, inline_markdown, markdown, printed, python_lines, ticks, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\x00b\x07c\x1bd\x7f", "a␀b␇c␛d␡"),
        ("\r\x0b\x0c", "␍␋␌"),
        ("\x85\x9b", "⟨U+0085⟩⟨U+009B⟩"),
        ("if \u202eresu\u202c", "if ⟨U+202E⟩resu⟨U+202C⟩"),
        ("\u2066\u2067\u2068\u2069\u200e\u061c", "⟨U+2066⟩⟨U+2067⟩⟨U+2068⟩⟨U+2069⟩⟨U+200E⟩⟨U+061C⟩"),
        ("a\u200bb\ufeff\u3164", "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+3164⟩"),
        ("\u2028\u2029\U000e0041", "⟨U+2028⟩⟨U+2029⟩⟨U+E0041⟩"),
        ("\udcff\ud800", "⟨0xFF⟩⟨U+D800⟩"),
        ("grüße 日本語 עברית 👩\u200d🔬 ☀️", "grüße 日本語 עברית 👩\u200d🔬 ☀️"),
    ],
)
def test_hidden_characters_are_shown(text: str, shown: str) -> None:
    """Controls, direction marks, invisible letters and broken bytes become signs; words of any language stay."""
    assert visible(text) == shown


@settings(deadline=None)  # how long it takes is no matter of right and wrong
@given(st.text(alphabet=st.characters()))
def test_visible_text_can_always_be_written(text: str) -> None:
    """Whatever comes in, what comes out is UTF-8 on lines of its own making, and showing it again changes nothing."""
    shown = visible(text)
    shown.encode()
    assert visible(shown) == shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_terminal_colours_are_dropped() -> None:
    """Colours are no content; other terminal commands are shown, so that nothing is hidden by them."""
    assert printed("\x1b[1;31mred\x1b[0m\r\nnext\x1b[2J\x1b]0;title\x07") == "red\nnext␛[2J␛]0;title␇"


def test_ticks_are_code_and_nothing_else_is_markup() -> None:
    """A reason may quote code in backticks; its HTML and its Markdown are text."""
    assert ticks("`a<b` is **not** <b>\x1b") == "<code>a&lt;b</code> is **not** &lt;b&gt;␛"


def test_a_file_name_may_break_between_its_parts() -> None:
    """A long file name breaks between its parts, and stays text."""
    assert breakable("a/b_c.py<") == "a/<wbr>b_<wbr>c.py&lt;"


def test_markdown_is_blocks_and_tables_without_html() -> None:
    """Markdown becomes HTML; HTML in it, scripts in links and pictures do not."""
    text = (
        "# Task\n\n<script>x</script> *so* [go](javascript:alert(1)) ![p](https://example.org/p.png)\n\n|a|\n|-|\n|1|\n"
    )
    assert markdown(text, 3) == (
        "<h3>Task</h3>\n"
        "<p>&lt;script&gt;x&lt;/script&gt; <em>so</em> [go](javascript:alert(1)) "
        '!<a href="https://example.org/p.png">p</a></p>\n'
        "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>\n"
    )
    assert inline_markdown("`x` <b>\u202e") == "<code>x</code> &lt;b&gt;⟨U+202E⟩"


def test_python_in_markdown_is_coloured() -> None:
    """A fenced block of Python has the colours of a listing; any other is left as it is."""
    assert '<span class="k">return</span>' in markdown("```python\nreturn 1\n```")
    assert markdown("```text\nreturn <1>\n```") == '<pre><code class="language-text">return &lt;1&gt;\n</code></pre>\n'


def test_python_lines_are_pythons_lines() -> None:
    """Lines end where Python ends them, tags never cross a line, and hidden characters stand out."""
    assert python_lines('\ufeffx = """a\r\n\n<b>\x0c\u202e"""\rreturn') == [
        '<span class="n">x</span> <span class="o">=</span> <span class="s2">"""a</span>',
        "",
        '<span class="s2">&lt;b&gt;<span class="odd">␌</span><span class="odd">⟨U+202E⟩</span>"""</span>',
        '<span class="k">return</span>',
    ]


@settings(deadline=None)  # how long it takes is no matter of right and wrong
@given(
    st.lists(
        st.sampled_from(["x = 1", "'''", '"', "\\", " ", "\t", "", "\x0c", "#", "def f(", "\x00", "é", "\udc80", "f'{"])
    )
)
def test_python_lines_lose_nothing(lines: list[str]) -> None:
    """Without its tags, a listing is the source, line by line."""
    source = "\n".join(lines)
    bare = [html.unescape(re.sub("<[^>]*>", "", line)) for line in python_lines(source)]
    assert bare == [visible(line) for line in source.removesuffix("\n").split("\n")]


@pytest.mark.parametrize("unit", ["\n", "\t \n", "a.", "'''\n", "f'{", "(\n", "\\N{", "def f(\n"])
def test_no_source_holds_the_page_up(unit: str) -> None:
    """A source made to be slow to colour is shown in time, if need be without colours."""
    start = time.perf_counter()
    assert python_lines(unit * (300_000 // len(unit)))
    assert python_lines(unit * (40_000 // len(unit)))
    assert time.perf_counter() - start < 20


# Templates


def render(folder: Path, text: str, name: str = "page.html.j2", **values: object) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return templating.render(name, values, folder=folder)


def test_values_are_escaped_and_made_visible(tmp_path: Path) -> None:
    """No template has to remember that what it shows was written by strangers."""
    assert render(tmp_path, "<p title='{{ a }}'>{{ a }}</p>\n", a="</p>\x1b'\u202e") == (
        "<p title='&lt;/p&gt;␛&#39;⟨U+202E⟩'>&lt;/p&gt;␛&#39;⟨U+202E⟩</p>\n"
    )


def test_other_formats_are_not_escaped_as_html(tmp_path: Path) -> None:
    """In Markdown an escape of HTML would be shown; hidden characters are made visible there too."""
    assert render(tmp_path, "{{ a }}", "page.md.j2", a="a < b\x1b") == "a < b␛"


def test_a_folders_templates_go_first(tmp_path: Path) -> None:
    """A template of one's own takes the place of the shipped one, and may use the others."""
    assert render(tmp_path, "mine{% include 'style.css' %}", "report.html.j2").startswith("mine/* One style sheet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one\n{{ missing }}\n", "page.html.j2:2: 'missing' is undefined"),
        ("one\ntwo\n{% if %}\n", "page.html.j2:3: Expected an expression, got 'end of statement block'"),
        ("{{ 1 + 'a' }}\n", "page.html.j2:1: TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
        ("\n{% include 'none.j2' %}", "page.html.j2:2: there is no template 'none.j2' in "),
        ("{{ 1 | nofilter }}", "page.html.j2:1: No filter named 'nofilter'."),
    ],
)
def test_a_fault_in_a_template_is_told_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    """A fault in one's own template is a UsageError that names file and line."""
    with pytest.raises(UsageError) as caught:
        render(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_a_fault_in_a_shipped_template_is_ours() -> None:
    """A shipped template that is not given what it shows is our bug, not the user's."""
    with pytest.raises(ProctorchError) as caught:
        templating.render("report.html.j2", {})
    assert type(caught.value) is ProctorchError
    assert re.search(r"templates/report\.html\.j2:\d+: '\w+' is undefined", str(caught.value))


def test_a_missing_template_is_told() -> None:
    """A template that is nowhere is named, with where it was looked for."""
    with pytest.raises(ProctorchError, match=r"none\.j2: there is no template 'none\.j2' in .*templates"):
        templating.render("none.j2", {})
