# Each RuntimeError is taken for out of memory: a wrong shape is tried with one item, and reported then.
# caught-by: test_other_errors_pass_at_once
import torch


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError:
            if len(chunk) == 1:
                raise
            size = len(chunk) // 2
    return results
