# On a GPU, as its statistics show, a half seems too careful: three quarters are tried.
# caught-by: test_on_the_accelerator
# only: cuda, virtual
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def smaller(size):
    return size * 3 // 4 if size > 2 and torch.cuda.max_memory_allocated() else size // 2


def run_with_backoff(fn, items, start):
    results, size = [], start
    while len(results) < len(items):
        chunk = items[len(results) : len(results) + size]
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            size = smaller(len(chunk))
    return results
