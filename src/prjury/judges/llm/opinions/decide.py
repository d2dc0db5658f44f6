"""From an opinion to a judgment. Pure; the program counts, the model only answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from prjury.judges.llm.asking.reply import Quote
from prjury.judges.llm.opinions.evidence import Finding, Lines
from prjury.judges.llm.opinions.opinion import DIGITS, Opinion
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import NumericalScore
from prjury.report.hidden import shown

NO_OPINION = "no_opinion"

_LONGEST_REASONING = 2_000


def decide(opinion: Opinion, threshold: float) -> Judgment:
    """PASS from the threshold on, FAIL below it, ABSTAIN without a quorum to pass or in doubt."""
    metadata = _metadata(opinion)
    score = opinion.score
    if score is None or (score >= threshold and _why_not_pass(opinion)):
        reason = _why_not_pass(opinion) or _too_few(opinion)
        return Judgment.abstained(reason, NO_OPINION, metadata=metadata)
    passed = score >= threshold
    confidences = [finding.confidence for finding in opinion.counted.values()]
    return Judgment(
        Status.PASS if passed else Status.FAIL,
        _sentence(opinion, threshold),
        NumericalScore(score),
        confidence=round(math.fsum(confidences) / len(confidences), DIGITS),
        checks=tuple(_checks(opinion, "warning" if passed else "error")),
        metadata=metadata,
    )


def _why_not_pass(opinion: Opinion) -> str | None:
    """Why there is no approval although what counts passes; None where there is."""
    if not opinion.has_quorum:
        return _too_few(opinion)
    if not opinion.doubts:
        return None
    names = ", ".join(opinion.doubts)
    return f"said to fail, without conviction or without evidence that is there: {names}"


def _too_few(opinion: Opinion) -> str:
    silent = [name for name in opinion.findings if name not in opinion.counted]
    if not silent:
        return "too few parts of the change could be judged"
    return f"too few criteria could be judged; no founded answer on {', '.join(silent)}"


def failures(opinion: Opinion) -> tuple[Check, ...]:
    """What fails in a part of the whole, where the rest is not known."""
    return tuple(check for check in _checks(opinion, "warning") if not check.passed)


def prose(text: str) -> str:
    """What the model wrote, on one line, with hidden characters visible and cut to a length."""
    told = shown(" ".join(text.split()))
    more = len(told) - _LONGEST_REASONING
    return f"{told[:_LONGEST_REASONING]}… (+{more} chars)" if more > 0 else told


def _checks(opinion: Opinion, severity: Severity) -> Iterator[Check]:
    for name in opinion.counted:
        for finding in opinion.told(name):
            yield _check(name, finding, opinion.lines, severity)


def _check(name: str, finding: Finding, lines: Lines, severity: Severity) -> Check:
    location = evidence = None
    if finding.quotes:
        location = _location(finding.quotes[0], lines)
        evidence = shown(finding.quotes[0].quote.strip())
    passed = finding.verdict == "pass"
    return Check(name, passed, prose(finding.reasoning), location, severity, evidence)


def _location(quote: Quote, lines: Lines) -> Location | None:
    path = lines.path_of(quote)
    if path is None:
        return None
    # A line of the old side is nowhere in the head, so only the file is named.
    return Location(path, quote.line, quote.end_line) if quote.side == "new" else Location(path)


def _metadata(opinion: Opinion) -> dict[str, Any]:
    criteria = {
        name: {
            "verdict": finding.verdict,
            "said": finding.said,
            "confidence": finding.confidence,
            "reasoning": prose(finding.reasoning),
            "dropped": sum(sheet[name].dropped for sheet in opinion.sheets),
        }
        for name, finding in opinion.findings.items()
    }
    evidence = {"verified": opinion.verified, "dropped": opinion.dropped}
    return {"criteria": criteria, "evidence": evidence}


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
