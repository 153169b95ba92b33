# Prints when it is imported and in each call.
print("at import")


def double(x):
    print("in the call")
    return x * 2
