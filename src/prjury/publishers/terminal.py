"""The report in a terminal: the decision first, then the table, then what has to be fixed.

Every word from outside is cleaned and handed to rich as text, never as markup. Symbols and lines
become plain ASCII where the stream cannot show anything else; lines and colours are left out where
nobody looks at a screen.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from prjury.errors import PublishError
from prjury.jury.judgment import Status
from prjury.report.backports import Backports
from prjury.report.findings import (
    Finding,
    Group,
    Weight,
    evidence_beyond,
    findings,
    grouped,
    how_to,
    remedy,
    rules_of,
    seat_outcomes,
)
from prjury.report.headline import why
from prjury.report.judge_facts import RunFacts
from prjury.report.model import Backport, Report
from prjury.report.redact import Redact
from prjury.report.rows import TableRow, rows
from prjury.report.sanitise import BY_SHAPE, log_line, without_commands
from prjury.report.wording import (
    backport_line,
    backport_words,
    counted,
    footer,
    judged_share,
    reasons_beyond,
)
from prjury.snapshot.model import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_WIDTH = 100
_LONGEST_LINE = 600
_EVIDENCE_LINES = 10
_MOST_FINDINGS = 20
_MOST_PLACES = 10
_MOST_FILES = 10
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
_COLORS = {
    Status.PASS: "green",
    Status.FAIL: "red",
    Status.ERROR: "yellow",
    Status.ABSTAIN: "bright_black",
}


def takes_symbols(stream: TextIO) -> bool:
    """Whether a stream can show more than ASCII; one without an encoding takes everything."""
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
        text = self._rendered(report)
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

    def _rendered(self, report: Report) -> str:
        # Imported here because rich takes longer to load than many a run without it.
        from rich.console import Console  # noqa: PLC0415

        buffer = io.StringIO()
        console = Console(
            file=buffer,
            width=self.width or (None if self._screen else _WIDTH),
            force_terminal=self.color,
            no_color=not self.color,
            color_system="standard" if self.color else None,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
        page = _Page(report, self.redact, unicode=takes_symbols(self.stream), screen=self._screen)
        console.print(page.headline(), soft_wrap=True)
        for part in page.parts():
            console.print(part)
        # Where rich wraps a line, what was in its middle comes to stand at the start of the next.
        return "\n".join(without_commands(line.rstrip()) for line in buffer.getvalue().split("\n"))

    @property
    def _screen(self) -> bool:
        return self.stream.isatty()


@dataclass(frozen=True)
class _Page:
    """The parts of the printed report, top to bottom."""

    report: Report
    redact: Redact
    unicode: bool
    screen: bool

    def headline(self) -> Text:
        color = _COLORS[self.report.verdict.status]
        return self._text(self.report.headline, f"bold {color}")

    def parts(self) -> Iterator[RenderableType]:
        report = self.report
        yield from self._reasons()
        yield from (self._text(f"Note: {note}", "yellow") for note in report.notes)
        yield ""
        yield self._table(rows(report))
        for voice in seat_outcomes(report.verdict):
            for log in RunFacts.of(voice.judgment).logs:
                yield self._text(f"Full log: {log}", "dim")
        yield from self._findings()
        yield from self._about()
        yield from self._not_checked()
        yield ""
        yield self._text(" · ".join(footer(report)).replace("`", ""), "dim")

    def _reasons(self) -> Iterator[Text]:
        pairs = why(self.report.pull, self.report.verdict)
        said = "; ".join(f"{who}: {words}" if who else words for who, words in pairs)
        yield self._text(f"Why: {said}")
        if self.report.backports:
            branches = [f"{b.branch} {backport_words(b)}" for b in self.report.backports]
            yield self._text(f"Backport: {'; '.join(branches)}")
        yield self._text(f"Judged: {judged_share(self.report.coverage)}")

    def _table(self, every: Sequence[TableRow]) -> Table:
        from rich import box  # noqa: PLC0415 - see above
        from rich.table import Table  # noqa: PLC0415 - see above

        table = Table(
            box=box.SIMPLE if self.unicode and self.screen else None,
            pad_edge=False,
            show_edge=False,
            header_style="bold",
        )
        for title in ("Tier", "Judge", "Result"):
            table.add_column(title, overflow="fold")
        table.add_column("Time", justify="right", no_wrap=True)
        for row in every:
            tier = f"{row.tier} (advisory)" if row.advisory else row.tier
            cells = (tier, row.judge, f"{row.symbol} {row.words}", row.time)
            table.add_row(*map(self._text, cells))
        return table

    def _findings(self) -> Iterator[RenderableType]:
        found = findings(self.report.verdict)
        blockers = [finding for finding in found if finding.weight is Weight.MUST_FIX]
        others = [finding for finding in found if finding.weight is not Weight.MUST_FIX]
        for title, group in (("Must fix", blockers), ("Should look at", others)):
            if group:
                yield ""
                yield self._text(f"{title} ({len(group)})", "bold")
            entries = grouped(group)
            for number, entry in enumerate(entries[:_MOST_FINDINGS], start=1):
                yield from self._entry(number, entry)
            if left := sum(entry.count for entry in entries[_MOST_FINDINGS:]):
                yield self._text(f"  … and {left} more")

    def _entry(self, number: int, group: Group) -> Iterator[RenderableType]:
        check, several = group.first.check, group.count > 1
        place = f"{check.location} " if check.location and not several else ""
        words = f": {check.message}" if check.message.strip() else ""
        count = f" ({group.count} places)" if several else ""
        yield self._numbered(number, f"{place}{check.name}{words}{count}")
        for finding in group.findings[:_MOST_PLACES]:
            if several:
                yield self._indented(str(finding.check.location or "the change as a whole"), 5)
            yield from self._details(finding)
        if group.count > _MOST_PLACES:
            yield self._indented(f"… and {counted(group.count - _MOST_PLACES, 'more place')}", 5)

    def _details(self, finding: Finding) -> Iterator[RenderableType]:
        check = finding.check
        lines = [line for line in (evidence_beyond(check) or "").splitlines() if line.strip()]
        for line in lines[:_EVIDENCE_LINES]:
            yield self._indented(f"| {line}", 5, "dim")
        if len(lines) > _EVIDENCE_LINES:
            yield self._indented(f"… (+{len(lines) - _EVIDENCE_LINES} lines)", 5, "dim")
        if finding.weight is Weight.MUST_FIX:
            reported = remedy(self.report.pull, finding)
            yield self._indented(f"What would make it pass: {reported.strip()}", 5)

    def _about(self) -> Iterator[RenderableType]:
        rules = rules_of(findings(self.report.verdict))
        if rules:
            yield ""
            yield self._text("About the rules", "bold")
            yield self._indented(how_to(rules), 2)
        for rule in rules[:_MOST_FINDINGS]:
            yield self._indented(f"{rule.rule}: {rule.words}".replace("`", ""), 2, "dim")
        if len(rules) > _MOST_FINDINGS:
            yield self._text(f"  … and {len(rules) - _MOST_FINDINGS} more rules")

    def _not_checked(self) -> Iterator[RenderableType]:
        entries = self.report.coverage.not_checked
        if not entries:
            return
        yield ""
        yield self._text(f"Not checked ({counted(len(entries), 'file')})", "bold")
        for entry in entries[:_MOST_FILES]:
            yield self._indented(f"{entry.path}: {entry.reason}", 2)
        if len(entries) > _MOST_FILES:
            yield self._text(f"  … and {len(entries) - _MOST_FILES} more")

    def _numbered(self, number: int, words: str) -> Table:
        """An entry of a list, whose further lines stand below its first word."""
        from rich.table import Table  # noqa: PLC0415 - see above

        entry = Table.grid()
        entry.add_column(width=5, no_wrap=True)
        entry.add_column(overflow="fold")
        entry.add_row(f"{number:3}. ", self._text(words))
        return entry

    def _indented(self, words: str, columns: int, style: str = "") -> Any:  # noqa: ANN401 - rich's Padding
        from rich.padding import Padding  # noqa: PLC0415 - see above

        return Padding(self._text(words, style), (0, 0, 0, columns))

    def _text(self, words: str, style: str = "") -> Text:
        from rich.text import Text  # noqa: PLC0415 - see above

        line = log_line(words, _LONGEST_LINE, self.redact)
        return Text(line if self.unicode else line.translate(_ASCII), style=style)


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
