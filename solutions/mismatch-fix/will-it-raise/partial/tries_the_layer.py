# Predicts all but the recurrent layer, whose rule one forgets. That is played on meta, once, and remembered.
# caught-by: test_nothing_is_tried
from functools import cache

import torch
from torch import nn

FREE = {"a.copy_(b)", "a.fill_(b)", "a[0] = b", "a * float(b)"}
WITH_NUMBERS = {"a + b", "a > b", "torch.maximum(a, b)", "torch.where(a, b, c)", "a.masked_fill(b, c)", "a.add_(b)"}


@cache
def plays(first, second):
    try:
        nn.GRU(3, 3, device=first)(torch.ones(3, 3, device=first), torch.ones(1, 3, device=second))
    except RuntimeError:
        return False
    return True


def meet(call, operands):
    places = [place for place, _ in operands]
    if call == "torch.tensor([a, b])":
        return "cpu"
    if call == "a.to(b)":
        return places[1]
    if call == "pack_padded_sequence(a, b)":
        return places[0] if places[1] == "cpu" else "raises"
    if call == "torch.nn.GRU(3, 3)(a, b)":
        return places[0] if plays(*("cpu" if place == "cpu" else "meta" for place in places)) else "raises"
    if call in FREE or len(set(places)) == 1:
        return places[0]

    away = max(places, key=lambda place: place != "cpu")
    if call in ("a[b]", "a[b] = 0.0"):
        allowed = places[0] == away
    elif call in WITH_NUMBERS:
        allowed = all(dims == 0 for place, dims in operands if place == "cpu")
        if call == "a.add_(b)":
            allowed = allowed and places[0] == away
    else:
        allowed = False
    return away if allowed else "raises"
