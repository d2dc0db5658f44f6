"""Findings as the remarks of a review, at the lines that the change adds.

Every remark begins with a hidden marker that names its finding, so that a later run knows what has
been said. Fingerprints do not hold line numbers and survive a rebase.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

from msgspec import Struct

from prjury.jury.judgment import Location
from prjury.report.annotations import is_sendable
from prjury.report.finding_view import FindingView
from prjury.report.findings import Weight
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, block, clean, plain, prose
from prjury.report.view import page
from prjury.snapshot.model import Line, PullRequest

#: More would bury a change in remarks.
MOST_INLINE = 30

_LONGEST_SUGGESTION = 2_000
_MARKER = re.compile(r"<!-- prjury:v1((?: [a-z]+=[^\s>]*)*) ?-->")
#: What tells our verdicts and remarks from our answers to commands.
MARKER_ID = "default"
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


def list_added_lines(pull: PullRequest) -> AddedLines:
    """The added lines as the snapshot has them."""
    return {
        file.path: {line.new: line for line in file.added_lines if line.new}
        for file in pull.files
        if file.hunks
    }


def read_markers(body: str) -> dict[str, str] | None:
    """The values in the hidden markers at the start of a text; None where there are none."""
    values: dict[str, str] | None = None
    for line in body.split("\n"):
        match = _MARKER.fullmatch(line.rstrip())
        if not match:
            break
        values = (values or {}) | dict(pair.split("=", 1) for pair in match[1].split())
    return values


class Reviewer(Struct, frozen=True):
    """Turns the findings of a report at added lines into the remarks of one review."""

    report: Report
    added: AddedLines
    redact: Redact = BY_SHAPE

    def remarks(self, earlier: Collection[str] = (), most: int = MOST_INLINE) -> list[Remark]:
        """Return the remarks of the heaviest findings, without ``earlier`` fingerprints."""
        return [
            self._write_remark(finding, span)
            for finding, span in islice(self._place_findings(), most)
            if finding.check.fingerprint not in earlier
        ]

    def _place_findings(self) -> Iterator[tuple[FindingView, Location]]:
        for finding in page(self.report, self.redact).findings:
            place, is_settled = finding.place, finding.dismissed or finding.suppressed_by
            if place and place.line and not is_settled and is_sendable(place.path):
                span = _narrow_to_added(place, self.added.get(place.path, {}))
                if span:
                    yield finding, span

    def _write_remark(self, finding: FindingView, span: Location) -> Remark:
        check = finding.check
        remedy = self._suggest(finding, span) or self._describe_fix(finding)
        message = f": {prose(check.message, 1_000, self.redact)}" if check.message.strip() else ""
        body = (
            f"<!-- prjury:v1 finding={check.fingerprint} seat={finding.seat} id={MARKER_ID} -->\n"
            f"{_WORDS[finding.weight]}: **{plain(check.name, 200, self.redact)}**{message}\n"
        )
        line = span.line or 1
        last = span.end_line or line
        more = {"start_line": line, "start_side": "RIGHT"} if last != line else {}
        body += f"\n{remedy}\n" if remedy else ""
        return {"path": span.path, "line": last, "side": "RIGHT", "body": body, **more}

    def _describe_fix(self, finding: FindingView) -> str:
        fix = finding.check.fix
        if not fix:
            return ""
        if "\n" in fix.strip("\n"):
            return block(fix, 2_000, self.redact)
        return f"To fix: {prose(fix, 600, self.redact)}"

    def _suggest(self, finding: FindingView, span: Location) -> str:
        """Write a block that a click applies; only where the fix is the line as it would be right.

        A fix with anything in it that would have to be cleaned or hidden is no suggestion, nor is
        one in a file with carriage returns, which the block could not hold.
        """
        fix, line = finding.check.fix, self.added.get(span.path, {}).get(span.line or 0)
        if not fix or line is None or span.end_line not in {None, span.line}:
            return ""
        usable = finding.replaces_line and line.end != "\r\n" and "\n" not in fix
        if not usable or len(fix) > _LONGEST_SUGGESTION or clean(fix, None, self.redact) != fix:
            return ""
        fence = "`" * max(3, *(len(run) + 1 for run in ["", *_BACKTICKS.findall(fix)]))
        return f"{fence}suggestion\n{fix}\n{fence}"


def _narrow_to_added(place: Location, added: Mapping[int, Line]) -> Location | None:
    """The place itself where all of it is added, else its first added line."""
    first = place.line or 1
    last = min(place.end_line or first, first + len(added))
    if place.end_line in {None, last} and all(line in added for line in range(first, last + 1)):
        return place
    start = next((line for line in sorted(added) if first <= line <= (place.end_line or first)), 0)
    return Location(place.path, start) if start else None
