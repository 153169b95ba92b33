# Tries again within `except`: the exception holds the frames of the failed call, and these its tensors.
# caught-by: test_the_failed_attempt_is_gone
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    if not items:
        return []
    chunk = items[:start]
    try:
        results = fn(chunk)
    except RuntimeError as error:
        if len(chunk) == 1 or not out_of_memory(error):
            raise
        return run_with_backoff(fn, items, len(chunk) // 2)
    return results + run_with_backoff(fn, items[start:], start)
