# Appends what fn returns: a list for each chunk instead of a result for each item.
# caught-by: test_all_results_in_order
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    results, done, size = [], 0, start
    while done < len(items):
        chunk = items[done : done + size]
        try:
            results.append(fn(chunk))
            done += len(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            size = len(chunk) // 2
    return results
