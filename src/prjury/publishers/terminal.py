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
from prjury.report.backports import Backports
from prjury.report.finding_view import View
from prjury.report.model import Backport, Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, log_line, without_commands
from prjury.report.view import page
from prjury.report.wording import backport_line, counted, reasons_beyond
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
_MOST_FILES = 5
_MOST_REASONS = 10
_WHOLE = "the change as a whole"
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
_COLORS = {"pass": "green", "fail": "red", "error": "yellow", "abstain": "bright_black"}


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
        view, unicode = page(report, self.redact), takes_symbols(self.stream)
        printed = _Page(view, self.redact, unicode=unicode, screen=self._screen)
        console.print(printed.headline(), soft_wrap=True)
        for part in printed.parts():
            console.print(part, soft_wrap=str(part).startswith("Full log: "))  # a path stays whole
        # Where rich wraps a line, what was in its middle comes to stand at the start of the next.
        return "\n".join(without_commands(line.rstrip()) for line in buffer.getvalue().split("\n"))

    @property
    def _screen(self) -> bool:
        return self.stream.isatty()


@dataclass(frozen=True)
class _Page:
    """The parts of the printed report, top to bottom."""

    view: View
    redact: Redact
    unicode: bool
    screen: bool

    def headline(self) -> Text:
        return self._text(self.view.headline, f"bold {_COLORS[self.view.icon]}")

    def parts(self) -> Iterator[RenderableType]:
        view = self.view
        yield from self._reasons()
        yield from (self._text(f"Note: {note}", "yellow") for note in view.notes)
        yield from self._next_steps()
        yield ""
        yield self._table()
        for log in view.logs.paths if view.logs else ():
            yield self._text(f"Full log: {log}", "dim")
        for title, groups, count in (
            ("Must fix", view.must_fix, view.must_fix_count),
            ("Should look at", view.should_look, view.should_look_count),
        ):
            yield from self._findings(title, groups, count)
        yield from self._about()
        yield from self._not_checked()
        yield ""
        if view.other_backports:
            yield self._text(f"Backport, not asked for: {_branches(view.other_backports)}", "dim")
        yield self._text(" · ".join(view.footer).replace("`", ""), "dim")

    def _reasons(self) -> Iterator[Text]:
        view = self.view
        reasons = (f"{each.who}: {each.words}" if each.who else each.words for each in view.why)
        yield self._text(f"Why: {'; '.join(reasons)}")
        if view.asked_backports:
            yield self._text(f"Backport: {_branches(view.asked_backports)}")
        yield self._text(f"Judged: {view.judged}")

    def _next_steps(self) -> Iterator[RenderableType]:
        """What opens the gate; lines to paste stand below."""
        for step in self.view.next:
            snippet = step.snippet
            where = f" In {snippet.where}:" if snippet and snippet.where else ""
            yield self._text(f"Next: {step.words}{where}".replace("`", ""), "bold")
            for line in snippet.text.splitlines() if snippet else ():
                words = line.lstrip()
                yield self._indented(words, len(line) - len(words) + 6)
        if self.view.gate_page:
            yield self._text(f"Why is the gate closed? {self.view.gate_page}", "dim")

    def _table(self) -> Table:
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
        for row in self.view.rows:
            tier = f"{row.tier} (advisory)" if row.advisory else row.tier
            cells = (tier, row.judge, f"{row.symbol} {row.words}", row.time)
            table.add_row(*map(self._text, cells))
        return table

    def _findings(self, title: str, groups: Sequence[View], count: int) -> Iterator[RenderableType]:
        if groups:
            yield ""
            yield self._text(f"{title} ({count})", "bold")
        for number, group in enumerate(groups[:_MOST_FINDINGS], start=1):
            yield from self._group(number, group)
        if left := sum(group.count for group in groups[_MOST_FINDINGS:]):
            yield self._text(f"  … and {left} more")

    def _group(self, number: int, group: View) -> Iterator[RenderableType]:
        check, several = group.check, group.count > 1
        place = f"{check.place.label} " if check.place and not several else ""
        words = f": {check.message}" if check.message else ""
        count = f" ({group.count} places)" if several else ""
        yield self._numbered(number, f"{place}{check.name}{words}{count}")
        if not several or group.diff:
            yield from self._details(check)
        for at in group.places[:_MOST_PLACES]:
            words = f": {at.message}" if at.message else ""
            yield self._indented(f"{at.place.label if at.place else _WHOLE}{words}", 5)
            yield from self._details(at)
        if group.count > _MOST_PLACES and several:
            yield self._indented(f"… and {counted(group.count - _MOST_PLACES, 'more place')}", 5)

    def _details(self, place: View) -> Iterator[RenderableType]:
        """The evidence and the fix; where both are one line, what goes and what comes."""
        if place.diff:
            yield self._indented(f"- {place.diff.old}", 5, "red")
            yield self._indented(f"+ {place.diff.new}", 5, "green")
            return
        lines = [line for line in (place.evidence or "").splitlines() if line.strip()]
        for line in lines[:_EVIDENCE_LINES]:
            yield self._indented(f"| {line}", 5, "dim")
        if len(lines) > _EVIDENCE_LINES:
            yield self._indented(f"… (+{len(lines) - _EVIDENCE_LINES} lines)", 5, "dim")
        if place.fix:
            yield self._indented(f"To fix: {place.fix.strip()}", 5)

    def _about(self) -> Iterator[RenderableType]:
        rules = self.view.about
        if rules:
            yield ""
            yield self._text("About the rules", "bold")
            yield self._indented(self.view.how_to, 2)
        for rule in rules[:_MOST_FINDINGS]:
            yield self._indented(f"{rule.rule}: {rule.words}".replace("`", ""), 2, "dim")
        if len(rules) > _MOST_FINDINGS:
            yield self._text(f"  … and {len(rules) - _MOST_FINDINGS} more rules")

    def _not_checked(self) -> Iterator[RenderableType]:
        reasons = self.view.not_checked
        if not reasons:
            return
        yield ""
        yield self._text(f"Not checked ({counted(self.view.not_checked_count, 'file')})", "bold")
        for entry in reasons[:_MOST_REASONS]:
            more = f" and {entry.count - _MOST_FILES:,} more" if entry.count > _MOST_FILES else ""
            yield self._indented(f"{entry.reason}: {', '.join(entry.paths[:_MOST_FILES])}{more}", 2)
        if len(reasons) > _MOST_REASONS:
            yield self._text(f"  … and {len(reasons) - _MOST_REASONS} more reasons")

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


def _branches(backports: Sequence[View]) -> str:
    return "; ".join(f"{each.branch} {each.words}" for each in backports)


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
