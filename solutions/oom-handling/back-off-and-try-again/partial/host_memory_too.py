# Takes Python's own MemoryError along, which no smaller chunk on the accelerator heals.
# caught-by: test_other_errors_pass_at_once
import torch


def out_of_memory(error):
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except (RuntimeError, MemoryError) as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            size = len(chunk) // 2
    return results
