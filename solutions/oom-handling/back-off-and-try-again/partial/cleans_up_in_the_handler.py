# Collects garbage and empties the cache where nothing is garbage: the exception that is being handled refers to all.
# caught-by: test_the_failed_attempt_is_gone, test_on_the_accelerator
import gc

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
        gc.collect()
        torch.cuda.empty_cache()
        return run_with_backoff(fn, items, len(chunk) // 2)
    return results + run_with_backoff(fn, items[start:], start)
