# Compares classes: a subclass of RuntimeError, such as torch.AcceleratorError, is not looked at.
# caught-by: test_every_kind_of_out_of_memory
import torch


def out_of_memory(error):
    if type(error) is torch.OutOfMemoryError:
        return True
    return type(error) is RuntimeError and "out of memory" in str(error).lower()


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
