"""Fixtures that several test files use."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def sample() -> SimpleNamespace:
    """What `sample_report.py` defines: the sample reports and what they are made of."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("sample_report.py"))))
