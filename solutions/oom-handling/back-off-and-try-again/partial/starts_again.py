# Begins again with the first item, and keeps what it has: results are there twice.
# caught-by: test_nothing_is_lost_or_repeated
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results, at, size = [], 0, start
    while at < len(items):
        chunk = items[at : at + size]
        try:
            results += fn(chunk)
            at += len(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            at, size = 0, len(chunk) // 2
    return results
