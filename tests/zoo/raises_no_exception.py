# Raises what `except Exception` does not catch.


class Odd(BaseException):
    pass


def double(x):
    raise Odd("not an Exception")
