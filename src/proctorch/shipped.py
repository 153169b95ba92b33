"""Where the default bank and its templates lie: inside an installed package, or at the top of a checkout."""

from pathlib import Path


def default_bank() -> Path:
    """The folder that holds the shipped `questions/`, `graders/`, `solutions/` and `templates/`."""
    package = Path(__file__).parent
    installed = package / "default_bank"
    return installed if installed.is_dir() else package.parents[1]
