"""Kits: a candidate gets everything needed and nothing hidden, and what comes back is graded as it is."""
# ruff: noqa: E501 - a message stands in one line, as it is told

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pypdfium2
import pytest

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.sheet.kit import Look, candidate_kit
from proctorch.sheet.settings import Room, Settings, Space
from proctorch.sheet.words import CATALOGUE
from tests.running import Run

BANK = Path(__file__).parent / "bank"
ANSWER = "def double(x):\n    return x + x\n"


def unpacked(path: Path) -> Path:
    """The folder that a kit unpacks to."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(path.parent)
        return path.parent / archive.namelist()[0].partition("/")[0]


@pytest.fixture
def kit(run: Run, tmp_path: Path) -> Path:
    """The tiny question's kit, as a candidate unpacks it."""
    done = run("kit", "double-it", "-o", "kit.zip")
    assert (done.code, done.err) == (0, "")
    return unpacked(tmp_path / "kit.zip")


def self_check(folder: Path) -> subprocess.CompletedProcess[str]:
    """The command of the README, in the folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


# ------------------------------------------------------------------------------------------- what is in it


def test_what_a_candidate_gets(run: Run, kit: Path) -> None:
    """The sheet, the starter, a notebook, a self-check and a README; the starter is the question's."""
    assert sorted(each.name for each in kit.iterdir()) == [
        *("README.md", "double_it.ipynb", "double_it.py", "sheet.html", "sheet.pdf", "test_double_it.py")
    ]
    assert (kit / "double_it.py").read_text() == "# proctorch: double-it\ndef double(x):\n    return x\n"
    readme = (kit / "README.md").read_text()
    assert "python -m zipfile -c answer.zip double_it.py" in readme
    form = re.search(r"Form (\S+)", readme)
    assert form
    assert f"form {form[1]}" in run("sheet", "double-it", "-o", "sheet.md").out


def words(text: str) -> str:
    """Without white space, and without what escapes a sign in HTML or in JSON."""
    plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"').replace("&#39;", "'")
    return "".join(plain.replace("&amp;", "&").replace('\\"', '"').split())


def shown(name: str, content: bytes) -> str:
    """What a curious candidate finds in a file."""
    if name.endswith(".pdf"):
        return words("".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content)))
    if name.endswith(".html"):
        return words(re.sub("<[^>]*>", "", content.decode()))
    if name.endswith(".ipynb"):
        return words("".join("".join(cell["source"]) for cell in json.loads(content)["cells"]))
    return words(content.decode())


def hidden(question: Question) -> set[str]:
    """The lines that no candidate may see: of the graders, the solutions, the hints and the card."""
    card = question.card
    texts = [
        *(path.read_text() for path in sorted(question.grader.glob("*.py"))),
        *(path.read_text() for path in sorted(question.solutions.glob("*/*.py"))),
        *(hint for check in question.checks for hint in check.hints),
        *(card.question, card.scenario, *card.in_depth, *card.related, *card.rubric.probes),
        *(card.rubric.strong, card.rubric.passing, card.rubric.weak),
        *(part for each in card.mistakes for part in (each.mistake, each.why)),
        *(part for each in card.follow_ups for part in (each.question, each.answer)),
    ]
    return {words(line) for text in texts for line in text.splitlines()}


def test_nothing_hidden_is_in_it() -> None:
    """In no kit of the bank is a line of a grader, a solution, a hint or a card, but for what the question itself shows."""
    bank = Bank.load(parse_graders=False)
    look = Look(Settings(room=Room(Space.NONE), fields=()))
    tiny = Bank.load(BANK, parse_graders=False)
    in_every_kit = candidate_kit(tiny, tiny.questions, "tiny", "Tiny", look).files
    fixed = "".join(shown(name, content) for name, content in in_every_kit.items())
    for question in bank.questions:
        made = candidate_kit(bank, [question], question.id, question.title, look)
        given = [question.prompt, question.starter, question.self_check, *(check.title for check in question.checks)]
        public = words(" ".join(given)) + fixed
        secrets = {line for line in hidden(question) if len(line) > 20 and line not in public}
        assert len(secrets) > 100
        names = {path.name for path in bank.files_of(question)} | {check.test for check in question.checks}
        assert not {*made.files} & (names - {f"test_{question.module}.py"})
        for name, content in made.files.items():
            text = shown(name, content)
            assert [line for line in secrets if line in text] == [], f"{question.id}: {name}"


def test_the_same_bytes(run: Run) -> None:
    """The same questions give the same kit, byte for byte, for candidates and for those who grade."""
    for options in ((), ("--grader",)):
        assert run("kit", "double-it", "-o", "one.zip", *options).code == 0
        assert run("kit", "tiny/double-it", "-o", "two.zip", *options).code == 0
        assert Path("one.zip").read_bytes() == Path("two.zip").read_bytes()


def test_a_kit_in_each_language(run: Run, tmp_path: Path) -> None:
    """The README is in the language of the sheet."""
    for language in ("en", "de", "zh"):
        if language == "zh" and not any(Path("/usr/share/fonts").rglob("wqy-*")):
            pytest.skip("no font here has Chinese characters")
        assert run("kit", "double-it", "-o", f"{language}.zip", "--language", language).code == 0
        readme = (unpacked(tmp_path / f"{language}.zip") / "README.md").read_text()
        assert f"## {CATALOGUE[language]['kit_hand_in']}\n" in readme


# ------------------------------------------------------------------------------------------ what it is for


def test_the_self_check(kit: Path) -> None:
    """It fails on the starter, says what was tried, and passes on a right answer."""
    begun = self_check(kit)
    assert begun.returncode == 1
    assert "1 failed, 1 passed" in begun.stdout
    (kit / "double_it.py").write_text(ANSWER)
    assert "2 passed" in self_check(kit).stdout


def test_the_self_check_in_a_notebook(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its cell tells the same, without pytest."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads((kit / "double_it.ipynb").read_text())["cells"]}
    exec(cells["code-0"] + "\n" + cells["self-check"], {})
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("test_doubled: The result has each element twice. It does not: AssertionError")
    assert told[1] == "test_given: passed"


def test_what_comes_back_is_graded(run: Run, kit: Path) -> None:
    """The zip that the README's command makes is graded as it is."""
    (kit / "double_it.py").write_text(ANSWER)
    command = (kit / "README.md").read_text().rpartition("python -m ")[2].partition("\n")[0].split()
    subprocess.run([sys.executable, "-m", *command], cwd=kit, check=True)
    done = run("grade", kit / "answer.zip", "--device", "cpu")
    assert (done.code, "accepted" in done.out) == (0, True)


def zipped(folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder), "zip", folder.parent, folder.name))


def test_the_whole_folder_comes_back(run: Run, kit: Path) -> None:
    """Then the notebook that nobody touched is no second answer, and the self-check is none either."""
    (kit / "double_it.py").write_text(ANSWER)
    done = run("grade", zipped(kit), "--device", "cpu")
    assert (done.code, "accepted" in done.out) == (0, True)


def test_the_notebook_comes_back(run: Run, kit: Path) -> None:
    """Who answers in the notebook leaves the starter as it was."""
    path = kit / "double_it.ipynb"
    notebook = json.loads(path.read_text())
    [cell] = [cell for cell in notebook["cells"] if cell["id"] == "code-0"]
    cell["source"] = ANSWER
    path.write_text(json.dumps(notebook))
    done = run("grade", zipped(kit), "--device", "cpu")
    assert (done.code, "accepted" in done.out, "double_it.ipynb" in done.out) == (0, True, True)


def test_both_are_answered(run: Run, kit: Path) -> None:
    """Two answers to one question are told, and none is chosen."""
    test_the_notebook_comes_back(run, kit)
    (kit / "double_it.py").write_text(ANSWER)
    done = run("grade", zipped(kit), "--device", "cpu")
    assert done.code == 2
    assert "2 files of one folder answer double-it" in done.err


def test_nothing_is_answered(run: Run, kit: Path) -> None:
    """The starter is graded, once."""
    done = run("grade", zipped(kit), "--device", "cpu", "--json")
    [graded] = json.loads(done.out)["grades"]
    assert (graded["verdict"], graded["submission"].rpartition("/")[2]) == ("partial", "double_it.ipynb")


def test_the_other_half(run: Run, tmp_path: Path) -> None:
    """It grades what the other half gave out, and has the interviewer's edition and the key of the same form."""
    told = [run("kit", "double-it", "-o", "kit.zip", *each).out for each in ((), ("--grader",))]
    folder = unpacked(tmp_path / "kit.zip")
    assert folder.name == "double-it-grader"
    assert {each.name for each in folder.iterdir()} == {
        *("README.md", "bank", "interviewer.html", "interviewer.pdf", "key.html", "key.pdf")
    }
    [form] = {each.rpartition("form ")[2] for each in told}
    assert form.strip() in (folder / "README.md").read_text()
    Path("double_it.py").write_text(ANSWER)
    assert run("grade", "double_it.py", "--bank", folder / "bank", "--device", "cpu").code == 0


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["double-it", "-o", "kit.tar"], "kit.tar: a kit is a zip; give a name that ends in .zip\n"),
        (["double-it", "-o", "no/kit.zip"], "no/kit.zip: cannot be written: there is no folder no\n"),
        (["dubble-it", "-o", "kit.zip"], "no question `dubble-it` in the bank; did you mean `double-it`?\n"),
        (["-o", "kit.zip"], "name a question, a set or a --topic; `proctorch list` shows them\n"),
        (["double-it", "-o", "kit.zip", "--language", "fr"], "--language: `fr` is not one of en, de, zh\n"),
    ],
)
def test_bad_input(run: Run, arguments: list[str], told: str) -> None:
    """One clear line, exit code 2, and no file."""
    done = run("kit", *arguments)
    assert (done.code, done.err) == (2, told)
    assert not list(Path().glob("**/*kit.*"))


def test_no_self_check(run: Run, tmp_path: Path) -> None:
    """A question without one has a kit without one, whose README does not speak of it."""
    bank = Path(shutil.copytree(BANK, tmp_path / "own-bank"))
    path = bank / "questions" / "tiny" / "double-it.yaml"
    text = path.read_text()
    path.write_text(text[: text.index("self_check:")])
    assert run("kit", "double-it", "-o", "kit.zip", "--bank", bank).code == 0
    with zipfile.ZipFile("kit.zip") as archive:
        assert len(archive.namelist()) == 5
        assert "pytest\n" not in archive.read("double-it/README.md").decode().replace("torch pytest", "")
