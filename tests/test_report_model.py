"""The report as data and as JSON."""

import dataclasses
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

import proctorch.report.report as model
from proctorch.errors import ProctorchError, UsageError
from proctorch.files import replace_file
from proctorch.judge.grade import CheckResult, FlagKind, Outcome, Output, Verdict
from proctorch.report.json import parse, render, report_schema
from proctorch.report.report import Audience, Report, show_percent

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def report(sample: SimpleNamespace) -> Report:
    result: Report = sample.sample_report()
    return result


def document(report: Report) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(render(report))
    return data


# What a report is made of


def test_collect_keeps_the_asked_questions(sample: SimpleNamespace) -> None:
    """Of all questions that are offered, a report keeps those that a grade is about."""
    report = Report.collect(sample.GRADES[:2], questions=sample.QUESTIONS, environment=sample.ENVIRONMENT)
    assert list(report.questions) == ["half-moved-step"]


def test_collect_wants_every_question(sample: SimpleNamespace) -> None:
    """A grade of a question that was not given is told, not left out."""
    with pytest.raises(ProctorchError, match="there is a grade of 'half-moved-step', but no such question"):
        Report.collect(sample.GRADES, questions=[], environment=sample.ENVIRONMENT)


def test_created_is_utc_in_whole_seconds(sample: SimpleNamespace) -> None:
    """Whatever time zone the time is given in, the report holds UTC without fractions of a second."""
    local = datetime(2026, 11, 30, 10, 41, 7, 999_999, tzinfo=timezone(timedelta(hours=1)))
    report = Report.collect([], questions=[], environment=sample.ENVIRONMENT, created=local)
    assert report.created == datetime(2026, 11, 30, 9, 41, 7, tzinfo=UTC)
    assert document(report)["created"] == "2026-11-30T09:41:07Z"


def test_counts_sum_to_all_jobs(report: Report) -> None:
    """Each job is in one count; the gravest verdict comes first."""
    assert list(report.counts.items()) == [
        (Verdict.JUDGE_ERROR, 1),
        (Verdict.RUNTIME_ERROR, 1),
        (Verdict.WRONG_ANSWER, 1),
        (Verdict.PARTIAL, 1),
        (Verdict.ACCEPTED, 2),
        (Verdict.NOT_RUN, 1),
    ]
    assert sum(report.counts.values()) == len(report.grades) == 7


def test_totals_leave_out_what_is_not_scored(report: Report) -> None:
    """A judge error and a job that was not run are neither earned nor possible; points are exact."""
    assert (report.earned, report.possible) == (Fraction(37, 2), Fraction(59, 2))


def test_attempts_put_the_devices_of_one_submission_together(report: Report) -> None:
    """The grades of a submission to a question stand together, however the jobs were ordered."""
    mixed = dataclasses.replace(report, grades=report.grades[::2] + report.grades[1::2])
    assert [(a.submission, [g.device for g in a.grades], a.verdict, a.earned, a.possible) for a in mixed.attempts] == [
        ("answers/half_moved_step.py", ["cpu", "virtual"], Verdict.RUNTIME_ERROR, Fraction(9, 2), Fraction(25, 2)),
        ("answers/ada lovelace/moved.py", ["cpu", "virtual"], Verdict.ACCEPTED, Fraction(14), Fraction(14)),
        ("answers/pick_device.py", ["cpu"], Verdict.WRONG_ANSWER, Fraction(0), Fraction(3)),
        ("answers/grace.py", ["cpu"], Verdict.JUDGE_ERROR, Fraction(0), Fraction(0)),
        ("answers/fit.py", ["cpu"], Verdict.NOT_RUN, Fraction(0), Fraction(0)),
    ]


def test_attempts_never_mix_two_sources(report: Report) -> None:
    """A file that changed between two jobs is two attempts: the code that is shown is the code that was graded."""
    changed = dataclasses.replace(report.grades[1], source="pass\n")
    attempts = dataclasses.replace(report, grades=(report.grades[0], changed)).attempts
    assert [attempt.source for attempt in attempts] == [report.grades[0].source, "pass\n"]


@pytest.mark.parametrize(
    ("earned", "possible", "shown"),
    [
        (Fraction(0), Fraction(3), "0 %"),
        (Fraction(2), Fraction(3), "66 %"),
        (Fraction(1999), Fraction(2000), "99 %"),
        (Fraction(3), Fraction(3), "100 %"),
        (Fraction(0), Fraction(0), "n/a"),
    ],
)
def test_percent_never_rounds_up(earned: Fraction, possible: Fraction, shown: str) -> None:
    """Only full marks read as 100 %."""
    assert show_percent(earned, possible) == shown


# Two views


@pytest.mark.parametrize(
    "secret",
    [
        "test_step_runs",
        "test_second_epoch",
        "Expected 2.302585092994046",
        "seen.get",
        "graders/",
        "1729",
        "What do you check first?",
        "same-device rule",
        "Reads which argument",
        "assigns into `torch.cuda.is_available`",
    ],
)
def test_candidate_sees_nothing_hidden(report: Report, secret: str) -> None:
    """Test names, failure details, the card and the seed are in the interviewer's view and not in the candidate's."""
    assert secret in render(report)
    assert secret not in render(report.redacted())


@pytest.mark.parametrize(
    "kept",
    [
        "the step runs where the model is",
        "the loss differs",
        "A model that lives on the device",
        "labels.to(device)",
        "loss 2.3026 on cpu",
        "sha256:6f1c0b7d2a934e58",
        "none of 3 checks passed",
    ],
)
def test_candidate_sees_what_helps(report: Report, kept: str) -> None:
    """Titles, reasons, hints, code, output and the environment stay in the candidate's view."""
    assert kept in render(report.redacted())


def test_candidate_sees_the_first_line_of_a_reason(sample: SimpleNamespace) -> None:
    """What a reason says after its first line is for interviewers."""
    check = CheckResult("test_x", "x", Fraction(1), Outcome.FAILED, reason="it differs\nexpected 42")
    grade = sample.small_report(reason="no\n43", checks=(check,)).redacted().grades[0]
    assert (grade.reason, grade.checks[0].reason) == ("no", "it differs")


def test_hints_are_found_without_test_names(report: Report) -> None:
    """The candidate's view still knows which hint belongs to which check."""
    for view in (report, report.redacted()):
        asked = view.questions["half-moved-step"]
        assert asked.hints(view.grades[0].checks[3]) == ("`.item()` reads one number.",)
        assert asked.hints(view.grades[0].checks[2]) == ()


def test_candidates_view_stays_one(report: Report) -> None:
    """The interviewer's view cannot be had from the candidate's."""
    with pytest.raises(UsageError, match="this report is the candidate's view"):
        report.redacted().view(Audience.INTERVIEWER)


def test_written_without_a_word_it_is_the_candidates(report: Report, tmp_path: Path) -> None:
    """A report that is written without naming an audience can be given away."""
    report.write(tmp_path / "r.json")
    assert Report.read(tmp_path / "r.json").audience is Audience.CANDIDATE


# JSON


@pytest.mark.parametrize("audience", Audience)
def test_what_is_written_is_read_back(report: Report, audience: Audience, tmp_path: Path) -> None:
    """Nothing is lost between writing and reading."""
    report.write(tmp_path / "r.json", audience=audience)
    assert Report.read(tmp_path / "r.json") == report.view(audience)


def test_golden_json(report: Report) -> None:
    """The format does not change by accident: a change wants a new schema number."""
    assert render(report) == (GOLDEN / "report.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("audience", Audience)
def test_what_is_written_fits_the_schema(report: Report, audience: Audience) -> None:
    """The published JSON Schema describes what is written."""
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document(report.view(audience)), schema, cls=jsonschema.Draft202012Validator)


def test_a_report_of_the_first_schema_is_read(report: Report) -> None:
    """A report saved before there were flags is read as it was, and its sources are looked through now."""
    old = (GOLDEN / "report_schema_1.json").read_bytes()
    tampering = b"\\n\\ntorch.cuda.is_available = 1\\ndef pick_device(prefer=None):\\n    return"
    read = parse(old.replace(b"\\n\\n\\ndef pick_device(prefer=None):\\n    return", tampering))
    assert [[(flag.line, flag.kind) for flag in grade.flags] for grade in read.grades] == [
        *([], [], [], [], []),
        [(3, FlagKind.PATCH)],
        [],
    ]
    assert dataclasses.replace(parse(old), grades=()) == dataclasses.replace(report, grades=())
    assert parse(old).grades[:4] == report.grades[:4]


def test_an_old_candidates_view_gets_no_flags(report: Report) -> None:
    """What a candidate was given says no more when it is read anew."""
    data = document(report.redacted()) | {"schema": 1}
    for grade in data["grades"]:
        del grade["flags"], grade["notes"]
    expected = report.redacted()
    grades = tuple(dataclasses.replace(grade, notes=()) for grade in expected.grades)
    assert parse(json.dumps(data).encode()) == dataclasses.replace(expected, grades=grades)


def test_points_stay_exact(sample: SimpleNamespace, tmp_path: Path) -> None:
    """A third of a point is a third of a point after a round trip."""
    third = CheckResult("test_x", "x", Fraction(1, 3), Outcome.PASSED)
    report = sample.small_report(checks=(third, third, third))
    report.write(tmp_path / "r.json")
    written = document(report)["grades"][0]
    assert (written["checks"][0]["points"], written["earned"], written["possible"]) == ("1/3", "1", "1")
    assert Report.read(tmp_path / "r.json").earned == 1


def test_odd_text_makes_a_strict_file(sample: SimpleNamespace) -> None:
    """Lone surrogates, null bytes and direction marks are written as plain ASCII that strict readers accept."""
    text = render(sample.small_report(source="\udcff\x00\u202e", stdout=Output("\ud800é")))
    assert text.isascii()
    assert "\\ud800" not in text
    assert parse(text.encode()).grades[0].source == "\ufffd\x00\u202e"


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]

    def change(data: Any) -> None:
        for part in parents:
            data = data[part]
        if value is None:
            del data[last]
        else:
            data[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "grades.0.verdict",
            "great",
            "grades[0].verdict is 'great', not one of not_run, accepted, partial, wrong_answer",
        ),
        ("grades.0.verdict", ["x"], "grades[0].verdict is ['x'], not one of"),
        ("grades.0.checks.2.points", 1.5, "grades[0].checks[2].points is 1.5, not points"),
        ("grades.0.checks.2.points", "1.5", 'grades[0].checks[2].points is \'1.5\', not points such as "7/2" or "3"'),
        ("grades.0.checks.2.points", "1/0", "is '1/0', not points"),
        ("grades.0.checks.2.points", "-1", "is '-1', not points"),
        ("grades.0.checks.2.counted", 1, "grades[0].checks[2].counted is 1, not true or false"),
        ("grades.0.checks.3.place.line", True, "grades[0].checks[3].place.line is True, not a whole number"),
        ("grades.0.checks.3.place.line", -1, "grades[0].checks[3].place.line is -1, not a whole number of at least 0"),
        ("grades.0.checks", {}, "grades[0].checks is {}, not a list"),
        ("grades.0.seconds", "1", "grades[0].seconds is '1', not a number"),
        ("grades.0.source", 7, "grades[0].source is 7, not text"),
        ("grades.0.source", None, "grades[0] has no 'source'"),
        ("grades.0.extra", 1, "grades[0] has 'extra', which is not known there"),
        ("grades", "x" * 100, f"grades is '{'x' * 56}..., not a list"),
        ("audience", "all", "audience is 'all', not one of candidate, interviewer"),
        ("created", "yesterday", "created is 'yesterday', not a time such as 2026-01-31T12:00:00Z"),
        ("created", "2026-02-30T00:00:00Z", "created is '2026-02-30T00:00:00Z', not a time"),
        ("environment", None, "the file has no 'environment'"),
        ("questions.pick-device.card", "x", "questions['pick-device'].card is 'x', not an object"),
    ],
)
def test_a_wrong_shape_is_told_with_its_place(report: Report, path: str, value: Any, message: str) -> None:
    """Whatever is not as it should be is named with its place in the file; the schema refuses it too."""
    data = document(report)
    _set(path, value)(data)
    with pytest.raises(UsageError) as caught:
        parse(json.dumps(data).encode())
    assert message in str(caught.value)
    if path != "created" or value == "yesterday":  # a schema cannot tell that there is no 30 February
        assert not jsonschema.Draft202012Validator(report_schema()).is_valid(data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("grades.0.earned", "7", "grades[0].earned does not follow from the checks: they make 9/2"),
        ("grades.0.question", "no-such", "grades[0].question is 'no-such', which is not among the questions"),
        ("questions.pick-device.id", "other", "questions['pick-device'].id is 'other'"),
    ],
)
def test_a_contradiction_is_told(report: Report, path: str, value: str, message: str) -> None:
    """A report whose parts do not agree is not read."""
    data = document(report)
    _set(path, value)(data)
    with pytest.raises(UsageError) as caught:
        parse(json.dumps(data).encode())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON: Expecting value at line 1, column 1"),
        (b'{"schema": 1,\n "grades": [', "is not JSON: Expecting value at line 2, column 13"),
        (b"\xff\xfe{}", "is not a report: byte 0 is not UTF-8"),
        (b"[" * 100_000, "is not a report: its JSON is nested too deep"),
        (b"[]", "is not a report of Proctorch: it has no schema number"),
        (b"null", "is not a report of Proctorch: it has no schema number"),
        (b'{"schema": true}', "is not a report of Proctorch: it has no schema number"),
        (b'{"schema": 3}', "is a report of schema 3; this version of Proctorch reads schemas 1 to 2"),
        (b'{"schema": 2}', "is not a report of schema 2: the file has no 'environment'"),
        (b'{"schema": 1}', "is not a report of schema 1: the file has no 'environment'"),
        (
            b'{"schema": 1, "grades": [{"flags": [1]}]}',
            "is not a report of schema 1: grades[0] has 'flags', which is not known there",
        ),
        (b'{"schema": 1, "grades": [7]}', "is not a report of schema 1: the file has no 'environment'"),
        (b'{"schema": 1, "schema": 1}', "is not a report: 'schema' is there twice in one object"),
        (b'{"schema": NaN}', "is not a report: NaN is not a number of JSON"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "is not a report: Exceeds the limit"),
    ],
)
def test_what_is_no_report_is_told_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    """Any file that is not a report is one UsageError with the file's name."""
    (tmp_path / "r.json").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        Report.read(tmp_path / "r.json")
    assert str(caught.value).startswith(f"{tmp_path / 'r.json'}: {message}")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file, a folder, an impossible name and a huge file are told as what they are."""
    (tmp_path / "huge.json").write_bytes(b" " * 1001)
    monkeypatch.setattr(model, "LARGEST_FILE", 1000)
    for name, message in {
        "none.json": "cannot be read: No such file or directory",
        "": "cannot be read: Is a directory",
        "\0.json": "cannot be read: embedded null byte",
        "huge.json": "is larger than 0 MiB",
    }.items():
        with pytest.raises(UsageError) as caught:
            Report.read(f"{tmp_path}/{name}")
        assert message in str(caught.value)


# Writing


@pytest.mark.parametrize("name", ["report.pdf", "report", "report.json.gz"])
def test_another_suffix_is_refused(report: Report, name: str, tmp_path: Path) -> None:
    """The message for a format that there is not lists those that there are."""
    with pytest.raises(UsageError, match=r"a report is written as \.html or \.json, by the file's suffix"):
        report.write(tmp_path / name)


def test_where_nothing_can_be_written_is_told(report: Report, tmp_path: Path) -> None:
    """A folder, a missing folder, a file in place of a folder and an impossible name are UsageErrors."""
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").write_text("")
    for name, message in {
        "folder.html": "is a folder",
        "none/r.html": "cannot be written: there is no folder ",
        "file/r.html": "cannot be written: there is no folder ",
        "\0.html": "cannot be written: ",
        f"{'x' * 300}.html": "cannot be written: File name too long",
    }.items():
        with pytest.raises(UsageError) as caught:
            report.write(tmp_path / name)
        assert message in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.html"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file(
    report: Report, failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or a user who stops the command, costs neither the old report nor a stray file."""

    def fail(descriptor: int) -> None:
        raise failure

    path = tmp_path / "r.html"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((UsageError, KeyboardInterrupt)):
        report.write(path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("r.html", "old")]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    """Writing to a link changes the file it names, and leaves the link."""
    (tmp_path / "file.json").write_text("old")
    (tmp_path / "link.json").symlink_to("file.json")
    replace_file(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "file.json").read_text() == "new"


def test_a_report_has_the_rights_of_any_file(tmp_path: Path) -> None:
    """A report is made as the user's umask says, not as a private temporary file."""
    (tmp_path / "plain").write_text("")
    replace_file(tmp_path / "report", "")
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_saved_report_is_shown_without_torch_or_bank(tmp_path: Path) -> None:
    """Reading a saved report and writing it as a page needs neither torch nor what loads a bank."""
    program = (
        "import sys; from proctorch.report.report import Report; Report.read(sys.argv[1]).write(sys.argv[2])\n"
        "print([name for name in ('torch', 'yaml', 'pydantic', 'pytest') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(GOLDEN / "report.json"), "r.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
    assert "The half-moved training step" in (tmp_path / "r.html").read_text()
