# Knows the text alone, as one version of one backend writes it.
# caught-by: test_every_kind_of_out_of_memory
import torch


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or "out of memory" not in str(error):
                raise
            size = len(chunk) // 2
    return results
