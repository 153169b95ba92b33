# Refuses float16 for gradients below its smallest number. A scaler mends those as well.
# caught-by: test_a_small_gradient_is_no_reason_for_float32
import torch

HALVES = {"float16": torch.finfo(torch.float16), "bfloat16": torch.finfo(torch.bfloat16)}


def against(name, situation):
    """What speaks against a half precision: a tag and its number, or None."""
    info = HALVES[name]
    if name not in situation["halves"]:
        return ["support", None]
    if situation["largest"] > info.max:
        return ["range", info.max]
    if name == "float16" and situation["smallest_gradient"] < info.smallest_normal * info.eps:
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
    signs = {
        "support": plan["precision"] not in [*situation["halves"], "float32"],
        "range": situation["largest"] > info.max,
        "precision": situation["spacing"] < info.eps,
        "underflow": situation["smallest_gradient"] < info.smallest_normal and not plan["scaler"],
        "lost updates": situation["smallest_update"] < info.eps / 2 and plan["half_weights"],
    }
    return [tag for tag, holds in signs.items() if holds]
