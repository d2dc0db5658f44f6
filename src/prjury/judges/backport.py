"""Whether a change can be brought to a release branch: for now, whether the pick applies.

Backports never vote on the merge. A clean pick is not yet a suitable one, so the verdict leaves the
decision to a human and says what is proven.
"""

from __future__ import annotations

from prjury.errors import SourceError
from prjury.ports import PickTrial, Repository
from prjury.pull.model import PullRequest, printable
from prjury.report.model import Backport


def try_backport(pull: PullRequest, branch: str, repository: Repository) -> Backport:
    """Picks the whole change as one commit onto the branch, in object space."""
    try:
        trial = repository.pick(pull.merge_base, pull.head.sha, branch)
    except SourceError as error:
        return Backport(branch, "error", None, reasons=(str(error),))
    return decide(pull, branch, trial)


def decide(pull: PullRequest, branch: str, trial: PickTrial) -> Backport:
    """The verdict that the trial allows."""
    merge = trial.merge
    if merge.impossible:
        return Backport(branch, "error", None, reasons=(merge.impossible,))
    if trial.empty:
        return Backport(
            branch,
            "already_present",
            applies=True,
            reasons=("the branch holds this change already",),
        )
    where = f"{printable(branch)} @{trial.branch_sha[:7]}"
    if merge.clean:
        reasons = (f"picks cleanly onto {where}", "whether it belongs there is not judged yet")
        return Backport(
            branch, "needs_human", applies=True, reasons=reasons, commands=_commands(pull, branch)
        )
    count = len(merge.conflicts)
    reason = f"conflicts in {count} file{'s' * (count != 1)} on {where}"
    return Backport(
        branch, "needs_human", applies=False, conflicts=merge.conflicts, reasons=(reason,)
    )


def _commands(pull: PullRequest, branch: str) -> tuple[str, ...]:
    new = f"backport-{pull.number or pull.head.sha[:12]}-to-{branch.replace('/', '-')}"
    switch = f"git switch -c {_quoted(new)} {_quoted(branch)}"
    if pull.ahead == 1:
        return switch, f"git cherry-pick -x {pull.head.sha}"
    return (
        switch,
        f"git cherry-pick --no-commit {pull.merge_base}..{pull.head.sha}",
        "git commit",
    )


def _quoted(name: str) -> str:
    return "'" + printable(name).replace("'", "'\\''") + "'"
