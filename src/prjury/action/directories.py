"""Where a step of a job leaves its files: reports, and the logs of builds that did not pass."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from prjury.errors import PublishError
from prjury.jury.judgment import Judgment
from prjury.publishers.files import write_atomically
from prjury.report.judge_facts import RunFacts
from prjury.report.sanitise import Redact, redact_text
from prjury.sandbox.contained import LOGS

#: Of a longer log the end is kept.
_LARGEST = 20 * 1024**2


class JobDirectories(Struct, frozen=True):
    """The runner's files, as far as there are any, and a directory for the report files."""

    reports: Path
    summary: Path | None = None
    outputs: Path | None = None

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> JobDirectories:
        """The places that the environment names."""
        temporary = environ.get("RUNNER_TEMP") or tempfile.gettempdir()
        return cls(
            Path(temporary) / "prjury-report",
            _path(environ.get("GITHUB_STEP_SUMMARY")),
            _path(environ.get("GITHUB_OUTPUT")),
        )

    def report_file(self, name: str) -> Path:
        """The path of a report file; its directory exists afterwards."""
        try:
            self.reports.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as error:
            raise PublishError(
                f"Could not make the directory {self.reports}: {error.strerror}",
                reason="unwritable",
            ) from error
        return self.reports / name


def _path(value: str | None) -> Path | None:
    return Path(value) if value else None


def keep_logs(judgments: Iterable[Judgment], places: JobDirectories, redact: Redact) -> list[Path]:
    """Copies the logs without secrets to ``build-1.log`` and so on; the copies."""
    remaining = []
    for number, content in enumerate(_contents(judgments), 1):
        path = places.report_file(f"build-{number}.log")
        write_atomically(path, redact_text(content.decode("utf-8", "replace"), redact))
        remaining.append(path)
    return remaining


def _contents(judgments: Iterable[Judgment]) -> Iterator[bytes]:
    for judgment in judgments:
        for log in map(Path, RunFacts.of(judgment).logs):
            if log.parent.name.startswith(LOGS) and (content := _end_of(log)):
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
