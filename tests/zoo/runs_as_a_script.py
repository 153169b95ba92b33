# Tries itself when it is run as a script, which it is not; is right.


def double(x):
    return x * 2


if __name__ == "__main__":
    raise SystemExit(double(1))
