"""Files: reports on disk, and the files through which a step talks to its runner."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from prjury.errors import PublishError
from prjury.report.model import Report
from prjury.scratch import NEW_FILE_MODE, replace_file

#: GitHub drops a step's whole summary when it is larger, in bytes.
_SUMMARY_LIMIT = 1024 * 1024
_CUT = "\n*The summary ends here because of GitHub's limit; the report files hold everything.*\n"


def append_outputs(path: Path, values: Mapping[str, str]) -> None:
    entries = []
    for name, value in values.items():
        # Between two random words that are not in it, no value can end early and set another one.
        end = f"prjury_{secrets.token_hex(16)}"
        while end in value:
            end = f"prjury_{secrets.token_hex(16)}"
        entries.append(f"{name}<<{end}\n{value}\n{end}\n")
    append(path, encode("".join(entries)))


def list_outputs(report: Report) -> dict[str, str]:
    backports = {backport.branch: backport.verdict for backport in report.backports}
    return {
        "verdict": report.verdict.status.value,
        "gate": report.gate.value,
        "headline": " ".join(report.headline.split()),
        "backports": json.dumps(backports),
        "llm-usd": "" if report.cost.usd is None else f"{report.cost.usd:.6f}",
    }


def add_markdown(path: Path, text: str, limit: int = _SUMMARY_LIMIT) -> None:
    """Add Markdown to the file of the step's summary; if it is too long, up to its first fold."""
    content = text.rstrip("\n") + "\n"
    room = limit - (path.stat().st_size if path.is_file() else 0)
    if len(encode(content)) > room:
        content = content.partition("\n<details")[0].partition("\n```")[0] + _CUT
    append(path, encode(content if len(encode(content)) <= room else ""))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Puts a file in place as a whole; a link, a device or a pipe of that name is left alone."""
    data = encode(content) if isinstance(content, str) else content
    try:
        is_special = path.is_symlink() or (path.exists() and not path.is_file())
        if not is_special:
            replace_file(path, data)
    except OSError as error:
        raise unwritable(path, error) from error
    if is_special:
        why = "it is a link, a directory or a device, not a regular file"
        raise unwritable(path, OSError(None, why))


def append(path: Path, content: bytes) -> None:
    """Adds to a file in one write, without following a link of that name."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags, NEW_FILE_MODE), "ab") as file:
            file.write(content)
    except OSError as error:
        raise unwritable(path, error) from error


def encode(text: str) -> bytes:
    r"""The text as UTF-8; what cannot be encoded is shown as ``\udcff``."""
    return text.encode("utf-8", "backslashreplace")


def unwritable(path: Path, error: OSError) -> PublishError:
    return PublishError(
        f"Could not write {str(path)!r}: {error.strerror or error}",
        remedy="Name a file in a directory that exists and can be written to",
        reason="unwritable",
    )
