"""Tier 1: does the pull request add what the declared versions no longer have?

Reads build files and the files in which a rule's word stands (gather), then turns what was found
into a judgment (decide). Findings stand on added lines only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import re2

from prjury.code.languages import language_of
from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.applicable_rules import ApplicableRules
from prjury.judges.patterns.baseline import Baseline, load_baseline
from prjury.judges.patterns.findings import PatternFinding
from prjury.judges.patterns.match import Active
from prjury.judges.patterns.prefilter import Prefilter
from prjury.judges.patterns.review import PatternScan, ScanOutcome, is_code, is_requested, is_sound
from prjury.judges.patterns.selection import PackSelection
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
        asked = {self._question(f) for f in findings if f.severity == "error"}
        habits = {
            (module, regex) for module, regex in sorted(asked) if regex and self._has(module, regex)
        }
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
        files = self.project.files_of(module)
        blobs = sorted({blob for path, blob in files if _is_code(path)})[:_MAX_FILES]
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


def _is_code(path: str) -> bool:
    language = language_of(printable(path))
    return language is not None and language.parser is not None


NAME = "patterns"
_NO_PACK = "no pack applies"


def make(options: PatternsOptions, ports: Ports) -> PatternsJudge:
    """The version-pattern judge.

    Raises:
        ConfigError: for an unknown pack, and for everything that is wrong in the user's own packs.
        SourceError: when a partial clone lacks one of them.
    """
    own = _own(options, ports.repository)
    # The user's own packs come last: they may replace one of the same name.
    packs = [*provided_packs(options.packs), *own.packs]
    selection = PackSelection.of(options.packs, packs)
    return PatternsJudge(options, ports.repository, selection, own=own)


def _own(options: PatternsOptions, repository: Repository) -> CommittedPacks:
    """From where the policy is: a pull request does not choose the packs it is judged by."""
    if options.commit and options.paths:
        return committed_packs(repository, options.commit, options.paths)
    return CommittedPacks(own_packs(options.paths))


@dataclass(frozen=True)
class PatternsJudge:
    """Judges what a pull request adds against the versions that its base declares.

    Attributes:
        whole: whether the pull request adds a whole tree; its own baseline is then in force.
        own: the user's packs; a pull request that changes them is told that it does.
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
            return Judgment.abstained("there is no pull request to look at", NOT_APPLICABLE)
        judgment = self._judged(pull, context.deadline)
        note = self.own.note(pull)
        if note is None:
            return judgment
        notes = [*judgment.metadata.get("notes", []), note]
        return replace(
            judgment.with_metadata(notes=notes), reasoning=f"{judgment.reasoning}; {note}"
        )

    def concerned(self, pull: PullRequest) -> frozenset[str]:
        """The files whose added lines hold what some rule looks for, whichever versions hold."""
        files = [file for file in pull.files if is_code(file, ScanOutcome())]
        found = {file.path: language_of(printable(file.path)) for file in files}
        languages = {language.name for language in found.values() if language}
        rules = [
            Active(pack, rule) for pack in self.selection.about(languages) for rule in pack.rules
        ]
        prefilter = Prefilter([active for active in rules if active.rule.clues])
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
            return Judgment.abstained(
                "no code file is touched", NOT_APPLICABLE, metadata=scope(outcome)
            )
        baseline = self._baseline(pull)
        project = Project.read(pull, self.repository, [file.path for file in changed])
        languages = {found.name for f in changed if (found := language_of(printable(f.path)))}
        packs = self.selection.packs_for(project.places, languages)
        heads = packs or self.selection.heads.values()
        told = {"packs": [pack.id for pack in packs], **versions(project, heads)}
        told["silencing"] = self.options.suppressions
        told |= {"baseline": baseline.file} if baseline.file else {}
        if not packs:
            outcome.outside |= {printable(file.path): _NO_PACK for file in changed}
            about = any(self.selection.is_about(project.places, head) for head in heads)
            return _no_pack({**told, **scope(outcome)}, about=about)
        rules = {place.key: self.selection.standing(packs, place) for place in project.places}
        standing = {path: rules[place.key] for path, place in project.of_file.items()}
        outcome.unread |= project.unread
        outcome.asked |= project.unread.keys()
        asked = [file for file in changed if is_requested(file, standing[file.path], outcome)]
        files = [file for file in asked if is_sound(file, outcome)]
        options = self.options
        listening = SuppressionRules.to(allow=options.suppressions, ecosystem=options.ecosystem)
        review = PatternScan(self.repository, self.parser, standing, listening, self.whole)
        review.run(files, outcome, deadline)
        self._set_aside(baseline, outcome, told["packs"])
        outcome.findings = ExistingUsage(project, self.repository).soften(outcome.findings)
        looked = _looked(packs, files, standing)
        return decide(outcome, looked, options.severity, told, whole=self.whole)

    def _baseline(self, pull: PullRequest) -> Baseline:
        """What is known, by the base's own word: a pull request adds nothing to it."""
        file = self.options.baseline
        tree = pull.head.sha if self.whole else pull.base.sha
        return load_baseline(self.repository, tree, file) if file else Baseline()

    def _set_aside(self, baseline: Baseline, outcome: ScanOutcome, packs: Sequence[str]) -> None:
        known = baseline.fingerprints
        found, outcome.findings = outcome.findings, []
        for finding in found:
            aside = not known.isdisjoint(finding.fingerprints)
            (outcome.known if aside else outcome.findings).append(finding)
        if self.whole:
            marks = {mark for f in (*found, *outcome.silenced) for mark in f.fingerprints}
            outcome.stale = baseline.stale(marks, packs, outcome.unread)


def _no_pack(metadata: dict[str, Any], *, about: bool) -> Judgment:
    reason = "no version-pattern pack is about what the project declares"
    if about:
        reason = "no version-pattern pack of this project has a rule for the touched files"
    return Judgment.abstained(reason, NOT_APPLICABLE, metadata=metadata)


def _looked(
    packs: Iterable[Pack], files: Sequence[FileChange], standing: Mapping[str, ApplicableRules]
) -> list[ScannedFiles]:
    """How many rules of each pack are about how many files, whose versions open the pack."""
    rules: dict[str, set[str]] = {pack.id: set() for pack in packs}
    counts = dict.fromkeys(rules, 0)
    for file in files:
        looking = _looking(file, standing[file.path])
        for pack in {active.pack.id for active in looking}:
            counts[pack] += 1
        for active in looking:
            rules[active.pack.id].add(active.name)
    known = {pack.id: len(pack.rules) for pack in packs}
    return [
        ScannedFiles(pack, len(rules[pack]), count, known[pack])
        for pack, count in counts.items()
        if count
    ]


def _looking(file: FileChange, standing: ApplicableRules) -> list[Active]:
    language = language_of(printable(file.path))
    return list(standing.looking(language, file.path)) if language else []
