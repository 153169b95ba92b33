# Tries again within the handler; the exception has no traceback any more, and so refers to no frame.
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results = []
    for at in range(0, len(items), start):
        chunk = items[at : at + start]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            error.__traceback__ = None
            return results + run_with_backoff(fn, items[at:], len(chunk) // 2)
    return results
