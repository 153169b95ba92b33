"""The wheel works on its own, in an environment that has only what it depends on, from any folder."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a fresh environment with the wheel in it; its dependencies are borrowed from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "proctorch"


def test_the_bank_is_in_the_wheel(wheel: Path) -> None:
    """The four folders of the default bank are in the wheel, solutions included."""
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "questions/device-check/pick-device.yaml",
        "graders/device-check/pick-device/scenarios.py",
        "graders/device-check/pick-device/test_pick_device.py",
        "templates/report.html.j2",
        "templates/style.css",
    ):
        assert f"proctorch/default_bank/{name}" in names
    assert any(name.startswith("proctorch/default_bank/solutions/device-check/pick-device/accepted/") for name in names)
    assert "proctorch/py.typed" in names
    assert not any("__pycache__" in name or name.startswith("tests") for name in names)


def test_grades_from_another_folder(installed: Path, tmp_path: Path) -> None:
    """The installed command starts, grades and reports from a folder that has nothing to do with the checkout."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([installed, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    started = run("start", "pick-device")
    assert started.returncode == 0, started.stderr
    graded = run("grade", "pick_device.py", "-o", "report.html", "-o", "results.json", "--device", "cpu")
    assert graded.returncode == 1, graded.stderr
    assert "pick_device.py" in graded.stdout
    assert (tmp_path / "report.html").read_text().lstrip().startswith("<!doctype html>")
    where = run("doctor", "--json")
    assert where.returncode == 0, where.stderr
    assert str(installed.parents[1]) in where.stdout
