"""How a merged pull request came into its base: by a merge, as one commit, or as its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prjury.git.merge import merged_tree
from prjury.git.store import Store
from prjury.snapshot.merge_style import StyleCommit


@dataclass(frozen=True)
class Landed:
    """What is known of a merged pull request.

    Attributes:
        commits: how many it had; None where nobody says.
        head: its own head, when it was merged.
    """

    commits: int | None = None
    head: str | None = None


def commits_of(
    unit: StyleCommit, landed: Landed, merged_onto: Callable[[str], str | None], tree: str
) -> int | None:
    """How many commits along the base's first parents it came in by; None where nobody can tell.

    A merge commit is one. For the others contents tell, for subjects are written by hand: the pull
    request, merged onto what stood before its own commits, has to come to what stands there now.

    Args:
        unit: the last of them.
        merged_onto: the tree that the pull request's head comes to, merged onto a commit.
        tree: of the last commit.
    """
    count = landed.commits or 1
    if unit.is_merge or landed.commits is None or (count == 1 and not landed.head):
        return 1
    # As its own commits first: where the branch was only moved on, the last one fits as well.
    counts = dict.fromkeys((count, 1))
    return next((n for n in counts if merged_onto(f"{unit.sha}~{n}") == tree), None)


def merged_onto(store: Store, landed: Landed, commit: str) -> str | None:
    """The tree that the pull request's own head comes to, merged onto a commit.

    Raises:
        SourceError: when the head is nowhere to be had.
    """
    head = store.operator.commit(landed.head).sha if landed.head else None
    store.follow()
    known = store.git.try_run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")[1] == 0
    return merged_tree(store.git, commit, head) if head and known else None


def not_told(unit: StyleCommit, landed: Landed, number: int | None) -> str:
    """Why nobody can tell which commits are its own, and what to do."""
    return (
        f"Which commits belong to #{number} cannot be told: neither {unit.sha[:12]} alone nor the "
        f"{landed.commits} commits up to it are what it brings. Name both sides with --base and "
        "--head."
    )
