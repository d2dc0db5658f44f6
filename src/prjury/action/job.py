"""One job of a workflow: what it was given, and how it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from prjury.action.dependencies import Dependencies
from prjury.action.directories import JobDirectories
from prjury.action.inputs import OUTPUTS, Inputs
from prjury.action.log import Log
from prjury.errors import ExitCode, PublishError, UsageError
from prjury.publishers.outputs import write_outputs
from prjury.publishers.summary import add_markdown
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import plain


def write_outcome(
    places: JobDirectories, verdict: str, gate: str, line: str, redact: Redact
) -> None:
    """Outputs and summary of a run without a report.

    Raises:
        PublishError: when the runner's files cannot be written.
    """
    if places.outputs:
        values = {
            "verdict": verdict,
            "gate": gate,
            "headline": " ".join(redact(line).split()),
            "backports": "{}",
        }
        write_outputs(places.outputs, {**dict.fromkeys(OUTPUTS, ""), **values})
    if places.summary:
        add_markdown(places.summary, f"**PR Jury:** {plain(line, None, redact)}\n")


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
    dependencies: Dependencies
    places: JobDirectories

    @property
    def no_token(self) -> UsageError:
        """What is wrong where the mode takes a token and there is none."""
        return UsageError(
            f"The mode {self.inputs.mode} takes a token",
            remedy="Give `github-token: ${{ github.token }}` to the action",
        )

    def nothing(self, reason: str, *, is_open: bool = False) -> JobResult:
        """Ends where nothing is judged, and says so.

        Args:
            is_open: whether that opens the gate: where the base holds the head already.
        """
        self.log.say(reason)
        gate = "success" if is_open else "action_required"
        write_outcome(self.places, "abstain", gate, reason, self.log.redact)
        return JobResult(ExitCode.OPEN)

    def ended(self, lines: Iterable[str], complaints: Sequence[str]) -> JobResult:
        """Say what was done; what could not be published fails the job."""
        for line in lines:
            self.log.say(line)
        code = ExitCode.NOT_PUBLISHED if complaints else ExitCode.OPEN
        return JobResult(code, " ".join(complaints) or None)

    def tell_error(self, complaint: str) -> None:
        """Says in the summary and the outputs that there is no verdict."""
        with suppress(PublishError):
            write_outcome(self.places, "error", "action_required", complaint, self.log.redact)


def job_result(report: Report, complaints: list[str]) -> JobResult:
    """The gate is the exit code; what could not be published is one where the gate is open."""
    code = report.gate.exit_code
    code = ExitCode.NOT_PUBLISHED if complaints and code is ExitCode.OPEN else code
    return JobResult(code, " ".join(complaints) or None)
