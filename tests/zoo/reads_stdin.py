# Asks a person who is not there.


def double(x):
    return x * int(input("factor? "))
