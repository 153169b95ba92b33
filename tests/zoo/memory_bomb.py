# Asks for all memory at once.


def double(x):
    return bytearray(1 << 40)
