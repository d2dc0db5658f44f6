"""What templates see of a report: ready-made parts, with every outside word as a `Text`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from prjury.jury.gate import Gate
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.report import rows as table
from prjury.report.findings import (
    Group,
    SeatOutcome,
    Weight,
    culprits,
    evidence_beyond,
    findings,
    grouped,
    how_to,
    remedy,
    rules_of,
    seat_outcomes,
)
from prjury.report.headline import is_advised_against, is_proven, undone, why
from prjury.report.judge_facts import MergeFacts, PanelFacts, RuleFacts, SeatFacts
from prjury.report.links import Links
from prjury.report.model import Backport, Coverage, Report
from prjury.report.redact import Redact
from prjury.report.rows import RowView, TierView, row_view, tier_views
from prjury.report.sanitise import BY_SHAPE
from prjury.report.text import Ink, Text, own
from prjury.report.wording import (
    SEVERITY_SYMBOLS,
    SYMBOLS,
    backport_words,
    cost_table,
    duration,
    facts_of,
    footer,
    judged_share,
)
from prjury.snapshot.model import FileChange, FileKind, Side, printable

_SYMBOLS = {status.value: symbol for status, symbol in SYMBOLS.items()}
_WEIGHT_SYMBOLS = {Weight.MUST_FIX: "❌", Weight.SHOULD_LOOK: "⚠️", Weight.NIT: "💡"}
_GROUPS = {
    "Source": (FileKind.SOURCE,),
    "Tests": (FileKind.TEST,),
    "Configuration": (FileKind.CONFIG,),
    "Documentation": (FileKind.DOCS,),
    "Generated and vendored": (FileKind.GENERATED, FileKind.VENDORED),
    "Not for reading": (
        FileKind.LOCK,
        FileKind.BINARY,
        FileKind.SUBMODULE,
        FileKind.SYMLINK,
    ),
}
#: The width of the change bar of the file that changes most.
_BAR = 100


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


def seats_view(judgment: Judgment, ink: Ink) -> SeatsView | None:
    """The seats of a judgment; None where there is nothing to compare."""
    seats = PanelFacts.of(judgment).seats
    if not seats:
        return None
    criteria = tuple(dict.fromkeys(name for seat in seats for name in seat.criteria))
    rows = tuple(
        SeatView(
            ink(seat.seat),
            ink(_result(seat)),
            tuple(ink(_with_symbol(seat.criteria.get(name, "–"))) for name in criteria),
        )
        for seat in seats
    )
    return SeatsView(tuple(map(ink, criteria)), rows)


def _result(seat: SeatFacts) -> str:
    score = "" if seat.score is None else f" {seat.score:.2f}"
    return f"{_with_symbol(seat.status)}{score}{f' ({seat.reason})' if seat.reason else ''}"


def _with_symbol(word: str) -> str:
    return f"{_SYMBOLS.get(word, '')} {word}".strip()


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
class QuoteView:
    """Words and who said them, None where that goes without saying."""

    who: Text | None
    words: Text


@dataclass(frozen=True)
class FileView:
    """One file; the two bars are shares of 100."""

    path: Text
    url: Markup | None
    status: Text
    additions: int
    deletions: int
    added_bar: int
    deleted_bar: int
    not_checked: Text | None


@dataclass(frozen=True)
class FileGroup:
    """Files of one kind."""

    title: Text
    files: tuple[FileView, ...]
    additions: int
    deletions: int


@dataclass(frozen=True)
class BackportView:
    """One release branch."""

    branch: Text
    words: Text
    reasons: tuple[Text, ...]
    conflicts: tuple[tuple[Text, Text], ...]
    prerequisites: tuple[Text, ...]
    commands: Text | None
    checks: tuple[tuple[str, Text, Text], ...] = ()


@dataclass(frozen=True)
class TipView:
    """A side of the merge: its name, None where it was named by its commit, and the commit."""

    ref: Text | None
    sha: Text


@dataclass(frozen=True)
class ChangeView:
    """The pull request's own part of the report; ``read_share`` is in percent."""

    title: Text | None
    name: Text
    url: Markup | None
    author: Text | None
    base: TipView
    head: TipView
    additions: int
    deletions: int
    files: int
    groups: tuple[FileGroup, ...]
    read_share: int | None
    elapsed: Markup
    version: Text


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
    why: tuple[QuoteView, ...]
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
    unjudged: tuple[QuoteView, ...]
    judges: tuple[JudgeView, ...]
    not_checked: tuple[QuoteView, ...]
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
        evidence = evidence_beyond(check)
        return CheckView(
            symbol=own(_check_symbol(check)),
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
            whole=bool(MergeFacts.of(voice.judgment)) or "\n" in (finding.check.evidence or ""),
        )

    def about(self, one: RuleFacts) -> AboutView:
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
            seats=seats_view(judgment, self.ink),
        )

    def said(self, who: str, words: str) -> QuoteView:
        return QuoteView(self.ink(who) if who else None, self.ink(words))


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
    rules = rules_of(found)
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
        rows=tuple(row_view(row, ink) for row in every_row),
        few_rows=tuple(row_view(row, ink) for row in table.at_most(every_row, 8)),
        tiers=tier_views(report, ink),
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


def _check_symbol(check: Check) -> str:
    return "✅" if check.passed else SEVERITY_SYMBOLS[check.severity]


def _unjudged(paint: _Painter) -> tuple[QuoteView, ...]:
    """Who kept the verdict from being reached, for the two statuses that are nobody's fault."""
    verdict = paint.report.verdict
    if verdict.status not in {Status.ERROR, Status.ABSTAIN}:
        return ()
    told = tuple(
        paint.said(voice.ballot.judge, voice.judgment.reasoning) for voice in culprits(verdict)
    )
    return told or (paint.said("", verdict.aggregated.reasoning),)


def _tip_view(side: Side, ink: Ink) -> TipView:
    named = not side.sha.startswith(side.ref)
    return TipView(ink(printable(side.ref)) if named else None, ink(side.sha[:12]))


def change_view(report: Report, ink: Ink, links: Links) -> ChangeView:
    """The change in the given ink."""
    pull = report.pull
    name = pull.repo if pull.number is None else f"{pull.repo} #{pull.number}"
    coverage = report.coverage
    return ChangeView(
        title=ink(pull.title) if pull.title.strip() else None,
        name=ink(name),
        url=own(links.pull_url) if links.pull_url else None,
        author=ink(pull.author) if pull.author else None,
        base=_tip_view(pull.base, ink),
        head=_tip_view(pull.head, ink),
        additions=pull.additions,
        deletions=pull.deletions,
        files=len(pull.files),
        groups=tuple(_groups(report, ink, links)),
        read_share=_share(coverage),
        elapsed=own(duration(report.elapsed_ms)),
        version=ink(report.version),
    )


def backport_views(backports: Iterable[Backport], ink: Ink) -> tuple[BackportView, ...]:
    """The release branches in the given ink."""
    return tuple(
        BackportView(
            branch=ink(printable(backport.branch)),
            words=ink(backport_words(backport)),
            reasons=tuple(map(ink, backport.reasons)),
            conflicts=tuple(
                (ink(printable(conflict.path)), ink(conflict.reason))
                for conflict in backport.conflicts
            ),
            prerequisites=tuple(map(ink, backport.prerequisites)),
            commands=ink(" &&\n".join(backport.commands)) if backport.commands else None,
            checks=tuple(
                (own(_check_symbol(check)), ink(check.name), ink(check.message))
                for check in backport.checks
            ),
        )
        for backport in backports
    )


def _groups(report: Report, ink: Ink, links: Links) -> Iterable[FileGroup]:
    # One lock file would flatten every other bar, so files that nobody reads do not set the scale.
    sizes = [f.additions + f.deletions for f in report.pull.files if f.readable]
    largest = max(sizes, default=0) or 1
    reasons = {entry.path: entry.reason for entry in report.coverage.not_checked}
    for title, kinds in _GROUPS.items():
        files = [file for file in report.pull.files if file.kind in kinds]
        views = tuple(_file(file, ink, links, largest, reasons) for file in files)
        if views:
            added = sum(file.additions for file in files)
            yield FileGroup(ink(title), views, added, sum(file.deletions for file in files))


def _file(
    file: FileChange, ink: Ink, links: Links, largest: int, reasons: dict[str, str]
) -> FileView:
    path = printable(file.path)
    url = links.to(Location(path)) if file.new_blob or file.additions else None
    return FileView(
        path=ink(path),
        url=own(url) if url else None,
        status=ink(file.status.value.replace("_", " ")),
        additions=file.additions,
        deletions=file.deletions,
        added_bar=_bar(file.additions, largest),
        deleted_bar=_bar(file.deletions, largest),
        not_checked=ink(reasons[path]) if path in reasons else None,
    )


def _bar(lines: int, largest: int) -> int:
    return min(_BAR, max(1, _BAR * lines // largest)) if lines else 0


def _share(coverage: Coverage) -> int | None:
    """Percent of the added lines that were read; None where nothing was read line by line."""
    if coverage.scope == "tree" or not coverage.added_lines_total:
        return None
    return 100 * coverage.added_lines_judged // coverage.added_lines_total
