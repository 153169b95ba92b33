# Asks no table: the next number has the next bits. The first after 1 tells the spacing, the last before infinity the range.
import torch

BITS = {"float16": torch.int16, "bfloat16": torch.int16, "float32": torch.int32}
HALVES = ["float16", "bfloat16"]


def neighbour(name, value, step):
    bits = torch.tensor(value, dtype=getattr(torch, name)).view(BITS[name]) + step
    return float(bits.view(getattr(torch, name)))


def numbers(name):
    """The largest number, the spacing at 1, and the smallest number with all its bits."""
    spacing = neighbour(name, 1.0, 1) - 1
    return neighbour(name, float("inf"), -1), spacing, neighbour(name, 0.0, 1) / spacing


def wrong_with(name, situation):
    most, spacing, _ = numbers(name)
    found = {}
    if name not in situation["halves"] and name in HALVES:
        found["support"] = None
    if situation["largest"] > most:
        found["range"] = most
    if situation["spacing"] < spacing:
        found["precision"] = spacing
    return found


def choose(situation):
    against = {}
    chosen = "float32"
    for name in HALVES:
        if reasons := wrong_with(name, situation):
            against[name] = reasons.popitem()
        else:
            chosen = name
    _, spacing, least = numbers(chosen)
    return {
        "precision": chosen,
        "scaler": situation["smallest_gradient"] < least,
        "half_weights": chosen != "float32" and situation["smallest_update"] > spacing / 2,
        "against": against,
    }


def foresee(situation, plan):
    _, spacing, least = numbers(plan["precision"])
    found = {*wrong_with(plan["precision"], situation)}
    if not plan["scaler"] and situation["smallest_gradient"] < least:
        found.add("underflow")
    if plan["half_weights"] and situation["smallest_update"] < spacing / 2:
        found.add("lost updates")
    return sorted(found)
