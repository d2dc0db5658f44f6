"""What to type to get exactly the tree, or the conflicts, of the trial."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.exchange import BranchTip
from prjury.judges.backport.prerequisites import Prerequisites
from prjury.judges.backport.trial import Trial
from prjury.pull.landing import Commit
from prjury.pull.model import PullRequest, visible


def commands(
    pull: PullRequest, tip: BranchTip, trial: Trial, first: Prerequisites | None = None
) -> tuple[str, ...]:
    """The commands, one a line: a new branch, what comes first, the pick.

    None of them touches the release branch itself.
    """
    return tuple(_commands(pull, tip, trial, first.units if first else ()))


def new_branch(pull: PullRequest, branch: str) -> str:
    """What the branch with the pick is called."""
    target = re.sub(r"[^\w.-]+", "-", branch, flags=re.ASCII).strip("-.")
    return f"backport-{pull.number or pull.head.sha[:12]}-to-{target or 'branch'}"


def _commands(
    pull: PullRequest, tip: BranchTip, trial: Trial, units: Sequence[Commit]
) -> Iterator[str]:
    yield f"git switch -c {new_branch(pull, tip.name)} {tip.sha}"
    yield from map(_pick_of, units)
    if trial.each is not None:
        each = trial.each
        rest = [each.stopped_at.sha] if each.stopped_at else []
        yield f"git cherry-pick -x {' '.join([*each.kept, *rest])}"
    elif pull.ahead == 1:
        yield f"git cherry-pick -x {pull.head.sha}"
    else:
        # A range cannot hold merge commits; one commit with the whole change always can be picked.
        title = quoted(" ".join(pull.title.split()) or new_branch(pull, tip.name))
        squash = f"git commit-tree '{pull.head.sha}^{{tree}}' -p {pull.merge_base} -m {title}"
        yield f'git cherry-pick "$({squash})"'


def _pick_of(unit: Commit) -> str:
    mainline = "-m 1 " if unit.is_merge else ""
    return f"git cherry-pick -x {mainline}{unit.sha}"


def quoted(name: str) -> str:
    """The text as one word for a shell."""
    return "'" + visible(name).replace("'", "'\\''") + "'"
