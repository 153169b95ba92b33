"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
from pathlib import Path

from proctorch.errors import UsageError


def check_folder(path: Path) -> None:
    """UsageError if `path` is in no folder that is there: told before the work whose result goes to it."""
    if not path.parent.is_dir():
        raise UsageError(f"{path}: cannot be written: there is no folder {path.parent}")


def replace_file(path: Path, content: str | bytes) -> None:
    """Make `content` that of `path` (a text as UTF-8), whole or not at all. What prevents it is a UsageError."""
    try:
        target = Path(os.path.realpath(path))  # write through a link rather than in its place
        draft = target.with_name(f".proctorch-{secrets.token_hex(8)}.tmp")
        if target.is_dir():
            raise UsageError(f"{path}: is a folder")
        try:
            with draft.open("xb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be written: {cause(error)}") from error


def cause(error: OSError | ValueError) -> str:
    """Why a file could not be used, without its name. The ValueError is a path with a null byte."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
