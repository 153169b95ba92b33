"""A sheet as one HTML page that asks nothing of the network and prints as well as it reads."""

import base64
from collections.abc import Mapping
from pathlib import Path

from proctorch import templating
from proctorch.sheet.logo import read_logo
from proctorch.sheet.sheet import Sheet
from proctorch.sheet.values import values


def render(sheet: Sheet, filled: Mapping[str, str] | None = None, *, templates: Path | None = None) -> str:
    """The page. `filled` is what stands in the candidate's fields already, by their names."""
    logo = read_logo(sheet.settings.logo)
    inline = f"data:{logo.media_type};base64,{base64.b64encode(logo.content).decode()}" if logo else ""
    return templating.render(
        "sheet.html.j2", values(sheet) | {"logo": inline, "filled": filled or {}}, folder=templates
    )
