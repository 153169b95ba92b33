"""Each limit that a question sets is held, has its own verdict, and is named to the candidate."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.bank.question import Limits
from proctorch.devices import CPU
from proctorch.judge import supervise
from proctorch.judge.grade import Grade, Tier, Verdict
from proctorch.judge.plan import Job, Plan
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission

TINY = Bank.load(Path(__file__).parent / "bank")
_LIMITS = Limits(
    seconds=20, cpu=2, memory=256 << 20, output=1 << 20, processes=0, threads=8, disk=1 << 20, open_files=32
)


def graded(*bodies: str, tier: Tier = Tier.FULL, **limits: float) -> list[Grade]:
    """The grades of right answers that do something else first, under limits of some test's own."""
    [question] = TINY.questions
    question = replace(question, limits=replace(_LIMITS, **limits))  # type: ignore[arg-type]
    sources = [f"import os\n\ndef double(x):\n    {body}\n    return x * 2\n" for body in bodies]
    jobs = [Job(question, Submission(f"a{at}.py", text.encode()), CPU) for at, text in enumerate(sources)]
    return Grading(Plan(TINY, tuple(jobs)), trust_submissions=True, strongest=tier).run()


_THREADS = "import threading; [threading.Thread(target=threading.Event().wait, daemon=True).start() for _ in range(20)]"
_SPIN = "list(iter(int, 1))"
_TORCH_SPIN = "exec('while True: x.sin()')"
_DISK = "[open(f'{at}', 'wb').write(bytes(600 << 10)) for at in range(3)]"
_FILE = "open('one', 'wb').write(bytes(2 << 20))"
_OPEN = "files = [open('/dev/null') for _ in range(40)]"
_INODES = "[open(f'{at}', 'w').close() for at in range(5000)]"
_MEMORY = "import torch; torch.zeros(1 << 30)"
_FORK = "os.fork() or os._exit(0)"


def test_limits_in_tier_full() -> None:
    """Time, threads, files, open files, memory and processes: each is told with its number and its line."""
    told = [
        (grade.verdict, grade.reason)
        for grade in graded(_THREADS, _TORCH_SPIN, _DISK, _FILE, _OPEN, _INODES, _MEMORY, _FORK, "pass")
    ]
    forbidden = "a submission has a folder of its own, and no other files, no network and no further processes"
    assert told == [
        (Verdict.PROCESS_LIMIT, "line 4: started more threads than the limit of 8"),
        (Verdict.TIME_LIMIT, "line 4: used more than 2 seconds of CPU time and was stopped"),
        (Verdict.FILE_LIMIT, "line 4: wrote more files than the limit of 1 MiB"),
        (Verdict.FILE_LIMIT, "line 4: wrote more files than the limit of 1 MiB"),
        (Verdict.FILE_LIMIT, "line 4: had more files open than the limit of 32"),
        (Verdict.FILE_LIMIT, "line 4: wrote more files than the limit of 1 MiB"),
        (Verdict.MEMORY_LIMIT, "line 4: needed more memory than the limit of 0.25 GiB"),
        (Verdict.RUNTIME_ERROR, f"line 4: PermissionError: [Errno 1] Operation not permitted ({forbidden})"),
        (Verdict.ACCEPTED, ""),
    ]


@pytest.mark.parametrize("tier", [Tier.KERNEL, Tier.PROCESS])
def test_limits_in_weaker_tiers(tier: Tier) -> None:
    """What needs no namespaces is held there too."""
    found = graded(_TORCH_SPIN, _FILE, _OPEN, _MEMORY, "pass", tier=tier)
    assert [grade.verdict for grade in found] == [
        Verdict.TIME_LIMIT,
        Verdict.FILE_LIMIT,
        Verdict.FILE_LIMIT,
        Verdict.MEMORY_LIMIT,
        Verdict.ACCEPTED,
    ]


_WORKERS = """from torch.utils.data import DataLoader
    assert [each.item() for each in DataLoader([1, 2, 3], num_workers=2)] == [1, 2, 3]"""
_GREEDY_WORKERS = """import torch
    from torch.utils.data import DataLoader
    greedy = lambda _: torch.ones(45 << 20) is None or exec('while 1: 0')
    list(DataLoader([1, 2, 3, 4], num_workers=4, collate_fn=greedy))"""


def test_worker_processes() -> None:
    """Where a question allows processes, DataLoader's workers run; more than allowed, or too greedy ones, do not."""
    right, too_many, greedy = graded(
        _WORKERS, _WORKERS.replace("=2", "=60"), _GREEDY_WORKERS, processes=4, cpu=30, open_files=256
    )
    assert (right.verdict, right.reason) == (Verdict.ACCEPTED, "")
    assert too_many.verdict is Verdict.PROCESS_LIMIT
    assert too_many.reason.endswith("started more processes than the limit of 4")
    assert greedy.verdict is Verdict.MEMORY_LIMIT
    assert greedy.reason.endswith("needed more memory than the limit of 0.25 GiB, in all its processes")


def test_worker_processes_need_namespaces() -> None:
    """In tier `kernel` such a question is not asked, with the reason, and costs nobody a point."""
    [grade] = graded(_WORKERS, processes=4, tier=Tier.KERNEL)
    assert (grade.verdict, grade.scored) == (Verdict.NOT_RUN, False)
    assert grade.reason == "needs processes beside its own, which the sandbox allows in tier `full` only"


def test_a_machine_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that the system ends for want of the machine's memory is the machine's fault, not the candidate's."""
    counts = iter(range(1000))
    monkeypatch.setattr(supervise, "_kills_for_memory", lambda: next(counts))
    [grade] = graded("os.kill(os.getpid(), 9)", tier=Tier.PROCESS)
    assert grade.verdict is Verdict.JUDGE_ERROR
    assert "this machine had no memory left, and its system ended the job" in grade.reason


@contextlib.contextmanager
def _one_core_that_is_busy() -> Iterator[None]:
    """This process and its children have one core, and another program computes there without end."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        other.kill()
        other.wait()
        os.sched_setaffinity(0, cores)


def _counts_waiting() -> bool:
    try:
        return Path("/proc/self/schedstat").read_text().split()[2] != "0"
    except OSError:
        return False


@pytest.mark.skipif(not _counts_waiting(), reason="this system does not count how long a process stands in line")
def test_a_machine_that_is_busy() -> None:
    """The seconds of a candidate do not run while its process stands in line for a core; while it waits, they do."""
    work = "import time; exec('while time.thread_time() < 1: pass')"
    with _one_core_that_is_busy():
        told = [
            (grade.verdict, grade.reason)
            for grade in graded(work, "import select; select.select([], [], [])", seconds=1.5)
        ]
    assert told == [
        (Verdict.ACCEPTED, ""),
        (Verdict.TIME_LIMIT, "line 4: took longer than 1.5 seconds and was stopped"),
    ]
