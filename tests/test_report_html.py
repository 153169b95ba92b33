"""The report as a page."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from proctorch.bank.question import Card
from proctorch.judge.grade import CheckResult, Flag, FlagKind, Grade, Outcome, Output, Place, Verdict
from proctorch.report.html import render
from proctorch.report.report import AskedQuestion, Audience, DeviceInfo, Report
from proctorch.shipped import default_bank
from tests.browser import Browser

GOLDEN = Path(__file__).parent / "golden"
STYLE = default_bank() / "templates" / "style.css"
HOSTILE = "</style></title></pre>]]>--><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\x00\u202e\udcff'\""


def _words(text: str) -> set[str]:
    return set(text.split())


#: All that a page is made of.
TAGS = _words("""
    html head meta title link style body header main footer section article h1 h2 h3 h4 p span b code pre a ul li dl dt
    dd div table caption thead tbody tr th td details summary svg symbol path circle use time wbr
""")
ATTRIBUTES = _words("""
    lang charset http-equiv content name rel href style class id width height viewbox aria-hidden aria-label
    aria-labelledby focusable d cx cy r datetime scope colspan data-label role open
""")


class Page(HTMLParser):
    """A page taken apart: its tags with their attributes, and its text without the style sheet."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in {"meta", "link", "wbr", "path", "circle", "use"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"path", "circle", "use"}:
            assert self.open.pop() == tag, f"{tag} is closed out of order"
        if tag not in {"a", "b", "code", "span"}:
            self.pieces.append(" ")

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    def all(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


@pytest.fixture
def report(sample: SimpleNamespace) -> Report:
    result: Report = sample.sample_report()
    return result


def page(report: Report, audience: Audience = Audience.CANDIDATE) -> Page:
    return Page(render(report.view(audience)))


def body(html: str) -> str:
    return html[html.index("<header") :]


# What is on the page


def test_golden_page(sample: SimpleNamespace) -> None:
    """A page of one accepted job, as it is. Only its look is left out: that is the style sheet."""
    assert body(render(sample.small_report().redacted())) == (GOLDEN / "report.html").read_text(encoding="utf-8")


def test_how_it_was_read(report: Report) -> None:
    """Both views say what was skipped of a notebook, and a line that is a cell's is told as that too."""
    for page in (body(render(report)), body(render(report.redacted()))):
        assert "<li>cell 2: <code>!pip install &lt;torch&gt;</code> skipped</li>" in page
        assert "(cell 4, line 2)" in page


def test_memory_over_time(report: Report) -> None:
    """The accelerator's memory is a picture, with the budget, the peak and what was asked for in vain as text."""
    page = body(render(report))
    assert page.count('class="plot"') == 1
    for text in ("budget 64 MiB", "peak 48 MiB", "out of memory: 32 MiB more were asked for"):
        assert text in page
    said = "Live memory of the device: peak 48 MiB of a budget of 64 MiB; 1 failed allocations, the first of 32 MiB"
    assert said in page


def test_copies_between_devices(report: Report) -> None:
    """Copies between devices are a table, and those from a line of the candidate's file link to it."""
    table = body(render(report)).partition('<table class="copies">')[2].partition("</table>")[0]
    for text in ("Copies between devices on", "→ cuda:0", "588 KiB", "line 12</a>", "not a line of this file"):
        assert text in table


def test_what_deserves_a_look_is_for_the_interviewer(report: Report) -> None:
    """The interviewer's page lists such lines with their numbers beside the code, marks them there, and says that it is
    advice; the candidate's page has nothing of it."""
    html = body(render(report))
    flags = html.partition('<section class="flags"')[2].partition("</section>")[0]
    assert "Deserves a look</h5>" in flags
    assert "This is advice, found by reading the source. It changes no verdict" in flags
    assert "Line 3 assigns into <code>torch.cuda.is_available</code>: whoever uses it later may get" in flags
    link = flags.partition('href="#')[2].partition('"')[0]
    assert f'<div class="line flagged" id="{link}"><span class="at">3</span>' in html
    assert "Deserves a look: assigns into <code>torch.cuda.is_available</code></div>" in html
    assert html.count('<section class="flags"') == html.count('class="line flagged"') == 1
    candidates = body(render(report.redacted()))
    assert "eserves a look" not in candidates
    assert "flagged" not in candidates


def test_a_flag_beyond_what_is_shown_has_no_link(sample: SimpleNamespace) -> None:
    """Of an overlong source only the first lines are shown; a line after them is listed, and not linked."""
    flag = Flag(FlagKind.FILES, 3001, "open('a')", "opens a file")
    html = body(render(sample.small_report(source="pass\n" * 3000 + "open('a')\n", flags=(flag,))))
    assert "<li>Line 3001 opens a file: the task&#39;s data comes as arguments.</li>" in html


def test_it_starts_with_the_result(report: Report) -> None:
    """The first thing on the page is how it went: jobs accepted, each verdict counted, points that never round up."""
    text = page(report).text
    assert "2 of 7 jobs accepted Accepted 2 Partial 1 Wrong answer 1 Runtime error 1 Judge error 1 Not run 1" in text
    assert "18.5 / 29.5 points (62 %)" in text


@pytest.mark.parametrize(
    ("chosen", "headline"),
    [
        ([], "Nothing was graded"),
        ([2], "Accepted"),
        ([0], "Partial"),
        ([2, 3], "All 2 jobs accepted"),
        ([4, 5], "None of 2 jobs accepted"),
    ],
)
def test_the_headline_says_it_all(sample: SimpleNamespace, chosen: list[int], headline: str) -> None:
    """An empty report does not look green, and one job is called by its verdict."""
    grades = [sample.GRADES[n] for n in chosen]
    report = Report.collect(grades, questions=sample.QUESTIONS, environment=sample.ENVIRONMENT, created=sample.CREATED)
    assert f"<title>{headline} · Proctorch report</title>" in render(report)
    assert f"30 November 2026 {headline}" in page(report).text


def test_each_job_has_a_row_with_its_device(report: Report) -> None:
    """The table of jobs names submission, question, device, verdict and points, and says which device is simulated."""
    text = page(report).text
    assert "Jobs Submission and question Device Verdict Points Time" in text
    assert "answers/half_moved_step.py MF1 The half-moved training step cpu Partial 4.5 / 5.5 0.32 s" in text
    assert "MF1 The half-moved training step virtual simulated Runtime error 0 / 7 0.27 s" in text
    assert "answers/grace.py DC1 Choose a device without ever crashing cpu Judge error not scored" in text


def test_devices_are_columns_and_code_is_shown_once(report: Report) -> None:
    """A submission that was graded on two devices has one table of checks, and one listing."""
    shown = page(report)
    assert "Checks Number Check cpu virtual simulated 1 the step runs where the model is" in shown.text
    assert "1 the step runs where the model is Passed 2 / 2 Failed 0 / 2" in shown.text
    listings = [attributes for _, attributes in shown.tags if attributes.get("class") == "listing"]
    assert [each["aria-label"] for each in listings] == [
        "Code of half_moved_step.py",
        "Code of moved.py",
        "Code of pick_device.py",
        "Code of grace.py",
        "Code of fit.py",
    ]


def test_devices_that_say_the_same_say_it_once(report: Report) -> None:
    """A reason that two devices share is given once, with both their names."""
    assert page(report).text.count("cpu, virtual the loss is a Tensor, not a Python float half_moved_step.py:21") == 1


def test_what_is_not_counted_says_so(report: Report) -> None:
    """A check outside the denominator has its reason, and no points."""
    text = page(report).text
    assert "none back but the loss Not run not counted Not run 0 / 1.5" in text
    assert "cpu is only made on cuda: between the CPU and itself nothing crosses" in text


def test_a_reason_leads_to_its_line(report: Report) -> None:
    """A reason names file, line and function; the line is on the page, marked, and says which check it failed."""
    html = render(report)
    assert '<a class="place" href="#a1-L17">half_moved_step.py:17</a>' in html
    assert re.search(
        r'<div class="line marked" id="a1-L17"><span class="at">17</span><code>    <span class="n">loss', html
    )
    assert re.findall(r'class="line marked" id="([^"]+)"', html) == ["a1-L17", "a1-L21", "a3-L6", "a3-L7"]
    text = page(report).text
    assert "loss = nn.functional.cross_entropy(logits, labels) Check 1 on virtual: RuntimeError in train_step: " in text
    assert "torch.accelerator.get_memory_info() Checks 1, 3: RuntimeError: Allocator for cpu" in text


def test_every_link_leads_somewhere(report: Report) -> None:
    """Each link of a page is to a place on the page, and no two places have one name."""
    for audience in Audience:
        shown = page(report, audience)
        assert set(Counter(shown.all("id")).values()) == {1}
        targets = {link.removeprefix("#") for link in shown.all("href")} - {"data:,"}
        assert targets <= set(shown.all("id"))


def test_a_line_that_is_not_there_is_no_link(sample: SimpleNamespace) -> None:
    """A place beyond the end of the file is named, and leads nowhere."""
    check = CheckResult("test_x", "x", Fraction(1), Outcome.FAILED, reason="no", place=Place(99, "<module>"))
    html = render(sample.small_report(checks=(check,), verdict=Verdict.WRONG_ANSWER))
    assert '<span class="place">moved.py:99</span>' in html
    assert "line marked" not in html


def test_hints_are_for_what_was_missed(report: Report) -> None:
    """A check that did not pass has its hints, each behind a click; one that passed has none."""
    text = page(report).text
    assert "Hint What does .to return for a tensor?" in text
    assert "Hint 1 of 2 Count the copies: images, labels, and then? Hint 2 of 2 A model that lives" in text
    accepted = text[text.index("14 / 14 points over all devices") : text.index("DC1 Choose a device", 3000)]
    assert "Hint" not in accepted


def test_output_says_what_is_missing(report: Report) -> None:
    """What was printed is shown per device, with how much the judge cut."""
    text = page(report).text
    assert "Printed to stdout on cpu 2 lines loss 2.3026 on cpu loss 2.2871 on cpu" in text
    assert "Printed to stderr on virtual simulated 4 lines, 18,432 bytes cut Traceback" in text
    assert "18,432 bytes between the head and the tail were not kept." in text


def test_the_environment_is_stated(report: Report) -> None:
    """A page says where its grades were made, and which limits really held."""
    text = page(report).text
    assert (
        "Environment Created 2026-11-30 09:41:07 UTC Proctorch 0.1.0 PyTorch 2.13.0+cpu Python 3.11.2 "
        "Platform Linux-6.1.0-x86_64-with-glibc2.36 "
        "Sandbox full: a submission sees no files of yours, no network and no other process "
        "Bank questions Bank digest sha256:6f1c0b7d2a934e58 "
        "Devices cpu 2 cores, x86_64 virtual simulated a simulated CUDA device; its memory is the CPU's "
        "Limits enforced 10 s per scenario 2 GiB of memory"
    ) in text


# Two views


@pytest.mark.parametrize(
    "secret",
    [
        "test_step_runs",
        "Expected 2.302585092994046 but got",
        "Full failure on virtual",
        "Seed 1729",
        "Interview card Ask The error says that tensors are on two devices.",
        "In depth Model, inputs, targets",
        "Scenario An image classifier is trained on one GPU.",
        "images.to(device) without keeping the result .to on a tensor is not in place",
        "Caught by test_two_copies.",
        "Why does model.to(device) need no assignment? It replaces",
        "Strong Reads which argument the message names",
        "Pass Moves both images and labels",
        "Weak Adds .cuda() until it runs.",
        "If the candidate stalls What moves when a module moves?",
        "Related .to same-device rule",
        "Interviewer\u2019s report: do not hand it on",
    ],
)
def test_the_interviewer_sees_more(report: Report, secret: str) -> None:
    """Failure details, test names, the seed and the whole card are the interviewer's alone."""
    assert secret in page(report, Audience.INTERVIEWER).text
    assert secret not in page(report, Audience.CANDIDATE).text


# Hostile text


def _hostile(sample: SimpleNamespace) -> Report:
    """A report in which every text that can be a stranger's, or a forged file's, is hostile."""
    check = CheckResult(
        "t", HOSTILE, Fraction(1), Outcome.FAILED, reason=HOSTILE, place=Place(1, HOSTILE), detail=HOSTILE
    )
    changes = {
        "submission": f"answers/{HOSTILE}.py",
        "device": HOSTILE,
        "reason": HOSTILE,
        "source": f"{HOSTILE}\n# {HOSTILE}",
        "stdout": Output(HOSTILE, 3),
        "stderr": Output(HOSTILE),
        "checks": (check,),
        "verdict": Verdict.WRONG_ANSWER,
    }
    report: Report = sample.small_report(**changes)
    return _forged(report)


def _forged(report: Report) -> Report:
    data = json.loads(json.dumps({"title": HOSTILE}))
    asked = next(iter(report.questions.values()))
    card = asked.card
    assert isinstance(card, Card)
    forged = AskedQuestion(
        **{
            **vars(asked),
            "title": data["title"],
            "topic": HOSTILE,
            "code": HOSTILE,
            "prompt": f"# {HOSTILE}\n\n{HOSTILE}\n\n```python\n{HOSTILE}\n```\n",
            "entry": (HOSTILE,),
            "card": Card(**{**vars(card), "question": HOSTILE, "related": (HOSTILE,)}),
        }
    )
    environment = type(report.environment)(
        **{**vars(report.environment), "devices": (DeviceInfo(HOSTILE, HOSTILE, real=False),)}
    )
    return Report(**{**vars(report), "questions": {asked.id: forged}, "environment": environment})


@pytest.mark.parametrize("audience", Audience)
def test_hostile_text_stays_text(sample: SimpleNamespace, audience: Audience) -> None:
    """No text of a candidate becomes a tag, an attribute, a link or the end of the style sheet."""
    html = render(_hostile(sample).view(audience))
    shown = Page(html)
    assert {tag for tag, _ in shown.tags} <= TAGS
    assert {name for _, attributes in shown.tags for name in attributes} <= ATTRIBUTES
    assert all(link.startswith("#") or link == "data:," for link in shown.all("href"))
    assert shown.open == []


@pytest.mark.parametrize("audience", Audience)
def test_hidden_characters_are_visible(sample: SimpleNamespace, audience: Audience) -> None:
    """A page has no control characters, turns no text around, and can be written however broken the text was."""
    html = render(_hostile(sample).view(audience))
    assert html.encode().decode() == html
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html) is None
    assert '<span class="odd">⟨U+202E⟩</span>' in html
    assert "onerror=alert(1)&gt;␀⟨U+202E⟩⟨0xFF⟩" in html  # printed: the colour is dropped
    assert "onerror=alert(1)&gt;␛[31m␀⟨U+202E⟩⟨0xFF⟩" in html  # a reason: all of it is shown


def test_a_page_needs_nothing_else(report: Report) -> None:
    """A page has no script and asks for nothing: its security policy forbids both."""
    for audience in Audience:
        html = render(report.view(audience))
        shown = Page(html)
        policy = next(attributes for _, attributes in shown.tags if "http-equiv" in attributes)
        assert policy["http-equiv"] == "Content-Security-Policy"
        assert policy["content"].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
        assert "script" not in [tag for tag, _ in shown.tags]
        assert shown.all("src") == []
        assert re.findall(r"url\(|@import|https?:", html) == []


def test_huge_texts_are_cut_for_show(sample: SimpleNamespace) -> None:
    """A megabyte of output, of code or of a reason makes no page of megabytes, and the page says what it left out."""
    html = render(
        sample.small_report(
            reason="r" * 1_000_000,
            stdout=Output("o" * 1_000_000 + "end"),
            source="x = 1\n" * 500_000,
            checks=(
                CheckResult("t", "x", Fraction(1), Outcome.FAILED, reason="r" * 1_000_000, detail="d" * 1_000_000),
            ),
        )
    )
    assert len(html) < 600_000
    assert "982,003 characters are not shown here. The JSON report has them." in html
    assert "The rest of this file is not shown here. The JSON report has it." in html
    assert "oooend</pre>" in html


def test_results_that_do_not_match_are_all_shown(sample: SimpleNamespace) -> None:
    """Checks with equal titles, and checks that were planned on one device alone, each keep their own row."""

    def grade(device: str, *outcomes: Outcome) -> Grade:
        checks = tuple(CheckResult("", "same", Fraction(1), outcome) for outcome in outcomes)
        result: Grade = sample.small_report(device=device, checks=checks).grades[0]
        return result

    grades = [grade("cpu", Outcome.PASSED, Outcome.FAILED), grade("cuda:0", Outcome.PASSED)]
    report = Report.collect(grades, questions=sample.QUESTIONS, environment=sample.ENVIRONMENT)
    assert "1 same Passed 1 / 1 Passed 1 / 1 2 same Failed 0 / 1 not planned" in page(report).text


# How it looks


def _colours(css: str, start: str) -> dict[str, str]:
    block = css[css.index(start) :]
    return dict(re.findall(r"--([\w-]+): (#\w{6});", block[: block.index("}")]))


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _meeting() -> Iterable[tuple[str, str]]:
    tones = ["good", "part", "bad", "fault", "none"]
    code = ["ink", "quiet", "keyword", "string", "literal", "name"]
    yield from ((ink, "paper") for ink in [*code, *tones, "link"])
    yield from ((ink, "panel") for ink in [*code, "link"])
    yield from ((ink, "bad-tint") for ink in [*code, "link"])
    yield ("part", "part-tint")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), list(_meeting()))
def test_every_colour_can_be_read(ink: str, ground: str, scheme: str) -> None:
    """Every text meets WCAG's AA contrast on every ground that it is set on, by day and by night."""
    css = STYLE.read_text(encoding="utf-8")
    colours = _colours(css, ":root" if scheme == "light" else "@media screen and (prefers-color-scheme: dark)")
    darker, lighter = sorted((_luminance(colours[ink]), _luminance(colours[ground])))
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_headings_skip_no_level(report: Report) -> None:
    """Each heading is at most one level below the one before it, so that a page can be read by its headings."""
    for audience in Audience:
        levels = [int(tag[1]) for tag, _ in page(report, audience).tags if re.fullmatch(r"h\d", tag)]
        assert levels[0] == 1
        assert all(below <= above + 1 for above, below in pairwise(levels))


def test_tables_name_themselves_and_their_cells(report: Report) -> None:
    """Each table of ours has a caption, and its headers say what they are headers of."""
    html = body(render(report))
    ours = re.findall(r'<table class="(?:jobs|checks)[^"]*">.*?</table>', html, re.DOTALL)
    assert len(ours) == 6
    for table in ours:
        assert "<caption>" in table
        assert re.search(r"<th\b(?! scope=)", table) is None


# In a browser


def framed(pages: dict[str, str], widths: tuple[int, ...]) -> str:
    """A page that shows each page at each width, and writes down what sticks out. The pages are as they are."""
    frames = [
        f'<iframe name="{name} at {width}" style="width:{width}px;border:0" srcdoc="{escape(html)}"></iframe>'
        for name, html in pages.items()
        for width in widths
    ]
    script = """
    addEventListener("load", () => {
      for (const frame of document.querySelectorAll("iframe")) {
        const page = frame.contentDocument, width = page.documentElement.clientWidth;
        for (const closed of page.querySelectorAll("details")) closed.open = true;
        const over = page.documentElement.scrollWidth - width;
        const out = [...page.body.querySelectorAll("*:not(.unseen, .unseen *)")]
          .filter(element => element.getBoundingClientRect().right > width + 0.5)
          .map(element => element.outerHTML.slice(0, 80));
        const said = document.createElement("p");
        said.textContent = `${frame.name}: ${over} over, ${out.length} out ${out[0] ?? ""}`;
        document.body.append(said);
        if (page.scripts.length) throw "a script";
      }
      for (const frame of document.querySelectorAll("iframe")) frame.remove();
    });
    """
    return f'<!doctype html><meta charset="utf-8"><body>{"".join(frames)}<script>{script}</script>'


def test_nothing_sticks_out_on_any_screen(
    browser: Browser, report: Report, sample: SimpleNamespace, tmp_path: Path
) -> None:
    """On a phone, a tablet and a desk, with everything opened, no part of a page is wider than the screen."""
    long = sample.small_report(
        submission="answers/" + "long" * 60 + ".py",
        reason="x" * 500,
        source="y = '" + "z" * 2000 + "'\n",
        stdout=Output("w" * 3000),
        checks=(
            CheckResult(
                "test_" + "v" * 200, "u" * 200, Fraction(1), Outcome.FAILED, reason="t" * 500, place=Place(1, "s" * 200)
            ),
        ),
    )
    wide = Report.collect(
        [sample.small_report(device=f"cuda:{n}").grades[0] for n in range(8)],
        questions=sample.QUESTIONS,
        environment=sample.ENVIRONMENT,
    )
    pages = {
        "candidate": render(report.redacted()),
        "interviewer": render(report),
        "long": render(long),
        "wide": render(wide),
        "hostile": render(_hostile(sample)),
    }
    (tmp_path / "frames.html").write_text(framed(pages, (360, 390, 768, 1280)), encoding="utf-8")
    dom = browser(tmp_path / "frames.html", "--dump-dom", "--virtual-time-budget=10000")
    said = re.findall(r"<p>([^<]*)</p>", dom)
    assert said == [f"{name} at {width}: 0 over, 0 out " for name in pages for width in (360, 390, 768, 1280)]


@pytest.mark.parametrize("audience", Audience)
def test_a_browser_shows_and_prints_it(browser: Browser, report: Report, audience: Audience, tmp_path: Path) -> None:
    """Chromium loads the page, takes its picture on a phone and on a desk, and prints it."""
    path = tmp_path / "report.html"
    report.write(path, audience=audience)
    dom = browser(path, "--dump-dom")
    assert "2 of 7 jobs accepted" in dom
    assert ("What do you check first?" in dom) is (audience is Audience.INTERVIEWER)
    for width in (390, 1280):
        picture = tmp_path / f"{width}.png"
        browser(path, f"--window-size={width},2000", "--hide-scrollbars", f"--screenshot={picture}")
        content = picture.read_bytes()
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        assert int.from_bytes(content[16:20], "big") == width
        assert len(content) > 20_000
    browser(path, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'report.pdf'}")
    assert (tmp_path / "report.pdf").read_bytes()[:5] == b"%PDF-"
