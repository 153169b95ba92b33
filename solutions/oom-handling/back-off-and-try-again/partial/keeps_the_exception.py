# Leaves the handler, and takes the exception along, to raise it if one item does not fit.
# caught-by: test_the_failed_attempt_is_gone
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results, size, failure = [], start, None
    while len(results) < len(items):
        if size == 0:
            raise failure
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            failure, size = error, len(chunk) // 2
    return results
