"""`pytest --virtual-cuda` and the fixture `virtual_cuda`, as other people's test suites have them."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.off

SUITE = """
import torch

def test_there_is_a_device():
    assert torch.cuda.is_available()
    assert torch.cuda.mem_get_info()[1] == {budget}
"""


def run(folder: Path, suite: str, *options: str) -> tuple[int, str]:
    (folder / "test_suite.py").write_text(suite, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_suite.py", *options]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"}
    )
    return done.returncode, done.stdout + done.stderr


def test_option(tmp_path: Path) -> None:
    """With the option a whole run has a device, and the header says that it is simulated."""
    code, text = run(tmp_path, SUITE.format(budget=1 << 20), "--virtual-cuda=1MiB", "-v")
    assert code == 0, text
    assert "cuda: simulated, 1 MiB" in text


def test_without_the_option(tmp_path: Path) -> None:
    """Without the option there is none, and torch is not imported."""
    code, text = run(tmp_path, "import sys\ndef test_inert():\n    assert 'torch' not in sys.modules\n")
    assert code == 0, text


def test_no_size(tmp_path: Path) -> None:
    """A memory that is no size is a usage error in one line."""
    code, text = run(tmp_path, SUITE, "--virtual-cuda=lots")
    assert code == 4
    assert "ERROR: --virtual-cuda: device memory is a size such as '256MiB' or a number of bytes, not 'lots'" in text


def test_fixture(tmp_path: Path) -> None:
    """The fixture gives the test a device, and the next test has none."""
    code, text = run(
        tmp_path,
        "import torch\n"
        "def test_with(virtual_cuda):\n    assert torch.ones(1, device=virtual_cuda).is_cuda\n"
        "def test_without():\n    assert not torch.cuda.is_available()\n",
    )
    assert code == 0, text


def test_the_fixture_after_a_backward_pass(tmp_path: Path) -> None:
    """A test that wants the device may come after one that trains on the CPU."""
    suite = """
        import torch

        def test_on_the_cpu():
            torch.ones(1, requires_grad=True).sum().backward()

        def test_on_the_device(virtual_cuda):
            x = torch.ones(1, device=virtual_cuda, requires_grad=True)
            x.sum().backward()
            assert x.grad.is_cuda
    """
    code, text = run(tmp_path, textwrap.dedent(suite))
    assert code == 0, text
    assert "2 passed" in text
