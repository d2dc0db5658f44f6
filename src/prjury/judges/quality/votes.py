"""Several seats, one judgment: who agrees, who dissents, and whose words stand for all. Pure.

A seat is one model, or one of several runs of it. A seat that has no answer never counts as a pass:
more than half of the seats must have voted, and more of them must pass than fail.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct

from prjury.judges.quality.evidence import DIGITS, Claim, Lines, Opinion, speaks
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import Ballot
from prjury.report.judge_facts import LeftOut, ScopeFacts, SeatFacts
from prjury.report.sanitise import show_invisible

NO_OPINION = "no_opinion"
_LONGEST_REASONING = 2_000


class PassMark(Struct, frozen=True):
    """What a judge needs for a pass: shares, 0..1, of the criteria that should pass, that count."""

    threshold: float
    must: frozenset[str] = frozenset()
    quorum: float = 0.5


def decide(opinion: Opinion, mark: PassMark) -> Judgment:
    """Return FAIL for a failed must criterion or a share below the threshold, else PASS.

    ABSTAIN where nothing counts, and instead of a PASS without a quorum or in doubt. The score is
    the share; after a failed must criterion it is 0, so that no average of scores passes.
    """
    should = [name for name in opinion.answers if name not in mark.must]
    share = opinion.share(should)
    broken = [name for name in opinion.failed if name in mark.must]
    criteria = {
        name: {
            "verdict": answer.verdict,
            "said": answer.word,
            "confidence": answer.confidence,
            "reasoning": prose(answer.reasoning),
            "dropped": answer.dropped,
        }
        for name, answer in opinion.answers.items()
    }
    facts = {"review": opinion.finding_counts, "share": share, "must_failed": broken}
    metadata = {"criteria": criteria, **facts}
    enough = share is None or share >= mark.threshold
    passed = enough and not broken
    doubt = _explain_uncounted_approval(opinion, mark)
    if not opinion.counted or (passed and doubt):
        checks = list_failures(opinion)
        return Judgment.abstained(doubt, NO_OPINION, checks=checks, metadata=metadata)
    confidences = [answer.confidence for answer in opinion.counted.values()]
    blamed = {*broken, *(() if enough else should)}
    return Judgment(
        Status.PASS if passed else Status.FAIL,
        _summarise_criteria(opinion, mark, broken),
        NumericalScore(0.0 if broken else 1.0 if share is None else share),
        confidence=round(math.fsum(confidences) / len(confidences), DIGITS),
        checks=tuple(_list_checks(opinion, blamed)),
        metadata=metadata,
    )


def _explain_uncounted_approval(opinion: Opinion, mark: PassMark) -> str:
    """Return why an approval does not count; half of the criteria have to, and of the chunks."""
    least = max(mark.quorum, 0.5) * len(opinion.answers)
    chunks = sum(map(speaks, opinion.chunks))
    if chunks * 2 < len(opinion.chunks) or len(opinion.counted) < least:
        silent = [name for name in opinion.answers if name not in opinion.counted]
        if not silent:
            return "too few parts of the change could be judged"
        return f"too few criteria could be judged; no founded answer on {', '.join(silent)}"
    names = ", ".join(name for name, answer in opinion.answers.items() if answer.doubted)
    if not names:
        return ""
    return f"said to fail, without an error that stands in the change and was confirmed: {names}"


def list_failures(opinion: Opinion) -> tuple[Check, ...]:
    return tuple(check for check in _list_checks(opinion, ()) if not check.passed)


def prose(text: str) -> str:
    """Return text of a model on one line, with hidden characters visible and cut to a length."""
    message = show_invisible(" ".join(text.split()))
    more = len(message) - _LONGEST_REASONING
    return f"{message[:_LONGEST_REASONING]}… (+{more} chars)" if more > 0 else message


def _list_checks(opinion: Opinion, blamed: Collection[str]) -> Iterator[Check]:
    for name, answer in opinion.answers.items():
        errors = answer.errors
        if answer.verdict == "pass":
            yield Check(name, passed=True, message=prose(answer.reasoning))
        for claim in answer.claims:
            severity: Severity = "error" if name in blamed and claim in errors else "warning"
            yield _make_claim_check(name, claim, opinion.lines, severity)


_NOT_CONFIRMED = {
    "refuted": " (a second question did not confirm it)",
    "unclear": " (a second question could not confirm it)",
}


def _make_claim_check(name: str, claim: Claim, lines: Lines, severity: Severity) -> Check:
    finding = claim.finding
    path = lines.path_of(finding)
    same = " (the line itself does not change)" if path and not lines.changes(finding) else ""
    location = None
    if path is not None:
        # A line of the old side is nowhere in the head, so only the file is named.
        old = finding.side == "old"
        location = Location(path) if old else Location(path, finding.line, finding.end_line)
    return Check(
        name,
        passed=False,
        message=f"{prose(finding.claim)}{same}{_NOT_CONFIRMED.get(claim.second or '', '')}",
        location=location,
        severity=severity,
        evidence=show_invisible(finding.quote.strip()),
        fix=prose(finding.suggestion) or None,
    )


def _summarise_criteria(opinion: Opinion, mark: PassMark, failed_musts: list[str]) -> str:
    counted, failed = opinion.counted, opinion.failed
    silent = [name for name in opinion.answers if name not in counted]
    sentence = f"{len(counted) - len(failed)} of {len(counted)} criteria passed"
    should = [name for name in counted if name not in mark.must]
    share = opinion.share(should)
    if failed_musts:
        sentence += f", but {' and '.join(failed_musts)} must pass"
    else:
        if share not in {None, 1.0} and len(should) < len(counted):
            sentence += f"; {' and '.join(should)} reach {share:.2f}"
        sentence += f", the threshold is {mark.threshold:.2f}"
    if failed:
        sentence += f"; failed: {', '.join(failed)}"
    if silent:
        sentence += f"; not judged: {', '.join(silent)}"
    return sentence


def withhold_pass(judgment: Judgment, because: str, label: str) -> Judgment:
    """Return an approval as an abstention that has read nothing; any other judgment as it is."""
    if judgment.status is not Status.PASS:
        return judgment
    scope = ScopeFacts.parse(judgment) or ScopeFacts()
    unread = (*(LeftOut(path, f"no answer: {label}") for path in scope.read), *scope.unread)
    facts = {"reason": label, **ScopeFacts(unread=unread).to_metadata()}
    metadata = {**judgment.metadata, **facts}
    return Judgment.abstained(because, label, checks=judgment.failed_checks, metadata=metadata)


_VOTES = (Status.PASS, Status.FAIL)


def join_ballots(ballots: Sequence[Ballot], chair: Judgment | None = None) -> Judgment:
    """Return the judgment of a seat that speaks for all, with the others' objections beside it.

    ABSTAIN, or ERROR if a seat crashed, where too few seats voted; the chair decides nothing alone.
    """
    judgments = [ballot.judgment for ballot in ballots]
    votes = [judgment for judgment in judgments if judgment.status in _VOTES]
    chair = chair if votes else None
    if len(ballots) == 1 and chair is None:
        return judgments[0]
    status = _decide_status(votes, len(ballots), chair)
    # By score; of equal ones those first that failed a must criterion.
    agreeing = sorted(
        (vote for vote in votes if vote.status is status),
        key=lambda vote: (vote.effective_score or 0.0, not vote.metadata.get("must_failed")),
    )
    if agreeing:  # the upper median
        speaker = agreeing[len(agreeing) // 2]
    elif chair is not None and (status or chair.status not in _VOTES):
        scope = votes[0].metadata.get("scope")
        speaker = chair.with_metadata(scope=scope) if scope is not None else chair
    else:
        silent = [judgment for judgment in judgments if judgment.status not in _VOTES]
        crashed = [judgment for judgment in silent if judgment.status is Status.ERROR]
        speaker = (crashed or silent)[0]
    counts = Counter(judgment.status for judgment in judgments)
    words = ", ".join(f"{counts[it]} {word}" for it, word in _WORDS.items() if counts[it])
    decided = "; the chair decided" if chair is not None else ""
    return replace(
        speaker,
        reasoning=f"{words} of {len(ballots)} answers{decided}: {speaker.reasoning}",
        checks=(*speaker.checks, *_list_objections(ballots, speaker)),
    ).with_metadata(
        panel=[_describe_seat(ballot) for ballot in ballots],
        agreement={"agree": len(agreeing), "seats": len(ballots)},
    )


def _decide_status(votes: Sequence[Judgment], seats: int, chair: Judgment | None) -> Status | None:
    """Return how the seats vote, or the chair, who lifts no majority against; None for silence."""
    failed = sum(vote.status is Status.FAIL for vote in votes)
    passed = len(votes) - failed
    has_quorum = len(votes) * 2 > seats
    if chair is not None and chair.status is not Status.PASS:
        return Status.FAIL if chair.status is Status.FAIL else None
    if chair is not None and failed > passed:
        return Status.FAIL
    if not has_quorum:
        return None
    return Status.PASS if passed > failed or chair is not None else Status.FAIL


def _list_objections(ballots: Sequence[Ballot], speaker: Judgment) -> Iterator[Check]:
    seen = {_identify(check) for check in speaker.failed_checks}
    for ballot in ballots:
        for check in ballot.judgment.failed_checks:
            if _identify(check) not in seen:
                seen.add(_identify(check))
                yield replace(check, message=f"{ballot.judge}: {check.message}", severity="warning")


def _identify(check: Check) -> tuple[str, Location | None, str | None]:
    placed = check.location is not None and check.location.line is not None
    return check.name, check.location, None if placed else check.evidence


_WORDS = {
    Status.PASS: "pass",
    Status.FAIL: "fail",
    Status.ABSTAIN: "without an answer",
    Status.ERROR: "crashed",
}


def _describe_seat(ballot: Ballot) -> dict[str, Any]:
    judgment = ballot.judgment
    metadata = judgment.metadata
    criteria = metadata.get("criteria")
    answers = criteria if isinstance(criteria, Mapping) else {}
    facts = SeatFacts(
        ballot.judge,
        judgment.status.value,
        judgment.score.normalized if judgment.score is not None else None,
        {name: answer["verdict"] for name, answer in answers.items()},
        judgment.label or metadata.get("reason"),
        metadata.get("flipped"),
    )
    return {
        **facts.to_metadata(),
        "confidence": judgment.confidence,
        "reasoning": judgment.reasoning,
        "dropped": sum(metadata.get("review", {}).get("dropped", {}).values()),
    }
