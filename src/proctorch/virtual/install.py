"""Everything that is done once for a process and stays: machine code, device guard, hooks, kernels."""

import warnings

import torch

from proctorch.virtual import compiler, generators, guard, handwritten, kernels, refusals, relabel, state, views
from proctorch.virtual.hooks import Hooks
from proctorch.virtual.native import Natives
from proctorch.virtual.pinned import PinnedMemory

#: Composed of several operations unless they have a kernel, which would be slow.
_WHOLE = ("clone", "_foreach_", "_fused_")
_KEYS = ("CPU", "CUDA", "CompositeExplicitAutogradNonFunctional")


def install() -> None:
    """Makes this process able to have a virtual device. It changes nothing that code on the CPU could notice.

    OSError or LookupError, before anything is changed, if this torch is not as expected.
    """
    natives = Natives()
    pinned = PinnedMemory()
    hooks = Hooks(natives, pinned_allocator=pinned.allocator, is_pinned=pinned.question)
    device_guard = guard.Guard(natives)
    if not (pinned.works and generators.works() and relabel.works()):
        raise LookupError(f"torch {torch.__version__} lays out its allocators or generators differently")
    device_guard.install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "Overriding a previously registered kernel": on a build with CUDA, on purpose
        libraries = _install_kernels()
    compiler.leave_us_alone()
    state.register(state.Machinery(natives, pinned, hooks, [device_guard, *libraries]))


def _install_kernels() -> list[object]:
    catch_all = torch.library.Library("_", "IMPL")
    catch_all.fallback(kernels.fallback, "CUDA")
    library = torch.library.Library("aten", "IMPL")
    absent = {name: refusals.absent(name) for name in refusals.ABSENT}
    by_hand = {**views.kernels(), **handwritten.KERNELS, **absent}
    before = views.entries()
    add = library.m.impl  # type: ignore[union-attr]  # not destroyed: `Library.impl` would keep a record of each
    for name, kernel in by_hand.items():
        add(name, "CUDA", kernel, False)
    for name in _wanted() - by_hand.keys():
        base, _, overload = name.partition(".")
        add(name, "CUDA", kernels.kernel_for(f"aten::{base}", overload), False)
    views.without_python(before)
    return [catch_all, library]


def _wanted() -> set[str]:
    """The operations that get a kernel of their own, without their namespace. See `kernels`."""
    names = {name for key in _KEYS for name in torch._C._dispatch_get_registrations_for_dispatch_key(key)}
    names |= {name for name in torch._C._dispatch_get_all_op_names() if name[6:].startswith(_WHOLE)}
    return {name[6:] for name in names if name.startswith("aten::")}
