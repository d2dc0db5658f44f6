"""The picked change judged like a pull request onto the branch, with the branch's own versions."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.judge import PatternsJudge
from prjury.jury.guard import catch_crash, itself
from prjury.jury.judge import Judge, ask
from prjury.jury.judgment import Check, Status
from prjury.jury.voting import is_benign
from prjury.snapshot.model import FileKind, PullRequest, printable

#: So many findings are listed.
_FEW = 5


class PickedJudges(Struct, frozen=True):
    """The judges of picked changes; None for one that is switched off."""

    patterns: PatternsJudge | None = None
    build: Judge[PullRequestContext] | None = None


def judge_versions(
    judge: PatternsJudge, pick: PullRequest, concerned_paths: frozenset[str], deadline: Deadline
) -> Check:
    """Return the check ``versions``: the version patterns with the branch's versions."""
    if not concerned_paths:
        message = "no version pattern applies to the added lines"
        return Check("versions", passed=True, message=message, severity="hint")
    kinds = {FileKind.CONFIG, FileKind.LOCK}
    files = tuple(file for file in pick.files if file.path in concerned_paths or file.kind in kinds)
    return judge_pick("versions", judge, replace(pick, files=files), deadline)


def judge_pick(
    check_name: str, judge: Judge[PullRequestContext], pick: PullRequest, deadline: Deadline
) -> Check:
    """Return the check of this name with what the judge says of the pick."""
    goal = f"pick {printable(pick.head.ref)} onto {printable(pick.base.ref)}"
    question = PullRequestContext(goal, pull=pick, deadline=deadline)
    judgment = catch_crash(lambda: ask(judge, question), itself)
    passed = judgment.status is Status.PASS or is_benign(judgment)
    broken = check_name == "build" and judgment.status is Status.ERROR  # asked for, and not tried
    if passed or (judgment.status is not Status.FAIL and not broken):
        message = judgment.reasoning if passed else f"not checked: {judgment.reasoning}"
        return Check(check_name, passed, message, severity="hint")
    failed = judgment.failed_checks
    fixes = [check.fix for check in failed if check.fix]
    return Check(
        check_name,
        passed=False,
        message=judgment.reasoning,
        location=failed[0].location if failed else None,
        evidence="\n".join(
            f"{check.location or ''} {check.name}: {check.message}".strip()
            for check in failed[:_FEW]
        ),
        fix="\n".join(fixes[:_FEW]) if fixes and len(fixes) == len(failed) else None,
    )
