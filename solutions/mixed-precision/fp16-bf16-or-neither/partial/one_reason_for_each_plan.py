# Has a function that stops at the first reason, and asks it what goes wrong with a plan.
# caught-by: test_foresee
import torch

HALVES = {"float16": torch.finfo(torch.float16), "bfloat16": torch.finfo(torch.bfloat16)}


def against(name, situation):
    """What speaks against a half precision: a tag and its number, or None."""
    info = HALVES[name]
    if name not in situation["halves"]:
        return ["support", None]
    if situation["largest"] > info.max:
        return ["range", info.max]
    if situation["spacing"] < info.eps:
        return ["precision", info.eps]
    return None


def choose(situation):
    found = {name: against(name, situation) for name in HALVES}
    unfit = {name: reason for name, reason in found.items() if reason}
    fit = [name for name in HALVES if name not in unfit]
    precision = fit[-1] if fit else "float32"  # bfloat16 where it will do: it needs no scaler
    return {
        "precision": precision,
        "scaler": precision == "float16",
        "half_weights": precision in HALVES and situation["smallest_update"] >= HALVES[precision].eps / 2,
        "against": unfit,
    }


def foresee(situation, plan):
    info = torch.finfo(getattr(torch, plan["precision"]))
    reason = against(plan["precision"], situation) if plan["precision"] in HALVES else None
    found = [reason[0]] if reason else []
    if situation["smallest_gradient"] < info.smallest_normal and not plan["scaler"]:
        found.append("underflow")
    if situation["smallest_update"] < info.eps / 2 and plan["half_weights"]:
        found.append("lost updates")
    return found
