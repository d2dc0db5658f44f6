"""What a check run says when it has ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

from prjury.report.facts import judged_share
from prjury.report.findings import Weight, findings
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import one_line

#: GitHub takes 255 characters; some of them tell how many were cut off.
_LONGEST_TITLE = 230


@dataclass(frozen=True, slots=True)
class CheckRunTexts:
    """What a check run says when it has ended; ``text`` is empty unless it tells a verdict."""

    conclusion: str
    title: str
    summary: str
    text: str = ""

    @classmethod
    def of(cls, report: Report, text: str, redact: Redact) -> Self:
        """The words for a report, whose Markdown is ``text``."""
        title = one_line(report.headline, _LONGEST_TITLE, redact)
        return cls(report.gate.value, title, _summary(report), text)


def _summary(report: Report) -> str:
    found = Counter(finding.weight for finding in findings(report.verdict))
    others = found[Weight.SHOULD_LOOK] + found[Weight.NIT]
    parts = [
        f"Must fix: {found[Weight.MUST_FIX]:,}",
        f"should look at: {others:,}",
        f"judged: {judged_share(report.coverage)}",
    ]
    return " · ".join(parts)
