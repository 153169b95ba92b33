# A small function for each way of treating devices, and a table that says which call has which.
def one_place(operands):
    return agreed({place for place, _ in operands})


def numbers_join(operands):
    return agreed({place for place, dims in operands if dims or place != "cpu"} or {"cpu"})


def numbers_join_in_place(operands):
    return agreed({numbers_join(operands), operands[0][0]})


def index_joins(operands):
    (target, _), (index, _) = operands
    return agreed({target, index} - {"cpu"}) if target != "cpu" else one_place(operands)


def where_the_first_is(operands):
    return operands[0][0]


def where_the_second_is(operands):
    return operands[1][0]


def with_lengths(operands):
    (batch, _), (lengths, _) = operands
    return batch if lengths == "cpu" else "raises"


def agreed(places):
    [place, *others] = places
    return "raises" if others else place


POLICIES = {
    numbers_join: ["a + b", "a > b", "torch.maximum(a, b)", "torch.where(a, b, c)", "a.masked_fill(b, c)"],
    numbers_join_in_place: ["a.add_(b)"],
    where_the_first_is: ["a.copy_(b)", "a.fill_(b)", "a[0] = b", "a * float(b)"],
    where_the_second_is: ["a.to(b)"],
    index_joins: ["a[b]", "a[b] = 0.0"],
    with_lengths: ["pack_padded_sequence(a, b)"],
    lambda _: "cpu": ["torch.tensor([a, b])"],
}
POLICY = {call: policy for policy, calls in POLICIES.items() for call in calls}


def meet(call, operands):
    return POLICY.get(call, one_place)(operands)
