# Tries again within the handler, after it has emptied the frames that the exception refers to.
import traceback

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
        traceback.clear_frames(error.__traceback__)
        return run_with_backoff(fn, items, len(chunk) // 2)
    return results + run_with_backoff(fn, items[start:], start)
