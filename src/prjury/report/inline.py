"""Findings as the remarks of a review: at the lines that the change adds, the rest in its body.

Every remark begins with a hidden marker that names its finding, so that a later run knows what has
been said. Fingerprints do not hold line numbers and survive a rebase.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

from prjury.jury.judgment import Location
from prjury.report.annotations import is_sendable
from prjury.report.finding_view import FindingView, View
from prjury.report.findings import Weight
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, block, clean, inline_code, plain, prose
from prjury.report.view import page
from prjury.report.wording import counted
from prjury.snapshot.model import Line, PullRequest

#: More would bury a change in remarks.
MOST_INLINE = 30

#: Bytes of a body that lists findings; GitHub takes 65,536 characters with all that is around it.
_LONGEST_LIST = 50_000
#: Fingerprints of listed findings that are remembered: 17 characters each.
_MOST_REMEMBERED = 500
_LONGEST_SUGGESTION = 2_000
_MARKER = re.compile(r"<!-- prjury:v1((?: [a-z]+=[^\s>]*)*) ?-->")
_AGAIN = "The suggestion above puts this right as well."
_BACKTICKS = re.compile("`+")
_WORDS = {
    Weight.MUST_FIX: "Must fix",
    Weight.SHOULD_LOOK: "Should look at",
    Weight.NIT: "Hint",
}

#: The lines that a pull request adds: path as git stores it, number at the head, line.
AddedLines = Mapping[str, Mapping[int, Line]]


#: Words at added lines of one file, as GitHub takes them.
Remark: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Remarks:
    """A review: what it says as a whole, and what at single lines."""

    body: str
    inline: tuple[Remark, ...] = ()


def added_lines(pull: PullRequest) -> AddedLines:
    """The added lines as the snapshot has them."""
    return {
        file.path: {line.new: line for line in file.added_lines if line.new}
        for file in pull.files
        if file.hunks
    }


def markers(body: str) -> dict[str, str] | None:
    """The values in the hidden markers at the start of a text; None where there are none."""
    values: dict[str, str] | None = None
    for line in body.split("\n"):
        match = _MARKER.fullmatch(line.rstrip())
        if not match:
            break
        values = (values or {}) | dict(pair.split("=", 1) for pair in match[1].split())
    return values


@dataclass(frozen=True)
class Reviewer:
    """Turns a report into the remarks of one review."""

    report: Report
    marker: str
    added: AddedLines
    redact: Redact = BY_SHAPE
    id: str = "default"

    @cached_property
    def _view(self) -> View:
        return page(self.report, self.redact)

    def remarks(self, reported: Collection[str] = (), most: int = MOST_INLINE) -> Remarks | None:
        """Return what is new, heaviest first; None where everything has been said."""
        findings: Sequence[FindingView] = self._view.findings
        new = [
            finding
            for finding in findings
            if not (finding.dismissed or finding.suppressed_by)
            and finding.check.fingerprint not in reported
        ]
        if not new:
            return None
        placed = list(islice(self._place(new), most))
        at_lines = {id(finding) for finding, _ in placed}
        rest = [finding for finding in new if id(finding) not in at_lines]
        body = self._body(len(placed), rest, len(findings) - len(new))
        return Remarks(body, tuple(self._inline(placed)))

    def _inline(self, placed: Sequence[tuple[FindingView, Location]]) -> Iterator[Remark]:
        """The remarks; what one suggestion puts right for several is offered once."""
        offered: set[tuple[Location, str | None]] = set()
        for finding, span in placed:
            fix = (span, self._suggestion(finding, span))
            yield self._remark(finding, span, again=bool(fix[1]) and fix in offered)
            offered.add(fix)

    def _place(self, new: Sequence[FindingView]) -> Iterator[tuple[FindingView, Location]]:
        for finding in new:
            place = finding.place
            if place and place.line and is_sendable(place.path):
                span = _narrow_to_added(place, self.added.get(place.path, {}))
                if span:
                    yield finding, span

    def _remark(self, finding: FindingView, span: Location, *, again: bool = False) -> Remark:
        line = span.line or 1
        last = span.end_line or line
        fingerprint = finding.check.fingerprint
        parts = [
            f"<!-- prjury:v1 finding={fingerprint} seat={finding.seat} id={self.id} -->",
            self._sentence(finding),
            "",
            *([_AGAIN] if again else self._remedy(finding, span)),
        ]
        body = "\n".join(parts).rstrip("\n") + "\n"
        remark: Remark = {"path": span.path, "line": last, "side": "RIGHT", "body": body}
        return remark if last == line else {**remark, "start_line": line, "start_side": "RIGHT"}

    def _sentence(self, finding: FindingView) -> str:
        check = finding.check
        message = f": {prose(check.message, 1_000, self.redact)}" if check.message.strip() else ""
        name = plain(check.name, 200, self.redact)
        return f"{_WORDS[finding.weight]}: **{name}**{message}"

    def _remedy(self, finding: FindingView, span: Location) -> Iterator[str]:
        suggestion = self._suggestion(finding, span)
        if suggestion is not None:
            yield suggestion
        elif finding.check.fix and "\n" in finding.check.fix.strip("\n"):
            yield block(finding.check.fix, 2_000, self.redact)
        elif finding.check.fix:
            yield f"To fix: {prose(finding.check.fix, 600, self.redact)}"

    def _suggestion(self, finding: FindingView, span: Location) -> str | None:
        """A block that a click applies; only where the fix is the line as it would be right.

        A fix with anything in it that would have to be cleaned or hidden is no suggestion, nor is
        one in a file with carriage returns, which the block could not hold.
        """
        fix, line = finding.check.fix, self.added.get(span.path, {}).get(span.line or 0)
        if not fix or line is None or span.end_line not in {None, span.line}:
            return None
        usable = finding.replaces_line and line.end != "\r\n" and "\n" not in fix
        if not usable or len(fix) > _LONGEST_SUGGESTION or clean(fix, None, self.redact) != fix:
            return None
        fence = "`" * max(3, *(len(run) + 1 for run in ["", *_BACKTICKS.findall(fix)]))
        return f"{fence}suggestion\n{fix}\n{fence}"

    def _body(self, inline: int, rest: Sequence[FindingView], old: int) -> str:
        lines = [self.marker]
        if rest:
            prints = dict.fromkeys(finding.check.fingerprint for finding in rest)
            remembered = ",".join(islice(prints, _MOST_REMEMBERED))
            lines.append(f"<!-- prjury:v1 told={remembered} id={self.id} -->")
        lines += [f"**{plain(self._view.headline, 240, self.redact)}**", ""]
        if inline:
            lines += [f"{counted(inline, 'comment')} on lines that this change adds.", ""]
        if rest:
            where = " not on an added line" if inline else ""
            lines += [f"{counted(len(rest), 'finding')}{where}:", ""]
            lines += [*self._list(rest), ""]
        if old:
            # Reported before, suppressed or dismissed; so the numbers add up to the report's.
            lines.append(f"Not repeated here: {counted(old, 'more finding')}.")
        return "\n".join(lines).rstrip("\n") + "\n"

    def _list(self, rest: Sequence[FindingView]) -> Iterator[str]:
        room = _LONGEST_LIST
        for number, finding in enumerate(rest):
            entry = self._entry(finding)
            room -= len(entry.encode())
            if room < 0:
                yield f"* … and {len(rest) - number:,} more in the report"
                return
            yield entry

    def _entry(self, finding: FindingView) -> str:
        check = finding.check
        place = ""
        if check.location:
            shown = inline_code(str(check.location), 200, self.redact)
            place = f" [{shown}]({finding.url})" if finding.url else f" {shown}"
        message = f": {prose(check.message, 300, self.redact)}" if check.message.strip() else ""
        return f"*{place} **{plain(check.name, 200, self.redact)}**{message}"


def _narrow_to_added(place: Location, added: Mapping[int, Line]) -> Location | None:
    """The place itself where all of it is added, else its first added line."""
    first = place.line or 1
    last = min(place.end_line or first, first + len(added))
    if place.end_line in {None, last} and all(line in added for line in range(first, last + 1)):
        return place
    start = next((line for line in sorted(added) if first <= line <= (place.end_line or first)), 0)
    return Location(place.path, start) if start else None
