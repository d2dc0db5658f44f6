"""What one model says of the whole: its findings on every sheet, and what they come to. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from prjury.judges.quality.votes.evidence import Findings, Lines, VerifiedAnswer

#: Digits to which a share is rounded before it meets the threshold.
DIGITS = 12


@dataclass(frozen=True)
class Opinion:
    """The findings of every sheet that was answered.

    Attributes:
        chunks: findings by criterion, one mapping a sheet, all about the same criteria.
    """

    chunks: Sequence[Findings]
    lines: Lines

    @cached_property
    def findings(self) -> dict[str, VerifiedAnswer]:
        """One finding a criterion: a failure somewhere is one, else a pass somewhere."""
        return {name: _merged([chunk[name] for chunk in self.chunks]) for name in self.chunks[0]}

    def told(self, name: str) -> Iterator[VerifiedAnswer]:
        """What is said of a criterion: each failure where it fails, else the one finding."""
        failures = [chunk[name] for chunk in self.chunks if chunk[name].verdict == "fail"]
        yield from failures or [self.findings[name]]

    @cached_property
    def counted(self) -> dict[str, VerifiedAnswer]:
        """The criteria that count for or against the change."""
        return {name: finding for name, finding in self.findings.items() if finding.counted}

    def share(self, names: Iterable[str]) -> float | None:
        """The share of passed criteria among those of these that count; None where none does."""
        verdicts = [self.findings[name].verdict for name in names if name in self.counted]
        return round(verdicts.count("pass") / len(verdicts), DIGITS) if verdicts else None

    @property
    def has_quorum(self) -> bool:
        """Whether at least half of the criteria count, and something on half of the sheets.

        One pass beside three answers that quote what is not there is no approval.
        """
        chunks = sum(map(speaks, self.chunks))
        enough = chunks * 2 >= len(self.chunks)
        return enough and len(self.counted) * 2 >= len(self.findings)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The criteria that are said to fail, without conviction or evidence that is there."""
        return tuple(
            name
            for name, finding in self.findings.items()
            if finding.said == "fail" and not finding.counted
        )

    @property
    def verified(self) -> int:
        """How many quotes are true."""
        return sum(len(finding.quotes) for finding in self._all)

    @property
    def relocated(self) -> int:
        """How many of the true quotes stand elsewhere, or otherwise, than the model said."""
        return sum(finding.relocated for finding in self._all)

    @property
    def dropped(self) -> int:
        """How many quotes did not match, and were thrown away."""
        return sum(finding.dropped for finding in self._all)

    @property
    def _all(self) -> Iterator[VerifiedAnswer]:
        return (finding for chunk in self.chunks for finding in chunk.values())


def speaks(findings: Findings) -> bool:
    """Whether anything that is said of a sheet counts."""
    return any(finding.counted for finding in findings.values())


def _merged(findings: Sequence[VerifiedAnswer]) -> VerifiedAnswer:
    """What several sheets say of one criterion.

    The surest failure; else a failure without true evidence, which leaves the question open; else
    the least sure pass, for approval of the whole is no surer than that of its weakest part.
    """
    failed = [finding for finding in findings if finding.verdict == "fail"]
    doubted = [finding for finding in findings if finding.said == "fail"]
    passed = [finding for finding in findings if finding.verdict == "pass"]
    if failed:
        return _with_all_quotes(max(failed, key=_confidence), failed)
    if doubted or not passed:
        return (doubted or list(findings))[0]
    return _with_all_quotes(min(passed, key=_confidence), passed)


def _confidence(finding: VerifiedAnswer) -> float:
    return finding.confidence


def _with_all_quotes(speaker: VerifiedAnswer, same: Sequence[VerifiedAnswer]) -> VerifiedAnswer:
    others = (quote for finding in same if finding is not speaker for quote in finding.quotes)
    return replace(speaker, quotes=(*speaker.quotes, *others))
