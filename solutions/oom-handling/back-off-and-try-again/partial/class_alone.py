# Knows the class alone: on MPS the first large image ends the work.
# caught-by: test_every_kind_of_out_of_memory
import torch


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except torch.OutOfMemoryError:
            if len(chunk) == 1:
                raise
            size = len(chunk) // 2
    return results
