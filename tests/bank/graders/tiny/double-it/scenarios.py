"""What is tried: one tensor, doubled once."""


def doubled(candidate, device, probe, *, x):
    """The result for `x` on the device, and what has become of the given tensor."""
    given = x.to(device)
    result = candidate.double(given)
    return {"result": result, "given": given}
