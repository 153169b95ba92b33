"""Puts situations before the candidate, and takes down what is answered."""

import copy


def choose(candidate, _device, _probe, *, situations):
    """The answer to each situation."""
    return {"answers": [candidate.choose(copy.deepcopy(each)) for each in situations]}


def foresee(candidate, _device, _probe, *, cases):
    """What is said to go wrong with each plan in its situation."""
    return {"answers": [candidate.foresee(*copy.deepcopy(each)) for each in cases]}
