"""A grade as frozen data: what was demanded of one submission on one device, and what came of it."""

import enum
from dataclasses import dataclass
from fractions import Fraction


class Outcome(enum.Enum):
    """What became of one check. Every planned check starts as NOT_RUN."""

    PASSED = "passed"
    FAILED = "failed"
    #: The check itself broke; never the candidate's fault.
    ERROR = "error"
    NOT_RUN = "not_run"


class Verdict(enum.Enum):
    """What became of one job, the mildest first. When several apply, the later one is given."""

    #: The question cannot be asked on this device, or the run was stopped first.
    NOT_RUN = "not_run"
    #: Every counted check passed.
    ACCEPTED = "accepted"
    #: Some counted checks passed, some did not.
    PARTIAL = "partial"
    #: No counted check passed.
    WRONG_ANSWER = "wrong_answer"
    #: An exception at import or in a call, an early exit, or a death by signal.
    RUNTIME_ERROR = "runtime_error"
    #: More processes or threads than the question allows.
    PROCESS_LIMIT = "process_limit"
    #: More or larger files, or more open ones.
    FILE_LIMIT = "file_limit"
    OUTPUT_LIMIT = "output_limit"
    MEMORY_LIMIT = "memory_limit"
    TIME_LIMIT = "time_limit"
    #: The file is not a submission to this question: it does not parse, or an entry point is missing.
    INVALID = "invalid"
    #: The grader or the machine broke. It scores nothing, rather than zero.
    JUDGE_ERROR = "judge_error"

    @property
    def severity(self) -> int:
        """The larger, the graver."""
        return list(Verdict).index(self)


class Tier(enum.Enum):
    """How strongly submissions are confined, the strongest first."""

    FULL = "full"
    KERNEL = "kernel"
    PROCESS = "process"

    @property
    def meaning(self) -> str:
        """What it is to a submission, in words."""
        return _MEANINGS[self]


_MEANINGS = {
    Tier.FULL: "a submission sees no files of yours, no network and no other process",
    Tier.KERNEL: "a submission has no files of yours and no network; docs/security.md says what is lacking",
    Tier.PROCESS: "limits only: a submission can do what you can",
}


@dataclass(frozen=True)
class Place:
    """A line of the candidate's own file, counted from 1, and the function it is in (`<module>` at top level).

    Of a notebook, the file is its code cells as one source.
    """

    line: int
    function: str
    #: The same line as one of the notebook: `cell 4, line 2`. Empty if it is none.
    cell: str = ""


@dataclass(frozen=True)
class CheckResult:
    """What became of one check."""

    #: The pytest function, `test_…`. Interviewers only.
    test: str
    title: str
    points: Fraction
    outcome: Outcome
    #: False: outside the denominator, since this machine cannot ask it (no such device). The reason says why.
    counted: bool = True
    #: One line for the candidate: no expected value, no test code. Empty if passed.
    reason: str = ""
    #: Where in the candidate's file, if known.
    place: Place | None = None
    #: The whole failure, expected values and test code included. Interviewers only.
    detail: str = ""

    @property
    def earned(self) -> Fraction:
        return self.points if self.outcome is Outcome.PASSED and self.counted else Fraction(0)


@dataclass(frozen=True)
class Output:
    """What the candidate's code printed: the head and the tail are kept, `cut` bytes between them are not."""

    text: str = ""
    cut: int = 0


@dataclass(frozen=True)
class Moment:
    """Bytes live on the accelerator, some seconds after a scenario began. `failed`: bytes asked for in vain, else 0."""

    seconds: float
    live: int
    failed: int = 0


@dataclass(frozen=True)
class MemoryRun:
    """The accelerator's memory while one scenario was played: the one with a failed allocation, or the highest peak."""

    budget: int
    moments: tuple[Moment, ...]

    @property
    def peak(self) -> int:
        return max((moment.live for moment in self.moments), default=0)


@dataclass(frozen=True)
class CopyCount:
    """Copies of one direction from one line of the candidate's file (None: not from a line of it), and their bytes."""

    source: str
    target: str
    line: int | None
    count: int
    bytes: int


class FlagKind(enum.Enum):
    """What about a source deserves a person's look, before its verdict is built on."""

    #: Changes what others call: torch, the standard library, builtins.
    PATCH = "patch"
    #: Finds objects by way of the garbage collector, or of addresses.
    MEMORY = "memory"
    #: Looks into frames, tracebacks and the insides of functions.
    FRAMES = "frames"
    #: Finds or changes modules by other ways than `import`.
    IMPORTS = "imports"
    #: Starts, ends or signals processes, or writes to descriptors.
    PROCESS = "process"
    #: Leaves something to run after its answer.
    LATER = "later"
    FILES = "files"
    NETWORK = "network"
    #: Runs code that is not in the source as code.
    BUILT_CODE = "built_code"
    #: Makes objects that are not what they seem, such as one that equals everything.
    DISGUISE = "disguise"
    #: Uses what torch keeps to itself, or what changes how torch works.
    INTERNALS = "internals"
    #: Cannot be read as it stands: characters that are not seen, encoded texts.
    HIDDEN = "hidden"
    #: Answers from what was known beforehand.
    HARD_CODED = "hard_coded"
    #: Looks for the grader.
    GRADER = "grader"
    #: Was not looked through as a whole.
    UNREAD = "unread"

    @property
    def why(self) -> str:
        """Why that deserves a look: half a sentence."""
        return _WHY[self]


_WHY = {
    FlagKind.PATCH: "whoever uses it later may get the submission's own",
    FlagKind.MEMORY: "objects of others can be found and changed so",
    FlagKind.FRAMES: "the code that called can be read and changed so",
    FlagKind.IMPORTS: "modules that the task has no need of can be reached and replaced so",
    FlagKind.PROCESS: "an answer needs no other process, and none of its own ended",
    FlagKind.LATER: "what runs after the answer is not part of it",
    FlagKind.FILES: "the task's data comes as arguments",
    FlagKind.NETWORK: "an answer needs nothing from elsewhere",
    FlagKind.BUILT_CODE: "what runs is not what is read here",
    FlagKind.DISGUISE: "such an object can pass for what it is not",
    FlagKind.INTERNALS: "it changes how torch works, or goes past what is observed",
    FlagKind.HIDDEN: "what is read here may not be what runs",
    FlagKind.HARD_CODED: "the answer may be known beforehand rather than computed",
    FlagKind.GRADER: "the code may behave otherwise where it is graded",
    FlagKind.UNREAD: "there may be more to see",
}


@dataclass(frozen=True)
class Flag:
    """A line of a submission that deserves a look. Advice for the interviewer, never part of a verdict."""

    kind: FlagKind
    #: Counted from 1.
    line: int
    #: The line itself, shortened.
    code: str
    #: What it does, as in: line 3 *assigns into `torch.cuda.synchronize`*.
    does: str

    @property
    def sentence(self) -> str:
        """What deserves a look, and why."""
        return f"Line {self.line} {self.does}: {self.kind.why}."


@dataclass(frozen=True)
class Grade:
    """The result of one job: one submission to one question on one device."""

    question: str
    #: The submission's file as the user named it.
    submission: str
    #: `cpu`, `cuda:0`, `mps`, …
    device: str
    #: False for a simulated device.
    real: bool
    verdict: Verdict
    #: One line that explains the verdict to the candidate. Empty if accepted.
    reason: str
    checks: tuple[CheckResult, ...]
    #: The candidate's source, decoded for show; of a notebook, its code cells.
    source: str
    #: How the submission was read: helper files, what was skipped of a notebook. A line each.
    notes: tuple[str, ...] = ()
    stdout: Output = Output()
    stderr: Output = Output()
    seconds: float = 0.0
    #: Only where the accelerator's memory has a budget and is observed.
    memory: MemoryRun | None = None
    #: Between devices, in all scenarios together, as far as the probe looked.
    copies: tuple[CopyCount, ...] = ()
    #: What in the source deserves a look. Interviewers only; no verdict depends on it.
    flags: tuple[Flag, ...] = ()

    @property
    def earned(self) -> Fraction:
        """Points earned; 0 where `scored` is False."""
        return sum((result.earned for result in self.checks), Fraction(0)) if self.scored else Fraction(0)

    @property
    def possible(self) -> Fraction:
        """Points of the counted checks."""
        return sum((result.points for result in self.checks if result.counted), Fraction(0))

    @property
    def scored(self) -> bool:
        """Whether the points mean anything: not for JUDGE_ERROR and NOT_RUN."""
        return self.verdict not in (Verdict.JUDGE_ERROR, Verdict.NOT_RUN)


def show_points(points: Fraction, of: Fraction | None = None) -> str:
    """Points for display: at most two decimals, rounded once and downwards, so that only full marks read as full.

    >>> show_points(Fraction(7, 2)), show_points(Fraction(999, 100) + Fraction(9, 1000), Fraction(10))
    ('3.5', '9.99 / 10')
    """
    hundredths = points * 100 // 1
    whole, rest = divmod(hundredths, 100)
    text = str(whole) if rest == 0 else f"{whole}.{rest:02d}".rstrip("0")
    return text if of is None else f"{text} / {show_points(of)}"
