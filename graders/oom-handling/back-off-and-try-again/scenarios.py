"""Runs work that needs memory, either counted by hand or the accelerator's, and notes each call of it."""

import contextlib
import gc
import weakref

import torch

#: So many calls are made by no right answer to any of the tasks.
_MANY = 200


def back_off(candidate, _device, _probe, *, items, start, costs, room, error="torch"):
    """Work whose items cost twice what `costs` says, in a memory of `room`, where all is counted until it is let go."""
    memory = _Memory(room, _ERRORS[error])

    def double(chunk, size):
        held = memory.take(size)
        return [2 * each for each in chunk], held

    def work(chunk):
        size = sum(costs[each] for each in chunk)
        held = memory.take(size)
        results, _ = double(chunk, size)
        del held
        return results

    return _watched(candidate, work, items, start, lambda: memory.used)


def fail(candidate, _device, _probe, *, items, start, error):
    """Work that always raises the same kind of error."""

    memory = _Memory(-1, _ERRORS[error])

    def work(chunk):
        return memory.take(len(chunk))

    return _watched(candidate, work, items, start, int)


def on_the_device(candidate, device, _probe, *, items, start, size):
    """Work with `size` bytes for each item, and as many again, in the memory of the job's device."""
    alive = []

    def take(count):
        tensor = torch.empty(count, size, dtype=torch.uint8, device=device)
        alive.append(weakref.ref(tensor.untyped_storage()))
        return tensor

    def double(chunk):
        held = take(len(chunk))
        return [2 * each for each in chunk], held

    def work(chunk):
        held = take(len(chunk))
        results, _ = double(chunk)
        del held
        return results

    return _watched(candidate, work, items, start, lambda: sum(each() is not None for each in alive))


def _watched(candidate, work, items, start, in_use):
    """What comes of the work, and of each call: its items, what was in use when it began, and whether it succeeded."""
    calls, given = [], [*items]

    def fn(chunk):
        if len(calls) == _MANY:
            raise _Enough
        calls.append({"items": [*chunk], "in_use": in_use(), "done": False})
        try:
            results = work(chunk)
        except Exception as error:
            error.proctorch_call = len(calls)  # a mark, not a reference: that would hold what shall be let go
            raise
        calls[-1]["done"] = True
        return results

    told = {}
    with _no_garbage_collector():
        try:
            told["returned"] = candidate.run_with_backoff(fn, given, start)
        except _Enough:
            told["endless"] = True
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            told["raised"] = type(error).__name__
            told["raised_by_call"] = getattr(error, "proctorch_call", None)
    return told | {"calls": calls, "items_afterwards": given}


class _Enough(BaseException):
    """Ends a loop that does not end; no Exception, so that it is not taken for one of the work's."""


class _Memory:
    """Counts as an allocator does: a block is in use as long as anybody refers to it."""

    def __init__(self, room, error):
        self.used = 0
        self._room = room
        self._error = error

    def take(self, size):
        if self.used + size > self._room:
            raise self._error()
        self.used += size
        block = _Block()
        weakref.finalize(block, self._give_back, size)
        return block

    def _give_back(self, size):
        self.used -= size


class _Block:
    pass


class _DriverError(RuntimeError):
    pass


_ERRORS = {
    "torch": lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    "torch, in other words": lambda: torch.OutOfMemoryError("no block of 2.00 GiB is free"),
    "mps": lambda: RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GB, max allowed: 9.07 GB)."),
    "driver": lambda: RuntimeError("CUDA error: out of memory"),
    "a class of its own": lambda: _DriverError("CUDA error: out of memory"),
    "capitals": lambda: RuntimeError("Out Of Memory: the request is too large"),
    "a wrong shape": lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x8 and 16x4)"),
    "an illegal access": lambda: RuntimeError("CUDA error: an illegal memory access was encountered"),
    "a RuntimeError without a text": RuntimeError,
    "a missing operation": lambda: NotImplementedError("not implemented for 'Half'"),
    "a wrong value": lambda: ValueError("item 3 was read out of memory order"),
    "a MemoryError": lambda: MemoryError("out of memory"),
    "a missing key": lambda: KeyError("out of memory"),
}


@contextlib.contextmanager
def _no_garbage_collector():
    """What is let go is let go at once, or not at all: no luck with the time at which cycles are looked for."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
