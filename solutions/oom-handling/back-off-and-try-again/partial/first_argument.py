# Takes the first argument for the text: an exception without one becomes an IndexError.
# caught-by: test_other_errors_pass_at_once
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in error.args[0].lower()


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            size = len(chunk) // 2
    return results
