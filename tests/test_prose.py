"""Which Markdown a bank's texts may have, and that each form of a sheet shows it."""
# ruff: noqa: E501 - a message stands in one line, as it is told

import re
import shutil
from pathlib import Path

import pypdfium2
import pytest

from proctorch.prose import lowered, unset
from tests.running import Run

BANK = Path(__file__).parent / "bank"
PROMPT = "Leave `x` as it was."


def question(folder: Path, old: str, new: str) -> Path:
    """A copy of the tiny bank, in whose question a text is written otherwise."""
    bank = Path(shutil.copytree(BANK, folder / "own-bank"))
    file = bank / "questions" / "tiny" / "double-it.yaml"
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")
    return bank


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("![as drawn](x.png)", "12:3: prompt has a picture, which no sheet can show; say it in words, or as a table"),
        ("See\n  it: ![](http://x/y.png)", "13:7: prompt has a picture, which no sheet can show; say it in words, or as a table"),
        ("Now <b>x</b>.", "12:7: prompt has HTML, `<b>`, which is not read; write it as `code`"),
        ("<!-- later -->", "12:3: prompt has HTML, `<!-- later -->`, which is not read; write it as `code`"),
        ("Give a list<int>.", "12:14: prompt has HTML, `<int>`, which is not read; write it as `code`"),
        ("Give ~~one~~ two.", "12:8: prompt has text that is struck out; leave it out"),
        ("- [ ] one\n  - [x] two", "12:5: prompt has a box to tick; write a list without boxes"),
        ("It holds[^1].\n\n  [^1]: Mostly.", "14:3: prompt has a footnote; say it where it belongs"),
        ("See [this][t].\n\n  [t]: https://x.org", "14:3: prompt has an address apart from its link; write `[text](https://…)`"),
        ("See [this](a.md).", "12:12: prompt has a link to `a.md`, which leads nowhere from a sheet; write https://…"),
        ("See [this](javascript:x).", "12:12: prompt has a link to `javascript:x`, which leads nowhere from a sheet; write https://…"),
        ("Give $n^2$.", "12:8: prompt has text between dollar signs, a formula to notebooks; write it as `code`"),
        ("> [!NOTE]\n  > It holds.", "12:5: prompt has a note with a sign, `[!…]`; write a quotation"),
        ("- # One", "12:3: prompt has a heading inside a list or a quotation; write it as **bold** text"),
        ("a&#x202E;b", "12:4: prompt has a character that cannot be seen; leave it out"),
    ],
)  # fmt: skip
def test_what_no_sheet_shows(run: Run, tmp_path: Path, text: str, told: str) -> None:
    """Markdown that not every form of a sheet shows is a fault of the bank, at its line."""
    bank = question(tmp_path, PROMPT, text)
    done = run("sheet", "double-it", "-o", "s.html", "--bank", bank)
    assert done.code == 2
    assert done.err.splitlines()[0].removeprefix("own-bank/questions/tiny/double-it.yaml:") == told
    assert not Path("s.html").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("writes `x * 2`\n\n      and says why", "54:7: pass has a second paragraph, where one paragraph is shown; write it as sentences"),
        ("- writes `x * 2`\n      - says why", "52:7: pass has a list, where one paragraph is shown; write it as sentences"),
        ("writes `x * 2`,\\\n      says why", "52:7: pass has a line that is broken, where one paragraph is shown; write it as sentences"),
        ("writes ![it](x.png)", "51:5: pass has a picture, which no sheet can show; say it in words, or as a table"),
        (r"writes it\n\nand more", "51:5: pass has a second paragraph, where one paragraph is shown; write it as sentences (in its line 3)"),
    ],
)  # fmt: skip
def test_what_no_card_shows(run: Run, tmp_path: Path, text: str, told: str) -> None:
    """A text of the card is one paragraph; what else it is is told, at its key where it is written in quotes."""
    style = "|" if "\n" in text else ""
    written = f"pass: {style}\n      {text}" if style else f'pass: "{text}"'
    bank = question(tmp_path, "pass: writes `x * 2`", written)
    done = run("sheet", "double-it", "-o", "s.html", "--bank", bank)
    assert done.code == 2
    assert done.err.splitlines()[0].removeprefix("own-bank/questions/tiny/double-it.yaml:") == told


def test_faults_of_instructions(run: Run) -> None:
    """The same holds for a team's instructions."""
    done = run("sheet", "double-it", "-o", "s.html", "--instructions", "Look: ![here](x.png)")
    assert done.code == 2
    assert done.err == "--instructions: has a picture, which no sheet can show; say it in words, or as a table\n"


def test_what_looks_like_more() -> None:
    """Code, comparisons, prices and stars are no faults; a text of one paragraph may have several lines."""
    for text in ("`![x](y)`, `<b>`, `$a$`", "a < b and c > d", "5$ or 6 $", "`x[^1]`\n\n    <b>\n", "*a* & **b**\\\nc"):
        assert unset(text) == []
    for text in ("one\ntwo - three", "*a* b", "f(x) = 2", "3.5 points", " on its own line\n"):
        assert unset(text, blocks=False) == []


EVERYTHING = """\
  Over it
  ======

  One *slanted*, one **bold**, one `code`, a [link](https://x.org/a_b "t"), <https://y.org/c>,\\
  a new line &amp; an R&D &copy; sign, \\*no star\\*.

  ## Below
  1. first

     more of it

         deep = 1

     - nested

       | a | b |
       |:--|--:|
       | `l` | r\\|s |
  2. second

  > quoted
  > - within

  ***

  ~~~text
  plain <b> ![x](y)
  ~~~
"""


def test_what_every_sheet_shows(run: Run, tmp_path: Path) -> None:
    """All other Markdown comes out in PDF, HTML, Markdown and a notebook; headings stand below the question's own."""
    bank = question(tmp_path, f"  {PROMPT}\n", EVERYTHING)
    for suffix in ("pdf", "html", "md", "ipynb"):
        done = run("sheet", "double-it", "-o", f"s.{suffix}", "--bank", bank)
        assert (done.code, done.err) == (0, "")
    shown = "".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument("s.pdf"))
    page = Path("s.html").read_text(encoding="utf-8")
    body = (
        re.sub(r"<[^>]*>", "", page.partition("<h3>Over it</h3>")[2])
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
    )
    for text in (shown, body):
        words = " ".join(text.split())
        for told in (
            "One slanted, one bold, one code, a link, https://y.org/c,",
            "a new line & an R&D © sign, *no star*.",
            "more of it",
            "deep = 1",
            "nested",
            "r|s",
            "quoted",
            "within",
            "plain <b> ![x](y)",
        ):
            assert told in words
    for tag in ('<a href="https://x.org/a_b" title="t">link</a>', "<br />", "<hr />", "<h4>Below</h4>", "<blockquote>"):
        assert tag in page
    assert "\n### Over it\n" in Path("s.md").read_text(encoding="utf-8")
    assert "\n#### Below\n" in Path("s.md").read_text(encoding="utf-8")
    assert '"## Over it\\n"' in Path("s.ipynb").read_text(encoding="utf-8")


def test_headings_are_lowered() -> None:
    """A heading of either kind is lowered, to the sixth level at most; what looks like one in code is not."""
    assert lowered("# One #\n\nTwo `a`\n===\n\n```\n# three\n```\n##### Four", 2) == (
        "### One\n\n### Two `a`\n\n```\n# three\n```\n###### Four"
    )


def test_plain_words_in_markdown(run: Run) -> None:
    """A team's words are read neither as Markdown nor as HTML where a sheet is Markdown."""
    run("sheet", "double-it", "-o", "s.md", "--title", "A * <b> | _c_", "--organisation", "![x](y)")
    head = Path("s.md").read_text(encoding="utf-8").splitlines()
    assert head[0] == r"# A \* \<b\> \| \_c\_"
    assert head[2] == r"Interview sheet · !\[x\](y)"
