"""Coverage in a policy: the report that a build or a command has left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.added_lines import merged_lines
from prjury.judges.merged_tree.tree import no_tree
from prjury.judges.workspace.added_lines import added_coverage
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.coverage_formats.read import read_coverage
from prjury.judges.workspace.coverage_formats.report import CoverageMetrics, CoverageReport
from prjury.judges.workspace.files import answered
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.policy.seats import CoverageOptions
from prjury.ports import Ports
from prjury.snapshot.model import FileKind, PullRequest, printable


def make(options: CoverageOptions, ports: Ports) -> MergedTreeCoverage:
    """The judge with these options and ports.

    Raises:
        ConfigError: for options that do not go together.
    """
    try:
        return MergedTreeCoverage(options, ports, _measure(options))
    except ValueError as error:
        raise ConfigError(f"coverage: {error}", remedy="Correct the policy") from error


def _measure(options: CoverageOptions) -> CoverageJudge:
    number = None if options.baseline == "base" else options.baseline
    drop = options.max_drop
    if options.baseline == "base" and options.mode is None and drop is None:
        drop = 0.0
    return CoverageJudge(
        options.report, options.minimum, options.metric, number, drop, options.mode
    )


@dataclass(frozen=True)
class MergedTreeCoverage:
    """PASS where the coverage that an earlier tier has measured is what is asked, else FAIL.

    ABSTAIN ``no_baseline`` where the base is asked about and its build left no such report. ERROR
    ``report_missing``, or ``report_invalid`` for one that cannot be read.

    Attributes:
        measure: decides by the same rules as in a directory.
    """

    options: CoverageOptions
    ports: Ports
    measure: CoverageJudge
    name: str = "coverage"
    description: str = "enough of the code is covered by the tests of the build"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Whether what was measured is what is asked."""
        pull = context.pull
        if pull.merge.tree is None:
            return no_tree(pull)
        if not pull.files or pull.docs_only:
            return Judgment.abstained("nothing to measure: no code changes", "not_applicable")
        return answered(lambda: self._judged(pull, KeptReports.of(context)))

    def _judged(self, pull: PullRequest, kept: KeptReports) -> Judgment:
        reports = self._read(kept)
        if self.options.mode == "added_lines":
            return self._added(pull, reports)
        baseline = self._baseline(kept.of_base) if self.options.baseline == "base" else None
        return self.measure.decide(_total(reports).counter(self.options.metric), baseline)

    def _read(self, kept: KeptReports) -> Sequence[CoverageReport]:
        with self.ports.shell.scratch() as around:
            try:
                files = kept.write(self.options.report, around)
                return [
                    replace(report, place=Path(path))
                    for path, file in files.items()
                    for report in read_coverage(file)
                ]
            except CannotJudgeError as error:
                raise CannotJudgeError(
                    error.what.replace(f"{around.resolve()}/", "").replace(f"{around}/", ""),
                    why=error.why,
                    remedy=error.remedy,
                    reason=error.reason,
                ) from error

    def _baseline(self, base: KeptReports) -> Fraction | None:
        """What the build of the base has measured; None where that is not known."""
        try:
            counter = _total(self._read(base)).counter(self.options.metric)
        except CannotJudgeError:
            return None
        return Fraction(100 * counter.covered, counter.total) if counter else None

    def _added(self, pull: PullRequest, reports: Sequence[CoverageReport]) -> Judgment:
        repository = self.ports.repository
        blobs = {entry.path: entry.blob for entry in repository.files(pull.merge.tree or "")}
        ours = [file for file in pull.files if file.additions and file.path in blobs]
        added = {file.path: merged_lines(file, blobs, repository) for file in ours}
        found = added_coverage(reports, {path: one for path, one in added.items() if one}, blobs)
        unknown = [
            printable(file.path)
            for file in ours
            if file.kind is FileKind.SOURCE and not file.exempt and file.path not in found
        ]
        return self.measure.decide_added(found, unknown)


def _total(reports: Sequence[CoverageReport]) -> CoverageMetrics:
    return CoverageMetrics.total(report.metrics for report in reports)
