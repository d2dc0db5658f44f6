"""From what was found to a judgment: pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.code.parser import DIED
from prjury.judges.patterns.findings import PatternFinding
from prjury.judges.patterns.review import ScanOutcome
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.voting import NOT_APPLICABLE
from prjury.manifests.project import Project
from prjury.report.judge_facts import LeftOut, ScopeFacts
from prjury.report.wording import counted
from prjury.rulepacks.applicability import at_least
from prjury.rulepacks.rule import Head
from prjury.snapshot.model import printable, visible

_MAX_VERSIONS = 60
_TOLD = 2
#: Of so many of its rules a pack must look at the touched files to be named for them.
_SHARE = 0.25
_NUMBER = re.compile(r"([0-9]{1,18})")


@dataclass(frozen=True)
class ScannedFiles:
    """A pack, how many of its rules held, for how many files, and how many rules it has."""

    pack: str
    rules: int
    files: int
    total: int = 0


def named(looked: Sequence[ScannedFiles]) -> str:
    """The packs that are about the touched files: those of which many rules look at them.

    A pack about workflows has a rule or two for scripts, and says nothing else about these.
    """
    return ", ".join(each.pack for each in looked if each.rules >= _SHARE * each.total)


def decide(
    outcome: ScanOutcome,
    looked: Sequence[ScannedFiles],
    threshold: Severity,
    reported: Mapping[str, Any],
    *,
    whole: bool = False,
) -> Judgment:
    """FAIL with a finding that reaches the threshold; then ERROR, ABSTAIN, PASS.

    Args:
        whole: whether all of a tree was looked at, so that no change has silenced anything.
    """
    findings, silenced = sorted(outcome.findings, key=_place), sorted(outcome.silenced, key=_place)
    seen: dict[str, Any] = {
        "checks": [*_checks(outcome, findings, silenced, looked, reported)],
        "metadata": {
            "subject": named(looked),
            **reported,
            **scope(outcome),
            "suppressed": len(silenced),
            "suppressions": [finding.place for finding in silenced],
            "known": [finding.place for finding in outcome.known],
            "findings": [finding.details for finding in findings],
        },
    }
    if grave := [finding for finding in findings if at_least(finding.severity, threshold)]:
        return Judgment.failed(_sentence(grave) + _aside(outcome), **seen)
    if outcome.crashed:
        return _crashed(outcome, seen)
    if unread := sorted(outcome.asked & outcome.unread.keys()):
        return Judgment.abstained(_unread(unread, outcome), "unread", **seen)
    here = [finding for finding in silenced if finding.silenced_here and not whole]
    if relaxed := [finding for finding in here if at_least(finding.severity, threshold)]:
        return Judgment.abstained(_relaxed(relaxed), "suppressed_here", **seen)
    if not outcome.read:
        why = "no file that rules look at is touched"
        return Judgment.abstained(why, NOT_APPLICABLE, **seen)
    return Judgment.passed(_clean_sentence(findings, looked, threshold, outcome), **seen)


def _checks(
    outcome: ScanOutcome,
    findings: Sequence[PatternFinding],
    silenced: Sequence[PatternFinding],
    looked: Sequence[ScannedFiles],
    reported: Mapping[str, Any],
) -> Iterator[Check]:
    yield from (finding.check for finding in findings)
    yield from (finding.silenced for finding in silenced)
    yield from (finding.upcoming for finding in sorted(outcome.upcoming, key=_place))
    hit = {finding.active.pack.id for finding in (*findings, *silenced, *outcome.known)}
    for each in looked:
        if each.pack not in hit:
            clean = f"{counted(each.rules, 'rule')} over {counted(each.files, 'file')}, none hit"
            yield Check(each.pack, passed=True, message=clean)
    for where in outcome.unused:
        message = f"prjury-ignore[{visible(where.rule)}] silences nothing here"
        place = Location(where.path, where.line)
        yield _hint("unused-suppression", message, place, "Remove the comment")
    for entry in outcome.stale:
        message = f"{visible(entry.rule)} in {visible(entry.path)} is in the baseline and not found"
        place = Location(printable(reported["baseline"]), entry.line)
        fix = "Remove the entry, or write the baseline again"
        yield _hint("stale-baseline", message, place, fix)


def _hint(name: str, message: str, place: Location, fix: str) -> Check:
    return Check(f"patterns/{name}", False, message, place, severity="hint", fix=fix)  # noqa: FBT003 - failed


def scope(outcome: ScanOutcome) -> dict[str, Any]:
    """What this judge answers for, and what it could not read.

    Files of which no rule can say anything (documentation, other languages) do not matter
    here; ``outside`` names them.
    """
    read = tuple(sorted({*outcome.read, *outcome.locks}))
    unread, outside = (
        tuple(LeftOut(path, why) for path, why in sorted(paths.items()))
        for paths in (outcome.unread, outcome.outside)
    )
    return ScopeFacts(read, unread, outside).to_metadata()


def _aside(outcome: ScanOutcome) -> str:
    """What was found and does not count, at the end of a sentence."""
    kinds, reported = _kinds(outcome.silenced), ""
    if kinds:
        reported = f"; {counted(len(outcome.silenced), 'finding')} silenced by {kinds}"
    return reported + (f"; {len(outcome.known)} known from the baseline" if outcome.known else "")


def _relaxed(silenced: Sequence[PatternFinding]) -> str:
    """``this change silences 2 errors by noqa: python-stdlib/imp (a.py:1) and 1 more``."""
    first = silenced[0]
    where = f"{first.name} ({visible(first.path)}:{first.line})"
    more = f" and {len(silenced) - 1} more" if len(silenced) > 1 else ""
    what = "error" if first.severity == "error" else "finding"
    number = counted(len(silenced), what)
    return f"this change silences {number} by {_kinds(silenced)}: {where}{more}"


def _kinds(silenced: Iterable[PatternFinding]) -> str:
    """``noqa (2), prjury-ignore (1)``."""
    labels = Counter(finding.silenced_by for finding in silenced)
    return ", ".join(f"{n} ({labels[n]})" if len(labels) > 1 else n for n in sorted(labels))


def _sentence(findings: Sequence[PatternFinding]) -> str:
    grouped: dict[str, list[PatternFinding]] = {}
    for finding in findings:
        grouped.setdefault(finding.summary, []).append(finding)
    few = list(grouped.items())[:_TOLD]
    parts = [f"{summary} ({_places(group)})" for summary, group in few]
    more = len(findings) - sum(len(group) for _, group in few)
    parts += [f"{more} more"] if more > 0 else []
    return f"{counted(len(findings), 'finding')}: {'; '.join(parts)}"


def _places(findings: Sequence[PatternFinding]) -> str:
    first, more = findings[0], len(findings) - 1
    return f"{visible(first.path)}:{first.line}" + (
        f" and {counted(more, 'more place')}" if more else ""
    )


def _place(finding: PatternFinding) -> tuple[list[tuple[int, str]], int, str]:
    """By which findings are sorted: paths as people number them, ``m2`` before ``m10``."""
    parts = _NUMBER.split(finding.path)
    path = [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]
    return path, finding.line, finding.name


def _clean_sentence(
    findings: Sequence[PatternFinding],
    looked: Sequence[ScannedFiles],
    threshold: Severity,
    outcome: ScanOutcome,
) -> str:
    packs = named(looked) or counted(sum(each.rules for each in looked), "rule")
    files = counted(len(outcome.read), "file")
    unread = f"; {counted(len(outcome.unread), 'file')} not read" if outcome.unread else ""
    unread += _aside(outcome)
    if not findings:
        found = "nothing else found" if outcome.silenced or outcome.known else "nothing found"
        return f"{packs} over {files}: {found}{unread}"
    counts = [(s, sum(f.severity == s for f in findings)) for s in ("warning", "hint")]
    reported = " and ".join(counted(number, name) for name, number in counts if number)
    return f"{packs} over {files}: {reported}, none reaches {threshold}{unread}"


def _crashed(outcome: ScanOutcome, seen: Mapping[str, Any]) -> Judgment:
    path, first = min(outcome.crashed.items(), key=lambda item: item[0])
    reason = "scanner_died" if first.reason == DIED else first.reason
    return Judgment.errored(
        f"the parser broke at {visible(path)} ({first.detail}); the file is not checked",
        checks=seen["checks"],
        metadata={**seen["metadata"], "reason": reason},
    )


def _unread(paths: Sequence[str], outcome: ScanOutcome) -> str:
    """Files that rules look at were not read: what is in them is unknown."""
    few = [f"{visible(path)} ({outcome.unread[path]})" for path in paths[:_TOLD]]
    few += [f"{len(paths) - _TOLD} more"] if len(paths) > _TOLD else []
    return f"{counted(len(paths), 'file')} could not be read: {'; '.join(few)}{_aside(outcome)}"


def versions(project: Project, heads: Iterable[Head]) -> dict[str, Any]:
    """What the gates saw: for each module the declarations that decided, and what is not known."""
    found: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    requirements = [requirement for head in heads for requirement in head.gate]
    for module in project.modules:
        notes |= dict.fromkeys(module.notes)
        for declared in dict.fromkeys(d for r in requirements for d in module.evidence(r)[:1]):
            name, version = printable(str(declared)), declared.version
            place: dict[str, Any] = {"module": module.path, "at": module.at, "declares": name}
            place |= {"version": printable(version) if version else None, "from": declared.path}
            found.append(place)
            if declared.written and not version:
                written = printable(declared.written)
                notes[f"{declared.path}: version {written} of {name} is not known"] = None
    return {"versions": found[:_MAX_VERSIONS], "notes": list(notes)[:_MAX_VERSIONS]}
