# Reads its own source and its own module, as decorators and dataclasses do; is right.
import dataclasses
import inspect
import sys


@dataclasses.dataclass
class Factor:
    value: int = 2


def double(x):
    assert "Factor().value" in inspect.getsource(sys.modules[__name__].double)
    return x * Factor().value
