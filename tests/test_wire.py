"""Only plain data crosses between the judge and the sandbox, and nothing that is sent breaks the one who reads."""

import json
import struct
import tracemalloc
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctorch import wire
from proctorch.wire import FrameError, Named, Opaque, Received

_DTYPES = [
    *(torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64),
    *(torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64),
    *(torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz),
]
_fuzz = settings(
    derandomize=True,
    deadline=None,
    max_examples=200,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def crossed(value: Any, *, opaque: bool = False) -> Any:
    """What the other side gets."""
    return wire.decode(wire.encode(value, opaque=opaque)[wire.LENGTH.size :])


def received(tensor: torch.Tensor) -> Received:
    value = crossed(tensor)
    assert isinstance(value, Received)
    return value


def frame(header: str, body: bytes = b"") -> bytes:
    """A frame of this header, written by hand."""
    data = header.encode()
    return struct.pack(">I", len(data)) + data + body


def stored(tensors: dict[str, tuple[str, list[int], int]]) -> bytes:
    """The part of a frame that has the tensors: the dtype, the shape and the count of bytes of each, as is claimed."""
    told, end = {}, 0
    for name, (dtype, shape, size) in tensors.items():
        told[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    header = json.dumps(told).encode()
    return struct.pack("<Q", len(header)) + header + bytes(end)


def refused(data: bytes) -> str:
    """Why a frame is none."""
    with pytest.raises(FrameError) as raised:
        wire.decode(data)
    assert len(str(raised.value)) <= 200
    assert str(raised.value).isprintable()
    return str(raised.value)


# ---------------------------------------------------------------------------------------------------- plain data


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -1, 1 << 52, -(1 << 53), 1 << 53, (1 << 64) - 1, -(1 << 4095)),
        *(0.0, -0.0, 0.1, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")),
        *("", "é ☃ 𝄞", "line\nline\x00", "half \ud800", "$t", b"", b"\x00\xff"),
        *([], [[], [None]], (), (1,), (1, [2, (3,)]), {}, {"a": 1, "b": [2]}),
        {1: "int", 1.5: "float", None: "none", False: "bool", b"k": "bytes", (1, (2,)): "tuple"},
        *({"$t": [1]}, {"$x": ["0", "cpu", True, True]}, {"$d": {"$d": {}}}),
    ],
    ids=repr,
)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    """Every plain value comes back equal and of the same type, data that looks like the wire's own tags included."""
    assert repr(crossed(value)) == repr(value)


def test_what_torch_tells_by_a_text_crosses_as_that_text() -> None:
    """A device and a dtype come back as their text, a Size as a plain tuple."""
    assert crossed(torch.device("cuda:1")) == Named("torch.device", "cuda:1")
    assert crossed(torch.bfloat16) == Named("torch.dtype", "torch.bfloat16")
    assert crossed(torch.ones(2, 3).shape) == (2, 3)
    assert type(crossed(torch.ones(2, 3).shape)) is tuple


@_fuzz
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.lists(inner, max_size=4).map(tuple)
            | st.dictionaries(st.text(max_size=4) | st.integers() | st.none(), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_any_plain_data_comes_back_as_it_was(value: Any) -> None:
    """Whatever plain data is made of, it comes back as it was."""
    assert repr(crossed(value)) == repr(value)


# ---------------------------------------------------------------------------------------------------- tensors


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
def test_a_tensor_of_every_common_dtype_crosses(dtype: torch.dtype) -> None:
    """The tensor that comes back has the dtype, the shape and the bits of the one that was sent."""
    sent = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    got = received(sent).tensor
    assert got.dtype is dtype
    assert got.shape == (2, 2)
    assert got.view(torch.uint8).tolist() == sent.view(torch.uint8).tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1, 1, 1, 1, 1)], ids=str)
def test_tensors_of_odd_shapes_cross(shape: tuple[int, ...]) -> None:
    """A scalar and a tensor without elements keep their shapes."""
    assert received(torch.zeros(shape)).tensor.shape == shape


def test_views_cross_as_their_values() -> None:
    """A transposed, strided, expanded, conjugated or negated view comes back as the plain values that it shows."""
    table = torch.arange(6.0).reshape(2, 3)
    numbers = torch.tensor([1 + 2j, 3 - 4j])
    assert received(table.T).tensor.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert received(table[:, ::2]).tensor.tolist() == [[0.0, 2.0], [3.0, 5.0]]
    assert received(torch.ones(1).expand(3)).tensor.tolist() == [1.0, 1.0, 1.0]
    assert received(numbers.conj()).tensor.tolist() == [1 - 2j, 3 + 4j]
    assert received(numbers.conj().imag).tensor.tolist() == [-2.0, 4.0]


def test_values_that_are_not_finite_cross() -> None:
    """Infinities and NaN inside a tensor are values like others: it is for a check to refuse them."""
    got = received(torch.tensor([float("inf"), float("-inf"), float("nan")])).tensor
    assert repr(got.tolist()) == "[inf, -inf, nan]"


def test_what_a_tensor_was_is_noted() -> None:
    """Device, requires_grad and is_leaf are those in the sandbox; the tensor that comes back is plain and detached."""
    weight = torch.ones(2, requires_grad=True)
    for tensor, requires_grad, is_leaf in (
        (torch.ones(2), False, True),
        (weight, True, True),
        (weight * 2, True, False),
        (torch.nn.Parameter(torch.ones(2)), True, True),
    ):
        got = received(tensor)
        assert (got.device, got.requires_grad, got.is_leaf) == ("cpu", requires_grad, is_leaf)
        assert type(got.tensor) is torch.Tensor
        assert not got.tensor.requires_grad


def test_a_tensor_crosses_as_it_is_now() -> None:
    """What is done to a tensor after it was sent does not change what was sent."""
    tensor = torch.ones(2)
    data = wire.encode(tensor)
    tensor.zero_()
    assert wire.decode(data[wire.LENGTH.size :]).tensor.tolist() == [1.0, 1.0]


def test_one_tensor_sent_twice_comes_back_as_two() -> None:
    """Tensors that share memory are sent as values, each for itself."""
    tensor = torch.arange(3)
    first, second = crossed([tensor, tensor[:2]])
    assert first.tensor.tolist() == [0, 1, 2]
    assert second.tensor.tolist() == [0, 1]


# ---------------------------------------------------------------------------------------------- what does not cross

_Pair = namedtuple("_Pair", "left right")  # noqa: PYI024 - the old kind is also a subclass of tuple


class _Text(str):
    __slots__ = ()


class _Mine(torch.Tensor):
    pass


class _Trap:
    def __str__(self) -> str:
        raise SystemExit


class _Nameless:
    pass


_Nameless.__module__ = _Trap()  # type: ignore[assignment]  # a stranger may do so


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "object"),
        (print, "builtin_function_or_method"),
        ({1, 2}, "set"),
        (1j, "complex"),
        (bytearray(b"x"), "bytearray"),
        (OrderedDict(), "collections.OrderedDict"),
        (np.ones(2), "numpy.ndarray"),
        (np.float64(2.0), "numpy.float64"),
        (torch.nn.ReLU(), "torch.nn.modules.activation.ReLU"),
        (torch.eye(2).to_sparse(), "sparse_coo torch.Tensor"),
        (torch.empty(2, device="meta"), "meta torch.Tensor"),
        (torch.ones(2, dtype=torch.complex128), "complex128 torch.Tensor"),
        (1 << 4096, "huge int"),
        (torch.ones((1,) * 33), "33-dimensional torch.Tensor"),
        (torch.empty(1 << 40, 0), "empty but huge torch.Tensor"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_plain_crosses_by_its_name(value: Any, name: str) -> None:
    """From the sandbox such an object comes as the name of what it is; to the sandbox it cannot be sent at all."""
    assert crossed([value], opaque=True) == [Opaque(name)]
    with pytest.raises(TypeError, match=f"^{name} cannot be sent to the sandbox: "):
        wire.encode([value])


@pytest.mark.parametrize(
    "value", [_Pair(1, 2), _Text("text"), torch.ones(2).as_subclass(_Mine)], ids=["tuple", "str", "Tensor"]
)
def test_a_subclass_is_not_plain(value: Any) -> None:
    """A subclass of a plain type does not cross: it could compare or print as it likes."""
    assert crossed(value, opaque=True) == Opaque(wire.type_name(value))


def test_naming_a_type_runs_none_of_its_code() -> None:
    """A type whose module's name is an object with code in it is named without that code."""
    assert wire.type_name(_Nameless()) == "?._Nameless"


def test_a_list_that_holds_itself_ends() -> None:
    """Data without an end is cut where it is too deep."""
    endless: list[Any] = []
    endless.append(endless)
    value = crossed(endless, opaque=True)
    for _ in range(31):
        value = value[0]
    assert value == [Opaque("list")]


# ---------------------------------------------------------------------------------------------------- limits


def test_nesting_has_a_limit() -> None:
    """32 lists in each other cross, 33 do not."""
    value: list[Any] = []
    for _ in range(31):
        value = [value]
    assert crossed(value) == value
    with pytest.raises(TypeError, match=r"^list cannot be sent to the sandbox: nested deeper than 32$"):
        wire.encode([value])


def test_the_number_of_values_has_a_limit() -> None:
    """A list and 99,999 numbers are 100,000 values, which cross; one more does not."""
    assert crossed([7] * 99_999) == [7] * 99_999
    with pytest.raises(FrameError, match=r"^more than 100,000 values$"):
        wire.encode([7] * 100_000)


def test_the_number_of_tensors_has_a_limit() -> None:
    """4,096 tensors cross, one more does not."""
    tensor = torch.zeros(())
    assert len(crossed([tensor] * 4096)) == 4096
    with pytest.raises(FrameError, match=r"^more than 4,096 tensors$"):
        wire.encode([tensor] * 4097)


def test_plain_data_has_a_limit() -> None:
    """A mebibyte of plain data crosses, quotation marks included; a byte more does not."""
    text = "x" * ((1 << 20) - 2)
    assert crossed(text) == text
    with pytest.raises(FrameError, match=r"^1,048,577 bytes of plain data \(at most 1,048,576 cross\)$"):
        wire.encode(text + "x")


def test_tensors_have_a_limit() -> None:
    """A tensor of more than 32 MiB does not cross, even one that takes no memory; nor do several of 64 MiB in all."""
    with pytest.raises(FrameError, match=r"^a tensor of 4,398,046,511,104 bytes$"):
        wire.encode(torch.zeros(1).expand(1 << 40))
    half = torch.zeros(32 << 20, dtype=torch.uint8)
    with pytest.raises(FrameError, match=r" bytes \(at most 67,108,864 cross\)$"):
        wire.encode([half, half])


def test_long_bytes_cross_whole() -> None:
    """Files of several mebibytes cross, of which a header of hex digits would hold half a mebibyte."""
    files = [["a.py", bytes(range(256)) * (8 << 10)], ["b.py", b"b" * 1025], ["c.py", b"c" * 1024]]
    assert crossed(files) == files


def test_long_bytes_cross_once() -> None:
    """A header of a few bytes cannot make many copies of a large content, nor bytes of what is none."""
    body = safetensors.torch.save({"0": torch.zeros(1 << 20, dtype=torch.uint8), "1": torch.zeros(2)})
    assert refused(frame('[{"$r": "0"}, {"$r": "0"}]', body)) == "KeyError: '0'"
    assert refused(frame('{"$r": "1"}', body)) == "bytes that are none"


def test_a_frame_that_is_too_large_is_not_read() -> None:
    """A frame beyond the limit is refused before anything of it is looked at."""
    assert refused(bytes((64 << 20) + 1)) == "the frame is too large"


def test_a_large_header_is_not_read() -> None:
    """Lengths that go beyond the frame or beyond the limit are refused."""
    assert refused(struct.pack(">I", 5) + b"null") == "the header's length is wrong"
    assert refused(frame(" " * (1 << 20) + "null")) == "the header's length is wrong"
    assert refused(frame("null", struct.pack("<Q", 1 << 40))) == "the tensors' header is too large"


def test_reading_has_limits_of_its_own() -> None:
    """Whoever writes frames by hand gets no more through than the encoder would send."""
    assert refused(frame("[" * 100 + "]" * 100)) == "too deep, or too many values"
    assert refused(frame("[" * 100_000 + "]" * 100_000)) == "too deep, or too many values"
    assert refused(frame("[" * (1 << 20))) == "too deep, or too many values"
    assert refused(frame(json.dumps([0] * 200_000))) == "too deep, or too many values"
    assert refused(frame("9" * 5000)) == "a number out of range"
    assert refused(frame(str(1 << 53))) == "a number out of range"
    assert refused(frame(str(-(1 << 53)))) == "a number out of range"
    assert wire.decode(frame(str((1 << 53) - 1))) == (1 << 53) - 1
    assert refused(frame(json.dumps({"$i": "0x1" + "0" * 2000}))) == "an unknown tag '$i'"


def test_keys_whose_hashes_collide_are_few() -> None:
    """256 keys that are numbers cross, 257 do not: with all that fit in a frame, equal hashes would cost 12 seconds."""
    keys = {(2**61 - 1) * number: None for number in range(257)}
    assert {hash(key) for key in keys} == {0}
    with pytest.raises(FrameError, match=r"^a dict with more than 256 keys that are no text$"):
        wire.encode(keys)
    told = ",".join(f'[{{"$i": "{key:#x}"}}, null]' for key in keys)
    assert refused(frame(f'{{"$d": [{told}]}}')) == "a dict with more than 256 keys that are no text"
    del keys[0]
    assert crossed(keys) == keys
    texts = dict.fromkeys(map(str, range(40_000)), 0)
    assert crossed(texts) == texts


def test_a_frame_costs_twice_its_size_in_memory() -> None:
    """While the largest frame is read, its tensors are in memory twice beside it, and once when it has been read."""
    half = torch.zeros((32 << 20) - 1000, dtype=torch.uint8)
    data = memoryview(wire.encode([half, half]))[wire.LENGTH.size :]
    del half
    tracemalloc.start()
    try:
        value = wire.decode(data)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [each.tensor.numel() for each in value] == [(32 << 20) - 1000] * 2
    assert kept < 65 << 20
    assert peak < 130 << 20


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("[" + "[]," * 349_000 + "[]]", id="lists"),
        pytest.param("[" + '{"$t":[]},' * 104_000 + "0]", id="tuples"),
        pytest.param("[" + '"",' * 349_000 + "0]", id="texts"),
        pytest.param('"𝄞' + "x" * 1_048_000 + '"', id="a wide text"),
        pytest.param('"' + "\\ud800" * 174_000 + '"', id="escapes"),
    ],
)
def test_a_header_costs_some_times_its_size_in_memory(header: str) -> None:
    """A mebibyte of plain data takes less than 64, whatever is in it."""
    data = frame(header)
    tracemalloc.start()
    try:
        read_or_refused(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def test_what_comes_is_safe_to_show_and_to_compare() -> None:
    """A tensor of ten million values in nine dimensions, which torch would print in full, is shown by its shape; and
    two of them are not equal, where torch would raise.
    """
    first, second = (received(torch.zeros((6,) * 9, dtype=torch.uint8)) for _ in range(2))
    assert repr(first) == "<uint8 tensor of the shape (6, 6, 6, 6, 6, 6, 6, 6, 6) on cpu>"
    assert [first] == [first]
    assert [first] != [second]


# ---------------------------------------------------------------------------------------------------- malformed frames


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no header"),
        (b"\x00\x00\x00", "no header"),
        (frame(""), "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        (frame("nul"), "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        (struct.pack(">I", 3) + b'"\xff"', "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1"),
        (frame("NaN"), "NaN is not plain data"),
        (frame("[-Infinity]"), "-Infinity is not plain data"),
        (frame("1e999"), "a number out of range"),
        (frame("-1e999"), "a number out of range"),
        (frame("{}"), "a value without a known tag"),
        (frame('{"a": 1}'), "an unknown tag 'a'"),
        (frame('{"$i": "0x1", "$f": "nan"}'), "a value without a known tag"),
        (frame('{"$i": "0x1", "$i": "0x2"}'), "a value without a known tag"),
        (frame('{"$i": 1}'), "an unknown tag '$i'"),
        (frame('{"$i": "xyz"}'), "ValueError: invalid literal for int() with base 16: 'xyz'"),
        (frame('{"$f": "1.0"}'), "an unknown tag '$f'"),
        (frame('{"$b": "0"}'), "ValueError: non-hexadecimal number found in fromhex() arg at position 1"),
        (frame('{"$t": "ab"}'), "an unknown tag '$t'"),
        (frame('{"$d": {"$d": []}}'), "an unknown tag '$d'"),
        (frame('{"$d": [["key"]]}'), "ValueError: not enough values to unpack (expected 2, got 1)"),
        (frame('{"$d": [[["list"], 1]]}'), "a key that is no scalar"),
        (frame('{"$d": [[{"$d": []}, 1]]}'), "a key that is no scalar"),
        (frame('{"$d": [[{"$t": [[1]]}, 1]]}'), "TypeError: unhashable type: 'list'"),
        (frame('{"$n": {"torch.device": "cpu"}}'), "an unknown tag '$n'"),
        (frame('{"$x": ["0", "cpu", 1, 0]}'), "an unknown tag '$x'"),
        (frame('{"$x": ["0", "cpu", true, true]}'), "KeyError: '0'"),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("F32", [1], 4)})[:-1]), "SafetensorError: "),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("F32", [1], 4)}) + b"x"), "SafetensorError: "),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("F32", [1 << 62, 4], 4)})), "SafetensorError: "),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("F32", [-1], 4)})), "SafetensorError: "),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("F99", [1], 4)})), "SafetensorError: "),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("F8_E8M0", [4], 4)})), "KeyError: 'F8_E8M0'"),
        (
            frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("U8", [1 << 62, 0], 0)})),
            "a tensor that is empty bu",
        ),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("U8", [0, 1 << 62, 4], 0)})), "RuntimeError: Stride"),
        (frame('{"$x": ["0", "cpu", true, true]}', stored({"0": ("U8", [1] * 33, 1)})), "a tensor that is 33-dimensio"),
        (
            frame('[{"$x": ["0", "", true, true]}, {"$x": ["0", "", true, true]}]', stored({"0": ("U8", [1], 1)})),
            "KeyE",
        ),
        (frame("null", stored({"0": ("U8", [1], 1)})), "tensors that nothing refers to"),
        (frame("null", stored({"a\n\x1b[31m": ("U8", [2], 1)})), "SafetensorError: "),
        (frame("null", b"\x00"), "error: unpack_from requires a buffer of at least 8 bytes"),
        (frame("null", struct.pack("<Q", 2) + b"[]"), "SafetensorError: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_malformed_frame_is_refused(data: bytes, why: str) -> None:
    """Whatever is wrong with a frame is told as one kind of error."""
    assert refused(data).startswith(why)


def test_of_equal_keys_the_last_counts() -> None:
    """A dict whose key was sent twice has it once, with the later value."""
    assert wire.decode(frame('{"$d": [["key", 1], ["key", 2]]}')) == {"key": 2}


def test_names_from_the_sandbox_are_cut() -> None:
    """Names are told in hundreds of letters at most."""
    long = json.dumps("x" * 5000)
    assert wire.decode(frame(f'{{"$o": {long}}}')) == Opaque("x" * 400)
    assert wire.decode(frame(f'{{"$n": [{long}, {long}]}}')) == Named("x" * 100, "x" * 100)


@pytest.mark.parametrize("end", range(4, 60, 5))
def test_a_frame_that_was_cut_is_refused(end: int) -> None:
    """A part of a frame is no frame."""
    whole = wire.encode([1, "two", torch.ones(3)])[wire.LENGTH.size :]
    refused(whole[:end])


def read_or_refused(data: bytes) -> None:
    """Reads the frame; only a FrameError may come of it."""
    try:
        wire.decode(data)
    except FrameError as error:
        assert len(str(error)) <= 200  # noqa: PT017 - either end is right
        assert str(error).isprintable()  # noqa: PT017 - as above


@_fuzz
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    """No bytes at all make the reader fail in another way."""
    read_or_refused(data)
    read_or_refused(struct.pack(">I", len(data)) + data)


_VALID = wire.encode(
    {"id": 2, "value": [torch.arange(4), (1.5, None, b"\x01"), {"k": 1 << 70}], "nan": float("nan"), "o": object()},
    opaque=True,
)[wire.LENGTH.size :]


@_fuzz
@given(
    st.lists(st.tuples(st.integers(0, len(_VALID) - 1), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, len(_VALID)),
)
def test_a_spoilt_frame_is_a_value_or_refused(changes: list[tuple[int, int]], kept: int) -> None:
    """A good frame with bytes changed, and then also cut off, is read or refused, and nothing else."""
    spoilt = bytearray(_VALID)
    for position, byte in changes:
        spoilt[position] = byte
    read_or_refused(bytes(spoilt))
    read_or_refused(bytes(spoilt[:kept]))


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["0", "cpu", "nan"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["$i", "$f", "$b", "$o", "$n", "$t", "$d", "$x", "?"]), inner, max_size=2)
    ),
    max_leaves=12,
)


@_fuzz
@given(_JSON, st.sampled_from([b"", _VALID[struct.unpack_from(">I", _VALID)[0] + 4 :]]))
def test_any_header_is_a_value_or_refused(header: Any, body: bytes) -> None:
    """JSON that uses the wire's tags in every wrong way is read or refused, and nothing else."""
    read_or_refused(frame(json.dumps(header), body))


@_fuzz
@given(
    st.dictionaries(
        st.text(max_size=2),
        st.fixed_dictionaries(
            {
                "dtype": st.sampled_from(["F32", "I64", "U8", "BOOL", "F4", "F8_E8M0", "nope"]),
                "shape": st.lists(st.integers(-1, 3) | st.just(1 << 62), max_size=3),
                "data_offsets": st.lists(st.integers(0, 40) | st.just(1 << 63), min_size=2, max_size=2),
            }
        ),
        max_size=3,
    ),
    st.binary(max_size=40),
)
def test_any_tensors_are_values_or_refused(tensors: dict[str, Any], data: bytes) -> None:
    """Shapes, offsets and dtypes that cannot be are refused, whatever the bytes."""
    header = json.dumps(tensors).encode()
    read_or_refused(frame("null", struct.pack("<Q", len(header)) + header + data))
