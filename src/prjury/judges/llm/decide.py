"""From findings to a judgment. Pure; the program counts, the model only answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.judges.llm.evidence import Finding, Lines
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import NumericalScore
from prjury.report.hidden import shown

NO_OPINION = "no_opinion"

#: Digits to which a share is rounded before it meets the threshold.
_DIGITS = 12
_LONGEST_REASONING = 2_000


@dataclass(frozen=True)
class Opinion:
    """One complete reply with its verified evidence."""

    findings: Mapping[str, Finding]
    lines: Lines

    @property
    def counted(self) -> dict[str, Finding]:
        """The criteria that count for or against the change."""
        return {name: finding for name, finding in self.findings.items() if finding.counted}

    @property
    def score(self) -> float | None:
        """The share of passed criteria among those that count; None where none does."""
        counted = self.counted.values()
        passed = sum(finding.verdict == "pass" for finding in counted)
        return round(passed / len(counted), _DIGITS) if counted else None

    @property
    def has_quorum(self) -> bool:
        """Whether at least half of the criteria count.

        One pass beside three answers that quote what is not there is no approval.
        """
        return len(self.counted) * 2 >= len(self.findings)


def decide(opinion: Opinion, threshold: float) -> Judgment:
    """PASS from the threshold on, FAIL below it, ABSTAIN without a quorum to pass."""
    metadata = _metadata(opinion)
    score = opinion.score
    if score is None or (score >= threshold and not opinion.has_quorum):
        silent = [name for name in opinion.findings if name not in opinion.counted]
        reason = f"too few criteria could be judged; no founded answer on {', '.join(silent)}"
        return Judgment.abstained(reason, NO_OPINION, metadata=metadata)
    passed = score >= threshold
    severity: Severity = "warning" if passed else "error"
    checks = [
        _check(name, finding, opinion.lines, severity) for name, finding in opinion.counted.items()
    ]
    confidences = [finding.answer.confidence for finding in opinion.counted.values()]
    return Judgment(
        Status.PASS if passed else Status.FAIL,
        _sentence(opinion, threshold),
        NumericalScore(score),
        confidence=round(math.fsum(confidences) / len(confidences), _DIGITS),
        checks=tuple(checks),
        metadata=metadata,
    )


def median(opinions: Sequence[Opinion]) -> Opinion:
    """The opinion with the upper median score among those that have one; else the first."""
    scored = [opinion for opinion in opinions if opinion.score is not None]
    ranked = sorted(scored, key=lambda opinion: opinion.score or 0.0)
    return ranked[len(ranked) // 2] if ranked else opinions[0]


def majority(opinions: Sequence[Opinion]) -> dict[str, str]:
    """What most opinions say of each criterion; ``split`` where no verdict has more than half."""
    result: dict[str, str] = {}
    for name in opinions[0].findings:
        votes = Counter(opinion.findings[name].verdict for opinion in opinions)
        verdict, count = votes.most_common(1)[0]
        result[name] = verdict if count * 2 > len(opinions) else "split"
    return result


def prose(text: str) -> str:
    """What the model wrote, on one line, with hidden characters visible and cut to a length."""
    told = shown(" ".join(text.split()))
    more = len(told) - _LONGEST_REASONING
    return f"{told[:_LONGEST_REASONING]}… (+{more} chars)" if more > 0 else told


def _check(name: str, finding: Finding, lines: Lines, severity: Severity) -> Check:
    location = evidence = None
    if finding.quotes:
        first = finding.quotes[0]
        # A line of the old side is nowhere in the head, so only the file is named.
        new = first.side == "new"
        location = Location(
            lines.path_of(first), first.line if new else None, first.end_line if new else None
        )
        evidence = shown(first.quote.strip())
    passed = finding.verdict == "pass"
    return Check(name, passed, prose(finding.answer.reasoning), location, severity, evidence)


def _metadata(opinion: Opinion) -> dict[str, Any]:
    criteria = {
        name: {
            "verdict": finding.verdict,
            "said": finding.answer.verdict,
            "confidence": finding.answer.confidence,
            "reasoning": prose(finding.answer.reasoning),
            "dropped": finding.dropped,
        }
        for name, finding in opinion.findings.items()
    }
    verified = sum(len(finding.quotes) for finding in opinion.findings.values())
    dropped = sum(finding.dropped for finding in opinion.findings.values())
    return {"criteria": criteria, "evidence": {"verified": verified, "dropped": dropped}}


def _sentence(opinion: Opinion, threshold: float) -> str:
    counted = opinion.counted
    passed = sum(finding.verdict == "pass" for finding in counted.values())
    told = f"{passed} of {len(counted)} criteria passed, the threshold is {threshold:.2f}"
    failed = [name for name, finding in counted.items() if finding.verdict == "fail"]
    silent = [name for name in opinion.findings if name not in counted]
    parts = [told]
    if failed:
        parts.append(f"failed: {', '.join(failed)}")
    if silent:
        parts.append(f"not judged: {', '.join(silent)}")
    return "; ".join(parts)
