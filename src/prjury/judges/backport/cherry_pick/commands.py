"""What to type to get exactly the tree, or the conflicts, of the trial."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.judges.backport.cherry_pick.prerequisites import Prerequisites, pick_of
from prjury.judges.backport.cherry_pick.trial import CherryPickTrial
from prjury.ports.types import BranchTip
from prjury.snapshot.model import PullRequest, visible

#: So many commits, and characters of a title, stand in one command: longer lines are shown cut.
_AT_ONCE = 8
_LONGEST_TITLE = 100


def commands(
    pull: PullRequest,
    tip: BranchTip,
    trial: CherryPickTrial,
    first: Prerequisites | None = None,
    parents: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The commands, one a line: a new branch, what comes first, the pick.

    None of them touches the release branch itself.

    Args:
        parents: of the change's head; empty stands for one.
    """
    return tuple(_commands(pull, tip, trial, first, parents))


def new_branch(pull: PullRequest, branch: str) -> str:
    """What the branch with the pick is called."""
    target = re.sub(r"[^\w.-]+", "-", branch, flags=re.ASCII).strip("-.")
    return f"backport-{pull.number or pull.head.sha[:12]}-to-{target or 'branch'}"


def _commands(
    pull: PullRequest,
    tip: BranchTip,
    trial: CherryPickTrial,
    first: Prerequisites | None,
    parents: tuple[str, ...],
) -> Iterator[str]:
    yield f"git switch -c {new_branch(pull, tip.name)} {tip.sha}"
    yield from map(pick_of, first.units if first else ())
    last = first.trial if first and first.trial else trial
    if last.each is not None:
        stopped = last.each.stopped_at
        commits = [*last.each.kept, *([stopped.sha] if stopped else []), *last.each.left]
        for start in range(0, len(commits), _AT_ONCE):
            yield f"git cherry-pick -x {' '.join(commits[start : start + _AT_ONCE])}"
    elif parents[:1] == (pull.merge_base,) and len(parents) > 1:
        yield f"git cherry-pick -x -m 1 {pull.head.sha}"
    elif pull.ahead == 1 and len(parents) <= 1:
        yield f"git cherry-pick -x {pull.head.sha}"
    else:
        # A range cannot hold merge commits; one commit with the whole change always can be picked.
        title = " ".join(pull.title.split())[:_LONGEST_TITLE] or new_branch(pull, tip.name)
        said = f"-m {quoted(title)}"
        # Whoever looks at the branch later knows by this line what it has.
        said += f" -m 'Backport of #{pull.number}'" if pull.number else ""
        squash = f"git commit-tree '{pull.head.sha}^{{tree}}' -p {pull.merge_base} {said}"
        yield f'git cherry-pick "$({squash})"'


def quoted(name: str) -> str:
    """The text as one word for a shell."""
    return "'" + visible(name).replace("'", "'\\''") + "'"
