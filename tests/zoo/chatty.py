# Prints 100,000 bytes and is right.


def double(x):
    print("head" + "-" * 99_991 + "tail")
    return x * 2
