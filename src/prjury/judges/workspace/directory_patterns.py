"""The judge `patterns` over a directory, every line of which counts as added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, UsageError
from prjury.git.directory import open_directory
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.baseline import baseline_text
from prjury.judges.patterns.judge import NAME, PatternsJudge
from prjury.judges.patterns.selection import PackSelection
from prjury.judges.workspace.files import Workspace, judge_or_error
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Severity, Status
from prjury.jury.voting import NOT_APPLICABLE
from prjury.policy.fields import is_inside
from prjury.policy.load import read_options
from prjury.policy.patterns import PatternsOptions
from prjury.report.wording import pluralize
from prjury.rulepacks.find import list_provided
from prjury.rulepacks.load import load_own_packs
from prjury.scratch import replace_file
from prjury.snapshot.model import visible

#: Seconds for a whole tree.
TIMEOUT = 2700.0


def directory_patterns(
    packs: list[str] | None = None,
    severity: Severity = "error",
    paths: list[str] | None = None,
    baseline: str | None = None,
    write_baseline: str | None = None,
) -> DirectoryPatterns:
    """Make the judge, with the options of `PatternsOptions`; ValueError for impossible ones."""
    if write_baseline and baseline:
        raise UsageError(
            "baseline and write_baseline cannot be given together",
            why="A new baseline is written of everything that is found",
            remedy="Leave one of them out",
        )
    if write_baseline and not is_inside(write_baseline):
        raise ValueError("write_baseline: a path inside the directory is needed, relative to it")
    choice = "auto" if packs in (None, ["auto"]) else packs
    own = {"packs": choice, "severity": severity, "paths": paths or [], "baseline": baseline}
    options = read_options(own, PatternsOptions)
    selected = [*list_provided(options.packs), *load_own_packs(options.paths)]
    return DirectoryPatterns(options, PackSelection.of(options.packs, selected), write_baseline)


class DirectoryPatterns(Struct, frozen=True):
    """Judges every line of a directory by the versions declared there.

    With ``write_baseline``, a file in the directory, all findings are written there and pass.
    """

    options: PatternsOptions
    selection: PackSelection
    write_baseline: str | None = None
    name: str = NAME
    description: str = "looks in all lines for what the declared versions no longer have"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Judge as `PatternsJudge`; ``metadata["scope"]["left_out"]`` holds unread paths."""
        return judge_or_error(lambda: self._judge_directory(context))

    def _judge_directory(self, context: JudgmentContext) -> Judgment:
        workspace = Workspace.of(context)
        directory = open_directory(workspace.root)
        patterns = PatternsJudge(self.options, directory, self.selection, whole=True)
        deadline = Deadline.after(TIMEOUT)
        pull = PullRequestContext(
            context.goal, workspace=workspace.root, pull=directory.pull, deadline=deadline
        )
        judgment = patterns.judge(pull)
        left_out = [{"path": path, "reason": why} for path, why in directory.left_out.items()]
        scope = {**judgment.metadata.get("scope", {}), "left_out": left_out}
        judgment = judgment.with_metadata(scope=scope)
        if left_out:
            words = f"{judgment.reasoning}; {pluralize(len(left_out), 'path')} left out"
            judgment = replace(judgment, reasoning=words)
        file = self.write_baseline
        if file is None or judgment.status is Status.ERROR or judgment.label == NOT_APPLICABLE:
            return judgment
        entries: Sequence[Any] = judgment.metadata["findings"]
        keys = ((entry["rule"], entry["path"], entry["fingerprint"]) for entry in entries)
        _write_baseline(workspace, file, baseline_text(keys))
        message = f"{pluralize(len(entries), 'known finding')} written to {visible(file)}"
        if unread := judgment.metadata["scope"]["unread"]:
            message += f"; {pluralize(len(unread), 'file')} could not be read"
        return Judgment.passed(message, metadata=judgment.metadata)


def _write_baseline(workspace: Workspace, file: str, text: str) -> None:
    try:
        place = workspace.locate(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, text.encode())
    except OSError as error:
        raise CannotJudgeError(
            f"the baseline {visible(file)} cannot be written: {error.strerror}",
            remedy="Name a file in a directory that can be written to",
            reason="unwritable",
        ) from error
