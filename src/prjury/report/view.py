"""What templates see of a report: ready-made parts.

They are written here as plain strings and reach a template `inked`, so that no outside word can be
printed unsanitised. Only what is `trust` is printed, or compared, as it is.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct, structs

from prjury.jury.gate import Gate
from prjury.jury.judge import MODEL_BACKED
from prjury.jury.judgment import Judgment, Location, Status
from prjury.jury.verdicts import TierAttempt
from prjury.jury.voting import BENIGN_LABELS, Ballot
from prjury.report import wording
from prjury.report.backports import view_asked_and_other_backports
from prjury.report.finding_view import (
    Links,
    View,
    join_source,
    rule_url,
    view_check,
    view_findings,
    view_group,
)
from prjury.report.findings import (
    SeatOutcome,
    Weight,
    explain_how_to_suppress,
    findings,
    group_findings,
    seat_outcomes,
)
from prjury.report.headline import find_help_url, is_advised_against, list_who_and_why, next_steps
from prjury.report.judge_facts import BASE_BROKEN, GeneralFacts, PanelFacts, RuleFacts, RunFacts
from prjury.report.model import NotChecked, Report, TierReport
from prjury.report.sanitise import BY_SHAPE, Redact
from prjury.report.text import trust
from prjury.snapshot.model import FileChange, FileKind, Side, printable


class TableRow(Struct, frozen=True):
    """One judge's line, with milliseconds where it ran."""

    tier: str
    judge: str
    outcome: wording.Outcome
    words: str
    elapsed_ms: int | None = None
    advisory: bool = False

    @property
    def time(self) -> str:
        return "–" if self.elapsed_ms is None else wording.duration(self.elapsed_ms)


def rows(report: Report) -> tuple[TableRow, ...]:
    reasons = frozenset(words for _, words in list_who_and_why(report))
    return tuple(row for tier in report.tiers for row in _tier_rows(report, tier, reasons))


def fold_least_important_rows(all_rows: Sequence[TableRow], most: int) -> tuple[TableRow, ...]:
    """The rows, with the least important ones gathered into one where there are too many."""
    if len(all_rows) <= most:
        return tuple(all_rows)
    by_rank = sorted(
        range(len(all_rows)), key=lambda at: (wording.RANKS.index(all_rows[at].outcome.color), at)
    )
    shown = sorted(by_rank[: most - 1])
    rest = [all_rows[at] for at in by_rank[most - 1 :]]
    counts = Counter(row.outcome.word for row in rest)
    words = wording.join_words([f"{count} {word}" for word, count in counts.items()], most=5)
    tiers = wording.join_words(list(dict.fromkeys(row.tier for row in rest)))
    gathered = TableRow(tiers, wording.pluralize(len(rest), "more judge"), rest[0].outcome, words)
    return (*(all_rows[at] for at in shown), gathered)


_NOT_NEEDED = "not run: the branch conflicts with its base"
_LONG = 60
_CLAUSE = re.compile(r"; | \(|: ")


def _tier_rows(report: Report, tier: TierReport, top_words: AbstractSet[str]) -> Iterator[TableRow]:
    attempt = tier.attempt
    idle = [(judge.judge, judge.reason) for judge in tier.skipped]
    if attempt.verdict:
        yield from (_make_row(attempt, ballot, top_words) for ballot in attempt.verdict.ballots)
    elif not idle:
        idle = [("all judges", attempt.skipped_because or "")]
    for judge, reason in idle:
        words = _NOT_NEEDED if report.pull.merge.conflicts else f"not run: {reason}"
        yield TableRow(attempt.name, judge, wording.NOT_RUN, words)


def _make_row(attempt: TierAttempt, ballot: Ballot, top_words: AbstractSet[str]) -> TableRow:
    judgment, name = ballot.judgment, ballot.judge
    subject = wording.first_line(GeneralFacts.parse(judgment).subject)
    outcome, words = wording.describe_outcome(judgment, attempt), _describe_row(judgment, top_words)
    if subject and subject not in words:
        name = subject if subject.startswith(name) else f"{name}: {subject}"
    if judgment.label == wording.NOTHING_MERGED:
        return TableRow(attempt.name, name, wording.NOT_RUN, _NOT_NEEDED)
    if outcome in {wording.HUMAN, wording.SILENT, wording.UNJUDGED}:
        words = f"{outcome.word}: {words}"
    elapsed = None if outcome.color == wording.NOT_RUN.color else ballot.elapsed_ms
    return TableRow(attempt.name, name, outcome, words or outcome.word, elapsed, attempt.advisory)


def _describe_row(judgment: Judgment, top_words: AbstractSet[str]) -> str:
    if judgment.reason == BASE_BROKEN:
        return "fails, and so does the base"
    words, tests = wording.first_words(judgment), wording.find_tests(judgment)
    if tests and words == wording.tests_words(tests):
        return words
    if words in top_words and (tests or len(words) > _LONG):
        words = textwrap.shorten(_CLAUSE.split(words, maxsplit=1)[0], _LONG, placeholder=" …")
        words = "" if tests else words
    if tests:
        words = "; ".join(filter(None, (wording.tests_words(tests), words)))
    return words


#: The colour of the decision by its symbol.
_COLORS = {
    each.symbol: each.color
    for each in (wording.PASSED, wording.FAILED, wording.HUMAN, wording.UNJUDGED)
}
_SEATS = {"pass": wording.PASSED, "fail": wording.FAILED}
_GROUPS = {
    "Source": (FileKind.SOURCE,),
    "Tests": (FileKind.TEST,),
    "Configuration": (FileKind.CONFIG,),
    "Documentation": (FileKind.DOCS,),
    "Generated and vendored": (FileKind.GENERATED, FileKind.VENDORED),
    "Not for reading": (FileKind.LOCK, FileKind.BINARY, FileKind.SUBMODULE, FileKind.SYMLINK),
}
_FEW_ROWS = 8
#: The symbols that stand before words; a page draws its own.
_SYMBOL = re.compile("[✅❌⚠⚪⏭💡]\ufe0f? ?")


def page(report: Report, redact: Redact = BY_SHAPE, run: str | None = None) -> View:
    links = Links(report.pull, redact)
    verdict = report.verdict
    every_row = rows(report)
    # Where it conflicts nothing was judged, and the reason stands above.
    unread = () if report.pull.merge.conflicts else report.coverage.not_checked
    gate, artifacts = find_help_url(report), links.to_artifacts(run)
    seats = seat_outcomes(verdict)
    logs = tuple(dict.fromkeys(log for seat in seats for log in RunFacts.parse(seat.judgment).logs))
    return View(
        **_view_findings_and_judges(report, links),
        has_commands=report.pull.number is not None and report.answers_commands,
        headline=report.headline,
        decision=_SYMBOL.sub("", report.headline),
        icon=_COLORS.get(report.headline.partition(" ")[0], wording.UNJUDGED.color),
        status=trust(verdict.status.value),
        gate=trust(report.gate.value),
        version=report.version,
        head=trust(report.pull.head.sha),
        gate_page=trust(gate) if gate else None,
        next=next_steps(report),
        advised_against=is_advised_against(verdict),
        why=tuple(View(who=who or None, words=words) for who, words in list_who_and_why(report)),
        judged=wording.describe_judged_share(report.coverage),
        rows=every_row,
        few_rows=fold_least_important_rows(every_row, _FEW_ROWS),
        tiers=tuple(_view_tier(tier, every_row) for tier in report.tiers),
        not_checked=_group_unread(unread),
        not_checked_count=len(unread),
        **view_asked_and_other_backports(report.backports),
        notes=report.notes,
        about_head=trust(f"`{report.pull.head.sha[:7]}`"),
        since=wording.describe_progress_and_dismissals(report),
        recovery=report.recovery if report.recovery and report.recovery.rounds else None,
        logs=View(paths=logs, url=artifacts and trust(artifacts)) if logs else None,
        footer=wording.footer(report),
        change=_view_change(report, links),
    )


def _group_unread(entries: Sequence[NotChecked]) -> tuple[View, ...]:
    paths: dict[str, list[str]] = {}
    for entry in entries:
        paths.setdefault(entry.reason, []).append(entry.path)
    return tuple(
        View(reason=reason, count=len(names), paths=tuple(names)) for reason, names in paths.items()
    )


def _view_findings_and_judges(report: Report, links: Links) -> dict[str, Any]:
    every = findings(report.verdict, report.dismissals)
    views = view_findings(report, every, links)
    by_check = {id(view.check): view for view in views}
    groups = [
        (group, view_group(number, group, by_check))
        for number, group in enumerate(group_findings(every), start=1)
    ]
    must_fix = [view for group, view in groups if group[0].weight is Weight.MUST_FIX]
    should_look = [view for group, view in groups if group[0].weight is not Weight.MUST_FIX]
    blockers = sum(view.weight is Weight.MUST_FIX for view in views)
    rules: dict[str, RuleFacts] = {}
    for view in views:
        if view.rule:
            rules.setdefault(view.rule.rule, view.rule)
    passed = report.verdict.status is Status.PASS and report.gate is Gate.SUCCESS
    return {
        "findings": views,
        "has_dismissible": bool(rules) or any(f.voice.ballot.type in MODEL_BACKED for f in every),
        "clean": passed and not should_look,
        "must_fix": tuple(must_fix),
        "must_fix_count": blockers,
        "should_look": tuple(should_look),
        "should_look_count": len(views) - blockers,
        "about": tuple(
            View(rule=rule.rule, words=rule.words, url=rule_url(rule.rule))
            for rule in rules.values()
        ),
        "how_to": explain_how_to_suppress(tuple(rules.values())) if rules else None,
        "judges": tuple(
            _view_judge(seat, links, by_check) for seat in seat_outcomes(report.verdict)
        ),
    }


def view_panel_seats(judgment: Judgment) -> View | None:
    seats = PanelFacts.parse(judgment).seats
    if not seats:
        return None
    criteria = tuple(dict.fromkeys(name for seat in seats for name in seat.criteria))
    views = tuple(
        View(
            seat=seat.seat,
            outcome=_SEATS.get(seat.status, wording.SILENT),
            score="" if seat.score is None else f"{seat.score:.2f}",
            reason=seat.reason.replace("_", " ") if seat.reason else None,
            answers=tuple(seat.criteria.get(name, "–") for name in criteria),
        )
        for seat in seats
    )
    return View(criteria=criteria, rows=views)


def _view_judge(seat: SeatOutcome, links: Links, shown_check_ids: Collection[int]) -> View:
    judgment = seat.judgment
    return View(
        tier=seat.attempt.name,
        judge=seat.ballot.judge,
        source=join_source(seat.attempt.name, seat.ballot.judge),
        outcome=wording.describe_outcome(judgment, seat.attempt),
        reasoning=judgment.reasoning,
        question=GeneralFacts.parse(judgment).question or None,
        facts=tuple(wording.list_score_weight_model_and_time(seat.ballot)),
        checks=tuple(
            view_check(check, links.to(check.location) if check.location else None)
            for check in judgment.checks
            if id(check) not in shown_check_ids
        ),
        seats=view_panel_seats(judgment),
    )


def _view_tier(tier: TierReport, every_row: Sequence[TableRow]) -> View:
    attempt, outcome = tier.attempt, wording.NOT_RUN
    if attempt.verdict:
        judgment = attempt.worrying_abstention or attempt.verdict.aggregated
        outcome = wording.describe_outcome(judgment, attempt)
        ballots = attempt.verdict.ballots
        idle = [skipped.judge for skipped in tier.skipped]
        idle += [ballot.judge for ballot in ballots if ballot.judgment.label in BENIGN_LABELS]
        if outcome is wording.PASSED and idle:
            outcome = structs.replace(wording.NOT_RUN, word=f"{wording.join_words(idle)} not run")
    return View(
        name=attempt.name,
        outcome=outcome,
        advisory=attempt.advisory,
        time=wording.duration(attempt.elapsed_ms) if attempt.ran else None,
        rows=tuple(row for row in every_row if row.tier == attempt.name),
    )


def _view_tip(side: Side) -> View:
    has_ref = not side.sha.startswith(side.ref)
    return View(ref=side.ref if has_ref else None, sha=side.sha[:12])


def _view_change(report: Report, links: Links) -> View:
    pull = report.pull
    return View(
        title=pull.title if pull.title.strip() else None,
        name=pull.repo if pull.number is None else f"{pull.repo} #{pull.number}",
        url=trust(links.pull_url) if links.pull_url else None,
        author=pull.author or None,
        base=_view_tip(pull.base),
        head=_view_tip(pull.head),
        additions=pull.additions,
        deletions=pull.deletions,
        files=len(pull.files),
        groups=tuple(_group_changed_files_by_kind(report, links)),
        # One lock file would flatten every other bar: files that nobody reads set no scale.
        largest=max([1, *(f.additions + f.deletions for f in pull.files if f.readable)]),
    )


def _group_changed_files_by_kind(report: Report, links: Links) -> Iterator[View]:
    reasons = {entry.path: entry.reason for entry in report.coverage.not_checked}
    for title, kinds in _GROUPS.items():
        files = [file for file in report.pull.files if file.kind in kinds]
        if files:
            yield View(
                title=title,
                files=tuple(_view_file(file, links, reasons) for file in files),
                additions=sum(file.additions for file in files),
                deletions=sum(file.deletions for file in files),
            )


def _view_file(file: FileChange, links: Links, reasons: dict[str, str]) -> View:
    path = printable(file.path)
    url = links.to(Location(path)) if file.new_blob or file.additions else None
    return View(
        path=path,
        url=trust(url) if url else None,
        status=file.status.value.replace("_", " "),
        additions=file.additions,
        deletions=file.deletions,
        not_checked=reasons.get(path),
    )
