"""One kernel for nearly every operation: alias the arguments on the host, run the CPU kernel, label the results.

Each operation that has a CPU kernel gets its own function on the CUDA dispatch key, and whatever is left is caught by
a fallback for that key. The own functions are not only faster: for structured operations a build without CUDA would
take the `CompositeExplicitAutogradNonFunctional` kernel (`torchgen/dest/register_dispatch_key.py`) before any
fallback, and run one operation as several. On a build with CUDA they replace its kernels.

The CPU kernel is called by redispatch with the CPU key alone, which goes under autograd, autocast, modes and
transforms: all of those have acted on the cuda tensors already.
"""

import functools
from typing import Any

import torch

from proctorch.virtual import generators, memory, recovery, refusals, rule, state, streams, transfers
from proctorch.virtual.relabel import CPU_KERNELS, on_device, on_host

_CPU = torch.device("cpu")
_NUMBERS = (int, float, bool, complex)
_any_autocast = torch._C._is_any_autocast_enabled
_DisableAutocast: Any = torch._C._DisableAutocast
_scalar: Any = torch.ops.aten.scalar_tensor.default._handle.redispatch_boxed
_clone: Any = torch.ops.aten.clone.default._handle.redispatch_boxed
_set: Any = torch.ops.aten.set_.source_Storage_storage_offset._handle.redispatch_boxed
_as_strided_: Any = torch.ops.aten.as_strided_.default._handle.redispatch_boxed
_LOW = (torch.float16, torch.bfloat16)
_MOST_NUMBERS = 1000
_numbers: dict[Any, torch.Tensor] = {}
#: They read results on the host, so a real device waits for the stream.
_WAITING = {
    *("nonzero", "masked_select", "equal", "is_nonzero", "bincount", "repeat_interleave"),
    *("_unique", "_unique2", "unique_consecutive", "unique_dim"),
}
_MASKS = (torch.bool, torch.uint8)


class Operation:
    """What the kernel needs to know of an operation. Its schema is read at the first call, there are a thousand."""

    __slots__ = (
        *("key", "call", "base", "name", "arguments", "tensors", "lists", "outs", "written", "generator"),
        *("foreach", "waits", "returned", "simple", "indexes", "refused"),
    )
    call: Any

    def __init__(self, name: str, overload: str) -> None:
        self.key = (name, overload)
        self.call = None

    def read(self) -> None:
        name, overload = self.key
        schema = torch._C._get_schema(name, overload)
        self.base = name.partition("::")[2]
        self.name = f"{self.base}.{overload}" if overload else self.base
        arguments = schema.arguments
        self.arguments = [argument.name for argument in arguments]
        kinds = [(i, str(each.type)) for i, each in enumerate(arguments) if not each.kwarg_only]
        self.tensors = [i for i, kind in kinds if kind in ("Tensor", "Optional[Tensor]")]
        self.lists = [i for i, kind in kinds if "List[" in kind and "Tensor" in kind]
        self.outs = [argument.name for argument in arguments if argument.is_out]
        self.written = {argument.name for argument in arguments if argument.alias_info and argument.alias_info.is_write}
        self.generator = "generator" in self.arguments
        self.foreach = self.base.startswith("_foreach_")
        self.waits = self.base in _WAITING
        self.indexes = self.base in rule.INDEXING
        self.refused = refusals.dtypes(self.base)
        self.returned = [_returned_argument(schema, result) for result in schema.returns]
        #: One new tensor, which is what most operations return.
        self.simple = self.returned == [None] and str(schema.returns[0].type) == "Tensor"
        handle: Any = torch._C._dispatch_find_schema_or_throw(name, overload)
        self.call = handle.redispatch_boxed


def _returned_argument(schema: Any, result: Any) -> int | None:
    """The argument that a result is, for in-place operations and `out=`."""
    if result.alias_info is None or not result.alias_info.is_write:
        return None
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.before_set == result.alias_info.before_set:
            return position
    return None


def kernel_for(name: str, overload: str) -> Any:
    """The kernel of an operation. A partial, not a function: it adds no frame that would hold the arguments."""
    return functools.partial(run, Operation(name, overload))


@functools.cache
def _operation(name: str, overload: str) -> Operation:
    return Operation(name, overload)


def fallback(function: Any, *args: Any, **kwargs: Any) -> Any:
    """For every operation without a kernel of its own."""
    schema = function._schema
    return run(_operation(schema.name, schema.overload_name), *args, **kwargs)


def run(operation: Operation, /, *args: Any, **kwargs: Any) -> Any:  # noqa: C901, PLR0912, PLR0915 - each call costs
    """Runs an operation whose dispatch ended at the CUDA key."""
    if operation.call is None:
        operation.read()
    host: Any = list(args)
    count = len(host)
    index: int | None = None
    mixed = False
    fresh: dict[str, torch.Tensor] = {}
    try:
        for position in operation.tensors:
            if position >= count:
                break
            value = host[position]
            if value is None:
                continue
            if value.__class__ in _NUMBERS:  # a number in Python, which the dispatcher took out of its tensor again
                host[position] = _number(value, args)
                continue
            device = value.get_device()
            if device >= 0:
                host[position] = on_host(value)
            if device != index:
                if index is not None:
                    mixed = True
                index = device
        for position in operation.lists:
            if position < count and host[position]:
                host[position], devices = _list_on_host(host[position])
                for device in devices:
                    if device != index:
                        if index is not None:
                            mixed = True
                        index = device
        host_kwargs = kwargs
        if kwargs:
            host_kwargs, devices = _keywords_on_host(operation, kwargs, fresh)
            for device in devices:
                if device != index:
                    if index is not None:
                        mixed = True
                    index = device
        if mixed:
            if operation.foreach:  # its slow path takes one tensor after the other, on several devices, as on CUDA
                return operation.call(CPU_KERNELS, *args, **kwargs)
            index = _common_device(operation, args, kwargs)
        elif index is None or index < 0:
            index = state.current_device()
        if operation.refused and host[0].dtype in operation.refused:
            refusals.refuse(operation.base, [host[position] for position in operation.tensors if position < count])
        if operation.generator:
            _insert_generator(operation, host, host_kwargs, index)
        if operation.waits and kwargs.get("output_size") is None:  # which says what would be read
            streams.wait_for_current(index)
        if operation.indexes and any(each is not None and each.dtype in _MASKS for each in args[1]):
            streams.wait_for_current(index)  # a mask becomes indices, and their number is the size of the result
        try:
            if host_kwargs or fresh or _any_autocast():
                with _DisableAutocast():
                    result = operation.call(CPU_KERNELS, *host, **host_kwargs, **fresh)
            else:
                result = operation.call(CPU_KERNELS, *host)
        except RuntimeError as error:
            result = recovery.run_again(operation, error, host, host_kwargs, fresh)
        if operation.simple:
            return label(result, index)
        for name, value in fresh.items():
            replace(kwargs[name], value, index)
        return _results(operation, result, args, kwargs, index)
    except BaseException as error:  # noqa: BLE001 - and raised again
        # The caller may keep the exception: it must not keep this call's tensors, which on CUDA no frame holds.
        args = ()
        kwargs = host_kwargs = fresh = {}
        host = value = result = None
        raise error.with_traceback(None)  # noqa: B904 - the same error, from here


def label(tensor: torch.Tensor, index: int) -> torch.Tensor:
    """A CPU kernel's result as a tensor on cuda:`index`, charged to its memory."""
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    size = tensor.numel() * tensor.element_size()
    if size:
        if tensor.untyped_storage().nbytes() != size:
            if tensor.storage_offset() or tensor.untyped_storage().nbytes() != _extent(tensor):
                tensor = _clone(CPU_KERNELS, tensor)  # part of something bigger: it gets memory of its own
            size = tensor.untyped_storage().nbytes()
        memory.devices[index].charge(tensor, size)
    return on_device(tensor, index)


def _extent(tensor: torch.Tensor) -> int:
    """The bytes from a tensor's first element to its last."""
    steps = sum((length - 1) * step for length, step in zip(tensor.shape, tensor.stride(), strict=True))
    return (1 + steps) * tensor.element_size()


def replace(tensor: torch.Tensor, result: torch.Tensor, index: int) -> None:
    """Makes a cuda tensor what a CPU kernel has put into a tensor of another size."""
    if result.numel():
        memory.devices[index].charge(result, result.untyped_storage().nbytes())
        storage = on_device(result, index).untyped_storage()
        _set(CPU_KERNELS, tensor, storage, 0, list(result.shape), list(result.stride()))
    else:
        _as_strided_(CPU_KERNELS, tensor, result.shape, result.stride(), 0)


def _list_on_host(tensors: Any) -> tuple[list[Any], set[int]]:
    devices = set()
    host = []
    for tensor in tensors:
        if tensor is not None:
            device = tensor.get_device()
            devices.add(device)
            host.append(on_host(tensor) if device >= 0 else tensor)
        else:
            host.append(None)
    return host, devices


def _keywords_on_host(
    operation: Operation, kwargs: dict[str, Any], fresh: dict[str, torch.Tensor]
) -> tuple[dict[str, Any], set[int]]:
    """Keyword arguments for the CPU kernel and the devices they name. Results without elements go to `fresh`."""
    devices = set()
    host: dict[str, Any] = {}
    for name, value in kwargs.items():
        if isinstance(value, torch.Tensor):
            device = value.get_device()
            devices.add(device)
            if device >= 0 and name in operation.outs and not value.numel():
                fresh[name] = recovery.empty_like_result(value)
            else:
                host[name] = on_host(value) if device >= 0 else value
        elif isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
            host[name], found = _list_on_host(value)
            devices |= found
        elif isinstance(value, torch.device):
            host[name] = _CPU
            if value.type == "cuda":
                devices.add(state.index_of(value))
        elif name != "pin_memory":
            host[name] = value
    return host, devices


def _common_device(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The device that the tensors of a call are for, or the error that CUDA raises."""
    tensors: list[tuple[str, torch.Tensor]] = []
    for name, value in (*zip(operation.arguments, args, strict=False), *kwargs.items()):
        several = value if isinstance(value, (list, tuple)) else (value,)
        tensors += [(name, each) for each in several if isinstance(each, torch.Tensor)]
    rule.refuse(operation.name, tensors, operation.written)
    index = max(tensor.get_device() for _, tensor in tensors)
    if operation.indexes:
        for name, tensor in tensors:
            if name == "indices" and tensor.get_device() < 0:
                transfers.note(tensor, torch.device("cuda", index))
                streams.wait_for_current(index)
    return index


def _insert_generator(operation: Operation, host: list[Any], kwargs: dict[str, Any], index: int) -> None:
    position = operation.arguments.index("generator")
    if position < len(host):
        host[position] = generators.worker(host[position], index)
    else:
        kwargs["generator"] = generators.worker(kwargs.get("generator"), index)


def _number(value: Any, args: tuple[Any, ...]) -> torch.Tensor:
    """A number as a zero-dimensional tensor that promotes like one (`aten/src/ATen/native/TypeProperties.cpp`)."""
    tensors = [each for each in args if isinstance(each, torch.Tensor)]
    dtype: torch.dtype | None = next((each.dtype for each in tensors if _holds(each.dtype, value)), None)
    if dtype in _LOW and any(each.dim() for each in tensors if each.dtype == dtype):
        dtype = torch.float64  # kernels compute in single precision with the number as it is
    key = (value.__class__, value, dtype)
    found = _numbers.get(key)
    if found is None:
        if len(_numbers) > _MOST_NUMBERS:
            _numbers.clear()
        wide = dtype or (torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else None)
        if wide is None:
            wide = torch.get_default_dtype()
            if isinstance(value, complex):
                wide = wide.to_complex()
        found = _scalar(CPU_KERNELS, value, dtype=wide)
        if value:  # 0.0 and -0.0 are the same key
            _numbers[key] = found
    return found


def _holds(dtype: torch.dtype, value: Any) -> bool:
    """Whether a number is of the category of `dtype`, or of a lower one."""
    if isinstance(value, complex):
        return dtype.is_complex
    if isinstance(value, float):
        return dtype.is_floating_point or dtype.is_complex
    return dtype != torch.bool or isinstance(value, bool)


def _results(operation: Operation, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any], index: int) -> Any:
    if not operation.returned:
        return None
    labelled: list[Any] = []
    for position, value in zip(operation.returned, result if len(operation.returned) > 1 else (result,), strict=True):
        if position is not None:
            labelled.append(args[position] if position < len(args) else kwargs[operation.arguments[position]])
        elif isinstance(value, torch.Tensor):
            labelled.append(label(value, index))
        elif isinstance(value, (list, tuple)):
            labelled.append([label(each, index) if isinstance(each, torch.Tensor) else each for each in value])
        else:
            labelled.append(value)
    return labelled[0] if len(labelled) == 1 else tuple(labelled)
