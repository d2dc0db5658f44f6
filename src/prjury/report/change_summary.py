"""What a change does, told by program: its files, where they lie, public names and tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from prjury.report.findings import seat_outcomes
from prjury.report.judge_facts import BuildFacts, TestFacts
from prjury.report.model import ChangedNames, Report
from prjury.report.wording import counted
from prjury.snapshot.model import FileChange, FileKind, FileStatus, printable

#: What is named of each kind.
_MOST_PLACES, _MOST_NAMES = 4, 4
_KINDS = {
    FileKind.SOURCE: "source",
    FileKind.TEST: "test",
    FileKind.CONFIG: "configuration",
    FileKind.DOCS: "documentation",
}
_OTHER = "other"
_STATUSES = {
    FileStatus.ADDED: "new",
    FileStatus.DELETED: "deleted",
    FileStatus.RENAMED: "renamed",
}


def change_lines(report: Report) -> tuple[str, ...]:
    """One line each on files and places, public names, and tests; none on what is not known."""
    files = report.pull.files
    if not files:
        return ()
    lines = [f"{_files(files)}{_places(files)}."]
    if report.names is not None:
        lines.append(_names(report.names))
    return (*lines, *_tests(report))


def _files(files: Sequence[FileChange]) -> str:
    kinds = Counter(_KINDS.get(file.kind, _OTHER) for file in files)
    words = [f"{kinds[kind]:,} {kind}" for kind in (*_KINDS.values(), _OTHER) if kinds[kind]]
    statuses = Counter(_STATUSES[file.status] for file in files if file.status in _STATUSES)
    more = [f"{statuses[word]:,} {word}" for word in _STATUSES.values() if statuses[word]]
    if len(words) == 1:
        told = counted(len(files), f"{next(iter(kinds))} file")
        told += f" ({', '.join(more)})" if more else ""
    else:
        of_them = f"; {', '.join(more)}" if more else ""
        told = f"{counted(len(files), 'file')} ({', '.join(words)}{of_them})"
    lines = f"+{sum(f.additions for f in files):,} −{sum(f.deletions for f in files):,} lines"
    return f"{told}, {lines}"


def _places(files: Sequence[FileChange]) -> str:
    """Directories by the number of changed lines, those of other files than text left out."""
    lines: Counter[str] = Counter()
    for file in files:
        if file.readable:
            lines[file.path.rpartition("/")[0]] += file.additions + file.deletions
    places = [place for place, _ in lines.most_common()]
    named = [f"`{printable(place)}`" if place else "the top directory" for place in places]
    if not named:
        return ""
    return f", {'in' if len(named) == 1 else 'mostly in'} {_some(named, _MOST_PLACES)}"


def _some(named: Sequence[str], most: int) -> str:
    left = len(named) - most
    return ", ".join(named[:most]) + (f" and {left:,} more" if left > 0 else "")


def _names(names: ChangedNames) -> str:
    kinds = {"new": names.added, "changed": names.changed, "removed": names.removed}
    found = [
        f"{len(each):,} {kind} ({_some([f'`{name}`' for name in each], _MOST_NAMES)})"
        for kind, each in kinds.items()
        if each
    ]
    breaking = f"; {names.breaking:,} may break callers" if names.breaking else ""
    return f"Public names: {', '.join(found) or 'none touched'}{breaking}."


def _tests(report: Report) -> Iterator[str]:
    for voice in seat_outcomes(report.verdict):
        build = BuildFacts.of(voice.judgment)
        tests = build.ran.tests if build and build.ran else None
        if tests:
            yield _counts(tests)


def _counts(tests: TestFacts) -> str:
    more = f", {tests.failed:,} failed" if tests.failed else ""
    if tests.base is None:
        return f"Tests: {tests.run:,} ran{more}."
    change = tests.run - tests.base.run
    than = f"{abs(change):,} {'more' if change > 0 else 'fewer'} than" if change else "as many as"
    return f"Tests: {tests.run:,} ran, {than} on the base{more}."
