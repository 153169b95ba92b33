"""From check results and incidents to one verdict. Pure: no I/O, no clock, no randomness."""

from collections.abc import Sequence
from dataclasses import dataclass

from proctorch.judge.grade import CheckResult, Outcome, Verdict


@dataclass(frozen=True)
class Incident:
    """Something that decides over a whole job, whatever its checks say: a time-out, a death, a file that is none."""

    verdict: Verdict
    #: One line for the candidate.
    reason: str


def decide(results: Sequence[CheckResult], incidents: Sequence[Incident]) -> tuple[Verdict, str]:
    """The verdict and the one line that explains it, empty for ACCEPTED.

    The gravest of all that apply is given. A job is ACCEPTED only if at least one check is counted and every counted
    check PASSED: a check that is not known to have passed never helps.
    """
    counted = [result for result in results if result.counted]
    applying = [*incidents, _by_checks(counted, results)]
    gravest = max(applying, key=lambda incident: incident.verdict.severity)
    return gravest.verdict, gravest.reason


def _by_checks(counted: Sequence[CheckResult], results: Sequence[CheckResult]) -> Incident:
    if not counted:
        return Incident(Verdict.NOT_RUN, results[0].reason if results else "the question has no checks")
    broken = [result for result in counted if result.outcome is Outcome.ERROR]
    if broken:
        return Incident(Verdict.JUDGE_ERROR, f"the check “{broken[0].title}” broke: {broken[0].reason}")
    missed = [result for result in counted if result.outcome is not Outcome.PASSED]
    if not missed:
        return Incident(Verdict.ACCEPTED, "")
    first = next((result for result in missed if result.outcome is Outcome.FAILED), missed[0])
    verdict = Verdict.WRONG_ANSWER if len(missed) == len(counted) else Verdict.PARTIAL
    return Incident(verdict, f"{first.title}: {first.reason}")
