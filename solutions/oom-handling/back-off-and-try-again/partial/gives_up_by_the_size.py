# Looks at the size that was asked for: a last chunk of one item is not known as one, and an empty one is tried for ever.
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
            if size == 1 or not out_of_memory(error):
                raise
            size = len(chunk) // 2
    return results
