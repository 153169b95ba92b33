# Puts both halves of a failed chunk on a stack: the chunks behind it keep their length and fail, each one anew.
# caught-by: test_the_chunk_is_halved
import torch


def out_of_memory(error):
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def run_with_backoff(fn, items, start):
    todo = [items[at : at + start] for at in range(0, len(items), start)][::-1]
    results = []
    while todo:
        chunk = todo.pop()
        try:
            results += fn(chunk)
        except RuntimeError as error:
            if len(chunk) == 1 or not out_of_memory(error):
                raise
            half = len(chunk) // 2
            todo += [chunk[half:], chunk[:half]]
    return results
