"""The logs of builds that did not pass, beside the report files, for a later step to upload."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from prjury.action.directories import JobDirectories
from prjury.jury.judgment import Judgment
from prjury.publishers.files import write_atomically
from prjury.report.judge_facts import RunFacts
from prjury.report.redact import Redact, redacted

#: Of a longer log the end is kept.
_LARGEST = 20 * 1024**2
#: How the shell calls the directories of its logs; no judgment names any other file to be kept.
_OURS = "prjury-logs-"


def keep_logs(judgments: Iterable[Judgment], places: JobDirectories, redact: Redact) -> list[Path]:
    """Copies the logs without secrets to ``build-1.log`` and so on; the copies.

    Raises:
        PublishError: when a copy cannot be written.
    """
    kept = []
    for number, content in enumerate(_contents(judgments), 1):
        path = places.report_file(f"build-{number}.log")
        write_atomically(path, redacted(content.decode("utf-8", "replace"), redact))
        kept.append(path)
    return kept


def _contents(judgments: Iterable[Judgment]) -> Iterator[bytes]:
    for judgment in judgments:
        for log in map(Path, RunFacts.of(judgment).logs):
            if log.parent.name.startswith(_OURS) and (content := _end_of(log)):
                yield content


def _end_of(log: Path) -> bytes:
    """The end of a regular file; nothing where it is gone, or was replaced by something else."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(log, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return b""
            file.seek(max(0, status.st_size - _LARGEST))
            return file.read(_LARGEST)
    except OSError:
        return b""
