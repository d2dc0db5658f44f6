"""What templates see of a report: ready-made parts.

They are written here as plain strings and reach a template `inked`, so that no outside word can be
printed unsanitised. Only what is `own` is printed, or compared, as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TypeAlias

from prjury.jury.cascade import TierAttempt
from prjury.jury.gate import Gate
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.report.backports import Backports
from prjury.report.findings import (
    Group,
    SeatOutcome,
    Weight,
    counted_checks,
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
from prjury.report.judge_facts import BuildFacts, MergeFacts, PanelFacts, SeatFacts, TestFacts
from prjury.report.links import Links
from prjury.report.model import Backport, ChangedNames, Coverage, Recovery, Report
from prjury.report.redact import Redact
from prjury.report.rows import TableRow, at_most, rows, word_of
from prjury.report.sanitise import BY_SHAPE
from prjury.report.text import own
from prjury.report.wording import (
    NOT_RUN,
    SEVERITY_SYMBOLS,
    SYMBOLS,
    backport_words,
    cost_table,
    counted,
    duration,
    facts_of,
    footer,
    judged_share,
    reasons_beyond,
    since_words,
)
from prjury.snapshot.model import FileChange, FileKind, FileStatus, Side, printable

#: What is named of each kind.
_MOST_PLACES, _MOST_NAMES = 4, 4
_KINDS = {
    FileKind.SOURCE: "source",
    FileKind.TEST: "test",
    FileKind.CONFIG: "configuration",
    FileKind.DOCS: "documentation",
}
_OTHER = "other"
_STATUSES = {
    FileStatus.ADDED: "new",
    FileStatus.DELETED: "deleted",
    FileStatus.RENAMED: "renamed",
}


def change_lines(report: Report) -> tuple[str, ...]:
    """One line each on files and places, public names, and tests; none on what is not known."""
    files = report.pull.files
    if not files:
        return ()
    lines = [f"{_files(files)}{_places(files)}."]
    if report.names is not None:
        lines.append(_names(report.names))
    return (*lines, *_tests(report))


def _files(files: Sequence[FileChange]) -> str:
    kinds = Counter(_KINDS.get(file.kind, _OTHER) for file in files)
    words = [f"{kinds[kind]:,} {kind}" for kind in (*_KINDS.values(), _OTHER) if kinds[kind]]
    statuses = Counter(_STATUSES[file.status] for file in files if file.status in _STATUSES)
    more = [f"{statuses[word]:,} {word}" for word in _STATUSES.values() if statuses[word]]
    if len(words) == 1:
        shown = counted(len(files), f"{next(iter(kinds))} file")
        shown += f" ({', '.join(more)})" if more else ""
    else:
        of_them = f"; {', '.join(more)}" if more else ""
        shown = f"{counted(len(files), 'file')} ({', '.join(words)}{of_them})"
    lines = f"+{sum(f.additions for f in files):,} −{sum(f.deletions for f in files):,} lines"
    return f"{shown}, {lines}"


def _places(files: Sequence[FileChange]) -> str:
    """Directories by the number of changed lines, those of other files than text left out."""
    lines: Counter[str] = Counter()
    for file in files:
        if file.readable:
            lines[file.path.rpartition("/")[0]] += file.additions + file.deletions
    places = [place for place, _ in lines.most_common()]
    named = [f"`{printable(place)}`" if place else "the top directory" for place in places]
    if not named:
        return ""
    return f", {'in' if len(named) == 1 else 'mostly in'} {_some(named, _MOST_PLACES)}"


def _some(named: Sequence[str], most: int) -> str:
    left = len(named) - most
    return ", ".join(named[:most]) + (f" and {left:,} more" if left > 0 else "")


def _names(names: ChangedNames) -> str:
    kinds = {"new": names.added, "changed": names.changed, "removed": names.removed}
    found = [
        f"{len(each):,} {kind} ({_some([f'`{name}`' for name in each], _MOST_NAMES)})"
        for kind, each in kinds.items()
        if each
    ]
    breaking = f"; {names.breaking:,} may break callers" if names.breaking else ""
    return f"Public names: {', '.join(found) or 'none touched'}{breaking}."


def _tests(report: Report) -> Iterator[str]:
    for voice in seat_outcomes(report.verdict):
        build = BuildFacts.of(voice.judgment)
        tests = build.ran.tests if build and build.ran else None
        if tests:
            yield _counts(tests)


def _counts(tests: TestFacts) -> str:
    more = f", {tests.failed:,} failed" if tests.failed else ""
    if tests.base is None:
        return f"Tests: {tests.run:,} ran{more}."
    change = tests.run - tests.base.run
    than = f"{abs(change):,} {'more' if change > 0 else 'fewer'} than" if change else "as many as"
    return f"Tests: {tests.run:,} ran, {than} on the base{more}."


_TIER_WORDS = {
    None: "not run",
    Status.PASS: "passed",
    Status.FAIL: "failed",
    Status.ERROR: "could not be judged",
}
_SYMBOLS = {status.value: symbol for status, symbol in SYMBOLS.items()}
_WEIGHT_SYMBOLS = {Weight.MUST_FIX: "❌", Weight.SHOULD_LOOK: "⚠️", Weight.NIT: "💡"}
_GROUPS = {
    "Source": (FileKind.SOURCE,),
    "Tests": (FileKind.TEST,),
    "Configuration": (FileKind.CONFIG,),
    "Documentation": (FileKind.DOCS,),
    "Generated and vendored": (FileKind.GENERATED, FileKind.VENDORED),
    "Not for reading": (FileKind.LOCK, FileKind.BINARY, FileKind.SUBMODULE, FileKind.SYMLINK),
}
#: The width of the change bar of the file that changes most.
_BAR = 100
_FEW_ROWS = 8


#: Parts under the names by which templates know them.
View: TypeAlias = SimpleNamespace


def page(report: Report, redact: Redact = BY_SHAPE) -> View:
    """The whole report.

    Args:
        redact: finds the secrets in what is not inked: the addresses of files.
    """
    links = Links(report.pull, redact)
    verdict = report.verdict
    every_row = rows(report)
    return View(
        **_found(report, links),
        headline=report.headline,
        status=own(verdict.status.value),
        gate=own(report.gate.value),
        advised_against=is_advised_against(verdict),
        proven=is_proven(report.pull, verdict),
        undone=undone(report.pull, verdict, report.coverage),
        why=tuple(View(who=who or None, words=words) for who, words in why(report.pull, verdict)),
        judged=judged_share(report.coverage),
        rows=every_row,
        few_rows=at_most(every_row, _FEW_ROWS),
        tiers=tuple(_tier(tier.attempt, report, every_row) for tier in report.tiers),
        unjudged=_unjudged(report),
        not_checked=report.coverage.not_checked,
        backports=tuple(map(_backport, report.backports)),
        notes=report.notes,
        about_head=own(f"`{report.pull.head.sha[:7]}`"),
        since=since_words(report),
        what=change_lines(report),
        recovery=_recovery(report.recovery),
        footer=footer(report),
        cost=cost_table(report.cost),
        change=_change(report, links),
    )


def _found(report: Report, links: Links) -> dict[str, object]:
    """The findings with what explains them, and the judges with what else they say."""
    found = findings(report.verdict)
    blockers = [finding for finding in found if finding.weight is Weight.MUST_FIX]
    others = [finding for finding in found if finding.weight is not Weight.MUST_FIX]
    must_fix, should_look = grouped(blockers), grouped(others)
    reported = frozenset(_told((*must_fix, *should_look)))
    rules = rules_of(found)
    passed = report.verdict.status is Status.PASS and report.gate is Gate.SUCCESS
    return {
        "clean": passed and not others,
        "must_fix": tuple(_finding(report, group, links) for group in must_fix),
        "must_fix_count": len(blockers),
        "should_look": tuple(_finding(report, group, links) for group in should_look),
        "should_look_count": len(others),
        "nits": sum(finding.weight is Weight.NIT for finding in others),
        "about": rules,
        "how_to": how_to(rules),
        "judges": tuple(_judge(one, links, reported) for one in seat_outcomes(report.verdict)),
    }


def _recovery(recovery: Recovery | None) -> View | None:
    """The rounds of a repair; what stands in the notes already is left out."""
    if recovery is None or not recovery.rounds:
        return None
    rounds = tuple(
        View(
            number=each.number,
            outcome=each.outcome,
            edited=each.edited,
            refused=each.refused,
            more=each.refused_total - len(each.refused),
            cost="" if each.usd is None else f", ${each.usd:.2f}",
            seconds=f"{each.seconds:.0f} s",
        )
        for each in recovery.rounds
    )
    return View(rounds=rounds, patch=recovery.patch or None)


def backports_page(found: Backports) -> View:
    """The backport verdicts alone."""
    branches = tuple(map(_backport, found.backports))
    return View(headline=found.headline, notes=found.notes, backports=branches)


def _backport(backport: Backport) -> View:
    return View(
        branch=backport.branch,
        words=backport_words(backport),
        reasons=reasons_beyond(backport),
        conflicts=backport.conflicts,
        prerequisites=backport.prerequisites,
        commands=" &&\n".join(backport.commands) if backport.commands else None,
        checks=tuple(map(_check, backport.checks)),
    )


def seats_view(judgment: Judgment) -> View | None:
    """The seats of a judgment; None where there is nothing to compare."""
    seats = PanelFacts.of(judgment).seats
    if not seats:
        return None
    criteria = tuple(dict.fromkeys(name for seat in seats for name in seat.criteria))
    views = tuple(
        View(
            seat=seat.seat,
            result=_result(seat),
            answers=tuple(_with_symbol(seat.criteria.get(name, "–")) for name in criteria),
        )
        for seat in seats
    )
    return View(criteria=criteria, rows=views)


def _result(seat: SeatFacts) -> str:
    score = "" if seat.score is None else f" {seat.score:.2f}"
    reason = f" ({seat.reason.replace('_', ' ')})" if seat.reason else ""
    return f"{_with_symbol(seat.status)}{score}{reason}"


def _with_symbol(word: str) -> str:
    return f"{_SYMBOLS.get(word, '')} {word}".strip()


def _check(check: Check, links: Links | None = None) -> View:
    place = check.location
    url = links.to(place) if links and place else None
    return View(
        symbol="✅" if check.passed else SEVERITY_SYMBOLS[check.severity],
        word="pass" if check.passed else check.severity,
        name=check.name,
        # None where its name says it all.
        message=check.message if check.message.strip() else None,
        place=View(label=str(place), url=own(url) if url else None) if place else None,
        evidence=evidence_beyond(check),
        fix=check.fix,
    )


def _finding(report: Report, group: Group, links: Links) -> View:
    finding, voice = group.first, group.first.voice
    several = group.findings if group.count > 1 else ()
    prints = {one.check.fingerprint for one in group.findings}
    return View(
        symbol=_WEIGHT_SYMBOLS[finding.weight],
        tier=voice.attempt.name,
        judge=voice.ballot.judge,
        check=_check(finding.check, links),
        remedy=remedy(report.pull, finding),
        count=group.count,
        # Each with its own place, evidence and fix, where there are several.
        places=tuple(_check(one.check, links) for one in several),
        dismissed=next((one for one in report.dismissals if one.finding in prints), None),
        # Whether the evidence needs all of its lines: two texts in conflict, a compiler's drawing.
        whole=bool(MergeFacts.of(voice.judgment)) or "\n" in (finding.check.evidence or ""),
    )


def _told(groups: Iterable[Group]) -> Iterator[int]:
    """The checks, by identity, whose evidence stands among the findings: of many, in one line."""
    for group in groups:
        for check in (finding.check for finding in group.findings):
            if group.count == 1 or "\n" not in (check.evidence or "").strip():
                yield id(check)


def _judge(voice: SeatOutcome, links: Links, reported: Collection[int]) -> View:
    """A judge with every check, and evidence where it does not stand among the findings."""
    judgment = voice.judgment
    # Checks that only sum up others quote them once more.
    sums = {*map(id, judgment.failed_checks)} - {*map(id, counted_checks(judgment))}
    return View(
        tier=voice.attempt.name,
        judge=voice.ballot.judge,
        symbol=SYMBOLS[judgment.status],
        word=word_of(judgment),
        status=own(judgment.status.value),
        reasoning=judgment.reasoning,
        facts=facts_of(voice.ballot),
        checks=tuple(
            _check(
                replace(check, evidence=None) if id(check) in sums.union(reported) else check, links
            )
            for check in judgment.checks
        ),
        seats=seats_view(judgment),
    )


def _tier(attempt: TierAttempt, report: Report, every_row: Sequence[TableRow]) -> View:
    status = Status.ABSTAIN if attempt.worrying_abstention else attempt.status
    return View(
        name=attempt.name,
        symbol=SYMBOLS[status] if status else NOT_RUN,
        word=_TIER_WORDS.get(status, "no answer"),
        status=own(status.value if status else "not-run"),
        advisory=attempt.advisory,
        decided=report.verdict.decided_by == attempt.name,
        time=duration(attempt.elapsed_ms) if attempt.ran else None,
        rows=tuple(row for row in every_row if row.tier == attempt.name),
    )


def _unjudged(report: Report) -> tuple[View, ...]:
    """Who kept the verdict from being reached, for the two statuses that are nobody's fault."""
    verdict = report.verdict
    if verdict.status not in {Status.ERROR, Status.ABSTAIN}:
        return ()
    said = [View(who=v.ballot.judge, words=v.judgment.reasoning) for v in culprits(verdict)]
    return tuple(said) or (View(who=None, words=verdict.aggregated.reasoning),)


def _tip(side: Side) -> View:
    named = not side.sha.startswith(side.ref)
    return View(ref=side.ref if named else None, sha=side.sha[:12])


def _change(report: Report, links: Links) -> View:
    pull = report.pull
    return View(
        title=pull.title if pull.title.strip() else None,
        name=pull.repo if pull.number is None else f"{pull.repo} #{pull.number}",
        url=own(links.pull_url) if links.pull_url else None,
        author=pull.author or None,
        base=_tip(pull.base),
        head=_tip(pull.head),
        additions=pull.additions,
        deletions=pull.deletions,
        files=len(pull.files),
        groups=tuple(_groups(report, links)),
        read_share=_share(report.coverage),
        elapsed=duration(report.elapsed_ms),
    )


def _groups(report: Report, links: Links) -> Iterator[View]:
    # One lock file would flatten every other bar, so files that nobody reads do not set the scale.
    sizes = [f.additions + f.deletions for f in report.pull.files if f.readable]
    largest = max(sizes, default=0) or 1
    reasons = {entry.path: entry.reason for entry in report.coverage.not_checked}
    for title, kinds in _GROUPS.items():
        files = [file for file in report.pull.files if file.kind in kinds]
        views = tuple(_file(file, links, largest, reasons) for file in files)
        if views:
            yield View(
                title=title,
                files=views,
                additions=sum(file.additions for file in files),
                deletions=sum(file.deletions for file in files),
            )


def _file(file: FileChange, links: Links, largest: int, reasons: dict[str, str]) -> View:
    path = printable(file.path)
    url = links.to(Location(path)) if file.new_blob or file.additions else None
    return View(
        path=path,
        url=own(url) if url else None,
        status=file.status.value.replace("_", " "),
        additions=file.additions,
        deletions=file.deletions,
        added_bar=_bar(file.additions, largest),
        deleted_bar=_bar(file.deletions, largest),
        not_checked=reasons.get(path),
    )


def _bar(lines: int, largest: int) -> int:
    return min(_BAR, max(1, _BAR * lines // largest)) if lines else 0


def _share(coverage: Coverage) -> int | None:
    """Percent of the added lines that were read; None where nothing was read line by line."""
    if coverage.scope == "tree" or not coverage.added_lines_total:
        return None
    return 100 * coverage.added_lines_judged // coverage.added_lines_total
