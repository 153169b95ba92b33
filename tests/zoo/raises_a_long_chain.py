# Raises from a cause from a cause, five hundred times over, each with a long message.


def double(x):
    error = None
    for number in range(500):
        try:
            raise ValueError(f"number {number} " + "x" * 2000) from error
        except ValueError as raised:
            error = raised
    raise error
