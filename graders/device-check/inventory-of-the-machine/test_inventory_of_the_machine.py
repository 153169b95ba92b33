"""What is demanded of `inventory`."""

import random

import pytest

from proctorch.judge.checks import require

DTYPES = ("float32", "float64", "bfloat16", "float16")
MIB = 1 << 20
#: What a reading may be off by: the trials of the reading itself take a segment of torch's cache.
SLACK = 8 * MIB
LARGEST_TRIAL = 64 << 10
#: None is a TypeError or a RuntimeError.
FAULTS = ("ZeroDivisionError", "KeyError", "AttributeError", "ValueError", "OSError", "AssertionError", "MemoryError")


def rows(seen, *path):
    """The rows at `path` by the device that they name, each with dtypes and autocast as they must be."""
    found = {}
    for at in range(len(seen.list(*path, what="what is returned"))):
        where = (*path, at)
        seen.dict(*where, what="a row")
        name = seen.text(*where, "device", what="the device of a row")
        require(name not in found, f"{name[:20]!r} has two rows")
        seen.dict(*where, "dtypes", what="the dtypes of a row")
        dtypes = {each: seen.flag(*where, "dtypes", each, what=f"the entry of {each}") for each in DTYPES}
        found[name] = dtypes, seen.flag(*where, "autocast", what="the entry of autocast"), where
    return found


def row(seen, device, *path):
    """The dtypes of the device's row, its autocast and where it is."""
    found = rows(seen, *path)
    require(device in found, f"{device} has no row")
    return found[device]


def size(seen, where, key):
    """A number of bytes in a row."""
    number = seen.number(*where, key, what=f"the {key} memory")
    require(type(number) is int, f"the {key} memory is no int")
    return number


def refused(seen, device, names, how, *path):
    """In the play of each name that dtype alone does not work on the device."""
    for at, name in enumerate(names):
        dtypes, _, _ = row(seen, device, *path, at)
        for each in DTYPES:
            if each == name:
                require(not dtypes[each], f"{each} is said to work where it cannot be {how}")
            else:
                require(dtypes[each] or name == each, f"{each} is said not to work, where only {name} cannot be {how}")


def test_one_row_for_each_device(run):
    """The CPU and each accelerator have a row, in this order, as plain data, and it is true of this machine."""
    seen = run("as_it_is")
    found = rows(seen, "rows")
    places = seen.list("places")
    require(list(found) == places, f"the rows are for {', '.join(found)[:60] or 'no device'}", detail=f"not {places}")
    require(seen.flag("plain"), "json does not give back what is returned")
    for place in places:
        dtypes, autocast, where = found[place]
        for name in DTYPES:
            right = dtypes[name] is seen.flag("dtypes", place, name)
            require(right, f"whether {name} works on {place} is told wrongly")
        require(autocast is seen.flag("autocast", place), f"autocast on {place} is told wrongly")
        for key in ("total", "free"):
            require(key in seen.dict(*where), f"a row has no {key!r}")
            if place == "cpu":
                require(seen.get(*where, key) is None, f"the {key} memory of the CPU is not None")


def test_a_dtype_that_cannot_be_multiplied(run, device):
    """Where torch makes tensors of a dtype and refuses to multiply them, that dtype does not work, and others do."""
    seen = run("refusing", stage="product", refusals=[[name, "RuntimeError"] for name in DTYPES])
    refused(seen, device.torch, DTYPES, "multiplied")


def test_a_dtype_that_cannot_be_made(run, device):
    """A dtype of which torch makes no tensor on a device does not work there, and does on the others."""
    refusals = [["float64", "TypeError"], ["bfloat16", "NotImplementedError"]]
    names = [name for name, _ in refusals]
    refused(run("refusing", stage="making", refusals=refusals), device.torch, names, "made")
    if device.type != "cpu":
        seen = run("refusing", stage="making", refusals=refusals, place="cpu")
        for at, name in enumerate(names):
            dtypes, _, _ = row(seen, device.torch, at)
            require(dtypes[name], f"{name} is said not to work on {device.torch}, where only the CPU cannot make it")


def test_a_fault_is_no_lack(run, seed):
    """An error of another class is raised out of the function, whether it comes at the making or later."""
    errors = [[stage, error] for stage in ("making", "use") for error in FAULTS]
    escaped(run, random.Random(seed).choice(DTYPES), errors)


def test_out_of_memory_is_no_lack(run, seed):
    """OutOfMemoryError is raised out of the function."""
    escaped(run, random.Random(seed).choice(DTYPES), [["making", "OutOfMemoryError"], ["use", "OutOfMemoryError"]])


def escaped(run, name, errors):
    """Each error was raised out of the function as it was."""
    seen = run("breaking", name=name, errors=errors)
    for at, (_, error) in enumerate(errors):
        raised = [str(each) for each in seen.list(at, "raised")] if seen.get(at, "raised") is not None else []
        require(raised, f"{error} in a trial is taken for a dtype that does not work")
        require(raised[0] == error, f"{error} in a trial leaves the function as {raised[0]}")


def test_autocast_is_its_own_question(run, device):
    """Where autocast does not know the kind of device, the row says so, and its dtypes work as before."""
    kind = device.torch.partition(":")[0]
    seen = run("without_autocast")
    for name, (dtypes, autocast, _) in rows(seen).items():
        if name.partition(":")[0] == kind:
            require(not autocast, f"autocast is said to be available where it does not know {kind}")
            require(dtypes["float32"], "float32 is said not to work where autocast alone is missing")
        else:
            require(autocast, f"autocast is said not to be available on {name[:20]}, where it is")
    row(seen, device.torch)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_defaults_have_no_say(run, seed, device, dtype):
    """With other defaults, the dtype of which the device makes no tensor is the one that does not work."""
    name = random.Random(seed).choice(DTYPES)
    dtypes, _, _ = row(run("with_defaults", dtype=dtype, refused=name), device.torch)
    for each in DTYPES:
        right = dtypes[each] is (each != name)
        require(right, "with another default device and dtype, a dtype is told of wrongly", detail=f"{each}: {dtypes}")


def test_nothing_is_changed(run, seed):
    """Defaults, random generators, gradient mode and the current accelerator stay, also where an error leaves."""
    dice = random.Random(seed)
    dtype = dice.choice(["float64", "bfloat16"])
    refused = dice.choice([each for each in DTYPES if each != dtype])
    seen = run("unchanged", dtype=dtype, seed=dice.randrange(1 << 20), refused=refused)
    for at in range(len(seen.list())):
        rows(seen, at, "rows")
        for when, key in (("", "changed"), (", after an error has left the function", "changed by an error")):
            changed = [str(each) for each in seen.list(at, key)]
            require(not changed, f"{changed[0] if changed else ''} is not as it was{when}")


def test_nothing_stays(run, seed):
    """No tensor of a trial is alive at the end, and together they never had more than 64 KiB on a device."""
    seen = run("memory_of_trials", refused=random.Random(seed).choice(DTYPES))
    rows(seen)
    trace = seen.trace()
    for place, peak in trace.peak.items():
        require(peak <= LARGEST_TRIAL, f"the trials have {peak} bytes at once on {place}")
    for place, live in trace.live.items():
        require(not live, f"{live} bytes on {place} are alive after the inventory")


def near(told, *readings):
    """Between the readings, or near one."""
    return min(readings) - SLACK <= told <= max(readings) + SLACK


def test_free_is_what_nobody_has(run, seed, device):
    """Total and free are the driver's counts, with tensors held, memory in torch's cache, which stays, and others."""
    dice = random.Random(seed)
    held, cached, others = (dice.randint(low, 2 * low) * MIB for low in (32, 64, 256))
    seen = run("free_memory", held=held, cached=cached, others=others)
    _, _, where = row(seen, device.torch, "rows")
    before, total = (seen.number("before", at) for at in (0, 1))
    require(size(seen, where, "total") == total, "the total memory is wrong")
    right = near(size(seen, where, "free"), before, seen.number("after", 0))
    require(right, "the free memory is wrong, where some is held, some is in torch's cache and others have some")
    require(seen.number("lost") <= 0, "torch's cache is smaller afterwards")


def test_each_accelerator_for_itself(run, seed):
    """Two accelerators that hold different amounts have rows with their own memory."""
    held = random.Random(seed).sample([40 * MIB, 80 * MIB, 160 * MIB], 2)
    seen = run("of_two", held=held)
    told, known = [], []
    for name in (str(each) for each in seen.dict("memory")):
        _, _, where = row(seen, name, "rows")
        total = seen.number("memory", name, 1)
        require(size(seen, where, "total") == total, "the total memory of one of two accelerators is wrong")
        told.append(size(seen, where, "free"))
        known.append(seen.number("memory", name, 0))
    require(len(told) == 2, "one of two accelerators is not told of")
    right = near(told[0] - told[1], known[0] - known[1])
    require(right, "the free memory of two accelerators that hold different amounts does not differ by that")
