# A context manager swallows the exception and keeps nothing of it but the fact.
import torch


class Guard:
    """Ends an attempt that ran out of memory, unless its chunk cannot be smaller."""

    def __init__(self, chunk):
        self._chunk = chunk

    def __enter__(self):
        return self

    def __exit__(self, _kind, error, _trace):
        memory = isinstance(error, RuntimeError) and "out of memory" in str(error).lower()
        self.failed = len(self._chunk) > 1 and (memory or isinstance(error, torch.OutOfMemoryError))
        return self.failed


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        with Guard(chunk) as attempt:
            results += fn(chunk)
        if attempt.failed:
            size = len(chunk) // 2
    return results
