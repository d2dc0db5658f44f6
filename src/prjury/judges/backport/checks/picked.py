"""The picked change judged like a pull request onto the branch.

The judge of version patterns sees it with the branch's own versions, and the judge of builds
compares its tree with the branch's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from prjury.judges.context import PullRequestContext
from prjury.jury.guard import catch_crash, itself
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.voting import is_benign
from prjury.snapshot.model import FileKind, PullRequest, printable

if TYPE_CHECKING:
    from prjury.judges.backport.look import LookContext

#: So many findings are listed.
_FEW = 5


class PickJudge(Protocol):
    """A judge that answers at once."""

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Judge a pick."""


class PatternsPort(PickJudge, Protocol):
    """The judge of version patterns."""

    def concerned(self, pull: PullRequest) -> frozenset[str]:
        """Return the files whose added lines match some rule, whatever the versions are."""
        ...


@dataclass(frozen=True)
class PickedJudges:
    """The judges of picked changes; None for one that is switched off."""

    patterns: PatternsPort | None = None
    build: PickJudge | None = None

    def concerned(self, pull: PullRequest) -> frozenset[str]:
        """Return the files of the change that version patterns are about."""
        return self.patterns.concerned(pull) if self.patterns else frozenset()


def versions(context: LookContext) -> Check | None:
    """Return the check ``versions``: the version patterns with the branch's versions."""
    judge, concerned = context.tools.judges.patterns, context.change.concerned
    if judge is None or context.final_tree is None:
        return None
    if not concerned:
        message = "no version pattern applies to the added lines"
        return Check("versions", passed=True, message=message, severity="hint")
    pick, kinds = context.pick, {FileKind.CONFIG, FileKind.LOCK}
    files = tuple(file for file in pick.files if file.path in concerned or file.kind in kinds)
    return _judge("versions", judge, replace(pick, files=files), context)


def build(context: LookContext) -> Check | None:
    """Return the check ``build``: a build of the picked tree, if the policy wants one."""
    judge = context.tools.judges.build
    if judge is None or context.final_tree is None:
        return None
    return _judge("build", judge, context.pick, context)


def _judge(name: str, judge: PickJudge, pull: PullRequest, context: LookContext) -> Check:
    goal = f"pick {printable(pull.head.ref)} onto {printable(pull.base.ref)}"
    question = PullRequestContext(goal, pull=pull, deadline=context.tools.deadline)
    judgment = catch_crash(lambda: judge.judge(question), itself)
    passed = judgment.status is Status.PASS or is_benign(judgment)
    broken = name == "build" and judgment.status is Status.ERROR  # asked for, and not tried
    if passed or (judgment.status is not Status.FAIL and not broken):
        message = judgment.reasoning if passed else f"not checked: {judgment.reasoning}"
        return Check(name, passed, message, severity="hint")
    failed = judgment.failed_checks
    fixes = [check.fix for check in failed if check.fix]
    return Check(
        name,
        passed=False,
        message=judgment.reasoning,
        location=failed[0].location if failed else None,
        evidence="\n".join(
            f"{check.location or ''} {check.name}: {check.message}".strip()
            for check in failed[:_FEW]
        ),
        fix="\n".join(fixes[:_FEW]) if fixes and len(fixes) == len(failed) else None,
    )
