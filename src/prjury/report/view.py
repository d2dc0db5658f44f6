"""What templates see of a report: ready-made parts, with every outside word as a `Text`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from prjury.jury.gate import Gate
from prjury.jury.judgment import Check, Location, Status
from prjury.report import rows as table
from prjury.report.about import About, about, how_to
from prjury.report.facts import cost_table, facts_of, footer, judged_share
from prjury.report.findings import (
    Group,
    SeatOutcome,
    Weight,
    culprits,
    evidence_beyond,
    findings,
    grouped,
    seat_outcomes,
)
from prjury.report.headline import is_advised_against, is_proven, undone, why
from prjury.report.links import Links
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.remedies import remedy
from prjury.report.sanitise import BY_SHAPE
from prjury.report.seats import SeatRow, Seats, seats_of
from prjury.report.text import Ink, Text
from prjury.report.view_change import BackportView, ChangeView, backport_views, change_view
from prjury.report.wording import NOT_RUN, SEVERITY_SYMBOLS, SYMBOLS, duration

_SYMBOLS = {status.value: symbol for status, symbol in SYMBOLS.items()}


@dataclass(frozen=True)
class SeatView:
    """One seat: its name, what it comes to, and its answer to each criterion."""

    seat: Text
    result: Text
    answers: tuple[Text, ...]


@dataclass(frozen=True)
class SeatsView:
    """A table: a row a seat, a column a criterion."""

    criteria: tuple[Text, ...]
    rows: tuple[SeatView, ...]


def seats_view(metadata: Mapping[str, Any], ink: Ink) -> SeatsView | None:
    """The seats of a judgment; None where there is nothing to compare."""
    seats = seats_of(metadata)
    return _view(seats, ink) if seats else None


def _view(seats: Seats, ink: Ink) -> SeatsView:
    rows = (SeatView(ink(row.seat), ink(_result(row)), _answers(row, ink)) for row in seats.rows)
    return SeatsView(tuple(map(ink, seats.criteria)), tuple(rows))


def _result(row: SeatRow) -> str:
    score = "" if row.score is None else f" {row.score:.2f}"
    note = f" ({row.note})" if row.note else ""
    return f"{_SYMBOLS.get(row.status, '')} {row.status}{score}{note}".strip()


def _answers(row: SeatRow, ink: Ink) -> tuple[Text, ...]:
    return tuple(ink(f"{_SYMBOLS.get(word, '')} {word}".strip()) for word in row.verdicts)


_PASSED = "✅"
_WEIGHT_SYMBOLS = {Weight.MUST_FIX: "❌", Weight.SHOULD_LOOK: "⚠️", Weight.NIT: "💡"}


@dataclass(frozen=True)
class PlaceView:
    """A place in a file: what to call it and, where it can be seen, its address."""

    label: Text
    url: Markup | None


@dataclass(frozen=True)
class CheckView:
    """A check; ``message`` is None where its name says it all."""

    symbol: Markup
    word: Markup
    name: Text
    message: Text | None
    place: PlaceView | None
    evidence: Text | None
    fix: Text | None


@dataclass(frozen=True)
class FindingView:
    """Failed checks of one cause with their judge and what would make them pass.

    Attributes:
        check: the first of them.
        places: each of them with its own place, evidence and fix, where there are several.
        whole: whether the evidence is to be shown as a whole: two texts in conflict, or
            what a compiler says in several lines.
    """

    symbol: Markup
    tier: Text
    judge: Text
    check: CheckView
    remedy: Text
    count: int = 1
    places: tuple[CheckView, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class AboutView:
    """A rule of a finding, and why it is one."""

    rule: Text
    words: Text


@dataclass(frozen=True)
class JudgeView:
    """A ballot with everything that its judge said; ``status`` is a word of ours."""

    tier: Text
    judge: Text
    symbol: Markup
    word: Text
    status: Markup
    reasoning: Text
    facts: tuple[Text, ...]
    checks: tuple[CheckView, ...]
    time: Markup
    seats: SeatsView | None = None


@dataclass(frozen=True)
class RowView:
    """One row of the table."""

    tier: Text
    judge: Text
    symbol: Markup
    words: Text
    status: Markup
    time: Markup
    advisory: bool


@dataclass(frozen=True)
class TierView:
    """One tier of the cascade with its rows."""

    name: Text
    symbol: Markup
    word: Text
    status: Markup
    advisory: bool
    decided: bool
    time: Markup | None
    rows: tuple[RowView, ...]


@dataclass(frozen=True)
class Quote:
    """Words and who said them, None where that goes without saying."""

    who: Text | None
    words: Text


@dataclass(frozen=True)
class PageView:
    """A whole report as templates see it."""

    headline: Text
    status: Markup
    gate: Markup
    clean: bool
    advised_against: bool
    proven: bool
    undone: tuple[Text, ...]
    why: tuple[Quote, ...]
    judged: Text
    rows: tuple[RowView, ...]
    few_rows: tuple[RowView, ...]
    tiers: tuple[TierView, ...]
    must_fix: tuple[FindingView, ...]
    must_fix_count: int
    should_look: tuple[FindingView, ...]
    should_look_count: int
    nits: int
    about: tuple[AboutView, ...]
    how_to: Text
    unjudged: tuple[Quote, ...]
    judges: tuple[JudgeView, ...]
    not_checked: tuple[Quote, ...]
    backports: tuple[BackportView, ...]
    notes: tuple[Text, ...]
    footer: tuple[Text, ...]
    cost: tuple[tuple[Text, Text], ...]
    change: ChangeView


@dataclass(frozen=True)
class _Painter:
    """Turns the values of a report into views, in one ink."""

    report: Report
    ink: Ink
    links: Links

    def place(self, location: Location | None) -> PlaceView | None:
        if location is None:
            return None
        url = self.links.to(location)
        return PlaceView(self.ink(str(location)), own(url) if url else None)

    def check(self, check: Check) -> CheckView:
        symbol = _PASSED if check.passed else SEVERITY_SYMBOLS[check.severity]
        evidence = evidence_beyond(check)
        return CheckView(
            symbol=own(symbol),
            word=own("pass" if check.passed else check.severity),
            name=self.ink(check.name),
            message=self.ink(check.message) if check.message.strip() else None,
            place=self.place(check.location),
            evidence=None if evidence is None else self.ink(evidence),
            fix=None if check.fix is None else self.ink(check.fix),
        )

    def finding(self, group: Group) -> FindingView:
        finding, voice = group.first, group.first.voice
        return FindingView(
            symbol=own(_WEIGHT_SYMBOLS[finding.weight]),
            tier=self.ink(voice.attempt.name),
            judge=self.ink(voice.ballot.judge),
            check=self.check(finding.check),
            remedy=self.ink(remedy(self.report.pull, finding)),
            count=group.count,
            places=tuple(self.check(one.check) for one in group.findings if group.count > 1),
            whole=voice.ballot.judge == "merge" or "\n" in (finding.check.evidence or ""),
        )

    def about(self, one: About) -> AboutView:
        return AboutView(self.ink(one.rule), self.ink(one.words))

    def judge(self, voice: SeatOutcome) -> JudgeView:
        judgment = voice.judgment
        return JudgeView(
            tier=self.ink(voice.attempt.name),
            judge=self.ink(voice.ballot.judge),
            symbol=own(SYMBOLS[judgment.status]),
            word=self.ink(table.word_of(judgment)),
            status=own(judgment.status.value),
            reasoning=self.ink(judgment.reasoning),
            facts=tuple(map(self.ink, facts_of(voice.ballot))),
            checks=tuple(map(self.check, judgment.checks)),
            time=own(duration(voice.ballot.elapsed_ms)),
            seats=seats_view(judgment.metadata, self.ink),
        )

    def row(self, row: table.TableRow) -> RowView:
        return RowView(
            tier=self.ink(row.tier),
            judge=self.ink(row.judge),
            symbol=own(row.symbol),
            words=self.ink(row.words),
            status=own(row.rank.name.lower().replace("_", "-")),
            time=own("–" if row.elapsed_ms is None else duration(row.elapsed_ms)),
            advisory=row.advisory,
        )

    def tiers(self) -> tuple[TierView, ...]:
        grouped = groupby(table.rows(self.report), key=lambda row: row.tier)
        by_tier = {name: tuple(map(self.row, rows)) for name, rows in grouped}
        return tuple(
            self._tier(at, by_tier.get(tier.attempt.name, ()))
            for at, tier in enumerate(self.report.tiers)
        )

    def _tier(self, at: int, rows: tuple[RowView, ...]) -> TierView:
        attempt = self.report.tiers[at].attempt
        status = Status.ABSTAIN if attempt.worrying_abstention else attempt.status
        return TierView(
            name=self.ink(attempt.name),
            symbol=own(SYMBOLS[status] if status else NOT_RUN),
            word=self.ink(_tier_word(status)),
            status=own(status.value if status else "not-run"),
            advisory=attempt.advisory,
            decided=self.report.verdict.decided_by == attempt.name,
            time=own(duration(attempt.elapsed_ms)) if attempt.ran else None,
            rows=rows,
        )

    def said(self, who: str, words: str) -> Quote:
        return Quote(self.ink(who) if who else None, self.ink(words))


def page(report: Report, ink: Ink, redact: Redact = BY_SHAPE) -> PageView:
    """The report in the given ink.

    Args:
        redact: finds the secrets in what is not written in ink: the addresses of files.
    """
    links = Links(report.pull, redact)
    paint = _Painter(report, ink, links)
    verdict = report.verdict
    found = findings(verdict)
    blockers = [finding for finding in found if finding.weight is Weight.MUST_FIX]
    others = [finding for finding in found if finding.weight is not Weight.MUST_FIX]
    rules = about(found)
    every_row = table.rows(report)
    return PageView(
        headline=ink(report.headline),
        status=own(verdict.status.value),
        gate=own(report.gate.value),
        clean=verdict.status is Status.PASS and report.gate is Gate.SUCCESS and not others,
        advised_against=is_advised_against(verdict),
        proven=is_proven(report.pull, verdict, report.coverage),
        undone=tuple(map(ink, undone(report.pull, verdict, report.coverage))),
        why=tuple(paint.said(who, words) for who, words in why(report.pull, verdict)),
        judged=ink(judged_share(report.coverage)),
        rows=tuple(map(paint.row, every_row)),
        few_rows=tuple(map(paint.row, table.at_most(every_row, 8))),
        tiers=paint.tiers(),
        must_fix=tuple(map(paint.finding, grouped(blockers))),
        must_fix_count=len(blockers),
        should_look=tuple(map(paint.finding, grouped(others))),
        should_look_count=len(others),
        nits=sum(finding.weight is Weight.NIT for finding in others),
        about=tuple(map(paint.about, rules)),
        how_to=ink(how_to(rules)),
        unjudged=_unjudged(paint),
        judges=tuple(map(paint.judge, seat_outcomes(verdict))),
        not_checked=tuple(
            paint.said(entry.path, entry.reason) for entry in report.coverage.not_checked
        ),
        backports=backport_views(report.backports, ink),
        notes=tuple(map(ink, report.notes)),
        footer=tuple(map(ink, footer(report))),
        cost=tuple((ink(name), ink(words)) for name, words in cost_table(report.cost)),
        change=change_view(report, ink, links),
    )


def own(words: str) -> Markup:
    """Words and addresses that we wrote ourselves: symbols, numbers, quoted URLs."""
    return Markup(words)  # noqa: S704 - never called with a word from outside


def _tier_word(status: Status | None) -> str:
    words = {Status.PASS: "passed", Status.FAIL: "failed", Status.ERROR: "could not be judged"}
    return words.get(status, "no answer") if status else "not run"


def _unjudged(paint: _Painter) -> tuple[Quote, ...]:
    """Who kept the verdict from being reached, for the two statuses that are nobody's fault."""
    verdict = paint.report.verdict
    if verdict.status not in {Status.ERROR, Status.ABSTAIN}:
        return ()
    told = tuple(
        paint.said(voice.ballot.judge, voice.judgment.reasoning) for voice in culprits(verdict)
    )
    return told or (paint.said("", verdict.aggregated.reasoning),)
