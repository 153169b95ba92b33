"""Work shared among processes, each with a sandbox of its own. Ctrl-C ends them all, with what they started."""

import contextlib
import multiprocessing
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Self, TypeVar

from proctorch.errors import ProctorchError

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
#: Plays tasks, calls what it is given with the name of each that is done, and returns their results in order.
#: It goes to other processes: a function of a module, or a `functools.partial` of one.
Player = Callable[[list[_Task], Callable[[str], None]], list[_Result]]


def share(
    play: "Player[_Task, _Result]",
    tasks: Sequence[_Task],
    processes: int | None = None,
    on_done: Callable[[str], None] = lambda _: None,
) -> list[_Result]:
    """The result of each task, in order, played in as many `processes` as there are cores by default.

    One process is this one. `on_done` is called with the name of each task that is done. KeyboardInterrupt passes
    through, with everything that was started ended. A ProctorchError of a process is raised here; any other error of
    one is told in a ProctorchError.
    """
    count = max(1, min(processes or os.cpu_count() or 1, len(tasks)))
    if count == 1:
        return play([*tasks], on_done) if tasks else []
    # Dealt by chance, and always in the same way: no pattern in their order gives one process all the slow ones.
    dealt = random.Random(0).sample(range(len(tasks)), len(tasks))  # noqa: S311 - no secret
    shares = [sorted(dealt[start::count]) for start in range(count)]
    results: dict[int, _Result] = {}
    with _Children(play, [[tasks[index] for index in each] for each in shares]) as children:
        for number, message in children.messages():
            if isinstance(message, Exception):
                raise message
            if isinstance(message, str):
                on_done(message)
            else:
                results |= zip(shares[number], message, strict=True)
    return [results[index] for index in range(len(tasks))]


class _Children:
    """Processes that each play a share of the tasks. Left early, they end with all that they started."""

    def __init__(self, play: "Player[Any, Any]", shares: list[list[Any]]) -> None:
        self._play = play
        self._shares = shares
        self._processes: list[multiprocessing.process.BaseProcess] = []
        self._pipes: list[Connection] = []

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        try:
            with _deaf_to_interrupts():
                for share in self._shares:
                    ours, theirs = context.Pipe(duplex=False)
                    process = context.Process(target=_child, args=(self._play, share, theirs))
                    process.start()
                    theirs.close()
                    self._processes.append(process)
                    self._pipes.append(ours)
        except BaseException as error:
            self.__exit__(error)
            raise
        return self

    def __exit__(self, error: object, *_: object) -> None:
        for process in self._processes if error is not None else ():
            process.terminate()
        for process in self._processes:
            process.join()

    def messages(self) -> Iterator[tuple[int, Any]]:
        """What the children say, each with the child's number, until all have given their results."""
        left = {pipe: index for index, pipe in enumerate(self._pipes)}
        while left:
            for pipe in wait(list(left)):
                assert isinstance(pipe, Connection)
                try:
                    message = pipe.recv()
                except EOFError:
                    raise ProctorchError("a process that plays submissions ended before it was done") from None
                index = left[pipe]
                if not isinstance(message, str):
                    del left[pipe]
                yield index, message


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started here leave Ctrl-C to this one, which tells them. One that comes meanwhile is heard after it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _child(play: "Player[Any, Any]", tasks: list[Any], pipe: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that Grading ends what it started
    try:
        pipe.send(play(tasks, pipe.send))
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    except ProctorchError as error:
        pipe.send(error)
    except Exception as error:  # noqa: BLE001 - told where it can be: in the process that asked
        pipe.send(ProctorchError(f"submissions could not be played: {type(error).__name__}: {error}"))
