"""What is demanded of `to_device`."""

import random

import torch

from proctorch.judge.checks import close, require

#: The names of the fields, in the order of the plan.
FIELDS = {
    "Frame": ("image", "length", "previous"),
    "Sample": ("boxes", "crowd", "path"),
    "Boxes": ("corners", "labels"),
}
LEAVES = ("tensor", "view", "twin", "columns")
CONTAINERS = ("dict", "list", "tuple", *FIELDS)


class Batch:
    """A plan of a nested batch, and the tensors that it refers to. `doubles`: whether some are float64."""

    def __init__(self, seed, *, doubles=False):
        self._dice, self._doubles = random.Random(seed), doubles
        self._generator = torch.Generator().manual_seed(seed)
        self.tensors = []
        rows = self._dice.randint(2, 4)
        images = self._floats(rows, 3, self._dice.randint(2, 4), 2)
        lengths = self._new(torch.randint(1, 9, (rows,), generator=self._generator))
        table = self._new(torch.randn(2, 6, generator=self._generator))
        shared = [["view", lengths[1]], lengths, ["twin", lengths[1]], ["columns", table[1]]]
        entries = [
            ("images", self._deep(images)),
            ("targets", ["list", [self._sample() for _ in range(rows)]]),
            ("lengths", lengths),
            ("length", self._deep(self._new(torch.randint(1, 9, (2,), generator=self._generator)))),
            ("names", ["list", [["str", f"street {self._dice.random()}.jpg"] for _ in range(rows)]]),
            ("frame", ["Frame", [images, ["tuple", [lengths]], ["NoneType", None]]]),
            ("pooled", self._deep(["list", shared])),
            (7, ["tuple", [self._exact(), self._exact(0, 3), ["list", []], ["dict", []], ["tuple", []]]]),
            ("meta", ["dict", [["camera", ["ndarray"]], ["sides", ["set"]], ["scale", ["float", 0.5]]]]),
            ("made of", ["list", [["type", "Sample"], ["type", "Frame"]]]),  # no instances
        ]
        self._dice.shuffle(entries)
        self.plan = ["dict", [[key, each] for key, each in entries]]

    def inputs(self):
        """What the scenario is given."""
        return {"batch": self.plan, "tensors": self.tensors}

    def value(self, node, tensors=None):
        """The values of a leaf."""
        kind, at = node
        tensor = (self.tensors if tensors is None else tensors)[at]
        return tensor[:1] if kind == "view" else tensor[:, ::2] if kind == "columns" else tensor

    def later(self):
        """Other values for each tensor."""
        return [each.logical_not() if each.dtype == torch.bool else each + 1 for each in self.tensors]

    def _sample(self):
        boxes = self._dice.randint(1, 4)
        corners, labels = self._floats(boxes, 4), self._new(torch.randint(0, 90, (boxes,), generator=self._generator))
        crowd = self._new(torch.rand(boxes, generator=self._generator) > 0.5)
        path = ["str", f"crop {self._dice.random()}.png"]
        return ["Sample", [self._deep(["Boxes", [corners, labels]]), crowd, path]]

    def _floats(self, *shape):
        double = self._doubles and (len(self.tensors) % 2 == 0 or self._dice.random() < 0.5)
        dtype = torch.float64 if double else self._dice.choice((torch.float32, torch.float32, torch.float16))
        return self._normal(shape, dtype)

    def _exact(self, *shape):
        """Of float64 wherever some are."""
        return self._normal(shape, torch.float64 if self._doubles else torch.float32)

    def _normal(self, shape, dtype):
        return self._new(torch.randn(shape, generator=self._generator, dtype=torch.float64).to(dtype))

    def _new(self, tensor):
        self.tensors.append(tensor)
        return ["tensor", len(self.tensors) - 1]

    def _deep(self, node):
        """The node inside some more containers."""
        for _ in range(self._dice.randint(0, 2)):
            kind = self._dice.choice(("list", "tuple", "dict"))
            node = ["dict", [["inner", node]]] if kind == "dict" else [kind, [node, ["int", 3]]]
        return node


def walk(node, keep=(), *, key="batch", shown="batch", kept=False):
    """All parts of a plan: key, how it is shown, node, and whether it is at or below a name in `keep`."""
    yield key, shown, node, kept
    if node[0] not in CONTAINERS:
        return
    for at, each in enumerate(node[1]):
        name, below, part = at, f"[{at}]", each
        if node[0] == "dict":
            name, part = each
            below = f"[{name!r}]"
        elif node[0] in FIELDS:
            below = f".{FIELDS[node[0]][at]}"
        called = name if node[0] == "dict" else FIELDS[node[0]][at] if node[0] in FIELDS else None
        yield from walk(part, keep, key=f"{key}/{name}", shown=shown + below, kept=kept or called in keep)


def arrived(seen, key, shown, expected, where, dtype=None):
    """The tensor at `key` is that of the batch, on another device. The meta device has no values to compare."""
    dtype, shape = dtype or str(expected.dtype).removeprefix("torch."), tuple(expected.shape)
    if where != "meta":
        mine = seen.tensor("tensors", key, what=shown, dtype=dtype, shape=shape, device=where)
        close(mine, expected, shown, rtol=0.0, atol=0.0)
        return
    require(seen.get("tensors", key) is not None, f"{shown} is no tensor any more")
    got = seen.get("tensors", key, "device")
    require(got == "meta", f"{shown} is not on the device that was asked for", detail=f"{got}")
    got = seen.get("tensors", key, "dtype")
    require(got == dtype, f"{shown} has another dtype than it should", detail=f"{got}, not {dtype}")
    got = seen.list("tensors", key, "shape", what="a shape")
    require(got == [*shape], f"{shown} has another shape than before", detail=f"{got}, not {shape}")


def everything_arrived(seen, batch, where, tensors=None):
    for key, shown, node, _ in walk(batch.plan):
        if node[0] in LEAVES:
            arrived(seen, key, shown, batch.value(node, tensors), where)


def same_structure(seen, batch):
    kinds = dict(zip(*_columns(seen), strict=True))
    for key, shown, node, _ in walk(batch.plan):
        kind = "tensor" if node[0] in LEAVES else node[0]
        got = kinds.get(key)
        require(got is not None, f"{shown} is missing")
        require(got == kind, f"{shown} has another type than before", detail=f"{got}, not {kind}")
        if kind not in (*CONTAINERS, "tensor"):
            require(seen.get("same", key) is True, f"{shown} is no tensor, and is not the same object as before")
    extra = [key for key in kinds if key not in {key for key, *_ in walk(batch.plan)}]
    require(not extra, "there is more in the result than in the batch", detail=", ".join(map(repr, extra))[:500])
    order = [*kinds] == [key for key, *_ in walk(batch.plan)]
    require(order, "the keys of a dict are in another order than before")


def the_listed_stay(seen, batch, keep):
    for key, shown, node, kept in walk(batch.plan, keep):
        if node[0] not in LEAVES:
            continue
        if kept:
            require(seen.get("same", key) is True, f"{shown} is listed, and is not the same tensor as before")
        else:
            got = seen.get("tensors", key, "device")
            require(got == "meta", f"{shown} is not listed, and is not moved", detail=f"{got}")


def _columns(seen):
    rows = range(len(seen.list("kinds")))
    return [[seen.text("kinds", row, column) for row in rows] for column in (0, 1)]


def test_the_structure_is_kept(run, shared_seed):
    """Containers of the same types with the same keys in the same order; what is no tensor is the same object."""
    batch = Batch(shared_seed)
    same_structure(run("move", **batch.inputs(), to="meta"), batch)
    batch = Batch(shared_seed, doubles=True)
    same_structure(run("move", **batch.inputs()), batch)


def test_every_tensor_arrives(run, shared_seed, device):
    """Tensors at any depth arrive with their dtype and their present values, on the device and back on the CPU."""
    batch = Batch(shared_seed)
    everything_arrived(run("move", **batch.inputs(), to="meta"), batch, "meta")
    batch = Batch(shared_seed, doubles=True)
    everything_arrived(run("move", **batch.inputs()), batch, device.torch)
    everything_arrived(run("move", **batch.inputs(), start="device", to="cpu"), batch, "cpu")
    later = batch.later()
    everything_arrived(run("move", **batch.inputs(), later=later), batch, device.torch, later)


def test_the_callers_batch_is_left_alone(run, shared_seed):
    """Afterwards each container of the caller's holds the objects that it held, and the tensors are as they were."""
    for to, doubles in (("meta", False), ("device", True)):
        seen = run("move", **Batch(shared_seed, doubles=doubles).inputs(), to=to)
        require(seen.flag("left_alone"), "after the call, a container of the caller's holds something else than before")
        require(seen.flag("same_values"), "the call changes a tensor of the caller's")


def test_listed_names_stay(run, seed):
    """Below a listed key or field tensors are the same objects; all others move, the same tensor elsewhere too."""
    dice = random.Random(seed)
    batch = Batch(seed)
    for keep in (["lengths", "image"], ("labels", dice.choice(("inner", "camera")), 7), ("length", "frame")):
        for _ in range(2):  # a tensor that is in two places: once the listed one comes first, once the other
            batch.plan[1].reverse()
            the_listed_stay(run("move", **batch.inputs(), to="meta", keep=keep), batch, keep)


def test_what_is_there_is_not_copied(run, shared_seed):
    """A batch that is there already comes back with the same tensor objects, and nothing crosses."""
    batch = Batch(shared_seed, doubles=True)
    seen = run("move", **batch.inputs(), start="device")
    for key, shown, node, _ in walk(batch.plan):
        if node[0] in LEAVES:
            require(seen.get("same", key) is True, f"{shown} was there already, and is another object now")
    lines = [each.line for each in seen.trace().copies if each.bytes]
    require(not lines, "all is there already, and something is copied between devices", line=next(iter(lines), None))


def test_shared_tensors_stay_shared(run, shared_seed):
    """One tensor in two places is one tensor in the result; two tensors are two, also over the same memory."""
    for to, doubles in (("meta", False), ("device", True)):
        batch, found = Batch(shared_seed, doubles=doubles), {}
        seen = run("move", **batch.inputs(), to=to)
        for key, shown, node, _ in walk(batch.plan):
            if node[0] not in LEAVES:
                continue
            number = seen.number("numbers", key, what=shown)
            first, where = found.setdefault(tuple(node), (number, shown))
            require(number == first, f"{where} and {shown} were one tensor, and are two now")
        numbers = {number for number, _ in found.values()}
        require(len(numbers) == len(found), "two tensors of the batch are one in the result")


def test_each_tensor_crosses_once(run, shared_seed, device):
    """As many bytes cross as the distinct tensors have, each in one copy; nothing comes back and nothing is read."""
    batch = Batch(shared_seed)
    trace = run("move", **batch.inputs()).trace()
    back = [each.line for each in trace.copies if each.source == device.torch]
    back += [each.line for each in trace.reads if each.device == device.torch]
    require(not back, "a value is read, or something is brought back from the device", line=next(iter(back), None))
    leaves = {tuple(node): batch.value(node) for _, _, node, _ in walk(batch.plan) if node[0] in LEAVES}
    expected = sorted(size for each in leaves.values() if (size := each.numel() * each.element_size()))
    copies = [each for each in trace.copies if each.bytes]
    require(
        sorted(each.bytes for each in copies) == expected,
        f"{len(copies)} copies with {sum(each.bytes for each in copies)} bytes go to the device, not each tensor once",
        line=copies[0].line if copies else None,
        detail=f"{sorted(each.bytes for each in copies)}, not {expected}",
    )


def test_a_device_without_float64(run, shared_seed):
    """Where there is no float64, its tensors arrive as float32, and those of other dtypes as they are."""
    batch = Batch(shared_seed, doubles=True)
    seen = run("move", **batch.inputs(), to="meta")
    for key, shown, node, _ in walk(batch.plan):
        if node[0] in LEAVES:
            expected = batch.value(node)
            arrived(seen, key, shown, expected, "meta", "float32" if expected.dtype == torch.float64 else None)


def test_no_device_goes_by_its_name(run, shared_seed):
    """The second of two accelerators of one kind has no float64, which no name tells."""
    batch = Batch(shared_seed, doubles=True)
    seen = run("move", **batch.inputs(), to="second")
    narrow = [each.float() if each.dtype == torch.float64 else each for each in batch.tensors]
    everything_arrived(seen, batch, seen.text("place"), narrow)
