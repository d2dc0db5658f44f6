"""The job summary: Markdown that the runner shows on the run's page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from prjury.publishers.files import append, encode
from prjury.report.model import Report

#: GitHub drops a step's whole summary when it is larger, in bytes.
SUMMARY_LIMIT = 1024 * 1024
_CUT = "\n*The summary ends here because of GitHub's limit; the report files hold everything.*\n"


@dataclass(frozen=True)
class JobSummary:
    """Adds a report to the file behind ``GITHUB_STEP_SUMMARY``."""

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
    append(path, encode(fit_markdown(text.rstrip("\n") + "\n", limit - used)))


def fit_markdown(text: str, room: int) -> str:
    """Return the text, or what stands before its first fold if not all fits into so many bytes."""
    if len(encode(text)) <= room:
        return text
    head = text.partition("\n<details")[0].partition("\n```")[0]
    cut = head + _CUT
    return cut if len(encode(cut)) <= room else ""
