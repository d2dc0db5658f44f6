"""How a merged pull request came into its base: by a merge, as one commit, or as its own."""

from __future__ import annotations

from dataclasses import dataclass

from prjury.pull.landing import Commit


@dataclass(frozen=True)
class Landed:
    """What is known of a merged pull request.

    Attributes:
        commits: how many it had; None where nobody says.
        files: how many it changed.
    """

    commits: int | None = None
    files: int | None = None


def commits_of(unit: Commit, landed: Landed, number: int | None, title: str) -> int:
    """How many commits along the base's first parents it came in by.

    A merge commit is one, and so is a squash, which bears the pull request's number or its title;
    what was rebased, or only moved the branch on, came as the commits that it had.

    Args:
        unit: the last of them.
    """
    squashed = f"(#{number})" in unit.subject or unit.subject.strip() == title.strip()
    return 1 if unit.is_merge or squashed else landed.commits or 1


def told_apart(unit: Commit, landed: Landed, number: int | None, files: int) -> str:
    """Why nobody can tell which commits are its own, and what to do."""
    return (
        f"Which commits belong to #{number} cannot be told: it changed {landed.files} files, and "
        f"the {landed.commits} commits up to {unit.sha[:12]} change {files}. Name both sides with "
        "--base and --head."
    )
