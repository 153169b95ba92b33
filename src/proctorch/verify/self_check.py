"""Proof of the self-checks that candidates get: each accepted solution passes its question's, the starter does not.

They are the bank's own code and are played as a candidate would play them: outside the sandbox, on what is here. Each
play is a fork of one process, so torch is imported once.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
import types
from collections.abc import Iterable, Iterator
from typing import Any

from proctorch.bank.question import Question
from proctorch.errors import ProctorchError
from proctorch.verify.verify import Unproven

#: Of one play. It ends one that hangs.
_SECONDS = 60
_MAX_TOLD = 300
#: Instead of a check's name.
_NAME = "self_check"


def unproven_self_checks(questions: Iterable[Question]) -> Iterator[Unproven]:
    """What is wrong with the questions' self-checks. ProctorchError if they cannot be played."""
    plays = []
    for question in questions:
        if not question.self_check:
            yield Unproven(question, _NAME, "there is no self_check; try in one what the prompt shows")
            continue
        right = sorted((question.solutions / "accepted").glob("*.py"))
        plays += [(question, f"accepted/{path.name}", path.read_text(encoding="utf-8")) for path in right]
        plays += [(question, "", question.starter)]
    tasks = [(question.module, source, question.self_check) for question, _, source in plays]
    for (question, name, _), failed in zip(plays, _played(tasks), strict=True):
        if name and failed:
            yield Unproven(question, _NAME, f"the self_check does not pass on {name}: {failed[0]}")
        elif not name and not failed:
            told = "the self_check passes on the starter; try in it what the starter does not do"
            yield Unproven(question, _NAME, told)


def _played(tasks: list[tuple[str, str, str]]) -> list[list[str]]:
    """Of each task what failed, a line each."""
    if not tasks:
        return []
    command = [sys.executable, "-I", "-W", "ignore", "-m", "proctorch.verify.self_check"]
    done = subprocess.run(command, input=json.dumps(tasks), capture_output=True, text=True, check=False)  # noqa: S603 - this interpreter and module
    if done.returncode:
        raise ProctorchError(f"the self-checks could not be played: {done.stderr[-_MAX_TOLD:].strip()}")
    found: list[list[str]] = json.loads(done.stdout)
    return found


def _play(module: str, source: str, self_check: str) -> list[str]:
    """What fails of the self-check on an answer, in this process."""
    answer = types.ModuleType(module)
    sys.modules[module] = answer
    try:
        exec(compile(source, f"{module}.py", "exec"), answer.__dict__)  # noqa: S102 - the bank's own
        space: dict[str, Any] = answer.__dict__ | {"__name__": f"test_{module}"}
        exec(compile(self_check, f"test_{module}.py", "exec"), space)  # noqa: S102 - the bank's own
    except BaseException as error:  # noqa: BLE001 - whatever the code raises
        return [_told("import", error)]
    failed = []
    for name, test in [*space.items()]:
        if name.startswith("test_"):
            try:
                test()
            except BaseException as error:  # noqa: BLE001 - whatever the code raises
                failed.append(_told(name, error))
    return failed


def _told(name: str, error: BaseException) -> str:
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    said = " ".join(str(error).split())
    return f"{name}: {type(error).__name__} in line {line}{': ' if said else ''}{said}"[:_MAX_TOLD]


def _forked(task: tuple[str, str, str]) -> list[str]:
    """The same in a process of its own, which leaves nothing behind."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(_SECONDS)
        failed = _play(*task)
        os.write(writing, json.dumps(failed).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    failed_in_child: list[str] = json.loads(told) if told else ["it ended its process, or took longer than a minute"]
    return failed_in_child


if __name__ == "__main__":
    # Imported once for all plays: each first optimizer would import the compiler, which takes longer than the play.
    import torch._dynamo

    torch.set_num_threads(1)  # tiny tensors: threads that wait for a core take far longer than the work

    said = os.dup(1)  # what the plays print is for nobody
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    found = [_forked(task) for task in json.load(sys.stdin)]
    os.write(said, json.dumps(found).encode())
