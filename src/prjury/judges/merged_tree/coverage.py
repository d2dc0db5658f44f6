"""Coverage in a policy: the report that a build or a command has left behind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace as copy
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from posixpath import normpath
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.evidence import KeptReports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.tree import find_added_lines_in_merge, judge_tree, read_kept_reports
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.coverage_readers import (
    CoverageCounter,
    CoverageMetrics,
    CoverageReport,
    read_coverage,
)
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.policy.options import CoverageOptions
from prjury.ports import Ports
from prjury.report.wording import join_words, pluralize
from prjury.snapshot.kinds import edits_only_docs
from prjury.snapshot.model import FileKind, PullRequest, printable, visible


def make(options: CoverageOptions, ports: Ports) -> MergedTreeCoverage:
    """Make the judge with these options and ports; ConfigError where they do not go together."""
    if options.mode == "added_lines" and options.metric != "line":
        what = "coverage: the mode added_lines counts lines, and has no other metric"
        raise ConfigError(what, remedy="Correct the policy")
    mode = None if options.mode == "added_lines" else options.mode
    baseline, drop = options.baseline, options.max_drop
    if baseline == "base":
        baseline = None
        drop = 0.0 if drop is None and mode is None else drop
    try:
        measure = CoverageJudge(
            options.report, options.minimum, options.metric, baseline, drop, mode
        )
    except ValueError as error:
        raise ConfigError(f"coverage: {error}", remedy="Correct the policy") from error
    return MergedTreeCoverage(options, ports, measure)


class MergedTreeCoverage(Struct, frozen=True):
    """PASS where the coverage that an earlier tier has measured is what is asked, else FAIL."""

    options: CoverageOptions
    ports: Ports
    measure: CoverageJudge
    name: str = "coverage"
    description: str = "enough of the code is covered by the tests of the build"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        return judge_tree(context, lambda tree: self._judge_coverage_report(tree, context))

    def _judge_coverage_report(self, tree: str, context: PullRequestContext) -> Judgment:
        pull, store = context.pull, KeptReports.of(context)
        if not pull.files or edits_only_docs(pull):
            return Judgment.abstained("nothing to measure: no code changes", "not_applicable")
        reports = self._read_reports(store)
        if self.options.mode == "added_lines":
            return self._judge_added_lines(tree, pull, reports)
        baseline = None
        if self.options.baseline == "base":
            with suppress(CannotJudgeError):
                if counter := self._add_up(self._read_reports(store.of_base)):
                    baseline = Fraction(100 * counter.covered, counter.total)
        return self.measure.decide(self._add_up(reports), baseline)

    def _read_reports(self, kept: KeptReports) -> Sequence[CoverageReport]:
        files = read_kept_reports(kept, self.options.report, self.ports.shell, read_coverage)
        return [replace(report, place=Path(path)) for path, (report, *_) in files.items()]

    def _add_up(self, reports: Sequence[CoverageReport]) -> CoverageCounter | None:
        total = CoverageMetrics.total(report.metrics for report in reports)
        return total.counters.get(self.options.metric)

    def _judge_added_lines(
        self, tree: str, pull: PullRequest, reports: Sequence[CoverageReport]
    ) -> Judgment:
        repository = self.ports.repository
        blobs = {entry.path: entry.blob for entry in repository.files(tree)}
        files = [file for file in pull.files if file.additions and file.path in blobs]
        added = {file.path: find_added_lines_in_merge(file, blobs, repository) for file in files}
        lines = {path: lines for path, lines in added.items() if lines}
        coverage = match_coverage(reports, lines, TreeFiles(frozenset(blobs)))
        unmeasured = [
            printable(file.path)
            for file in files
            if file.kind is FileKind.SOURCE and not file.exempt and file.path not in coverage
        ]
        return decide_added_lines(self.measure, coverage, unmeasured)


#: The added lines of files by their numbers.
AddedLines: TypeAlias = Mapping[str, Mapping[int, str]]
#: Of the files that a report names, which of their added lines were run, if they are code at all.
AddedCoverage: TypeAlias = Mapping[str, Mapping[int, bool]]

_MOST_FINDINGS = 50
#: No code in a language of braces: nothing, only brackets, or only a comment.
_NO_CODE = re.compile(r"\s*(//.*|[^\w\"'`]*)")


def match_coverage(
    reports: Iterable[CoverageReport], added: AddedLines, tree: TreeFiles
) -> AddedCoverage:
    """Say which added lines were run; a line that any of the reports saw run was run."""
    coverage: dict[str, dict[int, bool]] = {}
    for report in reports:
        for name, lines in report.files.items():
            path = _resolve_file(name, report.roots, str(report.place), tree)
            if path not in added:
                continue
            runs = coverage.setdefault(path, {})
            for number, text in added[path].items():
                if number in lines and not (report.by_block and _NO_CODE.fullmatch(text)):
                    runs[number] = lines[number] or runs.get(number, False)
    return coverage


def _resolve_file(name: str, roots: Sequence[str], place: str, tree: TreeFiles) -> str:
    """Return the file that a report at a place means; empty for none. Neighbours come first."""
    plain = normpath(name.replace("\\", "/"))
    for root in roots:
        if path := tree.find_in_package(normpath(root.replace("\\", "/")), plain):
            return path
    if plain in tree.paths:
        return plain
    return tree.find_nearest(plain, place) or tree.find_in_package("", plain) or ""


def decide_added_lines(
    measure: CoverageJudge, coverage: AddedCoverage, unmeasured: Sequence[str]
) -> Judgment:
    """Return PASS, FAIL or ABSTAIN for the added lines; no report names the unmeasured files."""
    names = join_words([visible(path) for path in unmeasured])
    gap = f"{visible(os.fspath(measure.report))} knows nothing of {names}" if unmeasured else ""
    runs = [run for lines in coverage.values() for run in lines.values()]
    if not runs and gap:
        return Judgment.abstained(f"no added line was measured: {gap}", "not_measured")
    if not runs:
        return Judgment.abstained("no added line is code that counts", "not_applicable")
    counter = CoverageCounter(sum(runs), len(runs) - sum(runs))
    subject = f"coverage of the {pluralize(len(runs), 'added line')}"
    judgment = measure.decide(counter, subject=subject)
    enough, words = judgment.status is Status.PASS, judgment.reasoning
    checks = [*judgment.checks, *_make_uncovered_checks(coverage, "warning" if enough else "error")]
    if gap:
        checks.append(Check.bad("coverage-unmeasured", gap, severity="warning"))
        words = f"{words}; {gap}"
    metadata = {**judgment.metadata, "mode": "added_lines", "unmeasured": list(unmeasured)}
    metadata["summaries"] = ["coverage-minimum"]
    return copy(judgment, reasoning=words, checks=tuple(checks), metadata=metadata)


def _make_uncovered_checks(coverage: AddedCoverage, severity: Severity) -> Sequence[Check]:
    checks = []
    for path, runs in sorted(coverage.items()):
        missed = sorted(number for number, run in runs.items() if not run)
        for _, group in groupby(enumerate(missed), key=lambda entry: entry[1] - entry[0]):
            first, *others = [number for _, number in group]
            last = others[-1] if others else None
            lines = f"lines {first} to {last} are" if last else f"line {first} is"
            words, place = f"{lines} not covered by tests", Location(path, first, last)
            checks.append(Check.bad("uncovered-lines", words, place, severity=severity))
    if (rest := len(checks) - _MOST_FINDINGS) > 0:
        words = f"{pluralize(rest, 'more place')} not covered by tests"
        checks[_MOST_FINDINGS:] = [Check.bad("uncovered-lines", words, severity=severity)]
    return checks
