"""What templates see of the change itself: both sides, its files by kind, its backports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from prjury.jury.judgment import Check, Location
from prjury.report.facts import backport_words
from prjury.report.links import Links
from prjury.report.model import Backport, Coverage, Report
from prjury.report.text import Ink, Text
from prjury.report.wording import SEVERITY_SYMBOLS, duration
from prjury.snapshot.model import FileChange, FileKind, Side, printable

_GROUPS = {
    "Source": (FileKind.SOURCE,),
    "Tests": (FileKind.TEST,),
    "Configuration": (FileKind.CONFIG,),
    "Documentation": (FileKind.DOCS,),
    "Generated and vendored": (FileKind.GENERATED, FileKind.VENDORED),
    "Not for reading": (
        FileKind.LOCK,
        FileKind.BINARY,
        FileKind.SUBMODULE,
        FileKind.SYMLINK,
    ),
}
#: The width of the change bar of the file that changes most.
_BAR = 100


@dataclass(frozen=True)
class FileView:
    """One file; the two bars are shares of 100."""

    path: Text
    url: Markup | None
    status: Text
    additions: int
    deletions: int
    added_bar: int
    deleted_bar: int
    not_checked: Text | None


@dataclass(frozen=True)
class FileGroup:
    """Files of one kind."""

    title: Text
    files: tuple[FileView, ...]
    additions: int
    deletions: int


@dataclass(frozen=True)
class BackportView:
    """One release branch."""

    branch: Text
    words: Text
    reasons: tuple[Text, ...]
    conflicts: tuple[tuple[Text, Text], ...]
    prerequisites: tuple[Text, ...]
    commands: Text | None
    checks: tuple[tuple[str, Text, Text], ...] = ()


@dataclass(frozen=True)
class TipView:
    """A side of the merge: its name, None where it was named by its commit, and the commit."""

    ref: Text | None
    sha: Text


@dataclass(frozen=True)
class ChangeView:
    """The pull request's own part of the report; ``read_share`` is in percent."""

    title: Text | None
    name: Text
    url: Markup | None
    author: Text | None
    base: TipView
    head: TipView
    additions: int
    deletions: int
    files: int
    groups: tuple[FileGroup, ...]
    read_share: int | None
    elapsed: Markup
    version: Text


def _tip_view(side: Side, ink: Ink) -> TipView:
    named = not side.sha.startswith(side.ref)
    return TipView(ink(printable(side.ref)) if named else None, ink(side.sha[:12]))


def change_view(report: Report, ink: Ink, links: Links) -> ChangeView:
    """The change in the given ink."""
    pull = report.pull
    name = pull.repo if pull.number is None else f"{pull.repo} #{pull.number}"
    coverage = report.coverage
    return ChangeView(
        title=ink(pull.title) if pull.title.strip() else None,
        name=ink(name),
        url=_own(links.pull_url) if links.pull_url else None,
        author=ink(pull.author) if pull.author else None,
        base=_tip_view(pull.base, ink),
        head=_tip_view(pull.head, ink),
        additions=pull.additions,
        deletions=pull.deletions,
        files=len(pull.files),
        groups=tuple(_groups(report, ink, links)),
        read_share=_share(coverage),
        elapsed=_own(duration(report.elapsed_ms)),
        version=ink(report.version),
    )


def backport_views(backports: Iterable[Backport], ink: Ink) -> tuple[BackportView, ...]:
    """The release branches in the given ink."""
    return tuple(
        BackportView(
            branch=ink(printable(backport.branch)),
            words=ink(backport_words(backport)),
            reasons=tuple(map(ink, backport.reasons)),
            conflicts=tuple(
                (ink(printable(conflict.path)), ink(conflict.reason))
                for conflict in backport.conflicts
            ),
            prerequisites=tuple(map(ink, backport.prerequisites)),
            commands=ink(" &&\n".join(backport.commands)) if backport.commands else None,
            checks=tuple(
                (_own(_symbol(check)), ink(check.name), ink(check.message))
                for check in backport.checks
            ),
        )
        for backport in backports
    )


def _symbol(check: Check) -> str:
    if check.passed:
        return "✅"
    return SEVERITY_SYMBOLS[check.severity]


def _groups(report: Report, ink: Ink, links: Links) -> Iterable[FileGroup]:
    # One lock file would flatten every other bar, so files that nobody reads do not set the scale.
    sizes = [f.additions + f.deletions for f in report.pull.files if f.readable]
    largest = max(sizes, default=0) or 1
    reasons = {entry.path: entry.reason for entry in report.coverage.not_checked}
    for title, kinds in _GROUPS.items():
        files = [file for file in report.pull.files if file.kind in kinds]
        views = tuple(_file(file, ink, links, largest, reasons) for file in files)
        if views:
            added = sum(file.additions for file in files)
            yield FileGroup(ink(title), views, added, sum(file.deletions for file in files))


def _file(
    file: FileChange, ink: Ink, links: Links, largest: int, reasons: dict[str, str]
) -> FileView:
    path = printable(file.path)
    url = links.to(Location(path)) if file.new_blob or file.additions else None
    return FileView(
        path=ink(path),
        url=_own(url) if url else None,
        status=ink(file.status.value.replace("_", " ")),
        additions=file.additions,
        deletions=file.deletions,
        added_bar=_bar(file.additions, largest),
        deleted_bar=_bar(file.deletions, largest),
        not_checked=ink(reasons[path]) if path in reasons else None,
    )


def _bar(lines: int, largest: int) -> int:
    return min(_BAR, max(1, _BAR * lines // largest)) if lines else 0


def _share(coverage: Coverage) -> int | None:
    """Percent of the added lines that were read; None where nothing was read line by line."""
    if coverage.scope == "tree" or not coverage.added_lines_total:
        return None
    return 100 * coverage.added_lines_judged // coverage.added_lines_total


def _own(words: str) -> Markup:
    return Markup(words)  # noqa: S704 - quoted addresses and durations
