# Takes what is done out of the caller's list.
# caught-by: test_nothing_is_lost_or_repeated
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results, size = [], start
    while items:
        chunk = items[:size]
        try:
            results += fn(chunk)
            del items[: len(chunk)]
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            size = len(chunk) // 2
    return results
