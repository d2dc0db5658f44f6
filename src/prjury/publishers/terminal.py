"""The report in a terminal: the decision first, then the table, then what has to be fixed.

Every word from outside is cleaned by the template's texts. Symbols become plain ASCII where the
stream cannot show anything else; colours are left out where nobody looks at a screen.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from typing import TextIO

from msgspec import Struct

from prjury.errors import PublishError
from prjury.report.backports import Backports
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.render import Renderer, render_template
from prjury.report.sanitise import BY_SHAPE, log_line, remove_commands
from prjury.report.text import STYLED, TerminalText
from prjury.report.view import backports_page

_WIDTH = 100
_LONGEST_LINE = 600
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


def printable_line(
    text: str, stream: TextIO, redact: Redact = BY_SHAPE, longest: int = _LONGEST_LINE
) -> str:
    """A text as one line that the stream can show and that controls nothing."""
    return _encodable(log_line(text, longest, redact), stream)


class TerminalPublisher(Struct, frozen=True):
    """Prints the report."""

    stream: TextIO
    color: bool
    #: Columns; None for the terminal's own, or 100 where there is none.
    width: int | None = None
    redact: Redact = BY_SHAPE
    name: str = "terminal"

    def publish(self, report: Report) -> None:
        """Prints the report as a whole."""
        text = self._render(report)
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError) as error:
            raise PublishError(
                f"The report could not be printed: {error}",
                why="The program that reads our output has ended, or the disk is full",
                remedy="Write it to a file with --output markdown=FILE",
            ) from error

    def _render(self, report: Report) -> str:
        text = _encodable(Renderer(self.redact).terminal(report), self.stream)
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


def backport_lines(found: Backports, stream: TextIO, redact: Redact = BY_SHAPE) -> list[str]:
    """Return the lines of backport verdicts, with only what the stream can show."""
    page = backports_page(found)
    text = render_template("backports.txt.j2", redact, TerminalText, page=page).rstrip("\n")
    return _encodable(text, stream).split("\n")


def _encodable(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = text if takes_symbols(stream) else text.translate(_ASCII)
    return shown.encode(encoding, "backslashreplace").decode(encoding)
