"""What the commands share of the terminal: its streams, its environment, its formats."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from prjury.errors import UsageError

if TYPE_CHECKING:
    from prjury.ports import Progress, Publisher
    from prjury.report.model import Report


class Format(StrEnum):
    """How a report can be written."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"
    FEEDBACK = "feedback"


@dataclass(frozen=True)
class Terminal:
    """The operator's terminal and environment."""

    verbose: bool = False
    color: bool = True
    environ: Mapping[str, str] = field(default_factory=dict)

    def progress(self) -> Progress:
        """A live display on a terminal, plain lines elsewhere; always on standard error."""
        from prjury.publishers.progress import LiveProgress, PlainProgress  # noqa: PLC0415 - rich

        live = sys.stderr.isatty() and self.color
        return LiveProgress(sys.stderr) if live else PlainProgress(sys.stderr)

    def publisher(self, kind: Format) -> Publisher:
        """Writes a report in this format to standard output."""
        from prjury.publishers.terminal import TerminalPublisher  # noqa: PLC0415 - rich

        if kind is Format.TERMINAL:
            return TerminalPublisher(sys.stdout, color=self.color and sys.stdout.isatty())
        return StandardOutput(kind)


@dataclass(frozen=True)
class StandardOutput:
    """Writes a report in a machine's format to standard output, as UTF-8 whatever the locale."""

    format: Format
    name: str = "standard output"

    def publish(self, report: Report) -> None:
        """Writes it, with a line end at the end."""
        write_bytes(rendered(report, self.format))


def write_bytes(text: str) -> None:
    """Text to standard output as UTF-8, whatever the locale says."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.write(b"" if text.endswith("\n") else b"\n")
    sys.stdout.buffer.flush()


def rendered(report: Report, kind: Format) -> str:
    """The report in a format that can be written to a file."""
    import json  # noqa: PLC0415 - these imports cost 0.2 s that `--help` must not pay
    from io import StringIO  # noqa: PLC0415

    from prjury.publishers.terminal import TerminalPublisher  # noqa: PLC0415
    from prjury.report import codec, render  # noqa: PLC0415

    if kind is Format.JSON:
        return json.dumps(codec.report_to_json(report), indent=2, ensure_ascii=False)
    if kind is Format.TERMINAL:
        stream = StringIO()
        TerminalPublisher(stream, color=False, width=100).publish(report)
        return stream.getvalue()
    writers = {
        Format.MARKDOWN: render.to_summary,
        Format.HTML: render.to_html,
        Format.FEEDBACK: render.to_feedback,
    }
    return writers[kind](report)


def parse_output(text: str) -> tuple[Format, Path]:
    """``FORMAT=FILE`` taken apart.

    Raises:
        UsageError: for another form or an unknown format.
    """
    name, equals, file = text.partition("=")
    if not equals or not file or name not in set(Format):
        raise UsageError(
            f"--output {text!r} is not FORMAT=FILE",
            remedy=f"Formats are {', '.join(Format)}; for example --output html=report.html",
        )
    return Format(name), Path(file)
