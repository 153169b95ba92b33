# Never less than one, and never an end.
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
            size = max(1, len(chunk) // 2)
    return results
