# Shallow copies that are filled anew, past the guard of a frozen class; one of them is the batch in a list.
import copy
import dataclasses

import torch


class Mover:
    def __init__(self, device, keep):
        self.device, self.keep, self.memo = device, keep, {}

    def tensor(self, given):
        if id(given) not in self.memo:
            dtype = given.dtype
            if dtype is torch.float64:
                try:
                    torch.zeros((), dtype=dtype, device=self.device)
                except TypeError:
                    dtype = torch.float32
            self.memo[id(given)] = given.to(self.device, dtype)
        return self.memo[id(given)]

    def __call__(self, given):
        match given:
            case torch.Tensor():
                return self.tensor(given)
            case dict():
                new = copy.copy(given)
                for key in new.keys() - set(self.keep):
                    new[key] = self(new[key])
                return new
            case list():
                return [self(each) for each in given]
            case tuple() if hasattr(given, "_replace"):
                return given._replace(
                    **{name: self(getattr(given, name)) for name in given._fields if name not in self.keep}
                )
            case tuple():
                return tuple(map(self, given))
        if not dataclasses.is_dataclass(given) or isinstance(given, type):
            return given
        new = copy.copy(given)
        for name in (each.name for each in dataclasses.fields(given) if each.name not in self.keep):
            object.__setattr__(new, name, self(getattr(new, name)))
        return new


def to_device(obj, device, *, keep_on_cpu=()):
    return Mover(device, keep_on_cpu)([obj])[0]
