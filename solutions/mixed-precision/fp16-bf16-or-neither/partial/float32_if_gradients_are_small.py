# Where bfloat16 is there and does not fit, float32 if gradients are small: a scaler seems too much.
# caught-by: test_the_scaler
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
    if "bfloat16" in situation["halves"] and situation["smallest_gradient"] < HALVES["float16"].smallest_normal:
        precision = "bfloat16" if "bfloat16" in fit else "float32"
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
