"""The judge `findings`: what another tool finds in the lines that a change adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.context import PullRequestContext
from prjury.judges.findings.formats import READERS, ToolFinding, read_report
from prjury.judges.merged_tree.added_lines import merged_lines
from prjury.judges.merged_tree.tree import no_tree
from prjury.judges.workspace.files import answered
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore
from prjury.policy.seats import FindingsOptions
from prjury.ports import Ports
from prjury.report.wording import counted
from prjury.snapshot.model import FileChange, FileStatus, PullRequest, visible

_MOST_LISTED = 200
_BY_SEVERITY = ("error", "warning", "hint")


def make(options: FindingsOptions, ports: Ports) -> ToolFindings:
    """The judge with these options and ports."""
    return ToolFindings(options, ports)


@dataclass(frozen=True)
class ToolFindings:
    """FAIL where a tool finds something of the named severity in an added line, else PASS.

    What it finds elsewhere is counted. A finding without a line counts where its file changes,
    one without a file always.
    ERROR ``report_missing``, ``report_invalid`` or ``too_large``.
    """

    options: FindingsOptions
    ports: Ports
    name: str = "findings"
    description: str = "another tool finds nothing in the added lines"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Read the reports that a build or a command has left behind."""
        if context.pull.merge.tree is None:
            return no_tree(context.pull)
        return answered(lambda: self._judged(context))

    def _judged(self, context: PullRequestContext) -> Judgment:
        pull, form = context.pull, next(each for each in READERS if getattr(self.options, each))
        blobs = {e.path: e.blob for e in self.ports.repository.files(pull.merge.tree or "")}
        tree = TreeFiles(frozenset(blobs))
        with self.ports.shell.scratch() as around:
            reports = KeptReports.of(context).write(self.options.report, around)
            found = [
                one for path, file in reports.items() for one in read_report(form, file, path, tree)
            ]
        added = AddedLines(pull, blobs, self.ports)
        ours = [placed for one in found if (placed := added.place(one, tree))]
        return self._decide(ours, len(found) - len(ours))

    def _decide(self, ours: Sequence[ToolFinding], elsewhere: int) -> Judgment:
        ordered = sorted(ours, key=lambda one: _BY_SEVERITY.index(one.severity))
        worst = _BY_SEVERITY.index(self.options.severity)
        failing = [one for one in ordered if _BY_SEVERITY.index(one.severity) <= worst]
        checks = [_check(one) for one in ordered[:_MOST_LISTED]]
        if left := len(ordered) - len(checks):
            checks.append(Check("more-findings", passed=False, message=f"{left} more"))
        besides = f" ({counted(elsewhere, 'finding')} in other lines)" if elsewhere else ""
        metadata = {"found": len(ours), "elsewhere": elsewhere}
        if not failing:
            mild = f" but {counted(len(ours), 'milder finding')}" if ours else ""
            words = f"nothing in the added lines{mild}{besides}"
            score = BooleanScore(value=True)
            return Judgment.passed(words, score=score, checks=checks, metadata=metadata)
        first = failing[0]
        where = f"{visible(first.path)}:{first.line}: " if first.path and first.line else ""
        more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        words = f"{where}{visible(first.message)}{more}{besides}"
        score = BooleanScore(value=False)
        return Judgment.failed(words, score=score, checks=checks, metadata=metadata)


def _check(finding: ToolFinding) -> Check:
    place = Location(finding.path, finding.line) if finding.path else None
    return Check.bad(finding.rule, finding.message, place, severity=finding.severity)


@dataclass(frozen=True)
class AddedLines:
    """The lines that a change adds, as they are numbered in the merged tree.

    Attributes:
        blobs: the files of the merged tree, each with its object name.
    """

    pull: PullRequest
    blobs: Mapping[str, str]
    ports: Ports

    def place(self, finding: ToolFinding, tree: TreeFiles) -> ToolFinding | None:
        """The finding with its path in the tree; None where it is about other lines."""
        path = _in_tree(finding.path, tree) if finding.path else None
        if path is None:
            # Generated and installed files are not the change's; a finding without a place may be.
            return None if finding.path else finding
        file = next((one for one in self.pull.files if one.path == path), None)
        if file is None or not self._concerns(file, finding):
            return None
        values = (finding.rule, finding.message, finding.severity)
        return ToolFinding(*values, path, finding.line, finding.end_line)

    def _concerns(self, file: FileChange, finding: ToolFinding) -> bool:
        if file.unread or file.status is FileStatus.ADDED or finding.line is None:
            return True
        last = max(finding.line, finding.end_line or 0)
        numbers = merged_lines(file, self.blobs, self.ports.repository)
        return any(finding.line <= number <= last for number in numbers)


def _in_tree(path: str, tree: TreeFiles) -> str | None:
    """The file that is meant; for a path from another root, a container's, its longest end."""
    if not path.startswith("/"):
        return tree.find(path)
    parts = path.split("/")[1:]
    ends = ("/".join(parts[at:]) for at in range(len(parts)))
    return next((end for end in ends if end in tree.known), None)
