# Imports a module that is not installed.
import a_module_that_nobody_has


def double(x):
    return x * 2
