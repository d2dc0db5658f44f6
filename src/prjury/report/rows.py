"""The table of the report: one row per judge, and one for a tier that did not run."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from prjury.jury.judgment import Judgment
from prjury.jury.verdicts import TierAttempt
from prjury.jury.voting import Ballot
from prjury.report.headline import why
from prjury.report.judge_facts import BASE_BROKEN, GeneralFacts
from prjury.report.model import Report, TierReport
from prjury.report.wording import (
    HUMAN,
    NOT_RUN,
    NOTHING_MERGED,
    RANKS,
    SILENT,
    UNJUDGED,
    Outcome,
    describe_outcome,
    duration,
    find_tests,
    first_line,
    first_words,
    join_words,
    pluralize,
    tests_words,
)


class TableRow(Struct, frozen=True):
    """One judge's line, with milliseconds where it ran."""

    tier: str
    judge: str
    outcome: Outcome
    words: str
    elapsed_ms: int | None = None
    advisory: bool = False

    @property
    def time(self) -> str:
        """How long it took."""
        return "–" if self.elapsed_ms is None else duration(self.elapsed_ms)


def rows(report: Report) -> tuple[TableRow, ...]:
    """Every row, in the order of the cascade."""
    reasons = frozenset(words for _, words in why(report.pull, report.verdict))
    return tuple(row for tier in report.tiers for row in _tier_rows(report, tier, reasons))


def limit_rows(every: Sequence[TableRow], most: int) -> tuple[TableRow, ...]:
    """The rows, with the least important ones gathered into one where there are too many."""
    if len(every) <= most:
        return tuple(every)
    by_rank = sorted(range(len(every)), key=lambda at: (RANKS.index(every[at].outcome.color), at))
    shown = sorted(by_rank[: most - 1])
    rest = [every[at] for at in by_rank[most - 1 :]]
    counts = Counter(row.outcome.word for row in rest)
    words = join_words([f"{count} {word}" for word, count in counts.items()], most=5)
    tiers = join_words(list(dict.fromkeys(row.tier for row in rest)))
    gathered = TableRow(tiers, pluralize(len(rest), "more judge"), rest[0].outcome, words)
    return (*(every[at] for at in shown), gathered)


_NOT_NEEDED = "not run: the branch conflicts with its base"
_LONG = 60
_CLAUSE = re.compile(r"; | \(|: ")


def _tier_rows(report: Report, tier: TierReport, reasons: AbstractSet[str]) -> Iterator[TableRow]:
    attempt = tier.attempt
    idle = [(judge.judge, judge.reason) for judge in tier.skipped]
    if attempt.verdict:
        for ballot in attempt.verdict.ballots:
            yield _ballot_row(attempt, ballot, reasons)
    elif not idle:
        idle = [("all judges", attempt.skipped_because or "")]
    for judge, reason in idle:
        words = _NOT_NEEDED if report.pull.merge.conflicts else f"not run: {reason}"
        yield TableRow(attempt.name, judge, NOT_RUN, words)


def _ballot_row(attempt: TierAttempt, ballot: Ballot, reasons: AbstractSet[str]) -> TableRow:
    judgment, name = ballot.judgment, ballot.judge
    subject = first_line(GeneralFacts.of(judgment).subject)
    outcome, words = describe_outcome(judgment, attempt), _row_words(judgment, reasons)
    if subject and subject not in words:
        name = subject if subject.startswith(name) else f"{name}: {subject}"
    if judgment.label == NOTHING_MERGED:
        return TableRow(attempt.name, name, NOT_RUN, _NOT_NEEDED)
    if outcome in {HUMAN, SILENT, UNJUDGED}:
        words = f"{outcome.word}: {words}"
    return TableRow(
        attempt.name, name, outcome, words or outcome.word, ballot.elapsed_ms, attempt.advisory
    )


def _row_words(judgment: Judgment, reasons: AbstractSet[str]) -> str:
    """Return what a judge says, in short where it stands above the table already."""
    if judgment.reason == BASE_BROKEN:
        return "fails, and so does the base"
    words, tests = first_words(judgment), find_tests(judgment)
    if tests and words == tests_words(tests):
        return words
    if words in reasons and (tests or len(words) > _LONG):
        words = textwrap.shorten(_CLAUSE.split(words, maxsplit=1)[0], _LONG, placeholder=" …")
        words = "" if tests else words
    if tests:
        words = "; ".join(filter(None, (tests_words(tests), words)))
    return words
