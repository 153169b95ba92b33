# Prints for ever.


def double(x):
    while True:
        print("x" * 1000)
