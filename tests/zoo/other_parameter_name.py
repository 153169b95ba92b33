# Calls its parameter something else: what is called by name cannot be called.


def double(tensor):
    return tensor * 2
