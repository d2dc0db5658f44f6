"""One job of a workflow: what it was given, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from prjury.action.dependencies import Wiring
from prjury.action.directories import JobDirectories
from prjury.action.inputs import Inputs
from prjury.action.log import Log
from prjury.action.outcome import write_outcome
from prjury.errors import ExitCode, PublishError
from prjury.report.model import Report


class JobResult(NamedTuple):
    """How a job ends: its exit code, and what is shown as its error."""

    code: ExitCode
    complaint: str | None = None


@dataclass(frozen=True)
class Job:
    """What a job works with."""

    inputs: Inputs
    environ: Mapping[str, str]
    log: Log
    wiring: Wiring
    places: JobDirectories

    def nothing(self, reason: str, *, is_open: bool = False) -> JobResult:
        """Ends where nothing is judged, and says so.

        Args:
            is_open: whether that opens the gate: where the base holds the head already.
        """
        self.log.say(reason)
        gate = "success" if is_open else "action_required"
        write_outcome(self.places, "abstain", gate, reason, self.log.redact)
        return JobResult(ExitCode.OPEN)

    def tell_error(self, complaint: str) -> None:
        """Says in the summary and the outputs that there is no verdict."""
        with suppress(PublishError):
            write_outcome(self.places, "error", "action_required", complaint, self.log.redact)


def job_result(report: Report, complaints: list[str]) -> JobResult:
    """The gate is the exit code; what could not be published is one where the gate is open."""
    code = report.gate.exit_code
    code = ExitCode.NOT_PUBLISHED if complaints and code is ExitCode.OPEN else code
    return JobResult(code, " ".join(complaints) or None)
