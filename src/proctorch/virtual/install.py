"""Everything that is done once for a process and stays: machine code, device guard, hooks, kernels."""

import warnings

import torch

from proctorch.virtual import guard, handwritten, kernels, state, views
from proctorch.virtual.hooks import Hooks
from proctorch.virtual.native import Natives
from proctorch.virtual.pinned import PinnedMemory

#: Composed of several operations unless they have a kernel, which would be slow.
_WHOLE = ("clone", "_foreach_", "_fused_")


def install() -> None:
    """Makes this process able to have a virtual device. It changes nothing that code on the CPU could notice."""
    natives = Natives()
    pinned = PinnedMemory()
    keep: list[object] = [guard.install(natives)]
    hooks = Hooks(natives, pinned_allocator=pinned.allocator, is_pinned=pinned.question)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "Overriding a previously registered kernel": on a build with CUDA, on purpose
        keep += _install_kernels()
    state.register(state.Machinery(natives, pinned, hooks, keep))


def _install_kernels() -> list[object]:
    catch_all = torch.library.Library("_", "IMPL")  # noqa: TOR901 - as long as the process lives
    catch_all.fallback(kernels.fallback, "CUDA")
    library = torch.library.Library("aten", "IMPL")
    by_hand = {**views.kernels(), **handwritten.KERNELS}
    add = library.m.impl  # type: ignore[union-attr]  # not destroyed: `Library.impl` would keep a record of each
    for name, kernel in by_hand.items():
        add(name, "CUDA", kernel, False)
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for qualified in torch._C._dispatch_get_all_op_names():
        name = qualified.removeprefix("aten::")
        if name != qualified and name not in by_hand and _wants_kernel(qualified, name, has_kernel):
            base, _, overload = qualified.partition(".")
            add(name, "CUDA", kernels.kernel_for(base, overload), False)
    return [catch_all, library]


def _wants_kernel(qualified: str, name: str, has_kernel: object) -> bool:
    assert callable(has_kernel)
    return name.startswith(_WHOLE) or any(
        has_kernel(qualified, key) for key in ("CPU", "CUDA", "CompositeExplicitAutogradNonFunctional")
    )
