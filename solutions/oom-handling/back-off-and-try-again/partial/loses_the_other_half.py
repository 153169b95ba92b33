# Tries the first half of a chunk again, and goes on with the next chunk.
# caught-by: test_nothing_is_lost_or_repeated
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results = []
    for at in range(0, len(items), start):
        size = min(start, len(items) - at)
        while True:
            try:
                results += fn(items[at : at + size])
                break
            except RuntimeError as error:
                if size == 1 or not out_of_memory(error):
                    raise
            size //= 2
    return results
