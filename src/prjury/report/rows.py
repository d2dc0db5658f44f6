"""The table of the report: one row per judge, and a word on each judge that did not run."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum

from markupsafe import Markup
from msgspec import Struct

from prjury.jury.judgment import Judgment, Status
from prjury.jury.verdicts import TierAttempt
from prjury.jury.voting import BENIGN_LABELS, Ballot
from prjury.report.headline import why
from prjury.report.judge_facts import BASE_BROKEN, GeneralFacts
from prjury.report.model import PolicyOrigin, Report, TierReport
from prjury.report.text import trust
from prjury.report.wording import (
    NOT_RUN,
    SYMBOLS,
    WORDS,
    duration,
    find_tests,
    first_line,
    first_words,
    join_words,
    pluralize,
    tests_words,
)


class Rank(IntEnum):
    """Which rows stay when there are too many, most important first."""

    FAIL = 0
    ERROR = 1
    ABSTAIN = 2
    PASS = 3
    NOT_RUN = 4


class TableRow(Struct, frozen=True):
    """One judge's line: tier, judge, symbol, words, and milliseconds where it ran."""

    tier: str
    judge: str
    symbol: str
    words: str
    rank: Rank
    elapsed_ms: int | None = None
    advisory: bool = False

    @property
    def status(self) -> Markup:
        """The result as one lower-case word, for style sheets; advice is never red."""
        if self.advisory and self.rank is Rank.FAIL:
            return trust("error")
        return trust(self.rank.name.lower().replace("_", "-"))

    @property
    def time(self) -> str:
        """How long it took."""
        return "–" if self.elapsed_ms is None else duration(self.elapsed_ms)


def rows(report: Report) -> tuple[TableRow, ...]:
    """Every row, in the order of the cascade."""
    told_words = frozenset(words for _, words in why(report.pull, report.verdict))
    return tuple(row for tier in report.tiers for row in _tier_rows(report, tier, told_words))


def at_most(every: Sequence[TableRow], most: int) -> tuple[TableRow, ...]:
    """The rows, with the least important ones gathered into one where there are too many."""
    if len(every) <= most:
        return tuple(every)
    by_rank = sorted(range(len(every)), key=lambda at: (every[at].rank, at))
    shown = sorted(by_rank[: most - 1])
    rest = [every[at] for at in by_rank[most - 1 :]]
    return (*(every[at] for at in shown), _gather(rest))


def word_of(judgment: Judgment) -> str:
    """The word for a judgment: its label where it holds back, else its status."""
    if judgment.status is Status.ABSTAIN and judgment.label:
        return judgment.label.replace("_", " ")
    return WORDS[judgment.status]


#: The label of a judge that had nothing to judge because of the merge.
_CONFLICTS = "conflicts"
_NOT_NEEDED = "not run: the branch conflicts with its base"
_LONG = 60
_CLAUSE = re.compile(r"; | \(|: ")
_COUNTED = re.compile(r"([\d,]+ findings?): ")


def name_subject(ballot: Ballot) -> str:
    """Return the judge's name with the subject that it gave itself."""
    subject = first_line(GeneralFacts.of(ballot.judgment).subject)
    if not subject or subject.startswith(ballot.judge):
        return subject or ballot.judge
    return f"{ballot.judge}: {subject}"


def _tier_rows(report: Report, tier: TierReport, reasons: AbstractSet[str]) -> Iterator[TableRow]:
    attempt, conflicts = tier.attempt, bool(report.pull.merge.conflicts)
    idle = {judge.judge: f"skipped: {judge.reason}" for judge in tier.skipped}
    if attempt.verdict:
        yield from (_ballot_row(attempt, ballot, reasons) for ballot in attempt.verdict.ballots)
    elif attempt.skipped_because:
        names = list_configured(attempt, report.policy)
        rest = join_words([name for name in names if name not in idle], most=4)
        if rest or not (idle or names):
            idle = {rest or "all its judges": f"not run: {attempt.skipped_because}", **idle}
    for judge, words in idle.items():
        shown = _NOT_NEEDED if conflicts else words
        yield TableRow(attempt.name, judge, NOT_RUN, shown, Rank.NOT_RUN)


def _ballot_row(attempt: TierAttempt, ballot: Ballot, reasons: AbstractSet[str]) -> TableRow:
    judgment, name = ballot.judgment, name_subject(ballot)
    if judgment.label == _CONFLICTS:
        return TableRow(attempt.name, name, NOT_RUN, _NOT_NEEDED, Rank.NOT_RUN)
    is_advice = attempt.advisory and judgment.status is Status.FAIL
    symbol = SYMBOLS[Status.ERROR if is_advice else judgment.status]
    words, rank = _row_words(judgment, reasons), Rank[judgment.status.name]
    time = ballot.elapsed_ms
    return TableRow(attempt.name, name, symbol, words, rank, time, attempt.advisory)


def _row_words(judgment: Judgment, reasons: AbstractSet[str]) -> str:
    words, tests = _shorten_answer(judgment), find_tests(judgment)
    if words in reasons and (tests or len(words) > _LONG):
        # The sentence stands above the table already.
        short = textwrap.shorten(_CLAUSE.split(words, maxsplit=1)[0], _LONG, placeholder=" …")
        words = "" if tests else short
    if tests and first_words(judgment) != words:
        words = "; ".join(filter(None, (tests_words(tests), words)))
    if judgment.status is Status.ERROR or (
        judgment.status is Status.ABSTAIN and judgment.label not in BENIGN_LABELS
    ):
        return f"{word_of(judgment)}: {words}"
    return words or word_of(judgment)


def _shorten_answer(judgment: Judgment) -> str:
    if judgment.reason == BASE_BROKEN:
        return "fails, and so does the base"
    words_first = first_words(judgment)
    match = _COUNTED.match(words_first)
    placed = any(check.location for check in judgment.failed_checks)
    return match[1] if match and placed and judgment.status is Status.FAIL else words_first


def list_configured(attempt: TierAttempt, policy: PolicyOrigin) -> list[str]:
    """List the judges that the policy names for a tier, for tiers that seated nobody."""
    for tier in policy.resolved.get("tiers") or ():
        if isinstance(tier, Mapping) and tier.get("name") == attempt.name:
            return [_name_entry(entry) for entry in tier.get("judges") or ()]
    return []


def _name_entry(entry: object) -> str:
    """Return the name in ``merge`` or ``{build: {...}, weight: 2}``."""
    if not isinstance(entry, Mapping):
        return str(entry)
    keys = [key for key, value in entry.items() if key != "weight" and value is not None]
    return str(keys[0]) if keys else "a judge"


def _gather(rest: Sequence[TableRow]) -> TableRow:
    counts = Counter(row.symbol for row in rest)
    words = {**{SYMBOLS[status]: WORDS[status] for status in Status}, NOT_RUN: "not run"}
    text = join_words([f"{count} {words[symbol]}" for symbol, count in counts.items()], most=5)
    tiers = join_words(list(dict.fromkeys(row.tier for row in rest)))
    return TableRow(tiers, pluralize(len(rest), "more judge"), rest[0].symbol, text, rest[0].rank)
