# Keeps the exceptions for a report at the end, and with them all failed attempts.
# caught-by: test_the_failed_attempt_is_gone
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results, size, failures = [], start, []
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            failures.append((len(chunk), error))
            size = len(chunk) // 2
    return results
