"""From what was found to a judgment: pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.code.parser import DIED
from prjury.judges.patterns.baseline import Known
from prjury.judges.patterns.findings import PatternFinding
from prjury.judges.patterns.review import ScanOutcome
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.voting import NOT_APPLICABLE
from prjury.manifests.module import DeclaredVersion, ManifestModule
from prjury.manifests.project import Project
from prjury.report.judge_facts import LeftOut, ScopeFacts
from prjury.rulepacks.applicability import at_least
from prjury.rulepacks.rule import Head
from prjury.snapshot.model import printable, visible

UNUSED = "patterns/unused-suppression"
STALE = "patterns/stale-baseline"
UNREAD = "unread"
SUPPRESSED_HERE = "suppressed_here"

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
    told: Mapping[str, Any],
    *,
    whole: bool = False,
) -> Judgment:
    """FAIL with a finding that reaches the threshold; then ERROR, ABSTAIN, PASS.

    Args:
        whole: whether all of a tree was looked at, so that no change has silenced anything.
    """
    findings = sorted(outcome.findings, key=_place)
    grave = [finding for finding in findings if at_least(finding.severity, threshold)]
    silenced = sorted(outcome.silenced, key=_place)
    checks = [finding.check for finding in findings]
    checks += [finding.silenced for finding in silenced]
    checks += [finding.upcoming for finding in sorted(outcome.upcoming, key=_place)]
    checks += _clean([*findings, *silenced, *outcome.known], looked)
    checks += [_unused(where.rule, where.path, where.line) for where in outcome.unused]
    checks += [_stale(entry, told) for entry in outcome.stale]
    metadata = {
        "subject": named(looked),
        **told,
        **scope(outcome),
        "suppressed": len(silenced),
        "suppressions": [finding.place for finding in silenced],
        "known": [finding.place for finding in outcome.known],
        "findings": [finding.details for finding in findings],
    }
    if grave:
        reasoning = _sentence(grave) + _aside(outcome)
        return Judgment.failed(reasoning, checks=checks, metadata=metadata)
    if outcome.crashed:
        return _crashed(outcome, checks, metadata)
    if any(path in outcome.asked for path in outcome.unread):
        return _unread(outcome, checks, metadata)
    here = [finding for finding in silenced if finding.silenced_here and not whole]
    if relaxed := [finding for finding in here if at_least(finding.severity, threshold)]:
        return Judgment.abstained(
            _relaxed(relaxed),
            SUPPRESSED_HERE,
            checks=checks,
            metadata={**metadata, "reason": SUPPRESSED_HERE},
        )
    if not outcome.read:
        return Judgment.abstained(
            "no file that rules look at is touched",
            NOT_APPLICABLE,
            checks=checks,
            metadata=metadata,
        )
    reasoning = _clean_sentence(findings, looked, threshold, outcome)
    return Judgment.passed(reasoning, checks=checks, metadata=metadata)


def scope(outcome: ScanOutcome) -> dict[str, Any]:
    """What this judge answers for, and what it could not read.

    Files of which no rule can say anything (documentation, other languages) do not matter
    here; ``outside`` names them.
    """
    read = tuple(sorted({*outcome.read, *outcome.locks}))
    return ScopeFacts(read, _reasons(outcome.unread), _reasons(outcome.outside)).to_metadata()


def _reasons(paths: Mapping[str, str]) -> tuple[LeftOut, ...]:
    return tuple(LeftOut(path, paths[path]) for path in sorted(paths))


def _clean(findings: Sequence[PatternFinding], looked: Iterable[ScannedFiles]) -> Iterator[Check]:
    """A passed check for each pack that looked and found nothing."""
    for each in looked:
        if not any(finding.name.startswith(f"{each.pack}/") for finding in findings):
            told = f"{_count(each.rules, 'rule')} over {_count(each.files, 'file')}, none hit"
            yield Check(each.pack, passed=True, message=told)


def _unused(rule: str, path: str, line: int) -> Check:
    return Check(
        UNUSED,
        passed=False,
        message=f"prjury-ignore[{visible(rule)}] silences nothing here",
        location=Location(path, line),
        severity="hint",
        fix="Remove the comment",
    )


def _stale(entry: Known, told: Mapping[str, Any]) -> Check:
    return Check(
        STALE,
        passed=False,
        message=f"{visible(entry.rule)} in {visible(entry.path)} is in the baseline and not found",
        location=Location(printable(told["baseline"]), entry.line),
        severity="hint",
        fix="Remove the entry, or write the baseline again",
    )


def _aside(outcome: ScanOutcome) -> str:
    """What was found and does not count, at the end of a sentence."""
    findings = _count(len(outcome.silenced), "finding")
    kinds = _kinds(outcome.silenced)
    told = f"; {findings} silenced by {kinds}" if kinds else ""
    return told + (f"; {len(outcome.known)} known from the baseline" if outcome.known else "")


def _relaxed(silenced: Sequence[PatternFinding]) -> str:
    """``this change silences 2 errors by noqa: python-stdlib/imp (a.py:1) and 1 more``."""
    first = silenced[0]
    where = f"{first.name} ({visible(first.path)}:{first.line})"
    more = f" and {len(silenced) - 1} more" if len(silenced) > 1 else ""
    what = "error" if first.severity == "error" else "finding"
    number = _count(len(silenced), what)
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
    parts = [f"{said} ({_places(group)})" for said, group in few]
    more = len(findings) - sum(len(group) for _, group in few)
    parts += [f"{more} more"] if more > 0 else []
    return f"{_count(len(findings), 'finding')}: {'; '.join(parts)}"


def _places(findings: Sequence[PatternFinding]) -> str:
    first, more = findings[0], len(findings) - 1
    return f"{visible(first.path)}:{first.line}" + (
        f" and {_count(more, 'more place')}" if more else ""
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
    packs = named(looked) or _count(sum(each.rules for each in looked), "rule")
    files = _count(len(outcome.read), "file")
    unread = f"; {_count(len(outcome.unread), 'file')} not read" if outcome.unread else ""
    unread += _aside(outcome)
    if not findings:
        found = "nothing else found" if outcome.silenced or outcome.known else "nothing found"
        return f"{packs} over {files}: {found}{unread}"
    counts = [(s, sum(f.severity == s for f in findings)) for s in ("warning", "hint")]
    told = " and ".join(_count(number, name) for name, number in counts if number)
    return f"{packs} over {files}: {told}, none reaches {threshold}{unread}"


def _crashed(
    outcome: ScanOutcome, checks: Iterable[Check], metadata: Mapping[str, Any]
) -> Judgment:
    path, first = min(outcome.crashed.items(), key=lambda item: item[0])
    reason = "scanner_died" if first.reason == DIED else first.reason
    return Judgment.errored(
        f"the parser broke at {visible(path)} ({first.detail}); the file is not checked",
        checks=checks,
        metadata={**metadata, "reason": reason},
    )


def _unread(outcome: ScanOutcome, checks: Iterable[Check], metadata: Mapping[str, Any]) -> Judgment:
    """A file that rules look at was not read: what is in it is unknown."""
    asked = sorted(outcome.asked & outcome.unread.keys())
    named = [f"{visible(path)} ({outcome.unread[path]})" for path in asked[:_TOLD]]
    more = len(asked) - _TOLD
    named += [f"{more} more"] if more > 0 else []
    told = f"{_count(len(asked), 'file')} could not be read: {'; '.join(named)}"
    reasoning = told + _aside(outcome)
    return Judgment.abstained(reasoning, UNREAD, checks=checks, metadata=metadata)


def versions(project: Project, heads: Iterable[Head]) -> dict[str, Any]:
    """What the gates saw: for each module the declarations that decided, and what is not known."""
    found: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    requirements = [requirement for head in heads for requirement in head.gate]
    for module in project.modules:
        notes |= dict.fromkeys(module.notes)
        for declared in dict.fromkeys(d for r in requirements for d in module.evidence(r)[:1]):
            found.append(_told(module, declared))
            if declared.written and not declared.version:
                notes[_unresolved(declared)] = None
    return {"versions": found[:_MAX_VERSIONS], "notes": list(notes)[:_MAX_VERSIONS]}


def _told(module: ManifestModule, declared: DeclaredVersion) -> dict[str, Any]:
    return {
        "module": module.path,
        "at": module.at,
        "declares": printable(str(declared)),
        "version": printable(declared.version) if declared.version else None,
        "from": declared.path,
    }


def _unresolved(declared: DeclaredVersion) -> str:
    name = printable(str(declared))
    return f"{declared.path}: version {printable(declared.written or '')} of {name} is not known"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
