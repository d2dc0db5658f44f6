"""Files that a change touches and lines that it removes, as far as a branch has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from msgspec import Struct

from prjury.jury.judgment import Check, Location
from prjury.ports import Repository
from prjury.report.wording import join_words, pluralize
from prjury.snapshot.model import MISSING, FileChange, FileStatus, PullRequest, visible

#: So many missing lines and files are listed.
_FEW = 3
_LONGEST_LINE = 120
#: Files that a change adds need not be on the branch.
ADDED = frozenset({FileStatus.ADDED, FileStatus.COPIED})


class TouchedOnBranch(Struct, frozen=True):
    """Which touched files, by their old paths, and removed lines a branch has.

    Blank lines and blanks around lines are ignored; lines of missing files are not counted.
    ``absent`` are removed lines that the branch lacks, ``moved`` its files under another path.
    """

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: int = 0
    absent: tuple[tuple[Location, str], ...] = ()
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def share(self) -> float | None:
        """The share of removed lines that the branch has, 0..1; None without such lines."""
        return 1 - len(self.absent) / self.removed if self.removed else None


#: Finds files of the merge base under other paths on the branch.
FindMoved: TypeAlias = Callable[[Collection[str]], Mapping[str, str]]


def compare_touched(
    pull: PullRequest, repository: Repository, tip: str, find_moved: FindMoved
) -> TouchedOnBranch:
    """Compare the change with the branch at this tip; files that are the same are not read."""
    touched = {file.old_path or file.path: file for file in pull.files if file.status not in ADDED}
    entries = {entry.path: entry.blob for entry in repository.files(tip)}
    blobs = {path: entries[path] for path in touched if path in entries}
    missing = tuple(path for path in touched if path not in blobs)
    moved = find_moved(missing) if missing else {}
    blobs |= {path: entries[other] for path, other in moved.items() if other in entries}
    has = tuple(path for path in touched if path in blobs)
    others = [blobs[path] for path in has if touched[path].old_blob != blobs[path]]
    contents = repository.read(others) if others else {}
    removed = 0
    absent: list[tuple[Location, str]] = []
    unread: list[tuple[str, str]] = []
    for path in has:
        file, content = touched[path], contents.get(blobs[path])
        lines = _list_removed_lines(file)
        if file.unread:
            unread.append((path, file.unread))
        elif blobs[path] != file.old_blob and lines:
            if content is None:
                unread.append((path, f"its content on the branch is {MISSING}"))
                continue
            texts = content.decode("utf-8", "surrogateescape").split("\n")
            present = {text.strip() for text in texts}
            absent += ((Location(path, at), text) for at, text in lines if text not in present)
        removed += len(lines)
    lacks = tuple(path for path in missing if path not in blobs)
    return TouchedOnBranch(has, lacks, tuple(moved.items()), removed, tuple(absent), tuple(unread))


def _list_removed_lines(file: FileChange) -> list[tuple[int, str]]:
    return [
        (line.old or 1, text)
        for hunk in file.hunks
        for line in hunk.lines
        if line.sign == "-" and (text := line.text.strip())
    ]


def check_lines_and_files(touched: TouchedOnBranch) -> Check:
    """Return the check ``lines-and-files``, which passes if all files and lines are there."""
    absent = touched.absent[:_FEW]
    lines = [visible(f"{at}: {text[:_LONGEST_LINE]}") for at, text in absent]
    return Check(
        "lines-and-files",
        passed=not touched.lacks and not touched.absent,
        message="; ".join(_list_message_parts(touched)),
        location=absent[0][0] if absent else None,
        severity="warning",
        evidence="\n".join(lines) or None,
    )


def _list_message_parts(touched: TouchedOnBranch) -> list[str]:
    files, lacks = len(touched.has) + len(touched.lacks), touched.lacks
    words = [f"the branch has {_all(files, 'file')} that the change touches"]
    if not files:
        words = ["the change touches no existing file"]
    if lacks:
        paths = join_words([f"`{visible(path)}`" for path in lacks])
        words = [f"the branch lacks {len(lacks)} of {pluralize(files, 'touched file')}: {paths}"]
    if touched.moved:
        pairs = [f"`{visible(old)}` is `{visible(new)}` there" for old, new in touched.moved]
        words.append(join_words(pairs))
    if touched.absent:
        number, all_lines = len(touched.absent), pluralize(touched.removed, "line")
        verb = "is" if number == 1 else "are"
        words.append(f"{number} of {all_lines} that the change removes {verb} missing")
    elif touched.removed:
        words.append(f"it has {_all(touched.removed, 'line')} that the change removes")
    if touched.unread:
        reasons = [f"`{visible(path)}` ({reason})" for path, reason in touched.unread]
        words.append(f"not checked: {join_words(reasons)}")
    return words


def _all(number: int, noun: str) -> str:
    return f"the {noun}" if number == 1 else f"all {number} {noun}s"
