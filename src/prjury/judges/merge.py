"""Tier 0, first half: does the change merge onto the tip of its base?"""

from __future__ import annotations

from prjury.config.schema import MergeOptions
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import FunctionJudge
from prjury.jury.judgment import Check, Judgment, Location
from prjury.ports import Doors
from prjury.pull.model import Conflict, PullRequest, Side, printable

NAME = "merge"


def make(_options: MergeOptions, _doors: Doors) -> FunctionJudge[PullRequestContext]:
    """The merge judge. It reads the photograph and needs no door."""
    return FunctionJudge(
        lambda context: decide(context.pull),
        NAME,
        "merges the head onto the tip of the base in object space",
    )


def decide(pull: PullRequest) -> Judgment:
    """PASS for a clean trial merge, FAIL with conflicts, ERROR where no trial was possible."""
    subject = {"subject": f"merge onto {_tip(pull.base)}"}
    if pull.merge.impossible:
        return Judgment.errored(
            pull.merge.impossible, metadata={**subject, "reason": "merge_impossible"}
        )
    if pull.merge.clean:
        return Judgment.passed(
            f"clean, {_behind(pull)}", checks=_summary(pull.merge.conflicts), metadata=subject
        )
    conflicts = pull.merge.conflicts
    checks = (*_summary(conflicts), *map(_conflict_check, conflicts))
    return Judgment.failed(f"{_told(conflicts)}, {_behind(pull)}", checks=checks, metadata=subject)


def _tip(side: Side) -> str:
    """The branch and its tip, or the tip alone where no branch was named."""
    sha = f"`{side.sha[:7]}`"
    return sha if side.sha.startswith(side.ref) else f"`{printable(side.ref)}` @{sha}"


def _behind(pull: PullRequest) -> str:
    return f"{pull.behind} behind" if pull.behind else "up to date"


def _told(conflicts: tuple[Conflict, ...]) -> str:
    count = len(conflicts)
    human = sum(not conflict.mechanical for conflict in conflicts)
    files = f"conflicts in {count} file{'s' * (count != 1)}"
    return f"{files}, {_need(human)} a human" if human else f"{files}, all mechanical"


def _need(count: int) -> str:
    return f"{count} {'needs' if count == 1 else 'need'}"


def _summary(conflicts: tuple[Conflict, ...]) -> tuple[Check, Check]:
    human = [conflict for conflict in conflicts if not conflict.mechanical]
    told = _told(conflicts) if conflicts else "no conflicts"
    needs = f"{_need(len(human))} a human" if human else "none needs a human"
    return (
        Check("merge-clean", not conflicts, told),
        Check("no-complex-conflicts", not human, needs),
    )


def _conflict_check(conflict: Conflict) -> Check:
    first, last = conflict.lines or (None, None)
    words = conflict.type.value.replace("_", "/")
    return Check(
        "conflict",
        passed=False,
        message=f"{words} conflict: {conflict.reason}",
        location=Location(printable(conflict.path)),
        severity="warning" if conflict.mechanical else "error",
        evidence=f"lines {first} to {last} of the file with conflict markers" if first else None,
    )
