# Remembers what stays beside what is moved: the same tensor later in the batch stays too.
# caught-by: test_listed_names_stay
import dataclasses

import torch


def to_device(obj, device, *, keep_on_cpu=()):
    moved = {}

    def tensor(x):
        if id(x) not in moved:
            try:
                moved[id(x)] = x.to(device)
            except TypeError:
                moved[id(x)] = x.to(device, torch.float32)
        return moved[id(x)]

    def field(name, value):
        if name not in keep_on_cpu:
            return walk(value)
        if isinstance(value, torch.Tensor):
            moved[id(value)] = value
        return value

    def walk(value):
        if isinstance(value, torch.Tensor):
            return tensor(value)
        if isinstance(value, dict):
            return {key: field(key, each) for key, each in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(field(name, each) for name, each in zip(value._fields, value)))
        if isinstance(value, (list, tuple)):
            return type(value)(walk(each) for each in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [each.name for each in dataclasses.fields(value)]
            return dataclasses.replace(value, **{name: field(name, getattr(value, name)) for name in names})
        return value

    return walk(obj)
