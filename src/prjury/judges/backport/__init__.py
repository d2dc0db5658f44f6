"""Whether a change can be brought to a release branch: for now, whether the pick applies.

Backports never vote on the merge. A clean pick is not yet a suitable one, so the verdict leaves the
decision to a human and says what is proven.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prjury.errors import SourceError, UsageError
from prjury.exchange import PickTrial
from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import is_benign
from prjury.ports import Repository
from prjury.pull.model import PullRequest, printable, visible
from prjury.report.model import Backport

_NOT_JUDGED = "whether it belongs there is not judged yet"


def try_backport(pull: PullRequest, branch: str, repository: Repository) -> Backport:
    """Picks the whole change as one commit onto the branch, in object space."""
    try:
        trial = repository.pick(pull.merge_base, pull.head.sha, branch)
    except (SourceError, UsageError) as error:
        return Backport(branch, "error", None, reasons=(str(error),))
    return decide(pull, branch, trial)


def decide(pull: PullRequest, branch: str, trial: PickTrial) -> Backport:
    """The verdict that the trial allows."""
    merge = trial.merge
    if merge.impossible:
        return Backport(branch, "error", None, reasons=(merge.impossible,))
    if trial.empty:
        held = "the branch holds this change already"
        return Backport(branch, "already_present", applies=True, reasons=(held,))
    return Backport(
        branch,
        "needs_human",
        applies=merge.clean,
        conflicts=merge.conflicts,
        reasons=_reasons(branch, trial),
        commands=_commands(pull, branch, trial),
    )


def is_open(backport: Backport) -> bool:
    """Whether the trial leaves the decision open, so that an opinion is worth something."""
    return backport.verdict == "needs_human" and backport.applies is True


def with_opinion(backport: Backport, opinion: Judgment) -> Backport:
    """The trial's verdict, which still is a human's to make, with what a model says of the change.

    Nothing is added where no model could be asked.
    """
    if is_benign(opinion):
        return backport
    words = {Status.PASS: "a model finds it suitable", Status.FAIL: "a model advises against"}
    told = words.get(opinion.status, "no answer of a model")
    failed = [f"{check.name}: {check.message}" for check in opinion.failed_checks]
    reasons = (f"{told} ({opinion.reasoning})", *failed)
    proven = (reason for reason in backport.reasons if reason != _NOT_JUDGED)
    return replace(backport, reasons=(*proven, *reasons))


def _reasons(branch: str, trial: PickTrial) -> tuple[str, ...]:
    where = f"{printable(branch)} @{trial.branch_sha[:7]}"
    if trial.merge.clean:
        return f"picks cleanly onto {where}", _NOT_JUDGED
    count = len(trial.merge.conflicts)
    return (f"conflicts in {count} file{'s' * (count != 1)} on {where}",)


def _commands(pull: PullRequest, branch: str, trial: PickTrial) -> tuple[str, str]:
    """What to type to get exactly the tree, or the conflicts, of the trial."""
    target = re.sub(r"[^\w.-]+", "-", branch)
    new = f"backport-{pull.number or pull.head.sha[:12]}-to-{target}"
    switch = f"git switch -c {new} {trial.branch_sha}"
    if pull.ahead == 1:
        return switch, f"git cherry-pick -x {pull.head.sha}"
    # A range cannot hold merge commits; one commit with the whole change always can be picked.
    title = _quoted(" ".join(pull.title.split()) or new)
    squash = f"git commit-tree '{pull.head.sha}^{{tree}}' -p {pull.merge_base} -m {title}"
    return switch, f'git cherry-pick "$({squash})"'


def _quoted(name: str) -> str:
    return "'" + visible(name).replace("'", "'\\''") + "'"
