"""A finding: a hit on a line that the pull request adds, with what would put it right."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any

import re2

from prjury.code.parser import Range
from prjury.judges.patterns.gate import at_most
from prjury.judges.patterns.match import Active, FileScan, Hit
from prjury.judges.patterns.packs.matcher import Fix
from prjury.judges.patterns.packs.rule import Rule
from prjury.judges.patterns.silencing.directive import Directive
from prjury.jury.judgment import Check, Location, Severity
from prjury.pull.model import printable, visible

_MAX_EVIDENCE = 300
_UNSURE = " (a hint only, by the versions that are declared)"
_ESTABLISHED = " (a warning only: this module uses it already)"


@dataclass(frozen=True)
class Finding:
    """One rule on one added line.

    Attributes:
        path: as git stores it.
        text: the added line, verbatim.
        established: whether the module does the same already, which made a warning of an error.
        fixed: the whole line as it would be right, and how sure that is; None without a fix.
        fingerprints: by which a baseline knows it; a renamed file's old path makes a second one.
        silencer: the comment that silences it, if one does.
        silenced_here: whether the change itself adds that comment.
    """

    active: Active
    severity: Severity
    path: str
    line: int
    text: str
    fixed: tuple[str, str] | None = None
    established: bool = False
    fingerprints: tuple[str, ...] = ()
    silencer: Directive | None = None
    silenced_here: bool = False

    @property
    def rule(self) -> Rule:
        """The rule that found it."""
        return self.active.rule

    @property
    def name(self) -> str:
        """``pack/rule``."""
        return self.active.name

    @property
    def check(self) -> Check:
        """The finding as the court sees it."""
        unsure = self.severity == "hint" and self.rule.severity != "hint"
        doubt = _ESTABLISHED if self.established else _UNSURE if unsure else ""
        return Check(
            name=self.name,
            passed=False,
            message=self.rule.message + doubt,
            location=Location(printable(self.path), self.line),
            severity=self.severity,
            evidence=printable(self.text).strip()[:_MAX_EVIDENCE],
            fix=self.fixed[0] if self.fixed else self.rule.replacement,
        )

    @property
    def silenced_by(self) -> str:
        """The kind of comment that silences it, such as ``noqa``; empty where none does."""
        return self.silencer.label if self.silencer else ""

    @property
    def place(self) -> str:
        """``pack/rule (path:line)``, and which comment silences it there."""
        by = f", by {visible(str(self.silencer))}" if self.silencer else ""
        return f"{self.name} ({printable(self.path)}:{self.line}){by}"

    @property
    def silenced(self) -> Check:
        """What the court sees of the finding where a comment silences it: never an error."""
        where = "this change" if self.silenced_here else "the code"
        most: Severity = "warning" if self.severity == "error" else "hint"
        return replace(
            self.check,
            message=f"silenced by a comment in {where} ({self.silenced_by}): {self.rule.message}",
            severity=at_most(most, self.severity),
        )

    @property
    def details(self) -> dict[str, Any]:
        """What a check has no place for; ``applicability`` is None where the fix is advice."""
        return {
            "rule": self.name,
            "path": printable(self.path),
            "line": self.line,
            "fingerprint": self.fingerprints[0] if self.fingerprints else None,
            "applicability": self.fixed[1] if self.fixed else None,
            "replacement": self.rule.replacement,
            "confidence": self.rule.confidence,
            "why": self.rule.why,
            "references": self.rule.references,
        }


def repaired(scan: FileScan, hit: Hit, line: int, text: str) -> tuple[str, str] | None:
    """The line with the rule's first fix that fits, and its applicability.

    Args:
        text: the line as it stands in the file; only if the parser saw the same is it touched.
    """
    if not hit.active.repairs or line != hit.lines[0]:
        return None
    spans = _columns(scan, hit, line, text)
    if hit.rewritten is not None:
        return _rewritten(hit, text, spans)
    for fix in hit.active.rule.fix:
        if any(re2.search(fix.find, text[start:end]) for start, end in spans):
            return _applied(fix, text, spans), fix.applicability
    return None


def _rewritten(hit: Hit, text: str, spans: list[Range]) -> tuple[str, str] | None:
    """The line with its only match replaced; a match over several lines is left to the reader."""
    rewritten = hit.rewritten or ""
    if len(spans) != 1 or "\n" in rewritten:
        return None
    [(start, end)], [(first, last)] = spans, hit.spans
    whole = last - first == end - start
    return (text[:start] + rewritten + text[end:], "maybe-incorrect") if whole else None


def _columns(scan: FileScan, hit: Hit, line: int, text: str) -> list[Range]:
    """Where in the line the matches stand; all of it for a hit that only knows its lines."""
    if not hit.spans:
        return [(0, len(text))]
    begin = scan.source.starts[bisect_left(scan.source.numbers, line)]
    if scan.source.text[begin : begin + len(text)] != text:
        return []
    return [(start - begin, min(end - begin, len(text))) for start, end in hit.spans]


def _applied(fix: Fix, text: str, spans: list[Range]) -> str:
    """From the last match to the first, so that the places before stay where they are."""
    pattern = re2.compile(fix.find)
    for start, end in reversed(spans):
        text = text[:start] + pattern.sub(fix.replace, text[start:end], 1) + text[end:]
    return text
