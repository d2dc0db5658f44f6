"""Tier 1: does the pull request add what the declared versions no longer have?

Reads build files and the files in which a rule's word stands (gather), then turns what was found
into a judgment (decide). Findings stand on added lines only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import re2

from prjury.code.languages import language_of
from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.baseline import Baseline, load_baseline
from prjury.judges.patterns.findings import PatternFinding
from prjury.judges.patterns.match import Active, Prefilter
from prjury.judges.patterns.review import PatternScan, ScanOutcome, is_code, is_requested, is_sound
from prjury.judges.patterns.selection import ApplicableRules, PackSelection
from prjury.judges.patterns.suppressions import SuppressionRules
from prjury.judges.patterns.verdict import ScannedFiles, decide, scope, versions
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.manifests.project import Project, parsed_locks
from prjury.policy.schema import PatternsOptions
from prjury.ports import Ports, Repository
from prjury.rulepacks.committed import CommittedPacks, committed_packs
from prjury.rulepacks.find import provided_packs
from prjury.rulepacks.load import own_packs
from prjury.rulepacks.rule import Pack
from prjury.snapshot.model import FileChange, PullRequest, printable

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
    """Whether a line that is no comment line fits."""
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
        judgment = self._judged(pull, context.deadline)
        if (note := self.own.note(pull)) is None:
            return judgment
        reported = judgment.with_metadata(notes=[*judgment.metadata.get("notes", []), note])
        return replace(reported, reasoning=f"{judgment.reasoning}; {note}")

    def concerned(self, pull: PullRequest) -> frozenset[str]:
        """The files whose added lines hold what some rule looks for, whichever versions hold."""
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

    def _judged(self, pull: PullRequest, deadline: Deadline) -> Judgment:
        outcome = ScanOutcome(locks=() if self.whole else parsed_locks(pull, self.repository))
        changed = [file for file in pull.files if is_code(file, outcome)]
        if not changed:
            return _not_applicable("no code file is touched", scope(outcome))
        baseline = self._baseline(pull)
        project = Project.read(pull, self.repository, [file.path for file in changed])
        languages = {found.name for f in changed if (found := language_of(printable(f.path)))}
        packs = self.selection.packs_for(project.places, languages)
        heads = packs or self.selection.heads.values()
        reported = {"packs": [pack.id for pack in packs], **versions(project, heads)}
        reported["silencing"] = self.options.suppressions
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
        options = self.options
        own = options.suppressions
        listening = SuppressionRules(own, own and options.ecosystem)
        review = PatternScan(self.repository, self.parser, standing, listening, self.whole)
        review.run(files, outcome, deadline)
        self._set_aside(baseline, outcome, reported["packs"])
        outcome.findings = ExistingUsage(project, self.repository).soften(outcome.findings)
        looked = list(_looked(packs, files, standing))
        return decide(outcome, looked, options.severity, reported, whole=self.whole)

    def _baseline(self, pull: PullRequest) -> Baseline:
        """What is known, by the base's own word: a pull request adds nothing to it."""
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
            outcome.stale = baseline.stale(marks, packs, outcome.unread)


def _looked(
    packs: Iterable[Pack], files: Sequence[FileChange], standing: Mapping[str, ApplicableRules]
) -> Iterator[ScannedFiles]:
    """How many rules of each pack are about how many files, whose versions open the pack."""
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
