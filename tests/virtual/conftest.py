"""Two virtual devices, on for each test of this folder and off after it."""

from collections.abc import Iterator

import pytest

from proctorch import virtual


@pytest.fixture(autouse=True)
def _virtual_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """On for every test but those marked `off`, which turn it on by themselves or in another process."""
    if request.node.get_closest_marker("off"):
        yield
        virtual.disable()
    else:
        with virtual.cuda(memory="2GiB", devices=2):
            yield
