"""What passes through the ports: values, and nothing that does anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct


class TreeEntry(Struct, frozen=True):
    """A file of a commit: its path (see `prjury.snapshot.model`), git mode and object name."""

    path: str
    mode: str
    blob: str


class BranchTip(Struct, frozen=True):
    """A branch as it is now; its date in seconds since 1970, no tree where nobody has looked."""

    name: str
    sha: str
    date: int = 0
    tree: str = ""


class LinkedIssue(Struct, frozen=True):
    """An issue that a pull request closes: its title and text, or why they cannot be read."""

    number: int
    text: str = ""
    problem: str = ""


class CommitMessage(Struct, frozen=True):
    """A commit's message, and its date in seconds since 1970."""

    sha: str
    date: int
    text: str
    parents: tuple[str, ...] = ()


class WordPlaces(Struct, frozen=True):
    """Where words stand in a tree: path and line, from 1; files that a partial clone lacks."""

    places: Mapping[str, Sequence[tuple[str, int]]]
    missing: tuple[str, ...] = ()


class ShellCommand(Struct, frozen=True):
    """A program to run: its arguments, or one string for ``/bin/sh -c``, and its whole environment.

    It may print so many bytes, write besides a scratch directory into ``writable`` (by default its
    own directory), and read the ``readable`` among what is hidden from programs of a change.
    """

    argv: Sequence[str] | str
    directory: Path
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    output_limit: int = 200 * 1024 * 1024
    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()

    @property
    def text(self) -> str:
        """The command line as a person would type it."""
        return self.argv if isinstance(self.argv, str) else " ".join(self.argv)


class Completed(Struct, frozen=True):
    """What became of a program: minus a signal's number, or the limit at which we ended it."""

    exit_code: int
    log: Path
    seconds: float
    stopped: str | None = None

    def tail(self, lines: int = 30, size: int = 16_384) -> str:
        """The last lines of the log, decoded with replacement."""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - size))
            return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was said of a commit elsewhere: a check run, a commit status, a workflow's run.

    ``app`` is a slug, or ``@login`` for a status; ``id`` 0 but for a check run; ``ended`` seconds
    since 1970, or 0; ``base`` that of the merge that it ran on, empty for the commit alone.
    """

    name: str
    app: str
    conclusion: str | None = None
    url: str | None = None
    id: int = field(default=0, compare=False)
    ended: float = field(default=0.0, compare=False)
    base: str | None = field(default=None, compare=False)


class FetchedReports(Struct, frozen=True):
    """The JUnit reports of a commit's workflows, by artifact and path; why there may be more."""

    files: Mapping[str, bytes] = msgspec.field(default_factory=dict)
    problems: tuple[str, ...] = ()
