# Looks for the word memory, which an illegal memory access has too.
# caught-by: test_other_errors_pass_at_once
import torch


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not (isinstance(error, torch.OutOfMemoryError) or "memory" in str(error).lower()):
                raise
            size = len(chunk) // 2
    return results
