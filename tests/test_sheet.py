"""Sheets: what is on them for whom, how they come out in each format, and what is said about bad input."""
# ruff: noqa: E501 - a message stands in one line, as it is told

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pypdfium2
import pytest
from pypdfium2 import raw

from proctorch.bank.bank import Bank
from proctorch.sheet import html, markdown, pdf
from proctorch.sheet.settings import NAMES, Settings, changed
from proctorch.sheet.sheet import Edition, Sheet
from proctorch.sheet.words import CATALOGUE
from proctorch.typeset import typst_listing
from tests.running import Run

#: One of PDF's points in millimetres.
POINT = 25.4 / 72
BANK = Path(__file__).parent / "bank"
GOLDEN = Path(__file__).parent / "golden"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db0"
    "0000000049454e44ae426082"
)


def pages(content: bytes) -> list[str]:
    """The text of each page, as a reader would copy it."""
    document = pypdfium2.PdfDocument(content)
    return [page.get_textpage().get_text_range() for page in document]


def squeezed(text: str) -> str:
    """Without white space, the marks of lines that go on, and signs that cannot be seen."""
    return "".join(each for each in text if not each.isspace() and each not in "↪\u200b\u00ad\ufffe\x02")


def made(edition: Edition = Edition.CANDIDATE, bank: Path = BANK, **given: Any) -> Sheet:
    """A sheet of the bank's first question."""
    loaded = Bank.load(bank, parse_graders=False)
    return Sheet.make(
        loaded, loaded.questions[:1], edition, changed(Settings(), given, Path()), loaded.questions[0].title
    )


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A copy of the tiny bank, to be changed."""
    return Path(shutil.copytree(BANK, tmp_path / "own-bank"))


# ------------------------------------------------------------------------------------------------- for whom


@pytest.mark.parametrize("suffix", [".pdf", ".html", ".md"])
def test_what_is_for_whom(run: Run, tmp_path: Path, suffix: str) -> None:
    """A candidate gets task, code and checks; an interviewer the card and a solution too; the key has solutions alone."""
    shown = {}
    for edition in ("candidate", "interviewer", "key"):
        done = run("sheet", "double-it", "-o", f"{edition}{suffix}", "--edition", edition)
        assert (done.code, done.err) == (0, "")
        content = (tmp_path / f"{edition}{suffix}").read_bytes()
        shown[edition] = squeezed("\n".join(pages(content)) if suffix == ".pdf" else content.decode())
    task, title, solution = "Itreturnsanewtensorwitheveryelementof", "everyelementisdoubled", "torch.add"
    hidden = ["whoelseholdsthistensor", "WhatdoesInterviewer", "itchangesthecaller", "arithmeticrunsonthedevice"]
    assert task in shown["candidate"]
    assert title in shown["candidate"]
    assert not any(each in shown["candidate"] for each in (*hidden, solution, "whichoperatordoubles"))
    assert task in shown["interviewer"]
    for each in ("whoelseholdsthistensor", "arithmeticrunsonthedevice", "whichoperatordoubles"):
        assert each in shown["interviewer"]
    assert task not in shown["key"]
    assert "whoelseholdsthistensor" not in shown["key"]
    assert "defdouble(x):" in shown["key"] or "double" in shown["key"]


def test_form_ids(run: Run) -> None:
    """Sheet and key of the same questions have one form id, on each page; another draw has another one."""
    told = {
        edition: run("sheet", "double-it", "-o", f"{edition}.pdf", "--edition", edition).out.split("form ")[1].strip()
        for edition in ("candidate", "interviewer", "key")
    }
    [form] = set(told.values())
    for text in pages(Path("interviewer.pdf").read_bytes()):
        assert f"Form {form}" in text


def test_variants_and_their_keys(run: Run) -> None:
    """The same seed gives the same variants, and the keys made with it bear the forms of the sheets."""
    bank = Path(__file__).parents[1]
    ask = ("--draw", "3", "--variants", "3", "--seed", "7", "--topic", "mismatch-fix", "--bank", bank)
    sheets = run("sheet", *ask, "-o", "a.md")
    keys = run("sheet", *ask, "-o", "key.md", "--edition", "key")
    forms = [line.split("form ")[1] for line in sheets.out.splitlines()]
    assert len(set(forms)) == 3
    assert [line.split("form ")[1] for line in keys.out.splitlines()] == forms
    assert [line.split(":")[0] for line in sheets.out.splitlines()] == ["a-1.md", "a-2.md", "a-3.md"]


# ---------------------------------------------------------------------------------------------------- PDF


def test_the_same_bytes() -> None:
    """The same sheet gives the same bytes."""
    assert pdf.render(made()).content == pdf.render(made()).content


def test_the_pdf_can_be_read_by_all() -> None:
    """The PDF is tagged, tells its title and language, and has a bookmark for each question."""
    document = pypdfium2.PdfDocument(pdf.render(made(language="de", title="Geräte")).content)
    assert raw.FPDFCatalog_IsTagged(document.raw)
    assert document.get_metadata_dict()["Title"] == "Geräte"
    assert [each.get_title() for each in document.get_toc()] == ["Geräte", "1 Double a tensor where it is"]


def test_copies_for_people(run: Run) -> None:
    """Each person's copy has the name and the other fields that the file tells, and counts its own pages."""
    Path("people.csv").write_text("name;date;team\nÁgnes Ő;1 May;x\nChidi Obi;2 May;y\n")
    done = run("sheet", "double-it", "-o", "all.pdf", "--names", "people.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("all.pdf: 2 copies, 1 question, 3 min, form ")
    first, second = pages(Path("all.pdf").read_bytes())
    assert first.count("Ágnes Ő") == 2  # in the field and at the head
    assert "1 May" in first
    assert "Chidi" not in first
    assert "Chidi Obi" in second
    assert "Page 1 of 1" in first
    assert "Page 1 of 1" in second


@pytest.mark.parametrize("copies", [1, 101])
def test_a_long_name(run: Run, copies: int) -> None:
    """A name that is longer than its line stays under its label, and out of the next field."""
    name = "Jean-Baptiste Emmanuel Zorg von und zu Hohenstein-Oberdingenskirchen"
    Path("people.csv").write_text("name\n" + f"{name}\n" * copies)
    assert run("sheet", "double-it", "-o", "all.pdf", "--names", "people.csv").code == 0
    page = pypdfium2.PdfDocument("all.pdf")[0]
    text = page.get_textpage()
    boxes = {}
    for word in ("Name", "Date", "Jean", "Oberdingenskirchen"):
        search = text.search(word, match_case=True)
        places = [text.get_charbox(at + count - 1) for at, count in iter(search.get_next, None)]
        boxes[word] = min(places)  # of its last sign, in the field and not at the head
    assert boxes["Oberdingenskirchen"][2] < boxes["Date"][0] - 20
    assert boxes["Jean"][3] < boxes["Name"][1]


def test_a_file_for_each_person(run: Run) -> None:
    """With --separate each copy is a file of its own, whose name says whose."""
    Path("people.csv").write_text("Name\nJane Roe\n../Max\n")
    assert run("sheet", "double-it", "-o", "s.html", "--names", "people.csv", "--separate").code == 0
    assert sorted(each.name for each in Path().glob("*.html")) == ["s-1-Jane-Roe.html", "s-2-Max.html"]
    assert "Jane Roe" in Path("s-1-Jane-Roe.html").read_text()


def test_copies_by_the_hundred(run: Run) -> None:
    """Many copies in one file are prints of one, with each person's name in place; it is said that they have no tags."""
    Path("people.csv").write_text("name\n" + "".join(f"Person {each:03}\n" for each in range(101)))
    done = run("sheet", "double-it", "-o", "all.pdf", "--names", "people.csv")
    assert done.code == 0
    assert "no tags for screen readers" in done.err
    texts = pages(Path("all.pdf").read_bytes())
    assert len(texts) == 101
    assert [text.count(f"Person {at:03}") for at, text in enumerate(texts)] == [2] * 101


def test_names_by_the_hundred_that_no_font_has(run: Run) -> None:
    """A sign of a name that no font has is told, and shown as its number, in prints of one sheet too."""
    Path("people.csv").write_text("name\n" + "Ann \U00013000\n" * 101)
    done = run("sheet", "double-it", "-o", "all.pdf", "--names", "people.csv")
    assert "no font here has \U00013000 (U+13000): shown as its number" in done.err
    assert "Ann ⟨U+13000⟩" in pages(Path("all.pdf").read_bytes())[100]


def test_every_sign_comes_out(bank: Path) -> None:
    """Every ASCII punctuation mark, accents, and text in other directions come out as they were written."""
    signs = "! \" # $ % & ' ( ) * + , - . / : ; < = > ? @ [ \\ ] ^ _ ` { | } ~"
    question = bank / "questions" / "tiny" / "double-it.yaml"
    text = question.read_text()
    text = text.replace("  Leave `x` as it was.", "  Straße, naïve, Łódź, Ελλάδα, привет, שלום.\n\n      " + signs)
    question.write_text(text)
    printed = pdf.render(made(bank=bank, title=f"A {signs} Z"))
    shown = squeezed(pages(printed.content)[0])
    assert printed.warnings == ()
    assert shown.count(squeezed(signs)) >= 2
    for word in ("Straße", "naïve", "Łódź", "Ελλάδα", "привет"):
        assert word in shown
    assert "שלום" in shown or "םולש" in shown


def test_chinese(run: Run) -> None:
    """In Chinese the fixed words and a Chinese title come out, where a font has them; else one line says what to do."""
    done = run("sheet", "double-it", "-o", "s.pdf", "--language", "zh", "--title", "设备选择")
    if done.code == 2:
        assert done.err.startswith("no font here has the characters of 中文: install one")
        assert not Path("s.pdf").exists()
        pytest.skip("no font here has Chinese characters")
    shown = squeezed(pages(Path("s.pdf").read_bytes())[0])
    assert done.err == ""
    for word in ("设备选择", "面试题", "给定代码", "难度"):
        assert word in shown


def test_a_sign_that_no_font_has(bank: Path, run: Run) -> None:
    """A character without a font is named in one warning, and shown as its number."""
    question = bank / "questions" / "tiny" / "double-it.yaml"
    question.write_text(question.read_text().replace("Leave `x` as it was.", "Leave `x` as it was. \U00013000"))
    done = run("sheet", "double-it", "-o", "s.pdf", "--bank", bank)
    assert done.code == 0
    assert (
        done.err == "s.pdf: no font here has \U00013000 (U+13000): shown as its number; --fonts DIR gives more fonts\n"
    )
    assert "⟨U+13000⟩" in pages(Path("s.pdf").read_bytes())[0]


def test_long_code(bank: Path) -> None:
    """A listing of three pages keeps its numbers, and a line that is too wide goes on behind a mark."""
    question = bank / "questions" / "tiny" / "double-it.yaml"
    lines = [f"  value_{each} = {each}" for each in range(1, 230)]
    wide = "  wide = '" + "0123456789" * 20 + "'"
    starter = "\n".join(["starter: |", "  def double(x):", "      return x", wide, *lines]) + "\n"
    text = question.read_text()
    question.write_text(text.replace("starter: |\n  def double(x):\n      return x\n", starter))
    texts = pages(pdf.render(made(bank=bank)).content)
    assert len(texts) >= 4
    shown = "\n".join(texts)
    assert "↪" in shown
    assert "0123456789" * 20 in squeezed(shown)
    assert "232 value_229 = 229" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("12345678901", ["1234567890", "1"]),
        ("123456789 1", ["123456789 ", "1"]),
        ("x数据在设备上计算", ["x数据在设", "备上计算"]),
        ("数据在设 备上计算", ["数据在设 ", "备上计算"]),
        ("ｗｉｄｅ한글", ["ｗｉｄｅ한", "글"]),
        ("\t\t12345", ["        12", "345"]),
        ("e\u0301" * 10 + "x", ["e\u0301" * 10, "x"]),
    ],
)
def test_columns_of_long_lines(line: str, pieces: list[str]) -> None:
    """Wide signs of East Asia take two columns of a line of code, tabs four, accents none."""
    rows = typst_listing(line, columns=10, language="text").split("),(")
    assert ["".join(re.findall(r'"(.*?)"', row)) for row in rows] == pieces


@pytest.mark.parametrize("edition", list(Edition))
@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_the_whole_bank_in_print(edition: Edition, paper: str) -> None:
    """Each question of the bank comes out whole, by itself and one after the other, in each edition.

    No sign is missing, no code is cut, no page is empty, and no heading is parted from what stands under it.
    """
    loaded = Bank.load(parse_graders=False)
    settings = changed(Settings(), {"paper": paper, "layout": "flow"}, Path())
    sheets = [Sheet.make(loaded, [each], edition, settings, each.title) for each in loaded.questions]
    sheets.append(Sheet.make(loaded, loaded.questions, edition, settings, "All"))
    for sheet in sheets:
        printed = pdf.render(sheet)
        assert printed.warnings == (), sheet.title
        whole = squeezed("".join(pages(printed.content)))
        for item in sheet.items:
            code = [each.source for each in item.solutions[:1]]
            code += [item.question.starter] if edition is not Edition.KEY else []
            for line in "\n".join(code).splitlines():
                assert squeezed(line) in whole, f"{item.question.id}: {line}"
        assert list(faults_of_pages(printed.content, sheet)) == [], sheet.title


def faults_of_pages(content: bytes, sheet: Sheet) -> Iterator[str]:
    """Pages with next to nothing on them, and headings at the foot of a page. Lines to write on are no text."""
    words = sheet.settings.words
    keys = ("given", "checks", "ask", "in_depth", "scenario", "mistakes", "follow_ups", "related", "rubric")
    headings = {words[key] for key in (*keys, "hints", "probes", "task", "solutions")}
    headings |= {f"{words['solution']}: {each.name}" for item in sheet.items for each in item.solutions}
    headings |= {each.name for item in sheet.items for each in item.solutions}
    headings |= {each.question for item in sheet.items for each in item.question.card.follow_ups}
    above = {squeezed(each.replace("`", "")) for each in headings}
    for number, page in enumerate(pypdfium2.PdfDocument(content), 1):
        width, height = page.get_size()
        text = page.get_textpage()
        lines = text.get_text_bounded(0, 20 / POINT, width, height - 24 / POINT).splitlines()
        room = {words["answer"]: 60, words["notes"]: 32}
        if len(squeezed("".join(lines))) < 60 and not room.keys() & set(lines):
            yield f"page {number} has only {lines}"
        if above & {squeezed("".join(lines[-many:])) for many in (1, 2, 3)}:
            yield f"page {number} ends with {lines[-1]}"
        for heading, millimetres in room.items():
            if lines[-1] == heading:
                search = text.search(heading, match_case=True)
                found = list(iter(search.get_next, None))
                _, bottom, _, _ = text.get_charbox(found[-1][0])
                if bottom < (20 + millimetres) / POINT:
                    yield f"page {number} has no room under {heading}"


def test_languages() -> None:
    """Every language has all words; the fixed words change, the question's own do not."""
    assert {frozenset(words) for words in CATALOGUE.values()} == {frozenset(CATALOGUE["en"])}
    text = pages(pdf.render(made(language="de", date="2026-11-30")).content)[0]
    for word in ("Aufgabenblatt", "Was geprüft wird", "30. November 2026", "Double a tensor where it is"):
        assert word in text
    assert "检查项" in html.render(made(language="zh"))


def test_large_print_and_plain_fonts() -> None:
    """Large print is 16 points at least; both it and the plain font come out whole."""
    for given in (
        {"large_print": True},
        {"dyslexia": True},
        {"large_print": True, "dyslexia": True, "paper": "letter"},
    ):
        text = squeezed("".join(pages(pdf.render(made(**given)).content)))
        assert "everyelementisdoubled" in text
        assert "defdouble(x):" in text
    assert made(large_print=True).settings.points == 16
    assert made(large_print=True, font_size=20).settings.points == 20


@pytest.mark.parametrize("edition", [Edition.CANDIDATE, Edition.INTERVIEWER])
def test_large_tables(edition: Edition) -> None:
    """In large print, code in a table's column does not run into the next one, nor over the margin."""
    loaded = Bank.load(parse_graders=False)
    asked = [each for each in loaded.questions if each.id in {"where-is-it-born", "will-it-raise", "move-any-batch"}]
    settings = changed(Settings(), {"large_print": True}, Path())
    for number, page in enumerate(
        pypdfium2.PdfDocument(pdf.render(Sheet.make(loaded, asked, edition, settings, "Large")).content)
    ):
        text = page.get_textpage()
        boxes = [text.get_rect(at) for at in range(text.count_rects())]
        assert max(right for _, _, right, _ in boxes) < page.get_width() - 18 / POINT  # a space may stand out
        over = [
            text.get_text_bounded(*one)
            for at, one in enumerate(boxes)
            for other in boxes[at + 1 :]
            if min(one[2], other[2]) - max(one[0], other[0]) > 1 and min(one[3], other[3]) - max(one[1], other[1]) > 3
        ]
        assert over == [], f"page {number + 1}"


# -------------------------------------------------------------------------------------------- other formats


class Loads(HTMLParser):
    """What a page would ask the network for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked += [
            value or "" for name, value in attrs if name in {"src", "srcset", "data"} or (tag, name) == ("link", "href")
        ]


def test_html_stands_alone(tmp_path: Path) -> None:
    """The page loads nothing, its logo is in it, and a team's words are not read as HTML."""
    logo = tmp_path / "logo.png"
    logo.write_bytes(PNG)
    page = html.render(made(organisation="<script>alert(1)</script>", logo=str(logo)))
    loads = Loads()
    loads.feed(page)
    assert [each[:22] for each in loads.asked] == ["data:image/png;base64,"]
    assert "<script>alert" not in page
    assert "@import" not in page
    assert "url(" not in page


def test_markdown() -> None:
    """The interviewer's edition as Markdown is this file."""
    sheet = made(Edition.INTERVIEWER)
    assert markdown.render(sheet).replace(sheet.form, "FORM") == (GOLDEN / "sheet.md").read_text()


def test_a_notebook_is_handed_in(run: Run) -> None:
    """The notebook is a valid one, has a cell for each entry point, and is graded when the answer is in it."""
    assert run("sheet", "double-it", "-o", "double_it.ipynb").code == 0
    notebook = nbformat.read("double_it.ipynb", as_version=4)  # type: ignore[no-untyped-call]  # it has none
    nbformat.validate(notebook)
    cells = [each for each in notebook.cells if each.cell_type == "code"]
    assert [each.source.splitlines()[0] for each in cells] == [
        "# proctorch: double-it",
        "# What the question shows, to be tried. This cell is not graded; the hidden checks look at more.",
        "# Save the notebook first: the file is graded, not what runs here.",
    ]
    cells[0].source = cells[0].source.replace("return x", "return x + x")
    nbformat.write(notebook, "double_it.ipynb")  # type: ignore[no-untyped-call]  # as above
    done = run("grade", "double_it.ipynb", "--device", "cpu", "--trust-submissions")
    assert done.code == 0, done.out + done.err


# ------------------------------------------------------------------------------------------------ settings


def test_a_teams_file(run: Run, bank: Path) -> None:
    """What `proctorch.yaml` says holds, and an option goes before it."""
    (bank / "proctorch.yaml").write_text(
        "schema: 1\nsheet:\n  organisation: Northwind\n  language: de\n  fields: [none]\n"
    )
    run("sheet", "double-it", "-o", "s.md", "--bank", bank)
    assert "Aufgabenblatt · Northwind" in Path("s.md").read_text()
    assert "Name:" not in Path("s.md").read_text()
    run("sheet", "double-it", "-o", "s.md", "--bank", bank, "--language", "en", "--field", "name")
    assert "Interview sheet · Northwind" in Path("s.md").read_text()
    assert "Name:" in Path("s.md").read_text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("schema: 1\nsheet:\n  paper: A5\n", "proctorch.yaml:3:3: paper: `A5` is not one of a4, letter\n"),
        ("schema: 1\nsheet:\n  papre: a4\n", "proctorch.yaml:3:3: papre: is no setting; did you mean `paper`?\n"),
        ("schema: 1\nshet: {}\n", "proctorch.yaml:2:1: unknown key `shet`; did you mean `sheet`?\n"),
        ("sheet: {}\n", "proctorch.yaml:1:1: write `schema: 1`\n"),
        ("schema: 1\nsheet:\n  large_print: 1\n", "proctorch.yaml:3:3: large_print: is neither true nor false\n"),
    ],
)
def test_faults_of_a_teams_file(run: Run, bank: Path, text: str, told: str) -> None:
    """A fault in `proctorch.yaml` is told with its place."""
    (bank / "proctorch.yaml").write_text(text)
    done = run("sheet", "double-it", "-o", "s.md", "--bank", bank)
    assert done.code == 2
    assert done.err.endswith(told)
    assert not Path("s.md").exists()


def test_space_for_an_answer(run: Run) -> None:
    """The room for handwriting can be set for all questions and for one."""
    assert run("sheet", "double-it", "-o", "a.pdf", "--space", "grid:40cm", "--space", "double-it=none").code == 0
    assert run("sheet", "double-it", "-o", "b.pdf", "--space", "grid:40cm").code == 0
    assert len(pages(Path("a.pdf").read_bytes())) < len(pages(Path("b.pdf").read_bytes()))


def test_every_setting_has_an_option(run: Run) -> None:
    """What can stand in `proctorch.yaml` can be given to the command."""
    told = run("sheet", "--help").out
    for name in NAMES:
        assert f"--{name.replace('_', '-').replace('fields', 'field')}" in told


# ----------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["duble-it", "-o", "s.pdf"], "no question `duble-it` in the bank; did you mean `double-it`?\n"),
        (["-o", "s.pdf"], "name a question, a set or a --topic; `proctorch list` shows them\n"),
        (["--topic", "tinny", "-o", "s.pdf"], "no question has the topic `tinny`; did you mean `tiny`?\n"),
        (["double-it", "-o", "s.doc"], "s.doc: a sheet is written as .html, .ipynb, .md, .pdf, by the file's suffix\n"),
        (["double-it", "-o", "no/s.pdf"], "no/s.pdf: cannot be written: there is no folder no\n"),
        (["double-it", "-o", "s.pdf", "--logo", "text.png"], "text.png: is neither a PNG nor an SVG picture; a logo is one of these\n"),
        (["double-it", "-o", "s.pdf", "--logo", "no.png"], "no.png: cannot be read: No such file or directory\n"),
        (["double-it", "-o", "s.pdf", "--accent", "red"], "--accent: `red` is no colour; write # and six hexadecimal digits, such as #1f5f8b\n"),
        (["double-it", "-o", "s.pdf", "--date", "30.11."], "--date: `30.11.` is no day; write it as 2026-11-30 (in quotes in YAML), or today\n"),
        (["double-it", "-o", "s.pdf", "--space", "grid:8"], "--space: `grid:8`: write lines, grid, blank or none, with a height if you like, such as grid:8cm\n"),
        (["double-it", "-o", "s.pdf", "--space", "dubel-it=grid"], "no question `dubel-it` in the bank; did you mean `double-it`?\n"),
        (["double-it", "-o", "s.pdf", "--names", "people.csv"], "people.csv:1:1: there is no column `name`; did you mean `nmae`?; the first row names the columns\n"),
        (["double-it", "-o", "s.pdf", "--names", "utf16.csv"], "utf16.csv:1:1: byte 0xff is not UTF-8; save the file as UTF-8\n"),
        (["double-it", "-o", "s.pdf", "--names", "short.csv"], "short.csv:3:1: the row has 1 columns, and the first one has 2\n"),
        (["double-it", "-o", "s.pdf", "--draw", "2"], "2 questions cannot be drawn from 1\n"),
        (["double-it", "-o", "s.pdf", "--seed", "2"], "--seed: nothing is drawn; give --draw or --variants too\n"),
        (["double-it", "-o", "s.ipynb", "--edition", "key"], "a notebook is the candidate's; the other editions are .pdf, .html or .md\n"),
    ],
)  # fmt: skip
def test_bad_input(run: Run, arguments: list[str], told: str) -> None:
    """What cannot be is told in one line, and no file is written."""
    Path("text.png").write_text("no picture")
    Path("people.csv").write_text("nmae,date\nJane,1 May\n")
    Path("utf16.csv").write_bytes("name\nJane\n".encode("utf-16"))
    Path("short.csv").write_text("name,date\nJane,1 May\nMax\n")
    before = sorted(Path().iterdir())
    done = run("sheet", *arguments)
    assert (done.code, done.err) == (2, told)
    assert sorted(Path().iterdir()) == before


def test_a_teams_template(run: Run) -> None:
    """A team's own template is used, what is missing there is the shipped one, and its faults are told by file and line."""
    Path("mine").mkdir()
    Path("mine/sheet.md.j2").write_text("{{ sheet.title }} for {{ settings.organisation }}\n")
    assert run("sheet", "double-it", "-o", "s.md", "--templates", "mine", "--organisation", "us").code == 0
    assert Path("s.md").read_text() == "Double a tensor where it is for us\n"
    assert run("sheet", "double-it", "-o", "s.html", "--templates", "mine").code == 0
    Path("mine/sheet.md.j2").write_text("\n{{ sheet.titel }}\n")
    done = run("sheet", "double-it", "-o", "t.md", "--templates", "mine")
    assert done.code == 2
    assert done.err.startswith("mine/sheet.md.j2:2: ")
    assert json.dumps(done.err).count("\\n") == 1
    assert not Path("t.md").exists()


def test_templates_to_change(run: Run) -> None:
    """The shipped templates are copied, give the same sheet, and are never written over a team's own."""
    assert run("templates", "eject", "mine").code == 0
    assert {"sheet.typ.j2", "sheet.html.j2", "sheet.md.j2", "style.css"} <= {
        each.name for each in Path("mine").iterdir()
    }
    run("sheet", "double-it", "-o", "shipped.html")
    run("sheet", "double-it", "-o", "mine.html", "--templates", "mine")
    assert Path("shipped.html").read_text() == Path("mine.html").read_text()
    again = run("templates", "eject", "mine")
    assert (again.code, again.err) == (2, "mine/copies.typ.j2 is there already; name a new folder, or move it away\n")


def test_what_a_template_can_use(run: Run) -> None:
    """Every name in the tables of docs/templates.md can be used in a template."""
    lines = (Path(__file__).parents[1] / "docs" / "templates.md").read_text().split("\n## ")[1].splitlines()
    names = [
        cell for line in lines if line.startswith("| `") for cell in line.split("|")[1].replace("`", "").split(", ")
    ]
    names = [f"settings{each}" if each.startswith(".") else each for each in names if not {*each} & {*"()"}]
    body = "".join("{{ " + each + " }}\n" for each in names)
    Path("mine").mkdir()
    head = "{% set item = sheet.items[0] %}{% set solution = item.solutions[0] %}"
    Path("mine/sheet.md.j2").write_text(head + body + "{{ points(sheet.points) }}{{ topic(item.question) }}\n")
    done = run("sheet", "double-it", "-o", "s.md", "--templates", "mine", "--edition", "key")
    assert (done.code, done.err) == (0, "")
    assert len(names) > 20
