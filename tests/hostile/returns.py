# Returns what is no answer, but would pass for one with a judge that asks the object itself.
# ways: equal_to_all subclass lying_class lazy array_protocol dictionary parameter nan infinite negative_zero empty_tensor scalar expanded on_meta wrapped fake functional quantized nested generator proxy changed_later view_of_input property_bomb
import torch


class Equal:
    shape, dtype, device, layout = torch.Size([2, 3]), torch.float32, torch.device("cpu"), torch.strided
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = lambda *_: True
    __hash__ = None

    def __bool__(self):
        return True

    def __getattr__(self, name):
        return lambda *_, **__: self


class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


class Lying:
    __class__ = torch.Tensor


class Meta(type):
    __module__ = "torch"
    __name__ = __qualname__ = "Tensor"

    def __instancecheck__(cls, other):
        return True


class Fake(metaclass=Meta):
    pass


class Text(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


def equal_to_all(x):
    return Equal()


def subclass(x):
    return (x * 2).as_subclass(Mine)


def lying_class(x):
    return Lying()


def lazy(x):
    return lambda: x * 2


def array_protocol(x):
    class Array:
        __array_interface__ = {"shape": (2, 3), "typestr": "<f4", "data": (x.data_ptr(), False), "version": 3}
        __array__ = lambda self, *_: (x * 2).numpy()
        __dlpack__ = lambda self, *_, **__: (x * 2).__dlpack__()

    return Array()


def dictionary(x):
    return type("dict", (dict,), {"get": lambda *_: x * 2, "__missing__": lambda *_: x * 2})()


def parameter(x):
    return torch.nn.Parameter(x)


def nan(x):
    return x * float("nan")


def infinite(x):
    return x * float("inf")


def negative_zero(x):
    return x * -0.0


def empty_tensor(x):
    return x[:0]


def scalar(x):
    return x.sum()


def expanded(x):
    return torch.zeros(1).expand(2, 3)


def on_meta(x):
    return x.to("meta")


def wrapped(x):
    kept = []
    torch.vmap(lambda row: kept.append(row) or row * 2)(x)
    return kept[0]


def fake(x):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        return mode.from_tensor(x)


def functional(x):
    return torch._to_functional_tensor(x * 3)


def quantized(x):
    return torch.quantize_per_tensor(x * 2, 1e-3, 0, torch.qint32)


def nested(x):
    return torch.nested.nested_tensor(list(x * 2))


def generator(x):
    yield from x * 2


def proxy(x):
    import weakref

    result = x * 2
    globals()["kept"] = result
    return weakref.proxy(result)


def changed_later(x):
    import threading

    result = x * 3
    threading.Timer(0.001, lambda: result.mul_(2)).start()
    return result


def view_of_input(x):
    return x.view(2, 3)


def property_bomb(x):
    class Bomb:
        __class__ = property(lambda self: os._exit(0))
        __dict__ = property(lambda self: os._exit(0))
        __module__ = property(lambda self: os._exit(0))
        __repr__ = __str__ = __reduce__ = __len__ = __iter__ = lambda self: os._exit(0)

    return Bomb()


def double(x):
    return globals()["{WAY}"](x)
