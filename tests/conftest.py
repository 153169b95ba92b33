"""Fixtures that several test files use."""

import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.browser import Browser
from tests.running import Run

BANK = Path(__file__).parent / "bank"


@pytest.fixture(scope="session")
def sample() -> SimpleNamespace:
    """What `sample_report.py` defines: the sample reports and what they are made of."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("sample_report.py"))))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs the command in an empty folder, with the tiny bank."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTORCH_BANK", str(BANK))
    return Run(capsys, monkeypatch)


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """The Chromium of this machine."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return Browser(found, tmp_path)
    pytest.skip("no Chromium here to show the page in")
