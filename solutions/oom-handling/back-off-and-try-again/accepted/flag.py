# A flag says after the handler what has happened in it; recursion is no trouble there.
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results = []
    for at in range(0, len(items), start):
        chunk = items[at : at + start]
        failed = False
        try:
            done = fn(chunk)
        except RuntimeError as error:
            failed = out_of_memory(error) and len(chunk) > 1
            if not failed:
                raise
        if failed:
            return results + run_with_backoff(fn, items[at:], len(chunk) // 2)
        results += done
    return results
