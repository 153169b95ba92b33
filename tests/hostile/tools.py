# What all of them use: the test puts this before each, and fills in every word in braces.
import ctypes
import os
import re
import sys

PREFIX, MARKER, CLAIM = "{PREFIX}", "{MARKER}", "{CLAIM}"
BYSTANDER, VICTIM, HOME = int("{BYSTANDER}"), "{VICTIM}", "{HOME}"
SECRETS = "{SECRETS}".split(":")
NUMBERS = dict(pair.split("=") for pair in "{NUMBERS}".split())
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def attempt(action, *arguments, **options):
    """What the action gives, or None if it fails."""
    try:
        return action(*arguments, **options)
    except Exception:
        return None


def call(name, *arguments):
    """A system call by its number: its result, or minus the error's number."""
    whole = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = libc.syscall(ctypes.c_long(int(NUMBERS[name])), *whole)
    return result if result >= 0 else -ctypes.get_errno()


def tell(found):
    """Prints every secret in what was found, and nothing else: output is cut when it is long."""
    text = found.decode("latin-1") if isinstance(found, (bytes, bytearray)) else str(found)
    for secret in set(re.findall(PREFIX + "[0-9a-z]+", text)):
        print(secret, flush=True)


def claim(what):
    """Says that something was possible that leaves no trace outside."""
    print(CLAIM, what, flush=True)


def read(path):
    with open(path, "rb") as file:
        tell(file.read(1 << 20))
