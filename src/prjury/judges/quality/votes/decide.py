"""From an opinion to a judgment. Pure; the program counts, the model only answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from prjury.judges.quality.query.reply import Quote
from prjury.judges.quality.votes.evidence import Lines, VerifiedAnswer
from prjury.judges.quality.votes.opinion import DIGITS, Opinion
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import NumericalScore
from prjury.report.invisible_chars import show_invisible

NO_OPINION = "no_opinion"

_LONGEST_REASONING = 2_000


@dataclass(frozen=True)
class PassMark:
    """What a judge needs for a pass.

    Attributes:
        threshold: the share, 0..1, of the criteria that should pass.
        must: the criteria of which none may fail, whatever the share.
    """

    threshold: float
    must: frozenset[str] = frozenset()


def decide(opinion: Opinion, mark: PassMark) -> Judgment:
    """Return FAIL for a failed must criterion or a share below the threshold, else PASS.

    ABSTAIN where nothing counts, and instead of a PASS without a quorum or in doubt. The score is
    the share; after a failed must criterion it is 0, so that no average of scores passes.
    """
    should = [name for name in opinion.findings if name not in mark.must]
    share, broken = opinion.share(should), _broken(opinion, mark)
    metadata = {**_metadata(opinion), "share": share, "must_failed": broken}
    enough = share is None or share >= mark.threshold
    passed = enough and not broken
    if not opinion.counted or (passed and _why_not_pass(opinion)):
        reason = _why_not_pass(opinion) or _too_few(opinion)
        return Judgment.abstained(reason, NO_OPINION, metadata=metadata)
    confidences = [finding.confidence for finding in opinion.counted.values()]
    blamed = {*broken, *(() if enough else should)}
    return Judgment(
        Status.PASS if passed else Status.FAIL,
        _sentence(opinion, mark),
        NumericalScore(0.0 if broken else 1.0 if share is None else share),
        confidence=round(math.fsum(confidences) / len(confidences), DIGITS),
        checks=tuple(_checks(opinion, blamed)),
        metadata=metadata,
    )


def _broken(opinion: Opinion, mark: PassMark) -> list[str]:
    """The must criteria that fail, with evidence that is there."""
    return [n for n, it in opinion.counted.items() if n in mark.must and it.verdict == "fail"]


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
    return tuple(check for check in _checks(opinion, ()) if not check.passed)


def prose(text: str) -> str:
    """What the model wrote, on one line, with hidden characters visible and cut to a length."""
    told = show_invisible(" ".join(text.split()))
    more = len(told) - _LONGEST_REASONING
    return f"{told[:_LONGEST_REASONING]}… (+{more} chars)" if more > 0 else told


def _checks(opinion: Opinion, blamed: Collection[str]) -> Iterator[Check]:
    """A check for each criterion that passes, and for each place where one fails.

    Args:
        blamed: the criteria for which the judge fails; what fails besides is a warning.
    """
    for name in opinion.counted:
        severity: Severity = "error" if name in blamed else "warning"
        for finding in opinion.told(name):
            # Only one quote stands for a pass: nobody has to go to all of them.
            quotes = finding.quotes if finding.verdict == "fail" else finding.quotes[:1]
            for quote in dict.fromkeys(quotes or (None,)):
                yield _check(name, finding, quote, opinion.lines, severity)


def _check(
    name: str, finding: VerifiedAnswer, quote: Quote | None, lines: Lines, severity: Severity
) -> Check:
    location = _location(quote, lines) if quote else None
    evidence = show_invisible(quote.quote.strip()) if quote else None
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
            "dropped": sum(chunk[name].dropped for chunk in opinion.chunks),
        }
        for name, finding in opinion.findings.items()
    }
    evidence = {
        "verified": opinion.verified,
        "relocated": opinion.relocated,
        "dropped": opinion.dropped,
    }
    return {"criteria": criteria, "evidence": evidence}


def _sentence(opinion: Opinion, mark: PassMark) -> str:
    counted = opinion.counted
    failed = [name for name, finding in counted.items() if finding.verdict == "fail"]
    silent = [name for name in opinion.findings if name not in counted]
    told = f"{len(counted) - len(failed)} of {len(counted)} criteria passed"
    parts = [f"{told}{_limit(opinion, mark)}"]
    if failed:
        parts.append(f"failed: {', '.join(failed)}")
    if silent:
        parts.append(f"not judged: {', '.join(silent)}")
    return "; ".join(parts)


def _limit(opinion: Opinion, mark: PassMark) -> str:
    """Which rule the criteria were measured by."""
    if broken := _broken(opinion, mark):
        return f", but {' and '.join(broken)} must pass"
    limit = f", the threshold is {mark.threshold:.2f}"
    should = [name for name in opinion.counted if name not in mark.must]
    share = opinion.share(should)
    if share in {None, 1.0} or len(should) == len(opinion.counted):
        return limit
    return f"; {' and '.join(should)} reach {share:.2f}{limit}"
