"""What is demanded of `choose` and `foresee`. The numbers are those of the torch that judges."""

import math
import random

import torch

from proctorch.judge.checks import require

HALVES = ["float16", "bfloat16"]
PRECISIONS = [*HALVES, "float32"]
TAGS = {"support", "range", "precision"}
#: Facts are at least so many times above or below the numbers that they are compared with.
APART = 3.0
#: Updates, in units of `eps`, of which the first two are lost.
NEAR = [0.4, 0.45, 0.55, 0.7]
#: What is on the bad side of a border, and would be on the border itself once it is rounded to the half.
BARELY = 0.9999


def number(name, dtype):
    return float(getattr(torch.finfo(getattr(torch, dtype)), name))


def between(dice, low, high):
    return math.exp(dice.uniform(math.log(low), math.log(high)))


def easy(dice):
    """A situation that every precision is fit for, in which both halves are supported."""
    return {
        "halves": dice.sample(HALVES, 2),
        "largest": between(dice, 10, number("max", "float16") / APART),
        "spacing": between(dice, number("eps", "bfloat16") * APART, 0.2),
        "smallest_gradient": between(dice, number("smallest_normal", "float16") * APART, 0.01),
        "smallest_update": between(dice, number("eps", "bfloat16") * APART, 0.2),
    }


def too_large_for_float16(dice):
    return easy(dice) | {"largest": between(dice, number("max", "float16") * APART, 1e30)}


def too_large_for_both(dice):
    """An activation that float32 just holds: the range of bfloat16 ends a little earlier."""
    return easy(dice) | {"largest": number("max", "float32")}


def too_fine_for_bfloat16(dice):
    return easy(dice) | {"spacing": between(dice, number("eps", "float16") * 2, number("eps", "bfloat16") / 2)}


def too_fine_for_both(dice):
    return easy(dice) | {"spacing": between(dice, 1e-6, number("eps", "float16") / APART)}


def at_the_border(dice, dtype):
    """A situation that is just good enough for a half precision, and the other one is not there."""
    return easy(dice) | {
        "halves": [dtype],
        "largest": number("max", dtype),
        "spacing": number("eps", dtype),
        "smallest_gradient": number("smallest_normal", dtype),
    }


def barely_too_large(dice):
    """An activation above float16's range, by less than float16 would notice."""
    return easy(dice) | {"halves": ["float16"], "largest": number("max", "float16") + 8}


def barely_too_fine(dtype):
    """Makes situations in which the only half that is there is too coarse, by less than it would notice."""
    return lambda dice: easy(dice) | {"halves": [dtype], "spacing": number("eps", dtype) * BARELY}


def underflows(dtype, times):
    """Makes situations with a gradient of so many times the smallest number that this half has with all its bits."""
    return lambda dice: easy(dice) | {"halves": [dtype], "smallest_gradient": number("smallest_normal", dtype) * times}


def small_gradients(situation, dice):
    """With a gradient below float16's range, but above its smallest subnormal number."""
    least = number("smallest_normal", "float16")
    return situation | {"smallest_gradient": between(dice, least * number("eps", "float16"), least / APART)}


def small_updates(situation, dice, dtype):
    return situation | {"smallest_update": between(dice, 1e-6, number("eps", dtype) / 2 / APART)}


def nearly_lost(dtype, near):
    """Makes situations in which this half alone is fit, with an update of so many `eps`."""
    make = too_fine_for_bfloat16 if dtype == "float16" else too_large_for_float16
    return lambda dice: make(dice) | {"smallest_update": number("eps", dtype) * near}


def unfit(dtype, situation):
    """The tags of all that speaks against a precision."""
    against = {"support"} if dtype not in (*situation["halves"], "float32") else set()
    against |= {"range"} if situation["largest"] > number("max", dtype) else set()
    return against | ({"precision"} if situation["spacing"] < number("eps", dtype) else set())


def fit(situation):
    """The precisions that may be chosen."""
    return [each for each in HALVES if not unfit(each, situation)] or ["float32"]


def draw(seed, *makers, each=4):
    dice = random.Random(seed)
    found = [make(dice) for make in makers for _ in range(each)]
    dice.shuffle(found)
    return found


def ask(run, situations):
    """The answers, each a situation and where its answer is."""
    seen = run("choose", situations=situations)
    require(len(seen.list("answers")) == len(situations), "not every situation is answered")
    return seen


def chosen(seen, at, situation, what="a precision that is not fit, or float32 where a half is"):
    precision = seen.text("answers", at, "precision", what="the precision")
    require(precision in PRECISIONS, "the precision is none of the three")
    require(precision in fit(situation), what, detail=f"{situation}: {fit(situation)}")
    return precision


def right_choice(run, situations, what):
    seen = ask(run, situations)
    for at, situation in enumerate(situations):
        chosen(seen, at, situation, what)


def test_the_hardware_has_it(run, seed):
    """A half precision that the hardware does not support is not chosen."""
    situations = draw(
        seed,
        lambda dice: easy(dice) | {"halves": ["float16"]},
        lambda dice: easy(dice) | {"halves": ["bfloat16"]},
        lambda dice: easy(dice) | {"halves": []},
    )
    right_choice(run, situations, "the wrong precision for what the hardware supports")


def test_the_largest_number_fits(run, seed):
    """Where activations are above float16's range, float16 is not chosen, and bfloat16 is, up to its own range."""
    situations = draw(seed, too_large_for_float16, too_large_for_both, barely_too_large, easy)
    right_choice(run, situations, "the wrong precision for the largest activation")


def test_the_precision_suffices(run, seed):
    """A half precision whose spacing is too wide is not chosen; a finer one is, or float32 if there is none."""
    situations = draw(
        seed,
        too_fine_for_bfloat16,
        too_fine_for_both,
        lambda dice: too_fine_for_bfloat16(dice) | {"largest": between(dice, number("max", "float16") * APART, 1e30)},
        lambda dice: at_the_border(dice, "float16"),
        lambda dice: at_the_border(dice, "bfloat16"),
        *map(barely_too_fine, HALVES),
    )
    right_choice(run, situations, "the wrong precision for the spacing that is needed")


def test_a_small_gradient_is_no_reason_for_float32(run, seed):
    """Where float16 fits but for its gradients, it is chosen, since a scaler mends those."""
    tiny = underflows("float16", number("eps", "float16") / 100)
    situations = draw(seed, lambda dice: small_gradients(easy(dice), dice) | {"halves": ["float16"]}, tiny)
    right_choice(run, situations, "float16 is not chosen where a scaler is all that it needs")


def test_the_scaler(run, seed):
    """A scaler goes with float16 and small gradients, and with no other precision."""
    situations = draw(
        seed,
        lambda dice: small_gradients(too_fine_for_bfloat16(dice), dice),
        lambda dice: small_gradients(too_large_for_float16(dice), dice),
        lambda dice: small_gradients(too_fine_for_both(dice), dice),
        lambda dice: at_the_border(dice, "bfloat16"),
        underflows("float16", BARELY),
    )
    seen = ask(run, situations)
    for at, situation in enumerate(situations):
        scaler = seen.flag("answers", at, "scaler", what="the answer for the scaler")
        wanted = chosen(seen, at, situation) == "float16"
        what = "float16 without a scaler, where gradients are below its range" if wanted else "a scaler without float16"
        require(scaler == wanted, what, detail=str(situation))


def test_weights_in_half(run, seed):
    """Weights are kept in the half precision that was chosen where its smallest update survives, and only there."""
    situations = draw(
        seed,
        too_large_for_float16,
        too_fine_for_bfloat16,
        lambda dice: small_updates(too_large_for_float16(dice), dice, "bfloat16"),
        lambda dice: small_updates(too_fine_for_bfloat16(dice), dice, "float16"),
        too_fine_for_both,
        *(nearly_lost(dtype, near) for dtype in HALVES for near in NEAR),
        each=2,
    )
    seen = ask(run, situations)
    for at, situation in enumerate(situations):
        half = seen.flag("answers", at, "half_weights", what="the answer for the weights")
        precision = chosen(seen, at, situation)
        survives = situation["smallest_update"] > number("eps", precision) / 2
        wanted = precision != "float32" and survives
        what = (
            "updates that survive are given as lost"
            if wanted
            else "half-precision weights where updates vanish, or no half"
        )
        require(half == wanted, what, detail=str(situation))


def test_the_reasons(run, seed):
    """Each half that is not fit is named with a reason that holds and the number behind it; no other is named."""
    situations = draw(
        seed,
        easy,
        too_large_for_float16,
        too_fine_for_bfloat16,
        too_fine_for_both,
        too_large_for_both,
        lambda dice: too_large_for_float16(dice) | {"halves": ["bfloat16"]},
        lambda dice: easy(dice) | {"halves": ["float16"]},
        lambda dice: easy(dice) | {"halves": []},
        each=3,
    )
    seen = ask(run, situations)
    for at, situation in enumerate(situations):
        given = seen.dict("answers", at, "against", what="what speaks against a precision")
        wanted = {each for each in HALVES if unfit(each, situation)}
        require({*given} == wanted, "not those halves are named that do not fit", detail=f"{situation}: {wanted}")
        for dtype in sorted(wanted):
            tag = seen.text("answers", at, "against", dtype, 0, what="a reason")
            require(tag in TAGS, "a reason is none of the three")
            require(tag in unfit(dtype, situation), "a reason does not hold", detail=f"{tag}, {dtype}: {situation}")
            if tag == "support":
                continue
            said = seen.number("answers", at, "against", dtype, 1, what="the number behind a reason")
            true = number("max" if tag == "range" else "eps", dtype)
            require(abs(said - true) <= 0.01 * true, "the number behind a reason is wrong", detail=f"{tag}, {dtype}")


def wrongs(situation, plan):
    """The tags of all that goes wrong with a plan."""
    dtype = plan["precision"]
    found = unfit(dtype, situation)
    if not plan["scaler"] and situation["smallest_gradient"] < number("smallest_normal", dtype):
        found.add("underflow")
    if plan["half_weights"] and situation["smallest_update"] < number("eps", dtype) / 2:
        found.add("lost updates")
    return found


def test_foresee(run, seed):
    """What goes wrong with a plan is foretold, all of it and nothing else."""
    dice = random.Random(seed)
    cases = []
    for precision in PRECISIONS:
        for bad in range(8):
            situation = easy(dice)
            if bad & 1:
                situation = small_gradients(situation, dice)
            if bad & 2:
                situation = small_updates(situation, dice, dice.choice(HALVES))
            if bad & 4:  # each half has cases without support, and float16 some with both of the other reasons
                too_large = (too_large_for_float16, too_large_for_both)[bad & 1]
                too_fine = (too_fine_for_bfloat16, too_fine_for_both)[bad >> 1 & 1]
                situation |= {
                    "largest": too_large(dice)["largest"],
                    "spacing": too_fine(dice)["spacing"],
                    "halves": [HALVES[bad & 1]],
                }
            halves = precision != "float32"
            plans = [{"scaler": True, "half_weights": halves}, {"scaler": False, "half_weights": False}]
            plans.append({"scaler": dice.random() < 0.5, "half_weights": halves})
            cases += [[situation, {"precision": precision, **plan}] for plan in plans]
    for dtype in HALVES:
        for near in NEAR:
            situation = at_the_border(dice, dtype) | {"smallest_update": number("eps", dtype) * near}
            cases.append([situation, {"precision": dtype, "scaler": False, "half_weights": True}])
        for scaler in (True, False):
            situation = underflows(dtype, BARELY)(dice)
            cases.append([situation, {"precision": dtype, "scaler": scaler, "half_weights": False}])
    dice.shuffle(cases)
    seen = run("foresee", cases=cases)
    require(len(seen.list("answers")) == len(cases), "not every case is answered")
    for at, (situation, plan) in enumerate(cases):
        said = {each if isinstance(each, str) else "" for each in seen.list("answers", at, what="what goes wrong")}
        wanted = wrongs(situation, plan)
        require(
            said == wanted,
            "what is foretold for a plan is not what goes wrong with it",
            detail=f"{situation}, {plan}: {sorted(wanted)}, not {sorted(said)}",
        )
