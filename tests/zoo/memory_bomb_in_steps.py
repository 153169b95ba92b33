# Asks for memory until there is none.


def double(x):
    kept = []
    while True:
        kept.append(bytearray(1 << 22))
