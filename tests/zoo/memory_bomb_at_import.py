# Asks for all memory at import.
table = bytearray(1 << 40)


def double(x):
    return x * 2
