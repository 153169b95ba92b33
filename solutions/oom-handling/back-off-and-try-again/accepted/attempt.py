# A function of its own makes the attempt and tells whether it worked: with its end, everything of it is gone.
import torch


FAILED = object()


def attempt(fn, chunk):
    try:
        return fn(chunk)
    except torch.OutOfMemoryError:
        if len(chunk) == 1:
            raise
    except RuntimeError as error:
        if len(chunk) == 1 or "out of memory" not in str(error).casefold():
            raise
    return FAILED


def run_with_backoff(fn, items, start):
    results, todo, size = [], [*items], start
    while todo:
        chunk = todo[:size]
        done = attempt(fn, chunk)
        if done is FAILED:
            size = len(chunk) // 2
            continue
        results.extend(done)
        del todo[: len(chunk)]
    return results
