"""Return true if the branch has the files that a change touches and the lines that it removes.

A file that the branch has under another path counts as there, as it does for git's own pick.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from prjury.jury.judgment import Check, Location
from prjury.ports import Repository
from prjury.report.wording import counted
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import (
    MISSING,
    FileChange,
    FileKind,
    FileStatus,
    PullRequest,
    printable,
    visible,
)

#: So many missing lines and files are listed.
_FEW_LINES, _FEW_FILES = 3, 3
_LONGEST_LINE = 120
#: Files that a change adds need not be on the branch.
ADDED = frozenset({FileStatus.ADDED, FileStatus.COPIED})


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some lines are in the branch's version of their files."""

    standing: int = 0
    total: int = 0

    @property
    def value(self) -> float | None:
        """The share, 0..1; None without such lines."""
        return self.standing / self.total if self.total else None

    def __add__(self, other: Share) -> Share:
        return Share(self.standing + other.standing, self.total + other.total)


@dataclass(frozen=True, slots=True)
class AbsentFile:
    """A line on the base that the change removes and the branch's version of the file lacks."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class LineOverlap:
    """Which touched files and lines a branch has.

    Blank lines and blanks around lines are ignored; lines of missing files are not counted.

    Attributes:
        has: changed, deleted and renamed files that the branch has, by their old paths.
        lacks: those that it lacks.
        moved: where it has files that it has under another path.
        lacks_source: how many of these are source.
        removed: the lines that the change removes.
        context: the lines around them that git shows.
        absent: the first removed lines that the branch lacks.
        unread: files that could not be read, with the reasons.
    """

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    lacks_source: int = 0
    removed: Share = Share()
    context: Share = Share()
    absent: tuple[AbsentFile, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


class Renames(Protocol):
    """Finds files under other paths."""

    def moved(self, since: str, until: str, paths: Collection[str]) -> Mapping[str, str]:
        """Return where these files of one commit are in another."""
        ...


def line_overlap(
    pull: PullRequest, repository: Repository, tip: str, releases: Renames
) -> LineOverlap:
    """Compare the change's files and lines with the branch at this tip.

    Files that are the same on the branch and on the merge base are not read.
    """
    touched = {file.old_path or file.path: file for file in pull.files if file.status not in ADDED}
    entries = {entry.path: entry.blob for entry in repository.files(tip)}
    blobs = {path: entries[path] for path in touched if path in entries}
    lacks = tuple(path for path in touched if path not in blobs)
    moved = releases.moved(pull.merge_base, tip, lacks) if lacks else {}
    blobs |= {path: entries[other] for path, other in moved.items() if other in entries}
    lacks = tuple(path for path in lacks if path not in blobs)
    here = [(path, file) for path, file in touched.items() if path in blobs]
    others = [blobs[path] for path, file in here if file.hunks and file.old_blob != blobs[path]]
    content = repository.read(others) if others else {}
    looks = [_look(path, file, blobs[path], content) for path, file in here]
    return LineOverlap(
        has=tuple(path for path, _ in here),
        lacks=lacks,
        moved=tuple(moved.items()),
        lacks_source=sum(kind_of(printable(path)) is FileKind.SOURCE for path in lacks),
        removed=sum((look.removed for look in looks), Share()),
        context=sum((look.context for look in looks), Share()),
        absent=tuple(line for look in looks for line in look.absent)[:_FEW_LINES],
        unread=tuple((look.path, look.unread) for look in looks if look.unread),
    )


@dataclass(frozen=True, slots=True)
class _Look:
    """The result for one file."""

    path: str
    removed: Share = Share()
    context: Share = Share()
    absent: tuple[AbsentFile, ...] = ()
    unread: str = ""


def _look(path: str, file: FileChange, blob: str, content: Mapping[str, bytes | None]) -> _Look:
    if file.unread:
        return _Look(path, unread=file.unread)
    removed, context = _lines(file, "-"), _lines(file, " ")
    if blob == file.old_blob or not file.hunks:
        all_removed, all_context = len(removed), len(context)
        return _Look(path, Share(all_removed, all_removed), Share(all_context, all_context))
    data = content.get(blob)
    if data is None:
        return _Look(path, unread=f"its content on the branch is {MISSING}")
    there = set(map(str.strip, data.decode("utf-8", "surrogateescape").split("\n")))
    gone = tuple(AbsentFile(path, line, text) for line, text in removed if text not in there)
    around = Share(sum(text in there for _, text in context), len(context))
    return _Look(path, Share(len(removed) - len(gone), len(removed)), around, gone[:_FEW_LINES])


def _lines(file: FileChange, sign: str) -> list[tuple[int, str]]:
    """Return the lines of one sign that are not blank, with their numbers on the base."""
    return [
        (line.old or 1, text)
        for hunk in file.hunks
        for line in hunk.lines
        if line.sign == sign and (text := line.text.strip())
    ]


def overlap_check(found: LineOverlap) -> Check:
    """Return the check ``lines-and-files``, which passes if all files and lines are there."""
    missing = found.removed.total - found.removed.standing
    first = found.absent[0] if found.absent else None
    evidence = "\n".join(
        f"{visible(gone.path)}:{gone.line}: {visible(gone.text[:_LONGEST_LINE])}"
        for gone in found.absent
    )
    parts = [_files_words(found), _renames_words(found), _lines_words(found), _unread_words(found)]
    return Check(
        "lines-and-files",
        passed=not found.lacks and not missing,
        message="; ".join(filter(None, parts)),
        location=Location(first.path, first.line) if first else None,
        severity="warning",
        evidence=evidence or None,
    )


def _files_words(found: LineOverlap) -> str:
    total = len(found.has) + len(found.lacks)
    if not total:
        return "the change touches no existing file"
    if not found.lacks:
        return f"the branch has {_all(total, 'file')} that the change touches"
    source = f", {found.lacks_source} of them source" if found.lacks_source else ""
    lacks = f"the branch lacks {len(found.lacks)} of {counted(total, 'touched file')}"
    named = ", ".join(f"`{visible(path)}`" for path in found.lacks[:_FEW_FILES])
    return f"{lacks}{source}: {named}{_more(found.lacks)}"


def _renames_words(found: LineOverlap) -> str:
    if not found.moved:
        return ""
    pairs = [f"`{visible(old)}` is `{visible(new)}` there" for old, new in found.moved]
    return f"{', '.join(pairs[:_FEW_FILES])}{_more(found.moved)}"


def _lines_words(found: LineOverlap) -> str:
    removed = found.removed
    if not removed.total:
        return ""
    if removed.standing == removed.total:
        return f"it has {_all(removed.total, 'line')} that the change removes"
    gone = removed.total - removed.standing
    verb = "is" if gone == 1 else "are"
    return f"{gone} of {counted(removed.total, 'line')} that the change removes {verb} missing"


def _unread_words(found: LineOverlap) -> str:
    if not found.unread:
        return ""
    few = found.unread[:_FEW_FILES]
    named = ", ".join(f"`{visible(path)}` ({reason})" for path, reason in few)
    return f"not checked: {named}{_more(found.unread)}"


def _all(number: int, noun: str) -> str:
    return f"the {noun}" if number == 1 else f"all {number} {noun}s"


def _more(items: Sequence[object]) -> str:
    left = len(items) - _FEW_FILES
    return f", and {left} more" if left > 0 else ""
