"""The picture at the head of a sheet."""

from dataclasses import dataclass
from pathlib import Path

from proctorch.errors import UsageError

_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Logo:
    """A PNG or an SVG picture."""

    content: bytes
    #: `.png` or `.svg`.
    suffix: str

    @property
    def media_type(self) -> str:
        return "image/png" if self.suffix == ".png" else "image/svg+xml"


def read_logo(path: Path | None) -> Logo | None:
    """The picture, or None if there is no path. UsageError if it cannot be read, or is neither a PNG nor an SVG."""
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    if content.startswith(_PNG):
        return Logo(content, ".png")
    if b"<svg" in content[:4096].lower():
        return Logo(content, ".svg")
    raise UsageError(f"{path}: is neither a PNG nor an SVG picture; a logo is one of these")
