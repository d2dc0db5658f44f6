"""Commits as `git log` lists them, and where two lines of history part."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from prjury.errors import SourceError
from prjury.git.command import TIMEOUT, Git
from prjury.snapshot.merge_style import HistoryCommit
from prjury.snapshot.model import Side, visible

#: So many commits are asked about by name on one command line.
MOST_NAMED = 200


class LogEntry(Struct, frozen=True):
    """A commit of the log, and a mark that the other side has its change already."""

    commit: HistoryCommit
    applied: bool = False


def read_log(git: Git, *args: str, timeout: float = TIMEOUT) -> Iterator[LogEntry]:
    """Yield the commits that these arguments of `git log` select, in its order."""
    fixed = ("log", "-z", "--no-show-signature", "--encoding=UTF-8", "--format=%m%H %T %P%n%s")
    output = git(*fixed, *args, timeout=timeout).decode("utf-8", "replace")
    for record in output.split("\0")[: -1 if output.endswith("\0") else None]:
        if record:
            names, _, subject = record.partition("\n")
            sha, tree, *parents = names[1:].split()
            commit = HistoryCommit(sha, tuple(parents), subject, tree)
            yield LogEntry(commit, applied=names[0] == "=")


def merge_bases(git: Git, one: str, other: str) -> list[str]:
    """List the nearest common commits, git's own choice first; several after criss-cross merges."""
    output = git("merge-base", "--all", one, other, ok=(0, 1))
    return output.decode().split()


def is_base_uncertain(git: Git, one: str, other: str, bases: list[str]) -> bool:
    """Return true if a nearer common commit may lie in history that a shallow clone lacks."""
    shallow = git.git_dir / "shallow"
    if not shallow.is_file():
        return False
    if not bases:
        return True
    without = [f"^{base}" for base in bases]
    above = git.text("rev-list", one, other, *without).split()
    return not set(shallow.read_text().split()).isdisjoint(above)


def require_merge_base(git: Git, base: Side, head: Side) -> str:
    """Return the commit from which the change is counted."""
    bases = merge_bases(git, base.sha, head.sha)
    names = f"{visible(base.ref)} and {visible(head.ref)}"
    if is_base_uncertain(git, base.sha, head.sha, bases):
        raise SourceError(
            f"where {names} part cannot be seen in this shallow clone",
            why="Its history was cut off before that point",
            remedy="Run: git fetch --unshallow",
            reason="shallow_history",
        )
    if not bases:
        raise SourceError(
            f"{names} have no common commit",
            why="Their histories are unrelated",
            remedy="Name the branch that the change was made from with --base",
            reason="no_merge_base",
        )
    return bases[0]


def distance(git: Git, base: str, head: str) -> tuple[int, int]:
    """Count the commits that the head lacks of the base, and the base of the head."""
    counts = git.text("rev-list", "--left-right", "--count", f"{base}...{head}")
    behind, ahead = counts.split()
    return int(behind), int(ahead)
