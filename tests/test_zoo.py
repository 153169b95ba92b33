"""Hostile and broken submissions get the verdict, the reason and the line that they deserve, and harm no one else.

All files in `zoo/` are graded in one session, so that each would spoil the grades of those after it if it could.
"""

import contextlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.devices import CPU
from proctorch.judge.grade import Grade, Outcome, Place, Tier, Verdict
from proctorch.judge.plan import Job, Plan
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission

_HERE = Path(__file__).parent
_FILES = sorted((_HERE / "zoo").glob("*.py"))
#: These never end by themselves, so each costs its whole time limit.
_ENDLESS = {
    *("hang_at_import", "hang_in_lock", "hang_in_python", "hang_in_sleep", "hang_that_catches_all"),
    *("hang_without_a_trace", "hang_without_sigterm", "sends_a_byte_at_a_time", "stops_itself"),
}
_SLOW = "took longer than 0.6 seconds and was stopped"
_NO_ANSWER = "sent the judge something that is no answer"
_MEMORY = "needed more memory than the limit of 0.25 GiB"


@dataclass(frozen=True)
class Fate:
    """What becomes of a submission: verdict, reason, and the place that its first check names."""

    verdict: Verdict
    reason: str = ""
    place: Place | None = None


def right() -> Fate:
    return Fate(Verdict.ACCEPTED)


def invalid(reason: str) -> Fate:
    return Fate(Verdict.INVALID, reason)


def wrong(what: str, line: int, function: str = "double") -> Fate:
    return Fate(Verdict.WRONG_ANSWER, f"every element is doubled: the result is {what}", Place(line, function))


def dead(reason: str, line: int, function: str = "double", verdict: Verdict = Verdict.RUNTIME_ERROR) -> Fate:
    """The line is only where the entry point begins: nobody knows where the code was."""
    return Fate(verdict, reason, Place(line, function))


def ended(reason: str, line: int, function: str = "double", verdict: Verdict = Verdict.RUNTIME_ERROR) -> Fate:
    """The line is where the code was."""
    return Fate(verdict, f"line {line}: {reason}", Place(line, function))


def forbidden(line: int) -> Fate:
    """The sandbox does not let it."""
    told = "a submission has a folder of its own, and no other files, no network and no further processes"
    return ended(f"PermissionError: [Errno 1] Operation not permitted ({told})", line)


def at_import(reason: str, verdict: Verdict = Verdict.RUNTIME_ERROR) -> Fate:
    return Fate(verdict, reason)


_FATES = {
    # ---- does not end
    "hang_in_python": ended(_SLOW, 5, verdict=Verdict.TIME_LIMIT),
    "hang_in_sleep": ended(_SLOW, 6, verdict=Verdict.TIME_LIMIT),
    "hang_in_lock": ended(_SLOW, 8, verdict=Verdict.TIME_LIMIT),
    "hang_without_sigterm": ended(_SLOW, 8, verdict=Verdict.TIME_LIMIT),
    "hang_that_catches_all": ended(_SLOW, 7, verdict=Verdict.TIME_LIMIT),
    "hang_without_a_trace": dead(_SLOW, 5, verdict=Verdict.TIME_LIMIT),
    "stops_itself": forbidden(7),
    "hang_at_import": at_import(f"line 2: at import: {_SLOW}", Verdict.TIME_LIMIT),
    # ---- ends too early
    "exit_0": dead("ended the process with exit code 0 before there was an answer", 5),
    "exit_3": dead("ended the process with exit code 3 before there was an answer", 5),
    "exit_0_at_import": at_import("at import: ended the process with exit code 0 before there was an answer"),
    "sys_exit_in_call": ended("ended the program (sys.exit)", 6),
    "sys_exit_at_import": at_import("line 9: at import: ended the program (sys.exit)"),
    "segfault": ended("the process was killed by SIGSEGV (Segmentation fault)", 6),
    "abort": ended("the process was killed by SIGSEGV (Segmentation fault)", 6),
    "kills_itself": forbidden(7),
    "interrupts_itself": forbidden(7),
    # ---- prints
    "endless_output": dead("printed more than 1 MiB and was stopped", 4, verdict=Verdict.OUTPUT_LIMIT),
    "endless_errors_from_c": dead("printed more than 1 MiB and was stopped", 5, verdict=Verdict.OUTPUT_LIMIT),
    "chatty": right(),
    "two_streams": right(),
    "output_from_c": right(),
    "prints_at_import": right(),
    "prints_no_text": right(),
    "closes_stdout": right(),
    "prints_then_dies": dead("ended the process with exit code 1 before there was an answer", 5),
    # ---- raises
    "raises_at_import": at_import("line 4: at import: NameError: name 'nonsense' is not defined"),
    "imports_what_is_not_there": at_import(
        "line 2: at import: ModuleNotFoundError: No module named 'a_module_that_nobody_has'"
    ),
    "raises_in_call": ended("ValueError: bad <b>", 9, "twice"),
    "raises_in_torch": ended(
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (7) at non-singleton dimension 1", 7
    ),
    "raises_without_words": ended("Silent: (its message cannot be shown: SystemExit)", 10),
    "raises_no_exception": ended("Odd: not an Exception", 9),
    "raises_keyboard_interrupt": ended("KeyboardInterrupt", 5),
    "raises_generator_exit": ended("GeneratorExit: enough", 5),
    "raises_skip": ended("SkipTest: no device", 6),
    "raises_half_a_letter": ended("ValueError: half \ud800 a letter", 5),
    "raises_a_long_chain": ended(f"ValueError: number 499 {'x' * 277}…", 8),
    "recursion": ended("RecursionError: maximum recursion depth exceeded", 5),
    "reads_stdin": ended("EOFError: EOF when reading a line", 5),
    "stops_for_a_debugger": ended("BdbQuit", 6),
    # ---- no submission
    "empty": invalid("it has no function `double`; found: none"),
    "only_a_comment": invalid("it has no function `double`; found: none"),
    "missing_function": invalid("it has no function `double`; found: Doubler (line 4), duble (line 8)"),
    "wrong_parameters": invalid("`double()` cannot be called as `double(x)` by place and by name"),
    "other_parameter_name": invalid("`double(tensor)` cannot be called as `double(x)` by place and by name"),
    "positional_only": invalid("`double(x, /)` cannot be called as `double(x)` by place and by name"),
    "one_parameter_too_many": invalid("`double(x, factor)` cannot be called as `double(x)` by place and by name"),
    "not_callable": invalid("`double` is no function"),
    "syntax_error": invalid("line 4: it is not valid Python: '(' was never closed"),
    "indentation_error": invalid(
        "line 5: it is not valid Python: expected an indented block after function definition on line 4"
    ),
    "deeply_nested_source": invalid("line 2: it is not valid Python: too many nested parentheses"),
    "nul_byte": invalid("it is not valid Python: source code string cannot contain null bytes"),
    "no_utf_8": invalid(
        "line 5: it is not valid Python: (unicode error) 'utf-8' codec can't decode byte 0xe9 in position 3:"
        " unexpected end of data"
    ),
    "encoding_of_no_text": invalid(
        "it is not valid Python: 'rot13' is not a text encoding; use codecs.decode() to handle arbitrary codecs"
    ),
    "unknown_encoding": invalid("it is not valid Python: unknown encoding: klingon"),
    "more_parameters_with_defaults": right(),
    "any_parameters": right(),
    "a_lambda": right(),
    "latin_1": right(),
    "byte_order_mark": right(),
    "windows_lines": ended("AttributeError: 'Tensor' object has no attribute 'twice'", 5),
    # ---- wrong answers
    "a_class": wrong("an a_class.double, not a plain tensor", 4),
    "async_function": wrong("a coroutine, not a plain tensor", 4),
    "generator_function": wrong("a generator, not a plain tensor", 4),
    "returns_none": wrong("None, not a plain tensor", 4),
    "returns_a_text": wrong("a str, not a plain tensor", 4),
    "returns_numpy": wrong("a numpy.ndarray, not a plain tensor", 4),
    "returns_meta": wrong("a meta torch.Tensor, not a plain tensor", 5),
    "returns_an_endless_nothing": wrong("an empty but huge torch.Tensor, not a plain tensor", 5),
    "returns_sparse": wrong("a sparse_coo torch.Tensor, not a plain tensor", 4),
    "returns_complex128": wrong("a complex128 torch.Tensor, not a plain tensor", 5),
    "returns_its_own_tensor": wrong("a returns_its_own_tensor.Mine, not a plain tensor", 10),
    "returns_an_expert_in_equality": wrong("a returns_an_expert_in_equality.Everything, not a plain tensor", 12),
    "returns_a_nameless_object": wrong("a ?.Nameless, not a plain tensor", 16),
    "returns_itself_inside": wrong("a list, not a plain tensor", 4),
    "returns_too_deep": wrong("a list, not a plain tensor", 4),
    "returns_a_huge_number": wrong("a huge int, not a plain tensor", 4),
    "returns_nan": wrong("not finite (nan or inf)", 4),
    "returns_too_much": dead("the answer is too large: a tensor of 41,943,040 bytes", 5),
    "returns_too_many": dead("the answer is too large: more than 100,000 values", 4),
    "returns_too_many_numbers_as_keys": dead(
        "the answer is too large: a dict with more than 256 keys that are no text", 4
    ),
    "echoes_its_input": Fate(
        Verdict.PARTIAL,
        "every element is doubled: the result is wrong in 6 of 6 values (tolerance: 1.3e-06 relative, 1e-05 absolute)",
        Place(4, "double"),
    ),
    # ---- memory
    "memory_bomb": ended(_MEMORY, 5, verdict=Verdict.MEMORY_LIMIT),
    "memory_bomb_in_steps": ended(_MEMORY, 7, verdict=Verdict.MEMORY_LIMIT),
    "memory_bomb_in_torch": ended(_MEMORY, 6, verdict=Verdict.MEMORY_LIMIT),
    "memory_bomb_at_import": at_import(f"line 2: at import: {_MEMORY}", Verdict.MEMORY_LIMIT),
    # ---- leaves things behind
    "leaves_a_child": forbidden(7),
    "leaves_a_daemon": forbidden(7),
    "leaves_a_daemon_and_dies": forbidden(7),
    "leaves_a_thread": right(),
    # ---- the judge's channel
    "closes_descriptors": dead("closed the channel to the judge", 6),
    "forges_junk": dead(f"{_NO_ANSWER} (7,671,158,947,922,144,875 bytes)", 6),
    "forges_an_endless_frame": dead(f"{_NO_ANSWER} (18,446,744,073,709,551,615 bytes)", 6),
    "forges_another_answer": dead(f"{_NO_ANSWER} (an answer to another question)", 7),
    "forges_times_without_end": dead(f"{_NO_ANSWER} (FrameError)", 7),
    "answers_twice": dead(f"{_NO_ANSWER} (more than an answer)", 7),
    "sends_a_byte_at_a_time": ended(_SLOW, 11, verdict=Verdict.TIME_LIMIT),
    "sends_keys_that_collide": dead(f"{_NO_ANSWER} (a dict with more than 256 keys that are no text)", 6),
    "forges_a_trace": dead(f"{_NO_ANSWER} (FrameError)", 7),
    "claims_that_the_grader_broke": dead("claimed that the grader had broken, which it had not", 7),
    "forges_an_answer": wrong("a str, not a plain tensor", 7),
    # ---- what it can reach
    "poisons_its_process": Fate(
        Verdict.PARTIAL,
        "every element is doubled: the result is wrong in 6 of 6 values (tolerance: 1.3e-06 relative, 1e-05 absolute)",
        Place(16, "double"),
    ),
    "poisons_itself_to_death": at_import("at import: ended the process with exit code 70 before there was an answer"),
    "kills_the_fork_server": forbidden(8),
    "spoils_the_state_at_import": right(),
    "looks_at_itself": right(),
    "runs_as_a_script": right(),
    "right": right(),
}

#: In tier `full` it is the first process of a namespace, which no signal of its own ends: `abort` goes on to SIGSEGV.
_KERNEL_FATES = {"abort": ended("the process was killed by SIGABRT (Aborted)", 6)}

#: Where nothing but limits confines it (tier `process`).
_TRUSTED_FATES = {
    "stops_itself": dead(_SLOW, 6, verdict=Verdict.TIME_LIMIT),
    "kills_itself": dead("the process was killed by SIGKILL (Killed)", 6),
    "interrupts_itself": dead("the process was killed by SIGINT (Interrupt)", 6),
    "leaves_a_child": right(),
    "leaves_a_daemon": right(),
    "leaves_a_daemon_and_dies": dead("ended the process with exit code 1 before there was an answer", 6),
    "closes_descriptors": dead("closed the channel to the judge", 6),
    "kills_the_fork_server": Fate(
        Verdict.JUDGE_ERROR,
        "the check “every element is doubled” broke: the sandbox process does not work: it ended",
    ),
    "right": right(),
}


@dataclass(frozen=True)
class Session:
    """The grades by file name, and of the processes that a submission said it left, those alive after its grade."""

    tier: Tier
    grades: dict[str, Grade]
    alive: dict[str, list[int]]
    last: Grade


@pytest.fixture(scope="module")
def session() -> Session:
    """Every file of the zoo, and a right answer once more after all of them."""
    session = play(_FILES, Tier.FULL)
    if session.tier is Tier.PROCESS:
        pytest.skip("this machine cannot confine a submission")
    return session


@pytest.fixture(scope="module")
def trusted() -> Session:
    """Those that tier `process` lets do more than the others, and a right answer after them."""
    return play([_HERE / "zoo" / f"{name}.py" for name in _TRUSTED_FATES], Tier.PROCESS)


def play(files: list[Path], strongest: Tier) -> Session:
    bank = Bank.load(_HERE / "bank")
    question = bank.questions[0]

    def job(file: Path) -> Job:
        seconds = 0.6 if file.stem in _ENDLESS else 30.0
        limits = replace(question.limits, seconds=seconds, memory=256 << 20, output=1 << 20)
        return Job(replace(question, limits=limits), Submission(file), CPU)

    alive: dict[str, list[int]] = {}

    def note(grade: Grade) -> None:
        left = [int(found) for found in re.findall(r"^pid (\d+)$", grade.stdout.text, re.MULTILINE)]
        if left:
            alive[Path(grade.submission).stem] = [process for process in left if lives(process)]

    jobs = tuple(job(file) for file in (*files, _HERE / "zoo" / "right.py"))
    grading = Grading(Plan(bank, jobs), strongest=strongest, trust_submissions=True)
    grades = grading.run(note)
    assert grading.strength is not None
    assert [grade.submission for grade in grades] == [str(each.submission.path) for each in jobs]
    by_name = {Path(grade.submission).stem: grade for grade in grades[:-1]}
    return Session(grading.strength.tier, by_name, alive, grades[-1])


def lives(process: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.parametrize("name", [file.stem for file in _FILES])
def test_each_gets_what_it_deserves(session: Session, name: str) -> None:
    """The verdict, the reason and the place are exactly those that its author needs to be told."""
    grade = session.grades[name]
    fates = _FATES if session.tier is Tier.FULL else _FATES | _KERNEL_FATES
    assert Fate(grade.verdict, grade.reason, grade.checks[0].place) == fates[name]


@pytest.mark.parametrize("name", [file.stem for file in _FILES])
def test_nothing_is_earned_by_force(session: Session, name: str) -> None:
    """Full marks are for a right answer alone; of wrong ones those that are on the right device earn that point."""
    grade = session.grades[name]
    assert grade.possible == 3.5
    assert grade.earned == {Verdict.ACCEPTED: 3.5, Verdict.PARTIAL: 1}.get(grade.verdict, 0)


@pytest.mark.parametrize("name", [file.stem for file in _FILES])
def test_every_check_is_accounted_for(session: Session, name: str) -> None:
    """Each check has one result; one that did not pass has a reason of one line that shows no expected value."""
    checks = session.grades[name].checks
    assert [check.test for check in checks] == ["test_values", "test_new_tensor", "test_place"]
    for check in checks:
        assert (check.reason == "") is (check.outcome is Outcome.PASSED)
        assert len(check.reason) <= 330
        assert "\n" not in check.reason
        assert "expected" not in check.reason.replace("expected an indented block", "").replace("unexpected end", "")


def test_the_zoo_is_complete() -> None:
    """Every file is expected and says in its first line what it does."""
    assert {file.stem for file in _FILES} == set(_FATES)
    for file in _FILES:
        first = file.read_bytes().splitlines()[:1]
        assert first == [] if file.stem == "empty" else re.match(rb"(\xef\xbb\xbf)?# .+\.$", first[0])


def test_a_right_answer_is_right_after_all_that(session: Session) -> None:
    """What other submissions have patched, broken, killed or left behind changes no later grade."""
    assert session.last.verdict is Verdict.ACCEPTED
    assert session.last.earned == 3.5


@pytest.mark.parametrize("name", _TRUSTED_FATES)
def test_trusted_code_gets_what_it_deserves(trusted: Session, name: str) -> None:
    """Where nothing is forbidden, each has its own end; even whoever ends the fork server is not accepted for it."""
    grade = trusted.grades[name]
    assert Fate(grade.verdict, grade.reason, grade.checks[0].place) == _TRUSTED_FATES[name]


def test_a_right_answer_is_right_after_trusted_code(trusted: Session) -> None:
    """A new fork server takes the place of one that a submission has ended."""
    assert trusted.last.verdict is Verdict.ACCEPTED
    assert trusted.last.earned == 3.5


@pytest.mark.parametrize("name", ["leaves_a_child", "leaves_a_daemon", "leaves_a_daemon_and_dies"])
def test_no_process_survives(trusted: Session, name: str) -> None:
    """Whatever process a submission leaves behind is dead when its grade is told."""
    assert re.fullmatch(r"pid \d+\n", trusted.grades[name].stdout.text)
    assert trusted.alive[name] == []


def test_a_file_that_is_none_is_not_played(session: Session) -> None:
    """Checks of a file that cannot be imported are not made, and say why."""
    assert {check.outcome for check in session.grades["syntax_error"].checks} == {Outcome.NOT_RUN}
    assert session.grades["syntax_error"].checks[2].reason == "not run: it is not valid Python: '(' was never closed"
    assert session.grades["hang_at_import"].checks[2].reason == f"not run: at import: {_SLOW}"


def test_a_time_limit_is_paid_once(session: Session) -> None:
    """Checks that share what was seen share the wait for it."""
    grade = session.grades["hang_in_python"]
    outcomes = [check.outcome for check in grade.checks]
    assert outcomes == [Outcome.FAILED, Outcome.NOT_RUN, Outcome.FAILED]
    assert grade.checks[1].reason == "not run: it needs “every element is doubled”"
    assert grade.checks[2].reason == _SLOW


def test_head_and_tail_of_a_long_output_are_kept(session: Session) -> None:
    """Of 100,000 bytes the first and the last 16 KiB are shown, and how many are not."""
    output = session.grades["chatty"].stdout
    assert output.cut == 67_232
    head, told, tail = output.text.split("\n", 2)
    assert head == "head" + "-" * 16_380
    assert told == "… 67,232 bytes are not shown …"
    assert tail == "-" * 16_379 + "tail\n"


def test_an_endless_output_is_cut_too(session: Session) -> None:
    """Output without an end costs no more memory than a long one."""
    for output in (session.grades["endless_output"].stdout, session.grades["endless_errors_from_c"].stderr):
        assert output.cut > 1_000_000
        assert len(output.text) < 33_000


@pytest.mark.parametrize(
    ("name", "stdout", "stderr"),
    [
        ("two_streams", "to stdout\n", "to stderr\n"),
        ("output_from_c", "from C\n", "to the descriptor"),
        ("prints_at_import", "at import\nin the call\n", ""),
        ("prints_no_text", "caf\ufffd \x1b[31mred\x00", ""),
        ("prints_then_dies", "flushed\n", ""),
        ("closes_stdout", "before\n", ""),
        ("latin_1", "café\n", ""),
        ("reads_stdin", "factor? ", ""),
        ("right", "", ""),
    ],
)
def test_output_is_captured(session: Session, name: str, stdout: str, stderr: str) -> None:
    """What is printed comes back, each stream for itself, whoever wrote it and however it ended."""
    grade = session.grades[name]
    assert (grade.stdout.text, grade.stderr.text) == (stdout, stderr)
    assert (grade.stdout.cut, grade.stderr.cut) == (0, 0)


def test_the_whole_traceback_is_for_the_interviewer(session: Session) -> None:
    """The candidate's line has the first line of the message; the detail has the rest, and no more than can be read."""
    check = session.grades["raises_in_call"].checks[0]
    assert check.reason == "ValueError: bad <b>"
    assert 'File "raises_in_call.py", line 5, in double' in check.detail
    assert "second line" in check.detail
    assert len(session.grades["raises_a_long_chain"].checks[0].detail) <= 20_000


def test_the_source_is_kept_for_show(session: Session) -> None:
    """A grade has the source as its encoding says, and of bytes that are no text what can be shown."""
    assert 'print("café")' in session.grades["latin_1"].source
    assert 'print("caf\ufffd")' in session.grades["no_utf_8"].source
    assert session.grades["encoding_of_no_text"].source.endswith("    return x * 2\n")
    assert session.grades["unknown_encoding"].source.endswith("    return x * 2\n")
    assert session.grades["nul_byte"].source.endswith("\n\0\n")
