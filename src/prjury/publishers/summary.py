"""The job summary: Markdown that the runner shows on the run's page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prjury.publishers.files import append, encoded
from prjury.report.model import Report

#: GitHub drops a step's whole summary when it is larger, in bytes.
SUMMARY_LIMIT = 1024 * 1024
_CUT = "\n*The summary ends here because of GitHub's limit; the report files hold everything.*\n"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True)
class JobSummary:
    """Adds a report to the file behind ``GITHUB_STEP_SUMMARY``.

    Attributes:
        render: the summary's Markdown.
    """

    path: Path
    render: Callable[[Report], str]
    limit: int = SUMMARY_LIMIT
    name: str = "summary"

    def publish(self, report: Report) -> str | None:
        """Adds the report; what does not fit is left out at a place that breaks no block."""
        add_markdown(self.path, self.render(report), self.limit)
        return None


def add_markdown(path: Path, text: str, limit: int = SUMMARY_LIMIT) -> None:
    """Adds Markdown to a summary that may have so many bytes in all."""
    used = path.stat().st_size if path.is_file() else 0
    append(path, encoded(fitted(text.rstrip("\n") + "\n", limit - used)))


def fitted(text: str, room: int) -> str:
    """The text, or as much from its start as fits into so many bytes of UTF-8, with a closing note.

    It is cut only where neither a fence nor a ``<details>`` is open.
    """
    if len(encoded(text)) <= room:
        return text
    room -= len(encoded(_CUT))
    end = max((at for at, size in _safe_cuts(text) if size <= room), default=0)
    return text[:end] + _CUT if end else ""


def _safe_cuts(text: str) -> Iterator[tuple[int, int]]:
    """Ends of lines outside of every block: as a position, and as the bytes up to there."""
    at = size = depth = 0
    fence = ""
    for line in _LINE.findall(text):
        at += len(line)
        size += len(encoded(line))
        fence = _fence_after(line, fence)
        if not fence:
            depth += line.count("<details") - line.count("</details>")
            if depth <= 0:
                yield at, size


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after the line: its characters, or nothing."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not match[2].strip()
    return "" if closes else fence
