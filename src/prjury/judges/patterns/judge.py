"""Tier 1: does the pull request add what the declared versions no longer have?

Reads build files and the files in which a rule's word stands (gather), then turns what was found
into a judgment (decide). Findings stand on added lines only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import re2

from prjury.code.languages import language_of
from prjury.code.parser import DIED, Parser
from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.baseline import Baseline, load_baseline
from prjury.judges.patterns.findings import PatternFinding
from prjury.judges.patterns.match import Active, Prefilter
from prjury.judges.patterns.review import PatternScan, ScanOutcome, is_code, is_requested, is_sound
from prjury.judges.patterns.selection import ApplicableRules, PackSelection
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.voting import NOT_APPLICABLE
from prjury.manifests.project import Project, list_parsed_locks
from prjury.policy.patterns import PatternsOptions
from prjury.ports import Ports, Repository
from prjury.report.judge_facts import LeftOut, ScopeFacts
from prjury.report.wording import counted
from prjury.rulepacks.applicability import at_least
from prjury.rulepacks.committed import CommittedPacks, committed_packs
from prjury.rulepacks.find import provided_packs
from prjury.rulepacks.load import own_packs
from prjury.rulepacks.rule import Head, Pack
from prjury.snapshot.model import FileChange, PullRequest, printable, visible

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
        return Judgment.failed(_sentence(grave) + _rest_words(outcome), **seen)
    if outcome.crashed:
        return _report_crash(outcome, seen)
    if unread := sorted(outcome.asked & outcome.unread.keys()):
        return Judgment.abstained(_unread(unread, outcome), "unread", **seen)
    here = [finding for finding in silenced if finding.silenced_here and not whole]
    if relaxed := [finding for finding in here if at_least(finding.severity, threshold)]:
        return Judgment.abstained(_relax(relaxed), "suppressed_here", **seen)
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
    for entry, line in outcome.stale:
        message = f"{visible(entry.rule)} in {visible(entry.path)} is in the baseline and not found"
        place = Location(printable(reported["baseline"]), line)
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


def _rest_words(outcome: ScanOutcome) -> str:
    """Return the number of findings that do not count, as the end of a sentence."""
    kinds, reported = _kinds(outcome.silenced), ""
    if kinds:
        reported = f"; {counted(len(outcome.silenced), 'finding')} silenced by {kinds}"
    return reported + (f"; {len(outcome.known)} known from the baseline" if outcome.known else "")


def _relax(silenced: Sequence[PatternFinding]) -> str:
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
    unread += _rest_words(outcome)
    if not findings:
        found = "nothing else found" if outcome.silenced or outcome.known else "nothing found"
        return f"{packs} over {files}: {found}{unread}"
    counts = [(s, sum(f.severity == s for f in findings)) for s in ("warning", "hint")]
    reported = " and ".join(counted(number, name) for name, number in counts if number)
    return f"{packs} over {files}: {reported}, none reaches {threshold}{unread}"


def _report_crash(outcome: ScanOutcome, seen: Mapping[str, Any]) -> Judgment:
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
    return (
        f"{counted(len(paths), 'file')} could not be read: {'; '.join(few)}{_rest_words(outcome)}"
    )


def versions(project: Project, heads: Iterable[Head]) -> dict[str, Any]:
    """Return for each module the declarations that decided, and what is not known."""
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


_COMMENTS = (b"//", b"*", b"/*", b"#")
_BATCH = 100
_MAX_FILES = 3_000


@dataclass(frozen=True)
class ExistingUsage:
    """Looks into the code of modules, only where there is a finding that it could soften."""

    project: Project
    repository: Repository

    def soften(self, findings: Sequence[PatternFinding]) -> list[PatternFinding]:
        """The findings, with errors made warnings where the module does the same already."""
        asked = sorted({self._question(f) for f in findings if f.severity == "error"})
        habits = {(module, regex) for module, regex in asked if regex and self._has(module, regex)}
        return [
            replace(f, severity="warning", established=True)
            if f.severity == "error" and self._question(f) in habits
            else f
            for f in findings
        ]

    def _question(self, finding: PatternFinding) -> tuple[str, str]:
        sides = self.project.of_file[finding.path]
        return sides.base.path or sides.head.path, finding.active.established

    def _has(self, module: str, regex: str) -> bool:
        pattern = re2.compile(regex.encode())
        named = ((language_of(printable(p)), blob) for p, blob in self.project.files_of(module))
        blobs = sorted({blob for found, blob in named if found and found.parser})[:_MAX_FILES]
        for start in range(0, len(blobs), _BATCH):
            contents = self.repository.read(blobs[start : start + _BATCH]).values()
            if any(content and _uses(pattern, content) for content in contents):
                return True
        return False


def _uses(pattern: re2._Regexp, content: bytes) -> bool:
    """Return true if a line that is no comment line fits."""
    return any(
        not content[content.rfind(b"\n", 0, start) + 1 : start].lstrip().startswith(_COMMENTS)
        for start in (match.start() for match in pattern.finditer(content))
    )


NAME = "patterns"
_NO_PACK = "no version-pattern pack is about what the project declares"
_NO_RULE = "no version-pattern pack of this project has a rule for the touched files"


def _not_applicable(reason: str, metadata: Mapping[str, Any]) -> Judgment:
    return Judgment.abstained(reason, NOT_APPLICABLE, metadata=metadata)


def make(options: PatternsOptions, ports: Ports) -> PatternsJudge:
    """The version-pattern judge; ConfigError for unknown packs and for what is wrong in one."""
    # The policy's commit has the packs, too: a pull request does not choose what judges it.
    if options.commit and options.paths:
        own = committed_packs(ports.repository, options.commit, options.paths)
    else:
        own = CommittedPacks(own_packs(options.paths))
    # The user's own packs come last: they may replace one of the same name.
    packs = [*provided_packs(options.packs), *own.packs]
    selection = PackSelection.of(options.packs, packs)
    return PatternsJudge(options, ports.repository, selection, own=own)


@dataclass(frozen=True)
class PatternsJudge:
    """Judges what a pull request adds against the versions that its base declares.

    Attributes:
        whole: whether the pull request adds a whole tree; its own baseline is then in force.
        own: the user's packs; a pull request that changes them gets a note about it.
    """

    options: PatternsOptions
    repository: Repository
    selection: PackSelection
    parser: Parser = field(default_factory=Parser)
    name: str = NAME
    description: str = "looks in added lines for what the declared versions no longer have"
    type: JudgeType = JudgeType.DETERMINISTIC
    whole: bool = False
    own: CommittedPacks = field(default_factory=CommittedPacks)

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """FAIL with a finding at or above the configured severity, else PASS, or ABSTAIN.

        Raises:
            SourceError: when the repository cannot be read.
            ConfigError: when a shipped pack is damaged, or the baseline missing or malformed.
        """
        pull = getattr(context, "pull", None)
        if not isinstance(pull, PullRequest):
            return _not_applicable("there is no pull request to look at", {})
        judgment = self._judge_findings(pull, context.deadline)
        if (note := self.own.note(pull)) is None:
            return judgment
        reported = judgment.with_metadata(notes=[*judgment.metadata.get("notes", []), note])
        return replace(reported, reasoning=f"{judgment.reasoning}; {note}")

    def find_concerned(self, pull: PullRequest) -> frozenset[str]:
        """Return the files that some rule looks at, whichever versions hold."""
        files = [file for file in pull.files if is_code(file, ScanOutcome())]
        found = {file.path: language_of(printable(file.path)) for file in files}
        languages = {language.name for language in found.values() if language}
        packs = self.selection.about(languages)
        rules = [Active(pack, rule) for pack in packs for rule in pack.rules if rule.clues]
        prefilter = Prefilter(rules)
        return frozenset(
            file.path
            for file in files
            if (language := found[file.path])
            and any(
                active.matches(language, file.path)
                for active in prefilter.candidates("\n".join(x.text for x in file.added_lines))
            )
        )

    def _judge_findings(self, pull: PullRequest, deadline: Deadline) -> Judgment:
        outcome = ScanOutcome(locks=() if self.whole else list_parsed_locks(pull, self.repository))
        changed = [file for file in pull.files if is_code(file, outcome)]
        if not changed:
            return _not_applicable("no code file is touched", scope(outcome))
        baseline = self._baseline(pull)
        project = Project.read(pull, self.repository, [file.path for file in changed])
        languages = {found.name for f in changed if (found := language_of(printable(f.path)))}
        options = self.options
        packs = self.selection.packs_for(project.places, languages)
        packs = [pack for pack in packs if not options.rules.is_ignored(pack.id)]
        heads = packs or self.selection.heads.values()
        reported = {"packs": [pack.id for pack in packs], **versions(project, heads)}
        reported["silencing"] = options.rules.suppressions
        reported |= {"baseline": baseline.file} if baseline.file else {}
        if not packs:
            outcome.outside |= {printable(file.path): "no pack applies" for file in changed}
            about = any(self.selection.is_about(project.places, head) for head in heads)
            reason = _NO_RULE if about else _NO_PACK
            return _not_applicable(reason, {**reported, **scope(outcome)})
        rules = {place.key: self.selection.standing(packs, place) for place in project.places}
        standing = {path: rules[place.key] for path, place in project.of_file.items()}
        outcome.unread |= project.unread
        outcome.asked |= project.unread.keys()
        asked = [file for file in changed if is_requested(file, standing[file.path], outcome)]
        files = [file for file in asked if is_sound(file, outcome)]
        silencing = options.rules.suppressions
        review = PatternScan(self.repository, self.parser, standing, silencing, self.whole)
        review.run(files, outcome, deadline)
        outcome.leave_out(options.rules.is_ignored)
        self._set_aside(baseline, outcome, reported["packs"])
        outcome.findings = ExistingUsage(project, self.repository).soften(outcome.findings)
        looked = list(_count_rules(packs, files, standing))
        return decide(outcome, looked, options.severity, reported, whole=self.whole)

    def _baseline(self, pull: PullRequest) -> Baseline:
        """Read the baseline of the base: a pull request adds nothing to it."""
        file = self.options.baseline
        tree = pull.head.sha if self.whole else pull.base.sha
        return load_baseline(self.repository, tree, file) if file else Baseline()

    def _set_aside(self, baseline: Baseline, outcome: ScanOutcome, packs: Sequence[str]) -> None:
        known = {entry.fingerprint for entry in baseline.entries}
        found, outcome.findings = outcome.findings, []
        for finding in found:
            aside = not known.isdisjoint(finding.fingerprints)
            (outcome.known if aside else outcome.findings).append(finding)
        if self.whole:
            marks = {mark for f in (*found, *outcome.silenced) for mark in f.fingerprints}
            outcome.stale = baseline.list_stale(marks, packs, outcome.unread)


def _count_rules(
    packs: Iterable[Pack], files: Sequence[FileChange], standing: Mapping[str, ApplicableRules]
) -> Iterator[ScannedFiles]:
    """Count the rules of each pack, and the files whose versions open the pack."""
    looking: list[list[Active]] = []
    for file in files:
        language = language_of(printable(file.path))
        rules = standing[file.path].looking(language, file.path) if language else ()
        looking.append(list(rules))
    for pack in packs:
        names = [[active.name for active in some if active.pack.id == pack.id] for some in looking]
        if count := sum(map(bool, names)):
            rules_of = len({name for some in names for name in some})
            yield ScannedFiles(pack.id, rules_of, count, len(pack.rules))
