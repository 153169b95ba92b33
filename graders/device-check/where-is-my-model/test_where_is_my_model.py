"""What is demanded of `placement`."""

import random

import pytest

from proctorch.judge.checks import require


def sizes(seed, *names):
    """Different small sizes by name, so that no two products are taken for each other."""
    dice = random.Random(seed)
    return dict(zip(names, dice.sample(range(3, 14), len(names)), strict=True))


def both(seen, *path):
    """What is returned has two parts."""
    told = seen.list(*path, "told", what="what is returned")
    require(len(told) == 2, f"what is returned has {len(told)} parts, not bytes and strays")


def holds(seen, expected):
    """The bytes by device are these. A device with nothing may be told of."""
    both(seen)
    told = seen.dict("told", 0, what="the first part of what is returned")
    require(all(type(key) is str for key in told), "a key of the bytes is no text")
    bytes_on = {key: seen.number("told", 0, key, what="a number of bytes") for key in told}
    for place, number in bytes_on.items():
        right = number == expected.get(place, 0)
        detail = f"expected {expected}, got {bytes_on}"
        require(right, f"{number} bytes are reported on {place[:20]!r}, which is wrong", detail=detail)
    for place in expected:
        require(place in bytes_on, f"no bytes are reported on {place}")


def strays(seen, expected, *path, when=""):
    """The strays are these, given as label and device: each is told once, by a path that leads to it."""
    both(seen, *path)
    found = set()
    for at in range(len(seen.list(*path, "told", 1, what="the second part of what is returned"))):
        pair = seen.list(*path, "told", 1, at, what="a stray")
        require(len(pair) == 2, f"a stray has {len(pair)} parts, not path and device")
        name = repr(seen.text(*path, "told", 1, at, 0, what="the path of a stray")[:60])
        label = seen.text(*path, "leads", at)
        require(label, f"{when}the path {name} leads to no tensor through modules, dicts, lists and tuples")
        require(label in expected, f"{when}{name} is reported, and it is registered")
        require(label not in found, f"{when}a tensor is reported twice, the second time as {name}")
        where = seen.text(*path, "told", 1, at, 1, what="the device of a stray")
        require(where == expected[label], f"{when}{name} is reported on {where[:20]!r}, where it is not")
        found.add(label)
    for label in expected:
        require(label in found, f"{when}a tensor is not reported: {label}")


def test_bytes_by_device(run, seed):
    """Parameters and buffers of a model on two devices are counted where they are, with their dtypes."""
    given = sizes(seed, "width", "height", "depth")
    width, height, depth = given.values()
    dtype, size = random.Random(seed).choice([("float64", 8), ("bfloat16", 2)])
    near = 4 * (width * height + height) + 4 * 4 * height + 8
    far = size * (height * depth) + 4 * size * depth + 8
    holds(run("spread", **given, dtype=dtype), {"cpu": near, "meta": far})


def test_every_buffer_counts(run, seed):
    """A module without parameters has bytes: its buffers, and those too that are not saved."""
    given = sizes(seed, "width", "height")
    width, height = given.values()
    holds(run("buffers", **given), {"cpu": 4 * width + 4 * width * height + height})


@pytest.mark.parametrize("place", ["cpu", "meta"])
def test_shared_memory_counts_once(run, seed, place):
    """Tied weights and views count once, with the whole storage that they hold."""
    given = sizes(seed, "width", "height", "rows")
    width, height, rows = given.values()
    total = 4 * height * width + 4 * rows * width + 8 * rows * height
    holds(run("shared", **given, place=place), {place: total})


def test_strays_are_found(run, seed):
    """Tensors in attributes and nested containers are found, in the module and in its parts, and no others."""
    expected = {
        "an attribute of the module": "cpu",
        "an attribute of a part's part": "meta",
        "in a list": "meta",
        "in a dict": "cpu",
        "in a tuple": "cpu",
        "in containers in containers": "cpu",
        "a view of a parameter": "cpu",
        "a parameter in a list": "cpu",
        "an attribute whose name begins with an underscore": "cpu",
        "in an OrderedDict": "cpu",
        "in a namedtuple": "cpu",
        "a view of a whole parameter": "cpu",
    }
    strays(run("tensors", **sizes(seed, "width")), expected)


def test_modules_in_a_list_are_strays(run, seed):
    """Of a module that a container or `vars` alone holds, all tensors that are not registered elsewhere are strays."""
    expected = {
        "a parameter of a module in a list": "cpu",
        "the bias of a module in a list": "cpu",
        "an attribute of a module in a list": "cpu",
        "a buffer of a part of a module in a tuple": "meta",
        "a second buffer of it": "meta",
        "a third buffer of it": "meta",
        "a parameter of a module in vars": "cpu",
    }
    strays(run("listed_modules", **sizes(seed, "width")), expected)


def test_a_stale_alias_is_a_stray(run, seed):
    """A second reference to a buffer is no stray until a move puts another tensor in the buffer's place."""
    seen = run("aliases", **sizes(seed, "width", "rows"))
    view = {"a view of what was a buffer": "cpu"}
    strays(seen, view, "before", when="before a move, ")
    stale = {"an attribute that was a buffer": "cpu", "an item of a list that was a buffer": "cpu"}
    strays(seen, view | stale, "after", when="after a move, ")


def test_cycles_end(run, seed):
    """Where things hold each other in a ring, the walk ends, and each stray is told once."""
    strays(run("cycles", **sizes(seed, "width")), {"an attribute": "cpu", "in a list": "cpu", "in a dict": "cpu"})


def test_nothing_is_touched(run, seed):
    """No tensor is replaced, moved or changed, no attribute is added, and neither forward nor a property is run."""
    seen = run("untouched", **sizes(seed, "width"))
    both(seen)
    require(seen.flag("same"), "the module has other tensors afterwards, or changed ones")
    require(seen.flag("same_names"), "the module, or a part of it, has other attributes afterwards")
    require(seen.number("calls") == 0, "a property of the module, or its forward, is run")
    crossed = [each for each in seen.trace().copies if each.source != each.target]
    require(not crossed, "something is copied between devices", line=crossed[0].line if crossed else None)


def test_it_tells_the_accelerator(run, seed, device):
    """After a move to the accelerator, the bytes are there, and strays are told with the device that they are on."""
    given = sizes(seed, "width", "rows")
    width, rows = given.values()
    seen = run("on_the_accelerator", **given)
    total = 4 * (width * width + width) + 4 * 4 * width + 8 + 4 * rows * width
    holds(seen, {device.torch: total})
    expected = {
        "a constant on the CPU": "cpu",
        "what was a buffer before the move": "cpu",
        "a constant on the accelerator": device.torch,
    }
    strays(seen, expected)
