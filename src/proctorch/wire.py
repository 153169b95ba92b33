"""The frames between the judge and the sandbox: plain data and raw tensor bytes, never pickle.

A frame is `u64 length | u32 header length | JSON header | safetensors bytes`. The side that decodes believes nothing: a
frame that is malformed, too large, too deep or of too many items is a `FrameError`, whatever is in it.
"""

import json
import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: Bytes of a whole frame, of its JSON header, and of the header inside the safetensors part.
MAX_FRAME = 64 << 20
MAX_HEADER = 1 << 20
#: Nesting and number of values.
MAX_DEPTH = 32
MAX_ITEMS = 100_000
MAX_TENSORS = 4096
#: Of bytes: longer ones travel beside the header as a tensor does, where a byte is a byte and not two hex digits.
_SHORT = 1 << 10
#: Keys of one dict that are neither text nor bytes. The hashes of those two are secret; numbers can be chosen so that
#: their hashes collide, and then a dict takes time with the square of their count.
MAX_PLAIN_KEYS = 256
#: Of a tensor; torch computes with 64.
MAX_DIMENSIONS = 32
#: Of an int: Python refuses to write much larger ones in decimal.
MAX_BITS = 4096
LENGTH = struct.Struct(">Q")
_HEADER = struct.Struct(">I")
_SMALL = 1 << 53
_DIGITS = len(str(-_SMALL)) + 1
_TOO_DEEP = "too deep, or too many values"
#: Of torch's dtypes, those that safetensors takes.
_DTYPES = frozenset(
    (
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("bfloat16", "float16", "float32", "float64", "complex64"),
        *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    )
)


_MANY_KEYS = f"a dict with more than {MAX_PLAIN_KEYS} keys that are no text"


class FrameError(Exception):
    """The peer sent something that is not a frame of plain data."""


@dataclass(frozen=True, eq=False, repr=False)
class Received:
    """A tensor as it came from the sandbox: its values on the CPU, and what it was there.

    It equals itself alone, and shows no values: torch would raise at the one, and take minutes for the other.
    """

    tensor: "torch.Tensor"
    device: str
    requires_grad: bool
    is_leaf: bool

    def __repr__(self) -> str:
        dtype = str(self.tensor.dtype).removeprefix("torch.")
        return f"<{dtype} tensor of the shape {tuple(self.tensor.shape)} on {self.device}>"


@dataclass(frozen=True)
class Named:
    """A value of torch's own that is fully told by a text: a device, a dtype."""

    type: str
    text: str


@dataclass(frozen=True)
class Opaque:
    """An object that does not cross: only the name of its type does."""

    type: str


def type_name(value: object) -> str:
    """`module.Name` of the value's type, without `builtins.`; never runs code of the value's own."""
    kind = type(value)
    module, name = type.__getattribute__(kind, "__module__"), type.__getattribute__(kind, "__qualname__")
    module, name = (str.__str__(each)[:200] if isinstance(each, str) else "?" for each in (module, name))
    return name if module == "builtins" else f"{module}.{name}"


def _oddity(tensor: "torch.Tensor") -> str:
    """What makes a tensor one that does not cross; empty if it does."""
    layout, dtype = (str(each).removeprefix("torch.") for each in (tensor.layout, tensor.dtype))
    if tensor.is_quantized:
        return "quantized"
    if tensor.is_nested:
        return "nested"
    if layout != "strided":
        return layout
    if tensor.is_meta:
        return "meta"
    if tensor.dim() > MAX_DIMENSIONS:
        return f"{tensor.dim()}-dimensional"
    if not tensor.numel() and math.prod(size or 1 for size in tensor.shape) > MAX_ITEMS:
        return "empty but huge"  # nothing to send, and endless to walk through
    return "" if dtype in _DTYPES else dtype


def _plain_keys(keys: Iterable[Any]) -> int:
    return sum(type(key) not in (str, bytes) for key in keys)


class _Encoder:
    """Turns one value into header items, collecting its tensors by the way."""

    def __init__(self, *, opaque: bool) -> None:
        self._opaque = opaque
        self._left = MAX_ITEMS
        self.tensors: dict[str, torch.Tensor] = {}

    def item(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0:
            raise FrameError(f"more than {MAX_ITEMS:,} values")
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if -_SMALL < value < _SMALL else self._large(value)
        if kind is float:
            return value if math.isfinite(value) else {"$f": repr(value)}
        if kind is bytes:
            return {"$b": value.hex()} if len(value) <= _SHORT else {"$r": self._raw(value)}
        if depth >= MAX_DEPTH:
            return self._other(value, f"nested deeper than {MAX_DEPTH}")
        if kind is list:
            return [self.item(each, depth + 1) for each in value]
        if kind is tuple:
            return {"$t": [self.item(each, depth + 1) for each in value]}
        if kind is dict:
            return {"$d": self._pairs(value, depth)}
        return self._torch(value)

    def _raw(self, value: bytes) -> str:
        import torch  # noqa: PLC0415 - commands that grade nothing start without torch

        return self._added(torch.frombuffer(bytearray(value), dtype=torch.uint8))

    def _added(self, tensor: "torch.Tensor") -> str:
        """The key of a tensor that is to travel beside the header."""
        if len(self.tensors) >= MAX_TENSORS:
            raise FrameError(f"more than {MAX_TENSORS:,} tensors")
        key = str(len(self.tensors))
        self.tensors[key] = tensor
        return key

    def _pairs(self, value: dict[Any, Any], depth: int) -> list[Any]:
        if _plain_keys(value) > MAX_PLAIN_KEYS:
            raise FrameError(_MANY_KEYS)
        return [[self.item(key, depth + 1), self.item(each, depth + 1)] for key, each in value.items()]

    def _large(self, value: int) -> Any:
        if value.bit_length() > MAX_BITS:
            return self._other(value, f"more than {MAX_BITS:,} bits", "huge int")
        return {"$i": hex(value)}

    def _torch(self, value: Any) -> Any:
        import torch  # noqa: PLC0415 - commands that grade nothing start without torch

        kind = type(value)
        if kind in (torch.device, torch.dtype):
            return {"$n": [type_name(value), str(value)]}
        if kind is torch.Size:
            return {"$t": [int(each) for each in value]}
        if kind is not torch.Tensor and kind is not torch.nn.Parameter:
            return self._other(value, "not plain data")
        if oddity := _oddity(value):
            return self._other(value, "not a plain dense tensor", f"{oddity} {type_name(value)}")
        if value.numel() * value.element_size() > MAX_FRAME // 2:
            raise FrameError(f"a tensor of {value.numel() * value.element_size():,} bytes")
        with torch.no_grad():
            plain = value.detach().resolve_conj().resolve_neg().to("cpu", copy=True)
            key = self._added(plain.contiguous())
        return {"$x": [key, str(value.device), value.requires_grad, value.is_leaf]}

    def _other(self, value: Any, why: str, name: str = "") -> Any:
        name = name or type_name(value)
        if not self._opaque:
            raise TypeError(f"{name} cannot be sent to the sandbox: {why}")
        return {"$o": name}


def encode(value: Any, *, opaque: bool = False) -> bytes:
    """`value` as a frame, its length in front.

    What is not plain data (None, bool, int, float, str, bytes, list, tuple, dict, torch's device, dtype and Size, plain
    dense tensors) raises TypeError, or with `opaque` crosses as the name of its type. Subclasses are not plain.
    FrameError if it is larger than a frame may be.
    """
    encoder = _Encoder(opaque=opaque)
    header = json.dumps(encoder.item(value), allow_nan=False).encode()
    if len(header) > MAX_HEADER:
        raise FrameError(f"{len(header):,} bytes of plain data (at most {MAX_HEADER:,} cross)")
    body = b""
    if encoder.tensors:
        import safetensors.torch  # noqa: PLC0415 - commands that grade nothing start without torch

        body = safetensors.torch.save(encoder.tensors)
    size = _HEADER.size + len(header) + len(body)
    if size > MAX_FRAME:
        raise FrameError(f"{size:,} bytes (at most {MAX_FRAME:,} cross)")
    return b"".join((LENGTH.pack(size), _HEADER.pack(len(header)), header, body))


def decode(frame: bytes | bytearray | memoryview) -> Any:
    """The value of a frame (without its leading length). Tensors come as `Received`, each with memory of its own.

    FrameError, with a text of one printable line, on anything that `encode` would not have written.
    """
    try:
        return _decode(memoryview(frame))
    except RecursionError:
        why = _TOO_DEEP
    except Exception as error:  # noqa: BLE001 - whatever hostile bytes provoke is the same one thing: no frame
        why = str(error) if isinstance(error, FrameError) else f"{type(error).__name__}: {error}"
    raise FrameError("".join(each if each.isprintable() else "?" for each in why[:200]))


def _decode(frame: memoryview) -> Any:
    if len(frame) > MAX_FRAME:
        raise FrameError("the frame is too large")
    if len(frame) < _HEADER.size:
        raise FrameError("no header")
    (length,) = _HEADER.unpack_from(frame)
    if length > min(len(frame) - _HEADER.size, MAX_HEADER):
        raise FrameError("the header's length is wrong")
    end = _HEADER.size + length
    text = str(frame[_HEADER.size : end], "utf-8")
    header = json.loads(text, parse_constant=_no_constant, parse_int=_small, object_pairs_hook=_one_tag)
    decoder = _Decoder(_tensors(frame[end:]))
    value = decoder.item(header)
    if decoder.tensors:
        raise FrameError("tensors that nothing refers to")
    return value


def _no_constant(token: str) -> Any:
    raise FrameError(f"{token} is not plain data")


def _small(digits: str) -> int:
    value = int(digits) if len(digits) < _DIGITS else _SMALL
    if not -_SMALL < value < _SMALL:
        raise FrameError("a number out of range")
    return value


def _one_tag(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) != 1:
        raise FrameError("a value without a known tag")
    return dict(pairs)


def _tensors(body: memoryview) -> "dict[str, torch.Tensor]":
    if not body:
        return {}
    (length,) = struct.unpack_from("<Q", body)
    if length > MAX_HEADER:
        raise FrameError("the tensors' header is too large")
    import safetensors.torch  # noqa: PLC0415 - see above

    tensors = safetensors.torch.load(bytes(body))
    if len(tensors) > MAX_TENSORS:
        raise FrameError(f"more than {MAX_TENSORS:,} tensors")
    for tensor in tensors.values():
        if oddity := _oddity(tensor):
            raise FrameError(f"a tensor that is {oddity}")
    return tensors


class _Decoder:
    def __init__(self, tensors: "dict[str, torch.Tensor]") -> None:
        #: Those that nothing has referred to yet: each is referred to once.
        self.tensors = tensors
        self._left = 2 * MAX_ITEMS

    def item(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if depth > 3 * MAX_DEPTH or self._left < 0:
            raise FrameError(_TOO_DEEP)
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            if not math.isfinite(value):  # JSON's 1e999
                raise FrameError("a number out of range")
            return value
        if type(value) is list:
            return [self.item(each, depth + 1) for each in value]
        [(tag, content)] = value.items()
        return self._tagged(tag, content, depth)

    def _tagged(self, tag: str, content: Any, depth: int) -> Any:
        match tag, content:
            case "$i", str() if len(content) <= MAX_BITS // 4 + len("-0x"):
                return int(content, 16)
            case "$f", "nan" | "inf" | "-inf":
                return float(content)
            case "$b", str():
                return bytes.fromhex(content)
            case "$r", str():
                return self._raw(content)
            case "$o", str():
                return Opaque(content[:400])
            case "$n", [str() as name, str() as text]:
                return Named(name[:100], text[:100])
            case "$t", list():
                return tuple(self.item(each, depth + 1) for each in content)
            case "$d", list():
                return self._dict(content, depth)
            case "$x", [str() as key, str() as device, bool() as grad, bool() as leaf]:
                return Received(self.tensors.pop(key), device[:40], grad, leaf)
            case _:
                raise FrameError(f"an unknown tag {tag[:20]!r}")

    def _raw(self, key: str) -> bytes:
        """Each once: a small header must not multiply a large tensor."""
        tensor = self.tensors.pop(key)
        if str(tensor.dtype) != "torch.uint8" or tensor.dim() != 1:
            raise FrameError("bytes that are none")
        return tensor.numpy().tobytes()

    def _dict(self, content: list[Any], depth: int) -> dict[Any, Any]:
        pairs = [(self._key(key, depth), self.item(each, depth + 1)) for key, each in content]
        if _plain_keys(key for key, _ in pairs) > MAX_PLAIN_KEYS:
            raise FrameError(_MANY_KEYS)
        return dict(pairs)

    def _key(self, value: Any, depth: int) -> Any:
        key = self.item(value, depth + 1)
        if isinstance(key, (list, dict, Received)):
            raise FrameError("a key that is no scalar")
        return key
