"""Two judges of files: one is there; its text is, contains or matches what is expected."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from prjury.judges.workspace.content import NAME, Contains, Exact, Expectation, Regex
from prjury.judges.workspace.root import Kind, Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import printable, visible


@dataclass(frozen=True)
class FileExistsJudge:
    """PASS where the path is a regular file of the workspace, FAIL where it is not.

    A directory, a FIFO, a socket or a device is no file. A link counts as what it leads to. ERROR
    ``no_workspace``, ``outside_workspace`` or ``unreadable`` where that cannot be told.

    Args:
        path: the file, relative to the workspace.

    Raises:
        ValueError: for an empty path, or one with a NUL character.
    """

    path: str | os.PathLike[str]
    name: str = field(default="file-exists", kw_only=True)
    description: str = field(default="the file is there", kw_only=True)
    type: JudgeType = field(default=JudgeType.DETERMINISTIC, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", path_text(self.path))

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the file is there."""
        path = os.fspath(self.path)
        return answered(lambda: _existence(path, Workspace.of(context).kind(path)))


@dataclass(frozen=True)
class FileContentJudge:
    r"""PASS where a file's text is, contains or matches what is expected, else FAIL.

    The text is UTF-8, with or without a byte order mark; ``\r\n`` counts as ``\n``, in the
    expectation too. A file that is not there, or a directory in its place, is FAIL. ERROR
    ``no_workspace``, ``outside_workspace``, ``unreadable`` (also a FIFO, a socket, a device),
    ``too_large`` (16 MiB) or ``not_utf8`` where the text cannot be had.

    Args:
        path: the file, relative to the workspace.
        exact: the whole text, the last line end included.
        contains: what has to stand somewhere in it.
        regex: an RE2 expression that has to match somewhere; ``^`` and ``$`` are those of lines.

    Raises:
        ValueError: unless exactly one expectation is named; for an empty ``contains`` or ``regex``,
            an expression that RE2 refuses, an empty path, or one with a NUL character.
        TypeError: for an expectation that is not text.
    """

    path: str | os.PathLike[str]
    exact: str | None = field(default=None, kw_only=True)
    contains: str | None = field(default=None, kw_only=True)
    regex: str | None = field(default=None, kw_only=True)
    name: str = field(default=NAME, kw_only=True)
    description: str = field(default="the file's text is as expected", kw_only=True)
    type: JudgeType = field(default=JudgeType.DETERMINISTIC, kw_only=True)
    expectation: Expectation = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", path_text(self.path))
        object.__setattr__(self, "expectation", self._expectation())

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the file's text is as expected."""
        return answered(lambda: self._judged(Workspace.of(context)))

    def _judged(self, workspace: Workspace) -> Judgment:
        path = os.fspath(self.path)
        kind = workspace.kind(path)
        if kind in {"missing", "directory"}:
            return _existence(path, kind)
        return _said(self.expectation.check(workspace.text(path), path), path)

    def _expectation(self) -> Expectation:
        named = {"exact": self.exact, "contains": self.contains, "regex": self.regex}
        given = {kind: text for kind, text in named.items() if text is not None}
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"name exactly one of exact, contains and regex, not {found}")
        ((kind, text),) = given.items()
        if not isinstance(text, str):
            raise TypeError(f"{kind} is text, not a {type(text).__name__}")
        kinds: dict[str, type[Exact | Contains | Regex]]
        kinds = {"exact": Exact, "contains": Contains, "regex": Regex}
        return kinds[kind](text)


def _existence(path: str, kind: Kind) -> Judgment:
    messages = {
        "file": f"{visible(path)} is there",
        "missing": f"there is no file {visible(path)}",
    }
    message = messages.get(kind, f"{visible(path)} is a {kind}, not a file")
    return _said(Check("file-exists", kind == "file", message, Location(path)), path)


def _said(check: Check, path: str) -> Judgment:
    """The check as the whole judgment."""
    make = Judgment.passed if check.passed else Judgment.failed
    return make(
        check.message,
        score=BooleanScore(check.passed),
        checks=[check],
        metadata={"path": printable(path)},
    )
