"""The version-pattern judge over a whole directory, and the baseline that is written of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, UsageError
from prjury.git.directory import Directory, open_directory
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.baseline import baseline_text
from prjury.judges.patterns.judge import NAME, PatternsJudge
from prjury.judges.patterns.selection import PackSelection
from prjury.judges.workspace.files import Workspace, answered
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import NOT_APPLICABLE
from prjury.policy.tiers import PatternsOptions
from prjury.rulepacks.find import provided_packs
from prjury.rulepacks.load import own_packs
from prjury.snapshot.model import visible

#: Seconds for a whole tree.
TIMEOUT = 2700.0


@dataclass(frozen=True)
class DirectoryPatterns:
    """Judges every line of a directory as if it were added, by the versions declared there.

    Attributes:
        write_baseline: where to write what is found, relative to the directory; then that passes.
    """

    options: PatternsOptions
    selection: PackSelection
    write_baseline: str | None = None
    name: str = NAME
    description: str = "looks in all lines for what the declared versions no longer have"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """As `PatternsJudge`, with what was left out in ``metadata["scope"]["left_out"]``.

        Raises:
            SourceError: when git refuses the work tree that the directory is in.
            ConfigError: when the baseline is missing or malformed.
        """
        return answered(lambda: self._judged(context))

    def _judged(self, context: JudgmentContext) -> Judgment:
        root = Workspace.of(context).root
        directory = open_directory(root)
        judge = PatternsJudge(self.options, directory, self.selection, whole=True)
        asked = PullRequestContext(
            context.goal, workspace=root, pull=directory.pull, deadline=Deadline.after(TIMEOUT)
        )
        judgment = _complete(judge.judge(asked), directory)
        file = self.write_baseline
        if file is None or _is_no_answer(judgment):
            return judgment
        entries: Sequence[Any] = judgment.metadata["findings"]
        _write(root, file, baseline_text((e["rule"], e["path"], e["fingerprint"]) for e in entries))
        unread = len(judgment.metadata["scope"]["unread"])
        message = f"{_count(len(entries), 'known finding')} written to {visible(file)}"
        message += f"; {_count(unread, 'file')} could not be read" if unread else ""
        return Judgment.passed(message, metadata=judgment.metadata)


def _is_no_answer(judgment: Judgment) -> bool:
    return judgment.status is Status.ERROR or judgment.label == NOT_APPLICABLE


def _complete(judgment: Judgment, directory: Directory) -> Judgment:
    """The judgment with what was not looked at."""
    left_out = [{"path": path, "reason": why} for path, why in directory.left_out.items()]
    scope = {**judgment.metadata.get("scope", {}), "left_out": left_out}
    message = f"; {_count(len(left_out), 'path')} left out" if left_out else ""
    return replace(judgment.with_metadata(scope=scope), reasoning=judgment.reasoning + message)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _write(root: Path, file: str, text: str) -> None:
    """Writes a file as a whole or not at all; a link in its place is replaced, not followed."""
    place = root / file
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(root):
            raise CannotJudgeError(
                f"{visible(file)} leaves the workspace",
                why="A symbolic link leads out of it",
                remedy="Name another file",
                reason="outside_workspace",
            )
        descriptor, scratch = tempfile.mkstemp(dir=place.parent, prefix=".prjury-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(scratch).chmod(0o644)
        Path(scratch).replace(place)
    except OSError as error:
        raise CannotJudgeError(
            f"the baseline {visible(file)} cannot be written: {error.strerror}",
            remedy="Name a file in a directory that can be written to",
            reason="unwritable",
        ) from error


def directory_patterns(write_baseline: str | None = None, **options: Any) -> DirectoryPatterns:  # noqa: ANN401 - as `PatternsOptions` has them
    """The judge with these options of `PatternsOptions`.

    Raises:
        ConfigError: for an unknown pack, and for everything that is wrong in the user's own packs.
        UsageError: for a baseline that is to be read and written at the same time.
    """
    if write_baseline and options.get("baseline"):
        raise UsageError(
            "baseline and write_baseline cannot be given together",
            why="A new baseline is written of everything that is found",
            remedy="Leave one of them out",
        )
    chosen = PatternsOptions.model_validate(options)
    packs = [*provided_packs(chosen.packs), *own_packs(chosen.paths)]
    selection = PackSelection.of(chosen.packs, packs)
    return DirectoryPatterns(chosen, selection, write_baseline)
