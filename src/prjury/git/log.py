"""Commits as `git log` lists them, each with its place in history and its tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prjury.git.command import TIMEOUT, Git
from prjury.snapshot.merge_style import StyleCommit

#: So many commits are asked about by name on one command line.
MOST_NAMED = 200


@dataclass(frozen=True)
class LogEntries:
    """A commit of the log, its tree, and whether the other side has its change already."""

    commit: StyleCommit
    tree: str
    applied: bool = False


def log(git: Git, *args: str, timeout: float = TIMEOUT) -> Iterator[LogEntries]:
    """The commits that these arguments of `git log` select, in its order.

    Raises:
        GitError: when the history cannot be read.
    """
    fixed = ("log", "-z", "--no-show-signature", "--encoding=UTF-8", "--format=%m%H %T %P%n%s")
    output = git(*fixed, *args, timeout=timeout).decode("utf-8", "replace")
    for record in output.split("\0")[: -1 if output.endswith("\0") else None]:
        if record:
            names, _, subject = record.partition("\n")
            sha, tree, *parents = names[1:].split()
            yield LogEntries(
                StyleCommit(sha, tuple(parents), subject), tree, applied=names[0] == "="
            )
