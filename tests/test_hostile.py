"""Whatever a hostile submission tries, nothing outside is read, changed, reached or used up, and no grade is won by it.

Every file in `hostile/` is an attack, or several (`ways`). The test sets up what they are after: secrets, files,
servers, a stranger's process. What came of it is looked up there, outside the sandbox, after each grade; an attack is
believed in one thing alone: when it says that it has won.
"""

import contextlib
import functools
import os
import re
import resource
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import pytest
import torch

from proctorch.bank.bank import Bank
from proctorch.devices import CPU
from proctorch.judge.grade import Grade, Tier, Verdict
from proctorch.judge.plan import Job, Plan
from proctorch.judge.sandbox import Sandbox, Strength
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission

_HERE = Path(__file__).parent
_MIB = 1 << 20
_MEMORY = 256 * _MIB
_DISK = 8 * _MIB
_THREADS = 8
_RIGHT = b"def double(x):\n    return x * 2\n"
#: Processes: of a job (they are counted with the threads), its predecessor, and what removes a folder.
_FEW = 8 + _THREADS
_KEY = 0x5EC0  # of System V's shared memory, semaphores and messages, as in the attacks


# ------------------------------------------------------------------------------------------------ the attacks


@dataclass(frozen=True)
class Attack:
    """One submission: a file of `hostile/`, one of its ways, and what the question allows."""

    file: Path
    way: str
    processes: int

    @property
    def name(self) -> str:
        parts = [self.file.stem, self.way, "with_processes" if self.processes else ""]
        return "-".join(part for part in parts if part)


def _attacks() -> list[Attack]:
    found: list[Attack] = []
    for file in sorted((_HERE / "hostile").glob("*.py")):
        if file.stem == "tools":
            continue
        text = file.read_text()
        ways = re.search(r"^# ways: (.+)$", text, re.MULTILINE)
        limits = re.search(r"^# limits: (.+)$", text, re.MULTILINE)
        for way in ways[1].split() if ways else [""]:
            allowed = limits[1].split() if limits else ["single"]
            found += [Attack(file, way, int(each.rpartition("=")[2]) if "=" in each else 0) for each in allowed]
    return found


_ATTACKS = _attacks()

#: Attacks that do not end by themselves: each costs its whole time limit.
_ENDLESS = re.compile(r"never_ends|bombs-(expression|whereabouts)|forges|patches-(worker|write_calls)")
_SECONDS = 0.6

#: The verdicts that an attack may get; all others still give a right answer.
_FATES: tuple[tuple[str, set[Verdict]], ...] = (
    (r"asks_in_another_way", {Verdict.RUNTIME_ERROR if os.uname().machine == "x86_64" else Verdict.ACCEPTED}),
    (r"bombs-(fork|huge_line|stack)", {Verdict.RUNTIME_ERROR}),
    (r"bombs-(memory_|shared_memory|source)", {Verdict.MEMORY_LIMIT}),
    (r"bombs-(output|errors)", {Verdict.OUTPUT_LIMIT}),
    (r"bombs-(expression|whereabouts)", {Verdict.TIME_LIMIT}),
    (r"exits-", {Verdict.RUNTIME_ERROR}),
    (r"never_ends-slow_answer", {Verdict.RUNTIME_ERROR}),
    (r"never_ends-", {Verdict.TIME_LIMIT}),
    (
        r"forges-|patches-|returns-",
        {Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER, Verdict.PARTIAL, Verdict.TIME_LIMIT},
    ),
    # It may or may not come before the answer.
    (r"goes_on_after_the_answer-(alarm|thread_that_)", {Verdict.ACCEPTED, Verdict.RUNTIME_ERROR}),
    (r"", {Verdict.ACCEPTED}),
)

#: What tier `kernel` does not keep from happening, and why.
_WEAKER: dict[str, tuple[str, str]] = {
    "bombs-files": (r"\d+ MiB of files", "each file is limited, all together are not: they lie on the machine's disk"),
    "bombs-inodes": (r"\d+ files", "there may be any number of files: they lie on the machine's disk"),
}
#: The same, where the fork server is no user of its own: it was not started by root.
_WEAKER_STILL: dict[str, tuple[str, str]] = {
    "bombs-threads": (r"\d+ threads", "the system counts threads for a user, who has others here"),
}
#: What depends on the user is tried again as an ordinary one, in a run that a run of root starts.
_BY_USER = re.compile(r"asks|bombs|changes|connects|leaves|looks|meddles|reads|signals|writes")
#: What depends on the judge alone is tried in one tier.
_BY_JUDGE = re.compile(r"forges|never_ends|patches|returns")
_AGAIN = "PROCTORCH_TESTED_AGAIN"


def _chosen(tier: Tier) -> list[Attack]:
    chosen = [attack for attack in _ATTACKS if _AGAIN not in os.environ or _BY_USER.match(attack.name)]
    if tier is Tier.FULL:
        return chosen
    return [attack for attack in chosen if not attack.processes and not _BY_JUDGE.match(attack.name)]


_CASES = [(tier, attack.name) for tier in (Tier.FULL, Tier.KERNEL) for attack in _chosen(tier)]


# ------------------------------------------------------------------------------------------------ what they are after


class World:
    """What the attacks are after, and what has become of it. A context manager."""

    def __init__(self) -> None:
        self.marker = f"hostile{secrets.token_hex(6)}"
        self.prefix = f"{secrets.token_hex(4)}-secret-"
        self.claim = f"claim-{secrets.token_hex(8)}:"
        self.root = Path(tempfile.mkdtemp(prefix=f"{self.marker}-", dir="/tmp"))
        self.root.chmod(0o755)
        self.home = Path.home()
        names = ("home", "private", "open", "submission", "grader", "environment", "bystander", "message")
        self.secrets = {name: self.prefix + secrets.token_hex(8) for name in names}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._stack.callback(shutil.rmtree, self.root)
        self._files()
        self._servers()
        self._bystander()
        self._known = self._snapshot()
        os.environ["HOSTILE_SECRET"] = self.secrets["environment"]
        self._stack.callback(os.environ.pop, "HOSTILE_SECRET", None)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _files(self) -> None:
        self.paths = {
            "home": self.home / f".{self.marker}",
            "private": self.root / "private",
            "open": self.root / "open",
            "submission": self.root / "other.py",
            "grader": self.root / "bank" / "graders" / "tiny" / "double-it" / "test_double_it.py",
            "solution": self.root / "bank" / "solutions" / "tiny" / "double-it" / "accepted" / "multiply.py",
        }
        shutil.copytree(_HERE / "bank", self.root / "bank")
        for name in ("grader", "solution"):
            with self.paths[name].open("a") as file:
                file.write(f"\n_KEPT = {self.secrets['grader']!r}\n")
        for name in ("home", "private", "open"):
            self.paths[name].write_text(self.secrets[name])
            self.paths[name].chmod(0o644 if name == "open" else 0o600)
        self.paths["submission"].write_bytes(_RIGHT + f"# {self.secrets['submission']}\n".encode())
        self._stack.callback(self.paths["home"].unlink, missing_ok=True)
        self.victim = self.root / "victim"
        (self.victim / "inner").mkdir(parents=True)
        (self.victim / "file").write_text("untouched")
        for path, mode in ((self.victim, 0o777), (self.victim / "inner", 0o777), (self.victim / "file", 0o666)):
            path.chmod(mode)

    def _servers(self) -> None:
        """Nobody answers: whoever has called waits in the queue, and is seen there."""
        kinds: dict[str, tuple[Any, Any, Any]] = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("0.0.0.0", 0)),
            "unix": (socket.AF_UNIX, socket.SOCK_STREAM, str(self.root / "socket")),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.marker}"),
        }
        self.lines: dict[str, socket.socket] = {}
        for name, (family, style, address) in kinds.items():
            line = self.lines[name] = self._stack.enter_context(socket.socket(family, style))
            line.bind(address)
            if style == socket.SOCK_STREAM:
                line.listen(100)
            line.setblocking(False)
        (self.root / "socket").chmod(0o777)

    def _bystander(self) -> None:
        code = (
            "import os, signal\n"
            "for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:\n"
            "    signal.signal(number, lambda number, _: os.write(1, b'signal %d\\n' % number))\n"
            "os.write(1, b'ready\\n')\n"
            "while True: signal.pause()\n"
        )
        self.bystander = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code],
            env={"SECRET": self.secrets["bystander"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(self.bystander.wait)
        self._stack.callback(self.bystander.kill)
        assert self.bystander.stdout is not None
        self._stack.callback(self.bystander.stdout.close)
        assert self.bystander.stdout.readline() == b"ready\n"
        os.set_blocking(self.bystander.stdout.fileno(), False)

    def source(self, attack: Attack) -> bytes:
        """The attack's source, told where everything is."""
        words = {
            "PREFIX": self.prefix,
            "MARKER": self.marker,
            "CLAIM": self.claim,
            "BYSTANDER": self.bystander.pid,
            "VICTIM": self.victim,
            "HOME": self.home,
            "SECRETS": ":".join(map(str, self.paths.values())),
            "NUMBERS": " ".join(f"{name}={number}" for name, number in _numbers().items()),
            "TCP": self.lines["tcp"].getsockname()[1],
            "UDP": self.lines["udp"].getsockname()[1],
            "UNIX": self.root / "socket",
            "ABSTRACT": self.marker,
            "MESSAGE": self.secrets["message"] if attack.file.stem == "leaves_a_message" else "",
            "WAY": attack.way,
        }
        text = (_HERE / "hostile" / "tools.py").read_text() + attack.file.read_text()
        for word, meaning in words.items():
            text = text.replace(f"{{{word}}}", str(meaning))
        return text.encode()

    def harm(self) -> list[str]:
        """What has been done since it was last asked."""
        return [*self._changed(), *self._called(), *self._hurt(), *self._left()]

    def _changed(self) -> Iterator[str]:
        now = self._snapshot()
        for path, state in now.items():
            if state != self._known[path]:
                yield f"{path} was changed: {self._known[path]} → {state}"
        self._known = now

    def _snapshot(self) -> dict[str, Any]:
        own: tuple[Path, ...] = (self.victim, self.victim / "file", self.victim / "inner", *self.paths.values())
        shared = ("/dev/null", "/dev/zero", "/dev/urandom", "/usr", sys.executable, torch.__file__, os.__file__)
        return {str(path): _state(path) for path in (*own, *map(Path, shared))}

    def _called(self) -> Iterator[str]:
        for name, line in self.lines.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    if line.type == socket.SOCK_STREAM:
                        line.accept()[0].close()
                    else:
                        line.recv(100)
                    yield f"the {name} server was called"

    def _hurt(self) -> Iterator[str]:
        process = self.bystander.pid
        if self.bystander.poll() is not None:
            yield "the bystander was killed"
            return
        assert self.bystander.stdout is not None
        if said := self.bystander.stdout.read():
            yield f"the bystander was sent: {said.decode().split()}"
        status = Path(f"/proc/{process}/status").read_text()
        if not re.search(r"^State:\s+S", status, re.MULTILINE):
            yield "the bystander was stopped"
        if not re.search(r"^TracerPid:\s+0$", status, re.MULTILINE):
            yield "the bystander is traced"
        for what in (getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")):
            if resource.prlimit(process, what) != resource.getrlimit(what):
                yield f"the bystander has another limit {what}"
        if os.getpriority(os.PRIO_PROCESS, process) != os.getpriority(os.PRIO_PROCESS, 0):
            yield "the bystander has another priority"
        if os.sched_getaffinity(process) != os.sched_getaffinity(0) or os.sched_getscheduler(process):
            yield "the bystander is scheduled in another way"

    def _left(self) -> Iterator[str]:
        places = [Path(each) for each in ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc")]
        places += [self.home, self.victim, Path(sys.executable).parent, Path(os.__file__).parent, Path.cwd()]
        for path in (path for place in places for path in place.iterdir()):
            own = path in (self.root, self.paths["home"])
            if not own and (self.marker in path.name or self.secrets["message"] in path.name):
                path.rmdir() if path.is_dir() else path.unlink()
                yield f"{path} was left"
        for folder in _work_folders():
            with contextlib.suppress(OSError):
                yield from (f"{path} was left" for path in folder.iterdir() if self.marker in path.name)
        for kind in ("shm", "sem", "msg"):
            table = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            if any(line.split()[0] == str(_KEY) for line in table):
                yield f"System V's {kind} was left"


def _state(path: Path) -> Any:
    if not path.is_symlink() and not path.exists():
        return None
    seen = path.lstat()
    state: list[Any] = [oct(seen.st_mode), seen.st_uid, seen.st_gid, seen.st_nlink, seen.st_mtime_ns, seen.st_ctime_ns]
    if path.is_dir():
        state += [] if str(path) == "/usr" else [sorted(each.name for each in path.iterdir())]
    elif path.is_file() and seen.st_size < 10_000:
        state.append(path.read_bytes())
    return state


def _numbers() -> dict[str, int]:
    """Of this machine's system calls, by name."""
    import pyseccomp  # type: ignore[import-untyped]

    names = set(re.findall(r'call\("(\w+)"', "".join(each.read_text() for each in (_HERE / "hostile").glob("*.py"))))
    names |= set(re.findall(r"(\w+)=[-\d]", (_HERE / "hostile" / "asks_the_system.py").read_text()))
    names |= {"fork", "vfork", "clone3", "memfd_create", "memfd_secret", "vhangup"}
    known = {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in names}
    return {name: number for name, number in sorted(known.items()) if number >= 0}


# ------------------------------------------------------------------------------------------------ what they use up


@dataclass
class Use:
    """The most that was seen at any one time."""

    processes: int = 0
    threads: int = 0
    memory: int = 0
    files: int = 0
    disk: int = 0


class Watch:
    """Watches from outside, in a thread, what the sandbox's processes use. A context manager."""

    def __init__(self) -> None:
        self._own: set[int] = set()
        self._strangers = _processes()
        self._base: set[int] = set()
        self._servers = 0
        self._files = _shared_memory()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._most = Use()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def processes(self) -> set[int]:
        """The sandbox's that are alive: this one's descendants that are new, wherever they have gone since."""
        with self._lock:
            alive = _processes()
            self._own &= alive
            self._strangers &= alive
            for process in sorted(alive - self._own - self._strangers):
                parent = re.search(rb"^PPid:\s+(\d+)", _read(f"/proc/{process}/status"), re.MULTILINE)
                known = parent is not None and int(parent[1]) in self._own | {os.getpid()}
                (self._own if known else self._strangers).add(process)
            return set(self._own)

    def left(self) -> Iterator[str]:
        """Asked between two jobs: those that are no fork server. The first time, they all are."""
        alive = self.processes()
        if self._servers and len(alive) > self._servers:
            yield f"{len(alive) - self._servers} processes were left"
        self._servers = self._servers or len(alive)
        self._base = alive

    def most(self) -> Use:
        """Since it was last asked."""
        with self._lock:
            most, self._most = self._most, Use()
        return most

    def _run(self) -> None:
        while not self._stop.wait(0.03):
            jobs = self.processes() - self._base
            told = [_read(f"/proc/{process}/status") for process in jobs]
            common = max((_field(_read(f"/proc/{each}/status"), b"RssAnon") for each in self._base), default=1 << 40)
            files, size = _folders()
            with self._lock:
                most = self._most
                most.processes = max(most.processes, len(jobs))
                most.threads = max(most.threads, sum(_field(each, b"Threads") for each in told))
                own = [_field(each, b"RssAnon") + _field(each, b"RssShmem") for each in told]
                memory = sum(max(0, each - common) for each in own) << 10
                most.memory = max(most.memory, memory)
                most.files = max(most.files, files)
                most.disk = max(most.disk, size, _shared_memory() - self._files)


def _processes() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208 - often


def _read(path: str) -> bytes:
    with contextlib.suppress(OSError), open(path, "rb") as file:  # noqa: PTH123 - hundreds of times a second
        return file.read()
    return b""


def _field(status: bytes, name: bytes) -> int:
    found = re.search(rb"^" + name + rb":\s+(\d+)", status, re.MULTILINE)
    return int(found[1]) if found else 0


def _shared_memory() -> int:
    """Bytes in file systems that live in memory, of the whole machine."""
    return _field(_read("/proc/meminfo"), b"Shmem") << 10


def _folders() -> tuple[int, int]:
    """How many files lie in jobs' folders that are no mounts of their own, and their bytes."""
    count = size = 0
    for folder in _work_folders():
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    count += 1
    return count, size


def _work_folders() -> Iterator[Path]:
    for folder in Path("/tmp").iterdir():
        if folder.name.startswith("proctorch-"):
            with contextlib.suppress(OSError):
                yield from list(folder.iterdir())


# ------------------------------------------------------------------------------------------------ the session


@dataclass
class Session:
    """What came of the attacks, by name."""

    grades: dict[str, Grade] = field(default_factory=dict)
    harm: dict[str, list[str]] = field(default_factory=dict)
    #: Of right submissions between them.
    right: list[Grade] = field(default_factory=list)
    #: The sandbox's processes that were alive after its end.
    left: set[int] = field(default_factory=set)


def play(tier: Tier, attacks: list[Attack], *, trust: bool = False) -> Session:
    """All of them in one session, a right submission before each kind and at the end."""
    session = Session()
    with World() as world, Watch() as watch:
        bank = Bank.load(world.root / "bank")
        question = bank.questions[0]

        def job(name: str, source: bytes, processes: int = 0) -> Job:
            seconds = _SECONDS if _ENDLESS.match(name) else 20.0
            limits = replace(question.limits, seconds=seconds, memory=_MEMORY, output=_MIB, disk=_DISK)
            limits = replace(limits, threads=_THREADS, processes=processes)
            return Job(replace(question, limits=limits), Submission(f"{name}.py", source), CPU)

        def right() -> Job:
            return job("right", world.paths["submission"].read_bytes())

        jobs, kind = [], ""
        for attack in attacks:
            if attack.file.stem != kind:
                jobs.append(right())
                kind = attack.file.stem
            jobs.append(job(attack.name, world.source(attack), attack.processes))
        jobs.append(right())

        def note(grade: Grade) -> None:
            name = Path(grade.submission).stem
            harm = [*_told(grade, world), *world.harm()]
            harm += [*_used_up(watch.most()), *watch.left()]
            if name == "right":
                session.right.append(grade)
                name = f"right after {len(session.grades)}"
            else:
                session.grades[name] = grade
            session.harm[name] = harm

        grading = Grading(Plan(bank, tuple(jobs)), strongest=tier, trust_submissions=trust)
        grading.run(note)
        assert grading.strength is not None
        assert Tier(grading.strength.tier) is tier
        session.left = watch.processes()
    return session


def _told(grade: Grade, world: World) -> Iterator[str]:
    """Secrets that are in the grade, anywhere but in the source that was handed in, and what the attack has won."""
    text = repr(replace(grade, source=""))
    for name, secret in world.secrets.items():
        if secret in text:
            yield f"the secret was read: {name}"
    for line in grade.stdout.text.splitlines():
        if world.claim in line:
            yield line.partition(world.claim)[2].strip()


def _used_up(most: Use) -> Iterator[str]:
    if most.processes > _FEW:
        yield f"{most.processes} processes"
    if most.threads > _FEW + _THREADS:
        yield f"{most.threads} threads"
    if most.memory > _MEMORY + 64 * _MIB:
        yield f"{most.memory / _MIB:.0f} MiB of memory"
    if most.files > 5000:
        yield f"{most.files} files"
    if most.disk > _MEMORY + 64 * _MIB:  # memory that is shared is counted there
        yield f"{most.disk / _MIB:.0f} MiB of files"


@functools.cache
def _strength(tier: Tier) -> Strength:
    with Sandbox(strongest=tier) as sandbox:
        return sandbox.strength


@functools.cache
def _played(tier: Tier) -> Session:
    return play(tier, _chosen(tier))


def came_of_all(tier: Tier) -> Session:
    """What came of all attacks in this tier: played once."""
    if (found := _strength(tier)).tier is not tier:
        pytest.skip(f"this machine has no tier {tier.value}: {found.missing}")
    return _played(tier)


@pytest.mark.parametrize(("tier", "name"), _CASES, ids=str)
def test_an_attack_does_no_harm_and_wins_nothing(tier: Tier, name: str) -> None:
    """No secret in its grade, nothing outside changed, called, hurt, left or used up; accepted only if it is right."""
    session = came_of_all(tier)
    harm, weaker = session.harm[name], {}
    if tier is Tier.KERNEL:
        weaker = _WEAKER if os.getuid() == 0 else _WEAKER | _WEAKER_STILL
    if name in weaker:
        assert [re.fullmatch(weaker[name][0], each) is not None for each in harm] == [True]
    else:
        assert harm == []
    grade = session.grades[name]
    fate = next(verdicts for pattern, verdicts in _FATES if re.match(pattern, name))
    assert grade.verdict in fate, grade.reason
    assert grade.earned == {Verdict.ACCEPTED: 3.5, Verdict.PARTIAL: 1}.get(grade.verdict, 0)


@pytest.mark.parametrize("tier", [Tier.FULL, Tier.KERNEL], ids=str)
def test_whoever_comes_next_is_not_harmed(tier: Tier) -> None:
    """A right submission after each kind of attack is accepted, and when all is over no process is left."""
    session = came_of_all(tier)
    assert len(session.right) > 10
    assert {(grade.verdict, grade.earned) for grade in session.right} == {(Verdict.ACCEPTED, Fraction(7, 2))}
    assert [harm for name, harm in session.harm.items() if name.startswith("right") and harm] == []
    assert session.left == set()


def test_harm_is_noticed() -> None:
    """What the tests above look for, they would see: each kind of harm, done by the test itself, is told."""
    with World() as world, Watch() as watch:
        assert world.harm() == []
        (world.victim / "file").chmod(0o600)
        (world.victim / world.marker).touch()
        for _, line in sorted(world.lines.items()):
            with socket.socket(line.family, line.type) as caller:
                caller.connect(line.getsockname())
                caller.sendall(b"x")
        os.kill(world.bystander.pid, signal.SIGUSR1)
        assert world.bystander.stdout is not None
        select.select([world.bystander.stdout], [], [], 10)
        resource.prlimit(world.bystander.pid, resource.RLIMIT_CORE, (0, 0))
        os.setpriority(os.PRIO_PROCESS, world.bystander.pid, 19)
        told = "\n".join(world.harm())
        words = ["file was changed", f"{world.marker} was left", "sent: ['signal', '10']", "another limit", "priority"]
        words += [f"the {name} server was called" for name in ("tcp", "udp", "unix", "abstract")]
        assert [word for word in words if word not in told] == []
        list(watch.left())
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
            assert list(watch.left()) == []
            assert child.pid in watch.processes()
            child.kill()
        seen = play(Tier.PROCESS, [each for each in _ATTACKS if each.name == "reads_secrets"], trust=True)
        assert "the secret was read: open" in seen.harm["reads_secrets"]


def test_an_ordinary_user_is_as_safe(tmp_path: Path) -> None:
    """Where root grades, an ordinary user may too: all that depends on the user holds there as well."""
    if os.getuid() != 0:
        pytest.skip("this is an ordinary user")
    user = 61184 + os.getpid() % 4000  # nobody's
    home = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        os.chown(home, user, user)
        command = [sys.executable, "-I", "-c", _AS_USER, str(user), str(home), __file__]
        ran = subprocess.run(
            command, env={"PATH": "/usr/bin:/bin", _AGAIN: "1"}, capture_output=True, text=True, check=False, cwd="/"
        )
    finally:
        shutil.rmtree(home)
    if ran.returncode == 99:
        pytest.skip(ran.stdout)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
    assert re.search(r"\d+ passed", ran.stdout)


_AS_USER = """
import os, sys
from pathlib import Path
from proctorch.sandbox import tiers
user, home, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
if problem := tiers._expose_python(user, also=[str(tiers._package()), str(Path(file).parents[1])]):
    print(problem)
    os._exit(99)
tiers._become_user(user)
os.environ |= {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
os.chdir(home)
import pytest
sys.exit(pytest.main([file, "-q", "-pno:cacheprovider", f"--basetemp={home}/tests"]))
"""


def test_every_attack_says_what_it_does() -> None:
    """The first line of every file is a sentence, and every weakness that is owned up to is one of an attack."""
    for file in (_HERE / "hostile").glob("*.py"):
        assert re.match(r"# .+\.$", file.read_text().splitlines()[0])
    assert set(_WEAKER) | set(_WEAKER_STILL) <= {attack.name for attack in _ATTACKS}
