"""A finding: a hit on a line that the pull request adds, with what would put it right."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import re2

from prjury.code.parser import Range
from prjury.judges.patterns.match import ActiveRule, FileScan, Hit
from prjury.judges.patterns.suppressions import Directive
from prjury.jury.judgment import Check, Location, Severity
from prjury.report.judge_facts import RuleFacts
from prjury.rulepacks.applicability import Basis, at_most, compose_finding_text, narrow_head_to_code
from prjury.rulepacks.rule import Fix, PatternRule
from prjury.snapshot.model import printable, visible

_MAX_EVIDENCE = 300

#: A piece of a line, in characters, and what takes its place.
Edit = tuple[int, int, str]
_APPLICABILITY = ("machine-applicable", "maybe-incorrect", "has-placeholders")


@dataclass(frozen=True)
class PatternFinding:
    """One rule on one added line, ``text``, with the ``code`` in it and what makes it right.

    ``established`` in the module makes a warning of an error, ``repeated`` on a line a hint.
    ``fixed`` is the whole line and how sure that is; a renamed file has two fingerprints.
    """

    active: ActiveRule
    severity: Severity
    path: str
    line: int
    text: str
    repair: Repair | None = None
    fixed: tuple[str, str] | None = None
    code: str = ""
    replacement: str = ""
    basis: Basis = field(default_factory=Basis)
    established: bool = False
    repeated: bool = False
    fingerprints: tuple[str, ...] = ()
    silencer: Directive | None = None
    silenced_here: bool = False

    @property
    def rule(self) -> PatternRule:
        return self.active.rule

    @property
    def name(self) -> str:
        return self.active.name

    @property
    def check(self) -> Check:
        """The finding as the court sees it."""
        return Check(
            name=self.name,
            passed=False,
            message=self.message,
            location=Location(printable(self.path), self.line),
            severity=self.severity,
            evidence=printable(self.text).strip()[:_MAX_EVIDENCE],
            fix=self.fixed[0] if self.fixed else self._replacement,
        )

    @property
    def message(self) -> str:
        """What is wrong, why it is wrong here, and what to write instead."""
        fixed = self.repair.repair_single_piece(self.text, self.code) if self.repair else None
        message = self.rule.message
        if new := self._own_replacement:
            use = new if " " in new else f"`{new}`"
            message, fixed = f"{message.partition('; ')[0]}; use {use}", None
        text = compose_finding_text(
            message, self.code, fixed, self.basis, established=self.established
        )
        return f"{text} A hint only: the line before has it too." if self.repeated else text

    @property
    def _own_replacement(self) -> str | None:
        return self.replacement or self.rule.replacement_of(self.code or self.text)

    @property
    def _replacement(self) -> str | None:
        return self._own_replacement or self.rule.replacement

    @property
    def summary(self) -> str:
        """What is wrong, in one clause."""
        return narrow_head_to_code(self.rule.message, self.code)

    @property
    def upcoming(self) -> Check:
        """What is said of a use that is right for the declared version: no finding."""
        later = f"{self.summary}; {self.basis.declaration}, for which it is right"
        return replace(self.check, passed=True, message=later, fix=None)

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
        facts = RuleFacts(
            self.name,
            printable(self.path),
            self.line,
            self.rule.why,
            tuple(self.rule.references),
            f"prjury-ignore[{self.name}]",
            self.fixed[1] if self.fixed else None,
        )
        return {
            **facts.to_metadata(),
            "fingerprint": self.fingerprints[0] if self.fingerprints else None,
            "replacement": self._replacement,
            "confidence": self.rule.confidence,
            "declared": self.basis.declaration if self.basis.declared else None,
        }


@dataclass(frozen=True)
class Repair:
    """What a fix changes in a line, and how sure that is."""

    edits: tuple[Edit, ...]
    applicability: str

    def line(self, text: str) -> tuple[str, str]:
        """The whole line as it would be right, and how sure that is."""
        for start, end, words in sorted(self.edits, reverse=True):
            text = text[:start] + words + text[end:]
        return text, self.applicability

    def repair_single_piece(self, text: str, piece: str) -> str | None:
        """Return the repaired piece of the line; None unless it stands there just once."""
        if not piece or text.count(piece) != 1 or piece.strip() == text.strip():
            return None
        before, after = text.split(piece)
        fixed = self.line(text)[0]
        if not (fixed.startswith(before) and fixed.endswith(after)):
            return None
        return fixed[len(before) : len(fixed) - len(after)]

    def join(self, other: Repair) -> Repair | None:
        """Return both as one; None where they change the same characters in different ways."""
        edits = sorted({*self.edits, *other.edits})
        if any(one[1] > two[0] for one, two in pairwise(edits)):
            return None
        worst = max(self.applicability, other.applicability, key=_APPLICABILITY.index)
        return Repair(tuple(edits), worst)


def fuse_repairs(findings: Sequence[PatternFinding]) -> Iterator[PatternFinding]:
    """Yield the findings of one file; those in one line with one fix for all of them."""
    by_line: dict[int, Repair | None] = {}
    for one in findings:
        if one.repair:
            other = by_line.get(one.line, one.repair)
            by_line[one.line] = one.repair.join(other) if other else None
    for one in findings:
        repair = by_line.get(one.line) or one.repair
        yield replace(one, fixed=repair.line(one.text)) if one.repair and repair else one


def find_code(scan: FileScan, hit: Hit, line: int, text: str) -> str:
    """Return the code of the line in which the pattern stands; empty if only the line is known."""
    if not hit.spans or line != hit.lines[0]:
        return ""
    spans = _columns(scan, hit, line, text)
    return text[spans[0][0] : spans[-1][1]] if spans else ""


def propose_repair(scan: FileScan, hit: Hit, line: int, line_text: str) -> Repair | None:
    """Return what the rule's first fix that fits changes in a line that the parser saw so."""
    if not hit.active.repairs or line != hit.lines[0]:
        return None
    spans = _columns(scan, hit, line, line_text)
    if hit.rewritten is not None:
        return _rewritten(hit, spans)
    for fix in hit.active.rule.fix:
        if edits := tuple(_edits(fix, line_text, spans)):
            return Repair(edits, fix.applicability)
    return None


def _rewritten(hit: Hit, spans: list[Range]) -> Repair | None:
    rewritten = hit.rewritten or ""
    if len(spans) != 1 or "\n" in rewritten:
        return None
    [(start, end)], [(first, last)] = spans, hit.spans
    whole = last - first == end - start
    return Repair(((start, end, rewritten),), "maybe-incorrect") if whole else None


def _columns(scan: FileScan, hit: Hit, line: int, text: str) -> list[Range]:
    if not hit.spans:
        return [(0, len(text))]
    begin = scan.source.starts[bisect_left(scan.source.numbers, line)]
    if scan.source.text[begin : begin + len(text)] != text:
        return []
    return [(start - begin, min(end - begin, len(text))) for start, end in hit.spans]


def _edits(fix: Fix, text: str, spans: list[Range]) -> Iterator[Edit]:
    pattern = re2.compile(fix.find)
    for start, end in spans:
        if match := pattern.search(text[start:end]):
            yield start + match.start(), start + match.end(), match.expand(fix.replace)
