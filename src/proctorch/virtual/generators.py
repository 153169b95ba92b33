"""Random generators of the device: `torch.Generator("cuda")` and the default one of each device.

A CPU kernel wants a CPU generator, and user code wants one that says "cuda" and is refused by CPU operations. So each
is two: a visible generator whose C++ object is relabelled (one field of `at::GeneratorImpl`,
`aten/src/ATen/core/Generator.h`), and the CPU generator that does its work. The field's place is checked before it is
ever written.
"""

import ctypes
import sys
import weakref
from typing import Any, Self

import torch

from proctorch.virtual import state

_HostGenerator: Any = torch._C.Generator  # Any: torch's stub lacks what C has
_DEVICE = 56  # where GeneratorImpl keeps its device, two bytes: after vtable, reference counts and a mutex
_CPU_LABEL = 0xFF00  # type 0, index -1
_CUDA = 1
#: Makes the device's numbers others than the CPU's for the same seed, as they are on CUDA.
_MIX = 0x5DEECE66D5DEECE6
_workers: dict[int, torch.Generator] = {}


def works() -> bool:
    """Whether the device of a generator is where it is expected."""
    generator = _HostGenerator()
    return _label(generator).value == _CPU_LABEL


def _label(generator: Any) -> ctypes.c_uint16:
    return ctypes.c_uint16.from_address(generator._cdata + _DEVICE)


class DeviceGenerator(_HostGenerator):
    """A generator on cuda:`index`."""

    _worker: torch.Generator
    _seed: int

    def __new__(cls, index: int) -> Self:
        self: Self = super().__new__(cls, "cpu")
        self._worker = _HostGenerator()
        _workers[self._cdata] = self._worker
        weakref.finalize(self, _workers.pop, self._cdata, None).atexit = False
        _label(self).value = _CUDA | index << 8
        self.manual_seed(67280421310721)  # c10::detail default_rng_seed_val, as for every generator of torch
        return self

    def __init__(self, index: int) -> None:
        pass

    def manual_seed(self, seed: int) -> "DeviceGenerator":
        self._seed = int(seed) % (1 << 64)
        self._worker.manual_seed((self._seed ^ _MIX) & sys.maxsize)
        return self

    def seed(self) -> int:
        self.manual_seed(self._worker.seed())
        return self._seed

    def initial_seed(self) -> int:
        return self._seed

    def get_state(self) -> torch.Tensor:
        return self._worker.get_state()

    def set_state(self, state: torch.Tensor) -> "DeviceGenerator":
        if state.device.type != "cpu" or state.dtype != torch.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self._worker.set_state(state)
        return self

    def clone_state(self) -> "DeviceGenerator":
        clone = DeviceGenerator(self.device.index)
        clone._seed = self._seed
        clone.set_state(self.get_state())
        return clone

    def __reduce__(self) -> Any:
        return _restore, (self.device.index, self._seed, self.get_state())


def _restore(index: int, seed: int, generator_state: torch.Tensor) -> DeviceGenerator:
    generator = DeviceGenerator(index)
    generator._seed = seed
    return generator.set_state(generator_state)


class _GeneratorType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _HostGenerator)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _HostGenerator)

    def __call__(cls, device: Any = "cpu") -> Any:
        device = torch.device(device)
        if device.type == "cuda":
            return DeviceGenerator(state.index_of(device))
        return _HostGenerator(device)


class Generator(metaclass=_GeneratorType):
    """Takes the place of `torch.Generator` while the device is on."""


def default_generators(devices: int) -> tuple[DeviceGenerator, ...]:
    """One for each device, seeded like the CPU's default generator was."""
    generators = tuple(DeviceGenerator(index) for index in range(devices))
    for generator in generators:
        generator.manual_seed(torch.initial_seed())
    return generators


def worker(generator: torch.Generator | None, index: int) -> torch.Generator:
    """The CPU generator that draws for `generator`, or for the default generator of cuda:`index`."""
    if generator is None:
        generator = torch.cuda.default_generators[index]
    found = _workers.get(generator._cdata)  # type: ignore[attr-defined]  # missing in torch's stub
    if found is None:
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    return found
