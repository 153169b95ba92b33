"""Throws hostile frames at the reader of the wire for some time: nothing may come of one but a value or a FrameError.

    python benchmarks/fuzz_wire.py [SECONDS]

First the frames that are made to cost as much as they can, with what they cost; then good frames, spoilt at random and
crossed with each other, those that gave a new kind of error being kept to go on from. Where atheris is installed,
coverage leads the way instead. Ends with 1, and leaves the frame in a file, if one of them breaks the reader or takes
more than a second and a half.
"""

import json
import random
import re
import struct
import sys
import tempfile
import time
import tracemalloc
import types
from pathlib import Path

import torch

from proctorch import wire

_SLOW = 1.5
_BROKE = Path("broken-frame.bin")
_TOKENS = (
    *(b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\ud800", b"\\u0000", b"1e999", b"NaN", b"-0", b"9" * 400, b"true"),
    *(b'{"$i":"0x1fffffffffffffff"}', b'{"$f":"nan"}', b'{"$b":"0"}', b'{"$t":[]}', b'{"$d":[[1,2],[1,3]]}'),
    *(b'{"$x":["0","cpu",true,true]}', b'{"$n":["torch.device","cpu"]}', b'{"$o":"x"}', b"[" * 200, b"[[[[" * 20000),
    *(b'"shape":[0,4611686018427387904]', b'"dtype":"F8_E8M0"', b'"data_offsets":[0,0]', b'"__metadata__":{}'),
)


def framed(header: bytes, body: bytes = b"") -> bytes:
    """A frame, without the length in front."""
    return struct.pack(">I", len(header)) + header + body


def stored(told: dict[str, object], data: bytes) -> bytes:
    """The part of a frame that has its tensors."""
    header = json.dumps(told).encode()
    return struct.pack("<Q", len(header)) + header + data


def many(item: bytes) -> bytes:
    """As many items as a header has room for, in a list."""
    return b"[" + b",".join([item] * ((wire.MAX_HEADER - 2) // (len(item) + 1))) + b"]"


def colliding(count: int) -> bytes:
    """A dict with keys that all have the hash 0."""
    pairs = (b'[{"$i":"%#x"},0]' % ((2**61 - 1) * (number + 1)) for number in range(count))
    return b'{"$d":[' + b",".join(pairs) + b"]}"


def costly() -> dict[str, bytes]:
    """The frames that are made to cost much."""
    size = wire.MAX_FRAME - 4096
    large = stored({"0": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}, bytes(size))
    one = stored({"0": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}, b"x")
    nothing = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    ones = {"dtype": "U8", "shape": [1] * 300_000, "data_offsets": [0, 1]}
    tensor = b'{"$x":["0","cpu",true,true]}'
    return {
        "brackets": framed(b"[" * wire.MAX_HEADER),
        "empty lists": framed(many(b"[]")),
        "empty tuples": framed(many(b'{"$t":[]}')),
        "zeros": framed(many(b"0")),
        "texts": framed(many(b'""')),
        "a wide text": framed(b'"\xf0\x9d\x84\x9e' + b"x" * (wire.MAX_HEADER - 6) + b'"'),
        "digits": framed(b"9" * wire.MAX_HEADER),
        "digits after a point": framed(b"0." + b"9" * (wire.MAX_HEADER - 2)),
        "hex": framed(b'{"$b":"' + b"0" * (wire.MAX_HEADER - 10) + b'"}'),
        "colliding keys": framed(colliding(27_000)),
        "colliding keys, 256 a dict": framed(b"[" + b",".join([colliding(wire.MAX_PLAIN_KEYS)] * 120) + b"]"),
        "a large tensor": framed(tensor, large),
        "a large tensor, not used": framed(b"0", large),
        "a tensor, used often": framed(many(tensor), one),
        "many tensors": framed(b"0", stored({str(number): nothing for number in range(15_000)}, b"")),
        "a shape of ones": framed(tensor, stored({"0": ones}, b"x")),
    }


def outcome(frame: bytes) -> str:
    """What comes of a frame: `value`, or the kind of its error. Whatever else it raises is passed on."""
    try:
        wire.decode(frame)
    except wire.FrameError as error:
        text = str(error)
        if len(text) > 200 or not text.isprintable():
            raise ValueError(f"an error of more than a line: {text!r}") from None
        return re.sub(r"(?<=UnicodeDecodeError).*|\d+|'.*'|`.*`", "#", text)[:60]
    return "value"


def spoilt(dice: random.Random, frames: list[bytes]) -> bytes:
    """A frame made of one or two others."""
    frame = bytearray(dice.choice(frames))
    for _ in range(dice.choice((1, 1, 2, 3, 8))):
        at = dice.randrange(len(frame) + 1)
        end = min(len(frame), at + dice.choice((0, 1, 4, 30)))
        match dice.randrange(7):
            case 0:
                frame[at:end] = dice.randbytes(end - at)
            case 1:
                del frame[at:end]
            case 2:
                frame[at:at] = frame[at:end] * dice.choice((1, 2, 50))
            case 3:
                frame[at:end] = dice.choice(_TOKENS)
            case 4:
                other = dice.choice(frames)
                frame[at:] = other[dice.randrange(len(other) + 1) :]
            case 5:
                del frame[at:]
            case _:
                frame[at:end] = struct.pack("<Q", dice.choice((0, 1, 1 << 31, 1 << 62, (1 << 64) - 1, len(frame))))
    if dice.random() < 0.7 and len(frame) >= 4:  # mostly with a length that is right, or nothing else is looked at
        brace = frame.rfind(b"}", 0, dice.randrange(len(frame)) + 1)
        length = brace - 3 if brace > 4 else len(frame) - 4
        frame[:4] = struct.pack(">I", max(0, length))
    return bytes(frame)


def good() -> list[bytes]:
    """Frames as the sandbox sends them."""
    trace = {"copies": [["cpu", "cuda:0", 4, 7]], "live": {"cpu": 4}, "autocast_left_on": False}
    values = (
        {"id": 1, "functions": [["double", 4]], "entry": {"double": {}}},
        {"id": 2, "value": {"x": torch.ones(2, 3), "y": (1, None, b"\x00")}, "traces": {"main": trace}, "moments": []},
        {
            "id": 3,
            "value": [torch.device("cpu"), torch.float16, object(), 1 << 70, float("nan"), {1: 2, (3,): "é\ud800"}],
        },
        [torch.zeros(0, 4), torch.tensor(1 + 2j), torch.tensor([True]), torch.ones(3, dtype=torch.float8_e5m2)],
    )
    return [wire.encode(value, opaque=True)[wire.LENGTH.size :] for value in values]


def timed(frame: bytes) -> tuple[str, float]:
    """What comes of a frame, and in how many seconds. Ends the program, with the frame left in a file, if it is bad."""
    began = time.process_time()
    try:
        what = outcome(frame)
    except BaseException as error:
        _BROKE.write_bytes(frame)
        raise SystemExit(f"{_BROKE} breaks the reader: {type(error).__name__}: {error}") from error
    seconds = time.process_time() - began
    if seconds > _SLOW:
        _BROKE.write_bytes(frame)
        raise SystemExit(f"{_BROKE} takes {seconds:.2f} seconds")
    return what, seconds


def main() -> None:
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    frames = good()
    for frame in frames:
        timed(frame)  # the first one imports what reads tensors
    print(f"{'frame':28} {'bytes':>11} {'s':>7} {'MiB':>6}  what comes of it")
    for name, frame in costly().items():
        what, seconds = timed(frame)
        tracemalloc.start()
        outcome(frame)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"{name:28} {len(frame):11,} {seconds:7.3f} {peak / (1 << 20):6.1f}  {what}")
    by_coverage(limit) if _atheris() else at_random(limit, frames)


def at_random(limit: float, frames: list[bytes]) -> None:
    """Spoils frames for so many seconds."""
    seed = time.time_ns()
    dice, deadline = random.Random(seed), time.monotonic() + limit  # noqa: S311 - to be repeated, not to be secret
    kinds: dict[str, int] = {}
    count, slowest = 0, 0.0
    while time.monotonic() < deadline:
        frame = spoilt(dice, frames)
        what, seconds = timed(frame)
        if what not in kinds and len(frame) < 100_000:
            frames.append(frame)
        kinds[what] = kinds.get(what, 0) + 1
        count, slowest = count + 1, max(slowest, seconds)
    print(f"seed {seed}: {count:,} frames, {len(kinds)} kinds of outcome, {slowest:.3f} s for the slowest")
    for what, number in sorted(kinds.items(), key=lambda each: -each[1])[:30]:
        print(f"{number:9,}  {what}")


def _atheris() -> bool:
    try:
        import atheris  # noqa: F401, PLC0415 - a package that need not be there
    except ImportError:
        return False
    return True


def by_coverage(limit: float) -> None:
    """Lets atheris look for frames for so many seconds."""
    import atheris  # noqa: PLC0415 - as above

    for owner in (wire, wire._Decoder):  # noqa: SLF001 - the reader's own functions are what is to be covered
        for function in vars(owner).values():
            if isinstance(function, types.FunctionType) and function.__module__ == wire.__name__:
                atheris.instrument_func(function)

    def throw(frame: bytes) -> None:
        timed(frame)

    with tempfile.TemporaryDirectory() as folder:
        for number, frame in enumerate(good()):
            (Path(folder) / str(number)).write_bytes(frame)
        atheris.Setup([sys.argv[0], f"-max_total_time={int(limit)}", "-max_len=65536", folder], throw)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
