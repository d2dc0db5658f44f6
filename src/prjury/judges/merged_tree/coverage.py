"""Coverage in a policy: the report that a build or a command has left behind."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.added_lines import decide_added, match_coverage
from prjury.judges.merged_tree.tree import judge_no_tree, read_merged_lines
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.coverage_readers import (
    CoverageCounter,
    CoverageMetrics,
    CoverageReport,
    read_coverage,
)
from prjury.judges.workspace.files import judge_or_error
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.policy.seats import CoverageOptions
from prjury.ports import Ports
from prjury.snapshot.kinds import is_docs_only
from prjury.snapshot.model import FileKind, PullRequest, printable


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
    """PASS where the coverage that an earlier tier has measured is what is asked, else FAIL.

    Without a report of the base it abstains, ``no_baseline``; ERROR without one of the change.
    """

    options: CoverageOptions
    ports: Ports
    measure: CoverageJudge
    name: str = "coverage"
    description: str = "enough of the code is covered by the tests of the build"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Read the reports, and decide."""
        pull = context.pull
        if pull.merge.tree is None:
            return judge_no_tree(pull)
        if not pull.files or is_docs_only(pull):
            return Judgment.abstained("nothing to measure: no code changes", "not_applicable")
        return judge_or_error(lambda: self._judge_report(pull, KeptReports.of(context)))

    def _judge_report(self, pull: PullRequest, kept: KeptReports) -> Judgment:
        reports = self._read_reports(kept)
        if self.options.mode == "added_lines":
            return self._measure_added_lines(pull, reports)
        baseline = None
        if self.options.baseline == "base":
            with suppress(CannotJudgeError):
                if counter := self._add_up(self._read_reports(kept.of_base)):
                    baseline = Fraction(100 * counter.covered, counter.total)
        return self.measure.decide(self._add_up(reports), baseline)

    def _read_reports(self, kept: KeptReports) -> Sequence[CoverageReport]:
        with self.ports.shell.scratch() as around:
            try:
                return [
                    replace(report, place=Path(path))
                    for path, file in kept.write(self.options.report, around).items()
                    for report in read_coverage(file)
                ]
            except CannotJudgeError as error:
                error.what = error.what.replace(f"{around.resolve()}/", "")
                error.what = error.what.replace(f"{around}/", "")
                raise

    def _add_up(self, reports: Sequence[CoverageReport]) -> CoverageCounter | None:
        total = CoverageMetrics.total(report.metrics for report in reports)
        return total.counters.get(self.options.metric)

    def _measure_added_lines(
        self, pull: PullRequest, reports: Sequence[CoverageReport]
    ) -> Judgment:
        repository = self.ports.repository
        blobs = {entry.path: entry.blob for entry in repository.files(pull.merge.tree or "")}
        files = [file for file in pull.files if file.additions and file.path in blobs]
        added = {file.path: read_merged_lines(file, blobs, repository) for file in files}
        lines = {path: lines for path, lines in added.items() if lines}
        coverage = match_coverage(reports, lines, TreeFiles(frozenset(blobs)))
        unmeasured = [
            printable(file.path)
            for file in files
            if file.kind is FileKind.SOURCE and not file.exempt and file.path not in coverage
        ]
        minimum, report = self.options.minimum or 0.0, self.options.report
        return decide_added(coverage, minimum, report, unmeasured)
