"""Directories of this user's own, for what outlives a run."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path


def make_private_directory(environ: Mapping[str, str], variable: str, in_home: str) -> Path | None:
    """Return ``prjury`` below the directory of a variable, or of HOME, closed to others.

    None where it cannot be made, or is not this user's. A relative path does not count.
    """
    parent = Path(environ.get(variable, ""))
    if not parent.is_absolute():
        parent = Path(environ.get("HOME", ""), in_home)
    place = parent / "prjury"
    try:
        return place if place.is_absolute() and _make_private_if_ours(place) else None
    except (OSError, ValueError):
        return None  # nobody may write there, or it is no path at all


def _make_private_if_ours(place: Path) -> bool:
    """Make the directory if need be, and close it to others; return true if it is ours."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = place.stat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    if status.st_mode & 0o077:
        place.chmod(0o700)
    return os.access(place, os.W_OK | os.X_OK)
