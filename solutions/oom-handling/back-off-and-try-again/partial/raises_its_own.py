# Replaces the exception by one of its own: a caller that waits for out of memory does not get it.
# caught-by: test_an_item_that_does_not_fit
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if len(chunk) == 1:
                raise RuntimeError("an item does not fit into memory") from error
            size = len(chunk) // 2
    return results
