"""What one model says of the whole: its findings on every sheet, and what they come to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from prjury.judges.llm.opinions.evidence import Finding, Findings, Lines

#: Digits to which a share is rounded before it meets the threshold.
DIGITS = 12


@dataclass(frozen=True)
class Opinion:
    """The findings of every sheet that was answered.

    Attributes:
        sheets: findings by criterion, one mapping a sheet, all about the same criteria.
    """

    sheets: Sequence[Findings]
    lines: Lines

    @cached_property
    def findings(self) -> dict[str, Finding]:
        """One finding a criterion: a failure somewhere is one, else a pass somewhere."""
        return {name: _merged([sheet[name] for sheet in self.sheets]) for name in self.sheets[0]}

    def told(self, name: str) -> Iterator[Finding]:
        """What is said of a criterion: each failure where it fails, else the one finding."""
        failures = [sheet[name] for sheet in self.sheets if sheet[name].verdict == "fail"]
        yield from failures or [self.findings[name]]

    @property
    def counted(self) -> dict[str, Finding]:
        """The criteria that count for or against the change."""
        return {name: finding for name, finding in self.findings.items() if finding.counted}

    @property
    def score(self) -> float | None:
        """The share of passed criteria among those that count; None where none does."""
        counted = self.counted.values()
        passed = sum(finding.verdict == "pass" for finding in counted)
        return round(passed / len(counted), DIGITS) if counted else None

    @property
    def has_quorum(self) -> bool:
        """Whether at least half of the criteria count.

        One pass beside three answers that quote what is not there is no approval.
        """
        return len(self.counted) * 2 >= len(self.findings)

    @property
    def verified(self) -> int:
        """How many quotes are true."""
        return sum(len(finding.quotes) for finding in self._all)

    @property
    def dropped(self) -> int:
        """How many quotes did not match, and were thrown away."""
        return sum(finding.dropped for finding in self._all)

    @property
    def _all(self) -> Iterator[Finding]:
        return (finding for sheet in self.sheets for finding in sheet.values())


def _merged(findings: Sequence[Finding]) -> Finding:
    """What several sheets say of one criterion.

    The surest failure, else the least sure pass: approval of the whole is no surer than that of
    its weakest part.
    """
    by_verdict = {verdict: [f for f in findings if f.verdict == verdict] for verdict in _RANKED}
    verdict = next(verdict for verdict in _RANKED if by_verdict[verdict])
    same = by_verdict[verdict]
    speaker = (max if verdict == "fail" else min)(same, key=lambda finding: finding.confidence)
    quotes = (*speaker.quotes, *(q for f in same if f is not speaker for q in f.quotes))
    dropped = sum(finding.dropped for finding in findings)
    return Finding(speaker.said, speaker.confidence, speaker.reasoning, quotes, dropped)


_RANKED = ("fail", "pass", "abstain")
