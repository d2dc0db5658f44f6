"""Tier 1: does the pull request add what the declared versions no longer have?

Reads build files and the files in which a rule's word stands (gather), then turns what was found
into a judgment (decide). Findings stand on added lines only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prjury.code.parser import Parser
from prjury.config.schema import PatternsOptions
from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.established import Habits
from prjury.judges.patterns.packs.load import own_packs
from prjury.judges.patterns.packs.rule import Pack
from prjury.judges.patterns.project.project import Project
from prjury.judges.patterns.review import Outcome, Review, is_asked, is_code, is_sound
from prjury.judges.patterns.selection import Selection, Standing
from prjury.judges.patterns.verdict import Looked, decide, scope, versions
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.ports import Doors, Repository
from prjury.pull.model import FileChange, PullRequest, printable

NAME = "patterns"
_NO_PACK = "no pack applies"


def make(options: PatternsOptions, doors: Doors) -> PatternsJudge:
    """The version-pattern judge.

    Raises:
        ConfigError: for an unknown pack, and for everything that is wrong in the user's own packs.
    """
    if options.baseline is not None:
        raise ConfigError(
            "patterns.baseline is not supported yet",
            remedy="Leave it out, or silence single findings with prjury-ignore[rule]",
        )
    selection = Selection.of(options.packs, own_packs(options.paths))
    return PatternsJudge(options, doors.repository, selection)


@dataclass(frozen=True)
class PatternsJudge:
    """Judges what a pull request adds against the versions that its base declares."""

    options: PatternsOptions
    repository: Repository
    selection: Selection
    parser: Parser = field(default_factory=Parser)
    name: str = NAME
    description: str = "looks in added lines for what the declared versions no longer have"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """FAIL with a finding at or above the configured severity, else PASS, or ABSTAIN.

        Raises:
            SourceError: when the repository cannot be read.
            ConfigError: when a shipped pack is damaged.
        """
        pull = getattr(context, "pull", None)
        if not isinstance(pull, PullRequest):
            return Judgment.abstained("there is no pull request to look at", NOT_APPLICABLE)
        outcome = Outcome()
        changed = [file for file in pull.files if is_code(file, outcome)]
        if not changed:
            return Judgment.abstained(
                "no code file is touched", NOT_APPLICABLE, metadata=scope(outcome)
            )
        project = Project.read(pull, self.repository, [file.path for file in changed])
        packs = self.selection.packs_for(project.places)
        heads = packs or self.selection.heads.values()
        told = {"packs": [pack.id for pack in packs], **versions(project, heads)}
        if not packs:
            outcome.outside |= {printable(file.path): _NO_PACK for file in changed}
            return _no_pack(self.selection, {**told, **scope(outcome)})
        rules = {place.key: self.selection.standing(packs, place) for place in project.places}
        standing = {path: rules[place.key] for path, place in project.of_file.items()}
        outcome.unread |= project.unread
        outcome.asked |= project.unread.keys()
        asked = [file for file in changed if is_asked(file, standing[file.path], outcome)]
        files = [file for file in asked if is_sound(file, outcome)]
        review = Review(self.repository, self.parser, standing, self.options.suppressions)
        review.run(files, outcome, context.deadline)
        outcome.findings = Habits(project, self.repository).soften(outcome.findings)
        return decide(outcome, _looked(packs, files, standing), self.options.severity, told)


def _no_pack(selection: Selection, metadata: dict[str, Any]) -> Judgment:
    known = ", ".join(sorted(selection.heads)) or "none"
    reason = f"no version-pattern pack applies to what the project declares (known: {known})"
    return Judgment.abstained(reason, NOT_APPLICABLE, metadata=metadata)


def _looked(
    packs: Iterable[Pack], files: Sequence[FileChange], standing: Mapping[str, Standing]
) -> list[Looked]:
    """How many rules of each pack held for how many files."""
    names = {file.path: standing[file.path].keys() for file in files}
    return [
        Looked(
            pack.id,
            len({name for held in names.values() for name in held if _of(name, pack)}),
            sum(any(_of(name, pack) for name in held) for held in names.values()),
        )
        for pack in packs
    ]


def _of(name: str, pack: Pack) -> bool:
    return name.startswith(f"{pack.id}/")
