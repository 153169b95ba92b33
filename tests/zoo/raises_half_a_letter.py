# Raises with a message that cannot be written in UTF-8.


def double(x):
    raise ValueError("half \ud800 a letter")
