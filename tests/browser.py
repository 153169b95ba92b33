"""Chromium, without a window."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Browser:
    """A Chromium, and the folder for what it keeps."""

    command: str
    folder: Path

    def __call__(self, page: Path, *options: str) -> str:
        """What it prints, having loaded `page` and done what `options` ask for."""
        quiet = "--disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update"
        command = [
            self.command,
            "--headless",
            "--no-sandbox",
            *quiet.split(),
            "--disable-sync",
            f"--user-data-dir={self.folder}/profile",
        ]
        done = subprocess.run(
            [*command, *options, page.as_uri()],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            encoding="utf-8",
        )
        return done.stdout
