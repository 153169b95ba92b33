"""The verdict of a job follows from its checks and incidents alone; a check not known to pass never helps."""

from fractions import Fraction
from itertools import combinations

import pytest

from proctorch.judge.grade import CheckResult, Grade, Outcome, Verdict, show_points
from proctorch.judge.verdict import Incident, decide

PASSED, FAILED, ERROR, NOT_RUN = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.NOT_RUN


def check(
    outcome: Outcome, *, name: str = "a", points: Fraction | int = 1, counted: bool = True, reason: str = "so"
) -> CheckResult:
    told = "" if outcome is PASSED else reason
    return CheckResult(f"test_{name}", f"check {name}", Fraction(points), outcome, counted=counted, reason=told)


def grade(verdict: Verdict, *checks: CheckResult) -> Grade:
    return Grade("q", "s.py", "cpu", real=True, verdict=verdict, reason="", checks=checks, source="")


def test_the_graver_verdict_is_given() -> None:
    """Of any two things that decide over a whole job the graver one is its verdict, whichever came first."""
    order = [
        *(Verdict.NOT_RUN, Verdict.ACCEPTED, Verdict.PARTIAL, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR),
        *(Verdict.PROCESS_LIMIT, Verdict.FILE_LIMIT, Verdict.OUTPUT_LIMIT, Verdict.MEMORY_LIMIT),
        *(Verdict.TIME_LIMIT, Verdict.INVALID, Verdict.JUDGE_ERROR),
    ]
    assert set(order) == set(Verdict)
    for milder, graver in combinations(order, 2):
        incidents = [Incident(milder, "milder"), Incident(graver, "graver")]
        if graver is not Verdict.ACCEPTED:
            assert decide([check(PASSED)], incidents) == (graver, "graver")
            assert decide([check(PASSED)], incidents[::-1]) == (graver, "graver")


def test_of_equal_incidents_the_first_is_told() -> None:
    """The reason is that of the first thing that went wrong."""
    incidents = [Incident(Verdict.TIME_LIMIT, "first"), Incident(Verdict.TIME_LIMIT, "second")]
    assert decide([check(PASSED)], incidents) == (Verdict.TIME_LIMIT, "first")


def test_all_passed_is_accepted() -> None:
    """A job is accepted without a reason when every counted check passed."""
    assert decide([check(PASSED), check(PASSED)], []) == (Verdict.ACCEPTED, "")


def test_an_incident_beats_the_checks() -> None:
    """A time-out or a death decides, even if every check had passed."""
    assert decide([check(PASSED)], [Incident(Verdict.RUNTIME_ERROR, "died")]) == (Verdict.RUNTIME_ERROR, "died")
    assert decide([check(FAILED)], [Incident(Verdict.TIME_LIMIT, "slow")]) == (Verdict.TIME_LIMIT, "slow")


def test_a_broken_check_beats_an_incident() -> None:
    """If the grader broke, nothing that the candidate did is held against them."""
    reason = "the check “check b” broke: KeyError"
    results = [check(FAILED), check(ERROR, name="b", reason="KeyError")]
    assert decide(results, [Incident(Verdict.INVALID, "no file")]) == (Verdict.JUDGE_ERROR, reason)


def test_all_checks_broken_is_a_judge_error() -> None:
    """The first check that broke is named."""
    results = [check(ERROR, name="a", reason="one"), check(ERROR, name="b", reason="two")]
    assert decide(results, []) == (Verdict.JUDGE_ERROR, "the check “check a” broke: one")


def test_some_passed_is_partial() -> None:
    """With some checks passed the reason is the first failure's, with the check's title."""
    results = [check(PASSED), check(FAILED, name="b", reason="it is 3"), check(FAILED, name="c")]
    assert decide(results, []) == (Verdict.PARTIAL, "check b: it is 3")


def test_none_passed_is_a_wrong_answer() -> None:
    """With no check passed the answer is wrong; a failure explains it better than a check that was not made."""
    results = [check(NOT_RUN, name="a"), check(FAILED, name="b", reason="it is 3")]
    assert decide(results, []) == (Verdict.WRONG_ANSWER, "check b: it is 3")


def test_a_check_that_was_not_made_never_helps() -> None:
    """A counted check without a result keeps a job from being accepted, and is no pass among the others."""
    missing = check(NOT_RUN, name="b", reason="not run")
    assert decide([check(PASSED), missing], []) == (Verdict.PARTIAL, "check b: not run")
    assert decide([missing], []) == (Verdict.WRONG_ANSWER, "check b: not run")


def test_what_is_not_counted_changes_nothing() -> None:
    """A check that cannot be asked here decides nothing, whatever is noted for it."""
    for outcome in Outcome:
        outside = check(outcome, name="b", counted=False)
        assert decide([check(PASSED), outside], []) == (Verdict.ACCEPTED, "")
        assert decide([outside, check(FAILED, reason="no")], []) == (Verdict.WRONG_ANSWER, "check a: no")


def test_nothing_counted_is_not_run() -> None:
    """A job of which nothing could be asked is not run, and not accepted, and says why."""
    outside = check(NOT_RUN, counted=False, reason="made only on cuda")
    assert decide([outside, outside], []) == (Verdict.NOT_RUN, "made only on cuda")
    assert decide([check(PASSED, counted=False)], []) == (Verdict.NOT_RUN, "")
    assert decide([], []) == (Verdict.NOT_RUN, "the question has no checks")


def test_points_are_exact() -> None:
    """Three thirds are one, and ten tenths too."""
    thirds = [check(PASSED, points=Fraction(1, 3))] * 3
    tenths = [check(PASSED, points=Fraction(1, 10))] * 10
    assert grade(Verdict.ACCEPTED, *thirds, *tenths).earned == 2


def test_points_are_those_of_counted_checks() -> None:
    """What is earned comes from passed checks, what is possible from counted ones."""
    checks = [
        check(PASSED, points=2),
        check(FAILED, points=4),
        check(NOT_RUN, points=8),
        check(ERROR, points=16),
        check(PASSED, points=32, counted=False),
        check(NOT_RUN, points=64, counted=False),
    ]
    mixed = grade(Verdict.PARTIAL, *checks)
    assert mixed.earned == 2
    assert mixed.possible == 30


@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_was_not_judged_scores_nothing(verdict: Verdict) -> None:
    """A judge error and a job that was not run have no score, rather than a score of zero."""
    one = grade(verdict, check(PASSED))
    assert one.scored is (verdict not in (Verdict.JUDGE_ERROR, Verdict.NOT_RUN))
    assert one.earned == (1 if one.scored else 0)


@pytest.mark.parametrize(
    ("points", "shown"),
    [
        (Fraction(0), "0"),
        (Fraction(1), "1"),
        (Fraction(100), "100"),
        (Fraction(1000), "1000"),
        (Fraction(7, 2), "3.5"),
        (Fraction(1, 4), "0.25"),
        (Fraction(5, 100), "0.05"),
        (Fraction(2, 3), "0.66"),
        (Fraction(1, 3), "0.33"),
        (Fraction(1, 1000), "0"),
        (Fraction("99.999"), "99.99"),
        (Fraction("99.995"), "99.99"),
        (Fraction("99.5"), "99.5"),
        (Fraction("87.5"), "87.5"),
        (Fraction("4.0000001"), "4"),
        (Fraction(1, 10) * 3, "0.3"),
    ],
    ids=str,
)
def test_points_are_shown_rounded_down(points: Fraction, shown: str) -> None:
    """Points have two decimals at most, are rounded once and never up, and have no zeros at the end."""
    assert show_points(points) == shown


def test_only_full_marks_read_as_full() -> None:
    """Of 100 points 99.999 are not shown as 100."""
    assert show_points(Fraction("99.999"), Fraction(100)) == "99.99 / 100"
    assert show_points(Fraction(100), Fraction(100)) == "100 / 100"
    assert show_points(Fraction(0), Fraction("3.5")) == "0 / 3.5"
