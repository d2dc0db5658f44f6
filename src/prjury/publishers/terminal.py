"""The report in a terminal: the decision first, then the table, then what has to be fixed.

Every word from outside is cleaned by the template's texts. Symbols become plain ASCII where the
stream cannot show anything else; colours are left out where nobody looks at a screen.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from prjury.errors import PublishError
from prjury.report.backports import Backports
from prjury.report.model import Backport, Report
from prjury.report.redact import Redact
from prjury.report.render import Renderer
from prjury.report.sanitise import BY_SHAPE, log_line, remove_commands
from prjury.report.text import STYLED
from prjury.report.wording import backport_line, reasons_beyond
from prjury.snapshot.model import printable

_WIDTH = 100
_LONGEST_LINE = 600
_MOST_CONFLICTS = 20
_ASCII = str.maketrans(
    {
        "✅": "[ok]",
        "❌": "[fail]",
        "⚠": "[!]",
        "⚪": "[?]",
        "⏭": "[skip]",
        "💡": "[hint]",
        "\ufe0f": "",
        "·": "|",
        "–": "-",
        "−": "-",
        "…": "...",
        "’": "'",
    }
)
#: The terminal's codes for the styles that the template names.
_CODES = {
    "pass": "1;32",
    "fail": "1;31",
    "error": "1;33",
    "abstain": "1;90",
    "bold": "1",
    "dim": "2",
    "log": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
}
#: Columns of a wrapped line's further lines; those of the line itself for other styles.
_HANGING = {"number": 5, "row": 3}
#: A path stays whole, and so does the decision.
_UNWRAPPED = {"pass", "fail", "error", "abstain", "log"}


def takes_symbols(stream: TextIO) -> bool:
    """Return true if a stream can show more than ASCII, or has no encoding."""
    try:
        "✅–".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def printable_line(text: str, stream: TextIO, redact: Redact = BY_SHAPE) -> str:
    """A text as one line that the stream can show and that controls nothing."""
    line = log_line(text, _LONGEST_LINE, redact)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = line if takes_symbols(stream) else line.translate(_ASCII)
    return shown.encode(encoding, "backslashreplace").decode(encoding)


@dataclass(frozen=True)
class TerminalPublisher:
    """Prints the report.

    Args:
        stream: where to; its encoding decides what can be shown.
        color: whether to use colours and bold type.
        width: columns; None for the terminal's own, or 100 where there is none.
        redact: takes secrets out of every text.
    """

    stream: TextIO
    color: bool
    width: int | None = None
    redact: Redact = BY_SHAPE
    name: str = "terminal"

    def publish(self, report: Report) -> None:
        """Prints the report as a whole.

        Raises:
            PublishError: when the stream cannot be written to.
        """
        text = self._render(report)
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        try:
            self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self.stream.flush()
        except (OSError, ValueError) as error:
            raise PublishError(
                f"The report could not be printed: {error}",
                why="The program that reads our output has ended, or the disk is full",
                remedy="Write it to a file with --output markdown=FILE",
            ) from error

    def _render(self, report: Report) -> str:
        text = Renderer(self.redact).terminal(report)
        text = text if takes_symbols(self.stream) else text.translate(_ASCII)
        is_screen = self.stream.isatty()
        width = self.width or (shutil.get_terminal_size().columns if is_screen else _WIDTH)
        lines = (line for raw in text.split("\n") for line in self._layout(raw, width))
        return "\n".join(lines)

    def _layout(self, raw: str, width: int) -> Iterator[str]:
        match = STYLED.match(raw)
        style = match[1] if match else ""
        words = raw[match.end() :] if match else raw
        if style == "number":
            number, _, rest = words.partition(".")
            words = f"{number:>3}.{rest}"
        hanging = _HANGING.get(style, len(words) - len(words.lstrip()))
        wrapped = textwrap.wrap(
            words,
            width if style not in _UNWRAPPED else len(words) + 1,
            subsequent_indent=" " * hanging,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
        for line in wrapped or [""]:
            # What was in a line's middle comes to stand at the start of the next.
            harmless = remove_commands(line.rstrip())
            code = _CODES.get(style, "") if self.color else ""
            yield f"\x1b[{code}m{harmless}\x1b[0m" if code and harmless else harmless


def backport_lines(found: Backports, stream: TextIO, redact: Redact = BY_SHAPE) -> Iterator[str]:
    """Yield the lines of backport verdicts, with only what the stream can show."""
    for line in _backports(found):
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        yield indent + printable_line(words, stream, redact) if words else ""


def _backports(found: Backports) -> Iterator[str]:
    yield found.headline
    yield from (f"Note: {note}" for note in found.notes)
    for backport in found.backports:
        yield ""
        yield from _branch(backport)


def _branch(backport: Backport) -> Iterator[str]:
    yield backport_line(backport)
    yield from (f"   {reason}" for reason in reasons_beyond(backport))
    for conflict in backport.conflicts[:_MOST_CONFLICTS]:
        yield f"   conflict in {printable(conflict.path)}: {conflict.reason}"
    if len(backport.conflicts) > _MOST_CONFLICTS:
        yield f"   … and {len(backport.conflicts) - _MOST_CONFLICTS} more conflicts"
    yield from (f"   needs first: {commit}" for commit in backport.prerequisites)
    yield from (f"   $ {command}" for command in backport.commands)
