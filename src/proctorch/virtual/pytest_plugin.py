"""`pytest --virtual-cuda[=MEMORY]`: a whole test run with a virtual CUDA device; and a fixture, `virtual_cuda`.

pytest loads this in every project where Proctorch is installed: without the option or the fixture it does nothing, and
does not import torch.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

_NO_SIZE = "default"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("virtual-cuda", "run tests on a simulated CUDA device").addoption(
        "--virtual-cuda",
        nargs="?",
        const=_NO_SIZE,
        metavar="MEMORY",
        help="simulate a CUDA device with this much memory, such as 256MiB (a real one is used instead)",
    )


def pytest_configure(config: pytest.Config) -> None:
    wanted = config.getoption("--virtual-cuda", default=None)
    if wanted is None:
        return
    from proctorch import virtual  # noqa: PLC0415 - imports torch

    if virtual.has_real_device():
        return
    try:
        virtual.enable(memory=None if wanted == _NO_SIZE else wanted)
    except ValueError as error:
        raise pytest.UsageError(f"--virtual-cuda: {error} (write it as --virtual-cuda=256MiB)") from None
    except virtual.Unsupported as error:
        raise pytest.UsageError(f"--virtual-cuda: {error}") from None
    config.add_cleanup(virtual.disable)


def pytest_report_header(config: pytest.Config) -> str | None:
    if config.getoption("--virtual-cuda", default=None) is None:
        return None
    from proctorch import virtual  # noqa: PLC0415 - as above

    if not virtual.is_enabled():
        return "cuda: a real device, so none is simulated"
    return f"cuda: simulated, {virtual.memory_stats().budget >> 20} MiB"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Gets ready before the first test if one wants the fixture: a backward pass of another would be too early."""
    if any("virtual_cuda" in getattr(item, "fixturenames", ()) for item in session.items):
        from proctorch import virtual  # noqa: PLC0415 - as above

        if not virtual.is_enabled() and not virtual.has_real_device() and virtual.unsupported() is None:
            with contextlib.suppress(virtual.Unsupported):  # the fixture says it
                virtual.enable()
                virtual.disable()


@pytest.fixture
def virtual_cuda() -> Iterator[Any]:
    """`torch.device("cuda")`, simulated if there is no real one: on for this test, or for the run with the option."""
    import torch  # noqa: PLC0415 - other people's test runs must not pay for it

    from proctorch import virtual  # noqa: PLC0415 - as above

    if virtual.is_enabled() or virtual.has_real_device():
        yield torch.device("cuda")
        return
    try:
        virtual.enable()
    except virtual.Unsupported as reason:
        pytest.skip(str(reason))
    try:
        yield torch.device("cuda")
    finally:
        virtual.disable()
