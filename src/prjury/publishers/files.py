"""Files: reports on disk, and the files through which a step talks to its runner."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from prjury.errors import PublishError
from prjury.report.model import Report

_NEW_FILE_MODE = 0o644


@dataclass(frozen=True)
class ReportFile:
    """Writes a report in one format to one file."""

    path: Path
    render: Callable[[Report], str]
    format: str = "report"

    @property
    def name(self) -> str:
        """The format and the file."""
        return f"{self.format} file {self.path}"

    def publish(self, report: Report) -> str | None:
        """Writes the file; the result is its path."""
        write_atomically(self.path, self.render(report))
        return str(self.path)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Puts a file in place as a whole: a reader sees the old content or the new one.

    Only regular files are replaced: a link, a device or a pipe of that name is left alone.
    """
    data = encode(content) if isinstance(content, str) else content
    try:
        _refuse_special(path)
        _replace(path, data)
    except OSError as error:
        raise unwritable(path, error) from error


def append(path: Path, content: bytes) -> None:
    """Adds to a file in one write, without following a link of that name."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags, _NEW_FILE_MODE), "ab") as file:
            file.write(content)
    except OSError as error:
        raise unwritable(path, error) from error


def encode(text: str) -> bytes:
    r"""The text as UTF-8; what cannot be encoded is shown as ``\udcff``."""
    return text.encode("utf-8", "backslashreplace")


def unwritable(path: Path, error: OSError) -> PublishError:
    """The error of a file that cannot be written."""
    return PublishError(
        f"Could not write {str(path)!r}: {error.strerror or error}",
        remedy="Name a file in a directory that exists and can be written to",
        reason="unwritable",
    )


def _refuse_special(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise OSError(None, "it is a link, a directory or a device, not a regular file")


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), _NEW_FILE_MODE)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
