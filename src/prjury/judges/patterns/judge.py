"""Tier 1: does the pull request add what the declared versions no longer have?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import re2
from msgspec import Struct

from prjury.code.languages import language_of
from prjury.code.parser import DIED, Parser
from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.baseline import Baseline, load_baseline
from prjury.judges.patterns.findings import PatternFinding
from prjury.judges.patterns.match import ActiveRule, Prefilter
from prjury.judges.patterns.review import PatternScan, ScanOutcome, admit_by, admit_code, admit_text
from prjury.judges.patterns.selection import ApplicableRules, PackSelection
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.voting import NOT_APPLICABLE
from prjury.manifests.project import Project, list_parsed_locks
from prjury.policy.options import PatternsOptions
from prjury.ports import Ports, Repository
from prjury.report.judge_facts import LeftOut, ScopeFacts
from prjury.report.wording import pluralize
from prjury.rulepacks.applicability import at_least
from prjury.rulepacks.committed import CommittedPacks, load_committed
from prjury.rulepacks.find import list_provided_packs
from prjury.rulepacks.load import load_own_packs
from prjury.rulepacks.rule import Head, Pack
from prjury.snapshot.model import FileChange, PullRequest, printable, visible

_MAX_VERSIONS = 60
_TOLD = 2
#: Of so many of its rules a pack must look at the touched files to be named for them.
_SHARE = 0.25
_NUMBER = re.compile(r"([0-9]{1,18})")


class ScannedFiles(Struct, frozen=True):
    """A pack, how many of its rules held, for how many files, and how many rules it has."""

    pack: str
    rules: int
    files: int
    total: int = 0


def name_packs(scanned: Sequence[ScannedFiles]) -> str:
    """Return the packs that are about the touched files, of which many rules look at them."""
    return ", ".join(each.pack for each in scanned if each.rules >= _SHARE * each.total)


def make_judgment(
    outcome: ScanOutcome,
    scanned: Sequence[ScannedFiles],
    threshold: Severity,
    facts: Mapping[str, Any],
    *,
    whole: bool = False,
) -> Judgment:
    """FAIL with a finding that reaches the threshold; then ERROR, ABSTAIN, PASS."""
    findings, silenced = sorted(outcome.findings, key=_place), sorted(outcome.silenced, key=_place)
    seen: dict[str, Any] = {
        "checks": [*_list_checks(outcome, findings, silenced, scanned, facts)],
        "metadata": {
            "subject": name_packs(scanned),
            **facts,
            **describe_scope(outcome),
            "suppressed": len(silenced),
            "suppressions": [finding.place for finding in silenced],
            "known": [finding.place for finding in outcome.prior],
            "findings": [finding.details for finding in findings],
        },
    }
    rest = _rest_words(outcome)
    if grave := [finding for finding in findings if at_least(finding.severity, threshold)]:
        return Judgment.failed(_describe_failure(grave) + rest, **seen)
    if outcome.crashed:
        return _judge_parser_crash(outcome, seen)
    if unread := sorted(outcome.candidates & outcome.unread.keys()):
        few = [f"{visible(path)} ({outcome.unread[path]})" for path in unread[:_TOLD]]
        few += [f"{len(unread) - _TOLD} more"] if len(unread) > _TOLD else []
        reason = f"{pluralize(len(unread), 'file')} could not be read: {'; '.join(few)}{rest}"
        return Judgment.abstained(reason, "unread", **seen)
    for finding in silenced:
        if finding.silenced_here and not whole and at_least(finding.severity, threshold):
            reason = _describe_silenced(silenced, threshold)
            return Judgment.abstained(reason, "suppressed_here", **seen)
    if not outcome.read:
        return Judgment.abstained("no file that rules look at is touched", NOT_APPLICABLE, **seen)
    packs = name_packs(scanned) or pluralize(sum(each.rules for each in scanned), "rule")
    unread_words = f"; {pluralize(len(outcome.unread), 'file')} not read" if outcome.unread else ""
    words = _describe_findings_below(findings, threshold, outcome)
    files = pluralize(len(outcome.read), "file")
    return Judgment.passed(f"{packs} over {files}: {words}{unread_words}{rest}", **seen)


def _list_checks(
    outcome: ScanOutcome,
    findings: Sequence[PatternFinding],
    silenced: Sequence[PatternFinding],
    scanned: Sequence[ScannedFiles],
    facts: Mapping[str, Any],
) -> Iterator[Check]:
    yield from (finding.check for finding in findings)
    yield from (finding.silenced for finding in silenced)
    yield from (finding.upcoming for finding in sorted(outcome.upcoming, key=_place))
    hit = {finding.active.pack.id for finding in (*findings, *silenced, *outcome.prior)}
    for each in scanned:
        if each.rules >= _SHARE * each.total and each.pack not in hit:
            counts = f"{pluralize(each.rules, 'rule')} over {pluralize(each.files, 'file')}"
            yield Check(each.pack, passed=True, message=f"{counts}: nothing found")
    for rule, place in outcome.unused:
        message = f"prjury-ignore[{visible(rule)}] silences nothing here"
        yield _hint("unused-suppression", message, place, "Remove the comment")
    for entry, line in outcome.stale:
        message = f"{visible(entry.rule)} in {visible(entry.path)} is in the baseline and not found"
        place = Location(printable(facts["baseline"]), line)
        fix = "Remove the entry, or write the baseline again"
        yield _hint("stale-baseline", message, place, fix)


def _hint(name: str, message: str, place: Location, fix: str) -> Check:
    return Check(f"patterns/{name}", False, message, place, severity="hint", fix=fix)  # noqa: FBT003 - failed


def describe_scope(outcome: ScanOutcome) -> dict[str, Any]:
    """Return the files that this judge answers for, those unread, and those outside of rules."""
    read = tuple(sorted({*outcome.read, *outcome.locks}))
    unread, outside = (
        tuple(LeftOut(path, why) for path, why in sorted(paths.items()))
        for paths in (outcome.unread, outcome.outside)
    )
    return ScopeFacts(read, unread, outside).to_metadata()


def _rest_words(outcome: ScanOutcome) -> str:
    words = ""
    if outcome.silenced:
        number = pluralize(len(outcome.silenced), "finding")
        words = f"; {number} silenced by {_list_silencers(outcome.silenced)}"
    return words + (f"; {len(outcome.prior)} known from the baseline" if outcome.prior else "")


def _describe_silenced(silenced: Sequence[PatternFinding], threshold: Severity) -> str:
    silenced_here = [f for f in silenced if f.silenced_here and at_least(f.severity, threshold)]
    first = silenced_here[0]
    more = f" and {len(silenced_here) - 1} more" if len(silenced_here) > 1 else ""
    number = pluralize(len(silenced_here), "error" if first.severity == "error" else "finding")
    where = f"{first.name} ({visible(first.path)}:{first.line}){more}"
    return f"this change silences {number} by {_list_silencers(silenced_here)}: {where}"


def _list_silencers(silenced: Iterable[PatternFinding]) -> str:
    """``noqa (2), prjury-ignore (1)``."""
    labels = Counter(finding.silenced_by for finding in silenced)
    return ", ".join(f"{n} ({labels[n]})" if len(labels) > 1 else n for n in sorted(labels))


def _describe_failure(findings: Sequence[PatternFinding]) -> str:
    by_summary: dict[str, list[PatternFinding]] = {}
    for finding in findings:
        by_summary.setdefault(finding.summary, []).append(finding)
    parts: list[str] = []
    rest = len(findings)
    for summary, same in list(by_summary.items())[:_TOLD]:
        more = f" and {pluralize(len(same) - 1, 'more place')}" if len(same) > 1 else ""
        parts.append(f"{summary} ({visible(same[0].path)}:{same[0].line}{more})")
        rest -= len(same)
    parts += [f"{rest} more"] if rest else []
    return f"{pluralize(len(findings), 'finding')}: {'; '.join(parts)}"


def _place(finding: PatternFinding) -> tuple[list[tuple[int, str]], int, str]:
    parts = _NUMBER.split(finding.path)
    path = [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]
    return path, finding.line, finding.name


def _describe_findings_below(
    findings: Sequence[PatternFinding], threshold: Severity, outcome: ScanOutcome
) -> str:
    if not findings:
        return "nothing else found" if outcome.silenced or outcome.prior else "nothing found"
    counts = [(s, sum(f.severity == s for f in findings)) for s in ("warning", "hint")]
    words = " and ".join(pluralize(number, name) for name, number in counts if number)
    return f"{words}, none reaches {threshold}"


def _judge_parser_crash(outcome: ScanOutcome, seen: Mapping[str, Any]) -> Judgment:
    path, first = min(outcome.crashed.items(), key=lambda item: item[0])
    reason = "scanner_died" if first.reason == DIED else first.reason
    return Judgment.errored(
        f"the parser broke at {visible(path)} ({first.detail}); the file is not checked",
        checks=seen["checks"],
        metadata={**seen["metadata"], "reason": reason},
    )


def describe_decisive_versions(project: Project, heads: Iterable[Head]) -> dict[str, Any]:
    """Return for each module the declarations that decided, and what is not known."""
    versions: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    requirements = [requirement for head in heads for requirement in head.gate]
    for module in project.modules:
        notes |= dict.fromkeys(module.notes)
        for declared in dict.fromkeys(d for r in requirements for d in module.evidence(r)[:1]):
            name, version = printable(str(declared)), declared.version
            place: dict[str, Any] = {"module": module.path, "at": module.at, "declares": name}
            place |= {"version": printable(version) if version else None, "from": declared.path}
            versions.append(place)
            if declared.written and not version:
                written = printable(declared.written)
                notes[f"{declared.path}: version {written} of {name} is not known"] = None
    return {"versions": versions[:_MAX_VERSIONS], "notes": list(notes)[:_MAX_VERSIONS]}


_COMMENTS = (b"//", b"*", b"/*", b"#")
#: Files of builds that may hand a library to modules, those of the builds' own builds among them.
_BUILDS = re2.compile(
    r"(?:^|/)(?:pom\.xml|gradle\.properties)$|\.gradle(?:\.kts)?$"
    r"|(?:^|/)(?:buildSrc|build-logic)/.*\.(?:groovy|java|kt|toml)$"
)
_BATCH = 100
_MAX_FILES = 3_000


def soften_errors_in_use(
    findings: Sequence[PatternFinding], project: Project, repository: Repository
) -> list[PatternFinding]:
    """Return the findings, with errors made warnings where the same is in use already."""
    uses: dict[tuple[str, str], bool] = {}
    softened: list[PatternFinding] = []
    for finding in findings:
        sides, (code, builds) = project.of_file[finding.path], finding.active.established
        module = sides.base.path or sides.head.path
        softer = finding
        if finding.severity == "error" and (code or builds):
            if (module, code) not in uses:
                blobs = _list_code(module, project) if code else []
                uses[module, code] = _is_used_outside_comments(blobs, code, repository)
            if builds and ("", builds) not in uses:
                blobs = [entry.blob for entry in project.base if _BUILDS.search(entry.path)]
                uses["", builds] = _is_used_outside_comments(blobs, builds, repository)
            if uses[module, code] or uses.get(("", builds)):
                softer = replace(finding, severity="warning", established=True)
        softened.append(softer)
    return softened


def _list_code(module: str, project: Project) -> list[str]:
    files = ((language_of(printable(e.path)), e.blob) for e in project.list_base_files(module))
    return [blob for language, blob in files if language and language.parser]


def _is_used_outside_comments(blobs: Iterable[str], regex: str, repository: Repository) -> bool:
    pattern = re2.compile(regex.encode())
    names = sorted(set(blobs))[:_MAX_FILES]
    for start in range(0, len(names), _BATCH):
        for content in repository.read(names[start : start + _BATCH]).values():
            for match in pattern.finditer(content or b""):
                begin = match.string.rfind(b"\n", 0, match.start()) + 1
                if not match.string[begin : match.start()].lstrip().startswith(_COMMENTS):
                    return True
    return False


NAME = "patterns"
_NO_PACK = "no version-pattern pack is about what the project declares"
_NO_RULE = "no version-pattern pack of this project has a rule for the touched files"


def _not_applicable(reason: str, metadata: Mapping[str, Any]) -> Judgment:
    return Judgment.abstained(reason, NOT_APPLICABLE, metadata=metadata)


def make(options: PatternsOptions, ports: Ports) -> PatternsJudge:
    """Make the judge; ConfigError for unknown packs and for what is wrong in one."""
    # The policy's commit has the packs, too: a pull request does not choose what judges it.
    if options.commit and options.paths:
        own = load_committed(ports.repository, options.commit, options.paths)
    else:
        own = CommittedPacks(load_own_packs(options.paths))
    # The user's own packs come last: they may replace one of the same name.
    packs = [*list_provided_packs(options.packs), *own.packs]
    selection = PackSelection.of(options.packs, packs)
    return PatternsJudge(options, ports.repository, selection, own=own)


@dataclass(frozen=True)
class PatternsJudge:
    """Judges what a pull request adds (a ``whole`` tree?) against its base's versions."""

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
        """FAIL with a finding at or above the configured severity, else PASS, or ABSTAIN."""
        pull = getattr(context, "pull", None)
        if not isinstance(pull, PullRequest):
            return _not_applicable("there is no pull request to look at", {})
        judgment = self._judge_findings(pull, context.deadline)
        if (note := self.own.note_if_touched(pull)) is None:
            return judgment
        judgment = judgment.with_metadata(notes=[*judgment.metadata.get("notes", []), note])
        return replace(judgment, reasoning=f"{judgment.reasoning}; {note}")

    def find_files_with_clues(self, pull: PullRequest) -> frozenset[str]:
        """Return the files that some rule looks at, whichever versions hold."""
        files = [
            (file, language)
            for file in pull.files
            if admit_code(file, ScanOutcome()) and (language := language_of(printable(file.path)))
        ]
        packs = self.selection.list_packs({language.name for _, language in files})
        rules = [ActiveRule(pack, rule) for pack in packs for rule in pack.rules if rule.clues]
        prefilter = Prefilter(rules)
        paths: set[str] = set()
        for file, language in files:
            candidates = prefilter.candidates("\n".join(line.text for line in file.added_lines))
            if any(active.list_matchers(language, file.path) for active in candidates):
                paths.add(file.path)
        return frozenset(paths)

    def _judge_findings(self, pull: PullRequest, deadline: Deadline) -> Judgment:
        outcome = ScanOutcome(locks=() if self.whole else list_parsed_locks(pull, self.repository))
        changed = [file for file in pull.files if admit_code(file, outcome)]
        if not changed:
            return _not_applicable("no code file is touched", describe_scope(outcome))
        options, selection = self.options, self.selection
        # A pull request adds nothing to its own baseline.
        tree = pull.head.sha if self.whole else pull.base.sha
        file = options.baseline
        baseline = load_baseline(self.repository, tree, file) if file else Baseline()
        project = Project.read(pull, self.repository, [file.path for file in changed])
        languages = {each.name for f in changed if (each := language_of(printable(f.path)))}
        packs = [
            pack
            for pack in selection.load_packs_for(project.places, languages)
            if not options.rules.is_ignored(pack.id)
        ]
        heads = packs or selection.heads.values()
        facts = {"packs": [pack.id for pack in packs], **describe_decisive_versions(project, heads)}
        facts["silencing"] = options.rules.suppressions
        facts |= {"baseline": baseline.file} if baseline.file else {}
        if not packs:
            outcome.outside |= {printable(file.path): "no pack applies" for file in changed}
            about = any(selection.is_about(project.places, head) for head in heads)
            reason = _NO_RULE if about else _NO_PACK
            return _not_applicable(reason, {**facts, **describe_scope(outcome)})
        rules = {place.key: selection.select_rules(packs, place) for place in project.places}
        standing = {path: rules[place.key] for path, place in project.of_file.items()}
        outcome.unread |= project.unread
        outcome.candidates |= project.unread.keys()
        requested = [file for file in changed if admit_by(file, standing[file.path], outcome)]
        files = [file for file in requested if admit_text(file, outcome)]
        silencing = options.rules.suppressions
        scan = PatternScan(self.repository, self.parser, standing, silencing, self.whole)
        scan.scan(files, outcome, deadline)
        outcome.leave_out(options.rules.is_ignored)
        self._shelve_known(baseline, outcome, facts["packs"])
        outcome.findings = soften_errors_in_use(outcome.findings, project, self.repository)
        scanned = list(_count_rules_by_pack(packs, files, standing))
        return make_judgment(outcome, scanned, options.severity, facts, whole=self.whole)

    def _shelve_known(self, baseline: Baseline, outcome: ScanOutcome, packs: Sequence[str]) -> None:
        accepted = {entry.fingerprint for entry in baseline.entries}
        findings, outcome.findings = outcome.findings, []
        for finding in findings:
            new = accepted.isdisjoint(finding.fingerprints)
            (outcome.findings if new else outcome.prior).append(finding)
        if self.whole:
            marks = {mark for f in (*findings, *outcome.silenced) for mark in f.fingerprints}
            outcome.stale = baseline.list_stale_entries_and_lines(marks, packs, outcome.unread)


def _count_rules_by_pack(
    packs: Iterable[Pack], files: Sequence[FileChange], standing: Mapping[str, ApplicableRules]
) -> Iterator[ScannedFiles]:
    by_file: list[list[ActiveRule]] = []
    for file in files:
        language = language_of(printable(file.path))
        rules = standing[file.path].looking(language, file.path) if language else ()
        by_file.append(list(rules))
    for pack in packs:
        names = [{active.name for active in rules if active.pack is pack} for rules in by_file]
        if number := sum(map(bool, names)):
            yield ScannedFiles(pack.id, len(set().union(*names)), number, len(pack.rules))
