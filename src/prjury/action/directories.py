"""Where a step of a job leaves its files."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from prjury.errors import PublishError


@dataclass(frozen=True)
class JobDirectories:
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
        """The path of a report file; its directory exists afterwards.

        Raises:
            PublishError: when the directory cannot be made.
        """
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
