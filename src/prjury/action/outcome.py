"""What a job tells its runner where there is no report."""

from __future__ import annotations

from prjury.action.directories import JobDirectories
from prjury.action.inputs import OUTPUTS
from prjury.publishers.outputs import write_outputs
from prjury.publishers.summary import add_markdown
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
