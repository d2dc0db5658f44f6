"""Several seats, one judgment: who agrees, who dissents, and whose words stand for all. Pure.

A seat is one model, or one of several runs of it. A seat that has no answer never counts as a pass:
more than half of the seats must have voted, and more of them must pass than fail.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prjury.judges.quality.evidence import DIGITS, Claim, Lines, Opinion
from prjury.judges.quality.question import ReportedFinding
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import Ballot
from prjury.report.invisible_chars import show_invisible
from prjury.report.judge_facts import SeatFacts

NO_OPINION = "no_opinion"

_LONGEST_REASONING = 2_000


@dataclass(frozen=True)
class PassMark:
    """What a judge needs for a pass.

    Attributes:
        threshold: the share, 0..1, of the criteria that should pass.
        must: the criteria of which none may fail, whatever the share.
        quorum: the share of all criteria that have to count at least; never less than half.
    """

    threshold: float
    must: frozenset[str] = frozenset()
    quorum: float = 0.5


def decide(opinion: Opinion, mark: PassMark) -> Judgment:
    """Return FAIL for a failed must criterion or a share below the threshold, else PASS.

    ABSTAIN where nothing counts, and instead of a PASS without a quorum or in doubt. The score is
    the share; after a failed must criterion it is 0, so that no average of scores passes.
    """
    should = [name for name in opinion.answers if name not in mark.must]
    share, broken = opinion.share(should), _find_broken(opinion, mark)
    metadata = {**_metadata(opinion), "share": share, "must_failed": broken}
    enough = share is None or share >= mark.threshold
    passed = enough and not broken
    if not opinion.counted or (passed and _find_doubt(opinion, mark)):
        reason = _find_doubt(opinion, mark) or _describe_silence(opinion)
        return Judgment.abstained(reason, NO_OPINION, checks=failures(opinion), metadata=metadata)
    confidences = [answer.confidence for answer in opinion.counted.values()]
    blamed = {*broken, *(() if enough else should)}
    return Judgment(
        Status.PASS if passed else Status.FAIL,
        _sentence(opinion, mark),
        NumericalScore(0.0 if broken else 1.0 if share is None else share),
        confidence=round(math.fsum(confidences) / len(confidences), DIGITS),
        checks=tuple(_checks(opinion, blamed)),
        metadata=metadata,
    )


def _find_broken(opinion: Opinion, mark: PassMark) -> list[str]:
    return [n for n, it in opinion.counted.items() if n in mark.must and it.verdict == "fail"]


def _find_doubt(opinion: Opinion, mark: PassMark) -> str | None:
    asked = len(opinion.answers)
    if not opinion.has_quorum or len(opinion.counted) < mark.quorum * asked:
        return _describe_silence(opinion)
    if not opinion.doubts:
        return None
    names = ", ".join(opinion.doubts)
    return f"said to fail, without an error that stands in the change and was confirmed: {names}"


def _describe_silence(opinion: Opinion) -> str:
    silent = [name for name in opinion.answers if name not in opinion.counted]
    if not silent:
        return "too few parts of the change could be judged"
    return f"too few criteria could be judged; no founded answer on {', '.join(silent)}"


def failures(opinion: Opinion) -> tuple[Check, ...]:
    """Return what fails in a part of the whole, where the rest is not known."""
    return tuple(check for check in _checks(opinion, ()) if not check.passed)


def prose(text: str) -> str:
    """Return text of a model on one line, with hidden characters visible and cut to a length."""
    message = show_invisible(" ".join(text.split()))
    more = len(message) - _LONGEST_REASONING
    return f"{message[:_LONGEST_REASONING]}… (+{more} chars)" if more > 0 else message


def _checks(opinion: Opinion, blamed: Collection[str]) -> Iterator[Check]:
    """A check for each criterion that passes, and one for each claim against the change.

    Args:
        blamed: the criteria for which the judge fails; what fails besides is a warning.
    """
    for name, answer in opinion.answers.items():
        errors = answer.errors
        if answer.verdict == "pass":
            yield Check(name, passed=True, message=prose(answer.reasoning))
        for claim in answer.claims:
            severity: Severity = "error" if name in blamed and claim in errors else "warning"
            yield _check(name, claim, opinion.lines, severity)


_NOT_CONFIRMED = {
    "refuted": "a second question did not confirm it",
    "unclear": "a second question could not confirm it",
}


def _check(name: str, claim: Claim, lines: Lines, severity: Severity) -> Check:
    finding = claim.finding
    message = prose(finding.claim)
    if lines.path_of(finding) and not lines.changes(finding):
        message = f"{message} (the line itself does not change)"
    if claim.second in _NOT_CONFIRMED:
        message = f"{message} ({_NOT_CONFIRMED[claim.second]})"
    return Check(
        name,
        passed=False,
        message=message,
        location=_location(finding, lines),
        severity=severity,
        evidence=show_invisible(finding.quote.strip()),
        fix=prose(finding.suggestion) or None,
    )


def _location(finding: ReportedFinding, lines: Lines) -> Location | None:
    path = lines.path_of(finding)
    if path is None:
        return None
    # A line of the old side is nowhere in the head, so only the file is named.
    if finding.side == "old":
        return Location(path)
    return Location(path, finding.line, finding.end_line)


def _metadata(opinion: Opinion) -> dict[str, Any]:
    criteria = {
        name: {
            "verdict": answer.verdict,
            "said": answer.said,
            "confidence": answer.confidence,
            "reasoning": prose(answer.reasoning),
            "dropped": answer.dropped,
        }
        for name, answer in opinion.answers.items()
    }
    return {"criteria": criteria, "review": opinion.review}


def _sentence(opinion: Opinion, mark: PassMark) -> str:
    counted = opinion.counted
    failed = [name for name, answer in counted.items() if answer.verdict == "fail"]
    silent = [name for name in opinion.answers if name not in counted]
    message = f"{len(counted) - len(failed)} of {len(counted)} criteria passed"
    parts = [f"{message}{_limit(opinion, mark)}"]
    if failed:
        parts.append(f"failed: {', '.join(failed)}")
    if silent:
        parts.append(f"not judged: {', '.join(silent)}")
    return "; ".join(parts)


def _limit(opinion: Opinion, mark: PassMark) -> str:
    if broken := _find_broken(opinion, mark):
        return f", but {' and '.join(broken)} must pass"
    limit = f", the threshold is {mark.threshold:.2f}"
    should = [name for name in opinion.counted if name not in mark.must]
    share = opinion.share(should)
    if share in {None, 1.0} or len(should) == len(opinion.counted):
        return limit
    return f"; {' and '.join(should)} reach {share:.2f}{limit}"


_VOTES = (Status.PASS, Status.FAIL)


@dataclass(frozen=True)
class Poll:
    """The ballots of the last round.

    Attributes:
        chair: what the chair says of them, where there is one; over seats none of which voted it
            has nothing to say.
    """

    ballots: Sequence[Ballot]
    chair: Judgment | None = None

    def judgment(self) -> Judgment:
        """The seats' common judgment: that of a real seat, with the others' objections beside it.

        ABSTAIN, or ERROR if a seat crashed, where too few seats voted.
        """
        if self.chair is not None and not any(map(self._saying, _VOTES)):
            return Poll(self.ballots).judgment()
        if len(self.ballots) == 1 and self.chair is None:
            return self.ballots[0].judgment
        status = self._status()
        speaker = self._speaker(status) if status in _VOTES else self._silence()
        checks = (*speaker.checks, *self._objections(speaker))
        message = replace(speaker, reasoning=self._words(speaker), checks=checks)
        about = {"panel": self._panel(), "agreement": self._agreement(status)}
        return message.with_metadata(**about, **self._scope(speaker))

    def _status(self) -> Status | None:
        if self.chair is not None:
            return self._chairs_vote(self.chair)
        passed, failed = (len(self._saying(status)) for status in _VOTES)
        if not self._has_quorum:
            return None
        return Status.PASS if passed > failed else Status.FAIL

    def _chairs_vote(self, chair: Judgment) -> Status | None:
        passed, failed = (len(self._saying(status)) for status in _VOTES)
        if chair.status is Status.PASS and failed > passed:
            return Status.FAIL
        lacking = chair.status is Status.PASS and not self._has_quorum
        return None if lacking or chair.status not in _VOTES else chair.status

    @property
    def _has_quorum(self) -> bool:
        return sum(len(self._saying(status)) for status in _VOTES) * 2 > len(self.ballots)

    def _saying(self, status: Status | None) -> list[Judgment]:
        return [b.judgment for b in self.ballots if b.judgment.status is status]

    def _speaker(self, status: Status | None) -> Judgment:
        """Whose score is the upper median among those that say so; else the chair itself."""
        same = sorted(self._saying(status), key=_lowest_first)
        if same:
            return same[len(same) // 2]
        return self.chair or self.ballots[0].judgment

    def _silence(self) -> Judgment:
        """The first reason why there is no answer; a crash before anything else."""
        if self.chair is not None and self.chair.status not in _VOTES:
            return self.chair
        silent = [b.judgment for b in self.ballots if b.judgment.status not in _VOTES]
        crashed = [judgment for judgment in silent if judgment.status is Status.ERROR]
        return (crashed or silent)[0]

    def _words(self, speaker: Judgment) -> str:
        votes = {word: len(self._saying(status)) for word, status in _WORDS.items()}
        message = ", ".join(f"{count} {word}" for word, count in votes.items() if count)
        chair = "; the chair decided" if self.chair is not None else ""
        return f"{message} of {len(self.ballots)} seats{chair}: {speaker.reasoning}"

    def _objections(self, speaker: Judgment) -> Iterator[Check]:
        seen = {_place(check) for check in speaker.failed_checks}
        for ballot in self.ballots:
            for check in ballot.judgment.failed_checks:
                if _place(check) not in seen:
                    seen.add(_place(check))
                    message = f"{ballot.judge}: {check.message}"
                    yield replace(check, message=message, severity="warning")

    def _scope(self, speaker: Judgment) -> dict[str, Any]:
        if speaker is not self.chair:
            return {}
        said = next(b.judgment for b in self.ballots if b.judgment.status in _VOTES)
        return {"scope": said.metadata["scope"]} if "scope" in said.metadata else {}

    def _panel(self) -> list[dict[str, Any]]:
        return [_seat(ballot) for ballot in self.ballots]

    def _agreement(self, status: Status | None) -> dict[str, Any]:
        same = len(self._saying(status)) if status else 0
        return {"agree": same, "seats": len(self.ballots)}


def _lowest_first(said: Judgment) -> tuple[float, bool]:
    """By score; of equal ones those first that failed a must criterion."""
    return said.effective_score or 0.0, not said.metadata.get("must_failed")


def _place(check: Check) -> tuple[str, Location | None, str | None]:
    placed = check.location is not None and check.location.line is not None
    return check.name, check.location, None if placed else check.evidence


_WORDS = {
    "pass": Status.PASS,
    "fail": Status.FAIL,
    "without an answer": Status.ABSTAIN,
    "crashed": Status.ERROR,
}


def _seat(ballot: Ballot) -> dict[str, Any]:
    """A seat in the judgment's metadata: what it said of each criterion, and how surely."""
    said = ballot.judgment
    metadata = said.metadata
    criteria = metadata.get("criteria")
    answers = criteria if isinstance(criteria, Mapping) else {}
    facts = SeatFacts(
        ballot.judge,
        said.status.value,
        said.score.normalized if said.score is not None else None,
        {name: answer["verdict"] for name, answer in answers.items()},
        said.label or metadata.get("reason"),
        metadata.get("flipped"),
    )
    return {
        **facts.to_metadata(),
        "confidence": said.confidence,
        "reasoning": said.reasoning,
        "dropped": sum(metadata.get("review", {}).get("dropped", {}).values()),
    }
