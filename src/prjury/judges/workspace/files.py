"""The workspace: a directory whose content is judged, and two judges of its files.

The directory's author is not trusted: no path and no link may lead out of it, and nothing is opened
but regular files of a bounded size.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.file_tree import FileTree, Kind
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import printable, visible

#: Bytes; a text that somebody wrote is far from it.
LARGEST_TEXT = 16 * 1024**2

_KINDS: dict[int, Kind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
}


def answered(decide: Callable[[], Judgment]) -> Judgment:
    """The judgment, or an ERROR with the reason why there can be none."""
    try:
        return decide()
    except CannotJudgeError as error:
        return Judgment.errored(str(error), metadata={"reason": error.reason})


def path_text(path: str | os.PathLike[str]) -> str:
    """A path that was handed to a judge, as text.

    Raises:
        ValueError: for an empty path, or one with a NUL character.
        TypeError: for anything that is not a path.
    """
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is text, not {text!r}")
    if not text.strip() or "\0" in text:
        raise ValueError(f"{text!r} is not a path")
    return text


@dataclass(frozen=True)
class Workspace:
    """The directory that holds the work.

    Attributes:
        root: where it really is, without symbolic links.
    """

    root: Path

    @classmethod
    def of(cls, context: JudgmentContext) -> Workspace:
        """The context's workspace.

        Raises:
            CannotJudgeError: ``no_workspace`` when it names none, or one that is no directory.
        """
        if context.workspace is None:
            raise CannotJudgeError(
                "there is no workspace to look into",
                why="The context names none",
                remedy="Hand one over: JudgmentContext(goal, workspace=Path(...))",
                reason="no_workspace",
            )
        root = Path(os.path.realpath(context.workspace))
        if not root.is_dir():
            raise CannotJudgeError(
                f"the workspace {visible(str(context.workspace))} is not a directory",
                remedy="Name the directory that holds the work",
                reason="no_workspace",
            )
        return cls(root)

    def locate(self, path: str) -> Path:
        """Where a path of the workspace really leads; there may be nothing.

        Raises:
            CannotJudgeError: ``outside_workspace`` when it leads out of the workspace, by itself or
                through a link.
        """
        if Path(path).is_absolute():
            raise outside(path, "It is absolute")
        if Path(os.path.normpath(path)).parts[:1] == ("..",):
            raise outside(path, "It climbs out with `..`")
        real = Path(os.path.realpath(self.root / path))
        if not real.is_relative_to(self.root):
            raise outside(path, f"A symbolic link leads to {visible(str(real))}")
        return real

    def kind(self, path: str) -> Kind:
        """What stands at a path of the workspace.

        Raises:
            CannotJudgeError: when it leads out of the workspace, or when the system does not tell.
        """
        try:
            mode = self.locate(path).stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        except OSError as error:
            raise unreadable(visible(path), error.strerror) from error
        return _KINDS.get(stat.S_IFMT(mode), "device")

    def text(self, path: str) -> str:
        r"""A file's text: UTF-8, a byte order mark left out, ``\r\n`` as ``\n``.

        Raises:
            CannotJudgeError: ``unreadable``, ``too_large`` or ``not_utf8``; also when it leads out
                of the workspace.
        """
        kind = self.kind(path)
        if kind != "file":
            raise unreadable(
                visible(path), f"It is a {kind}" if kind != "missing" else "It is not there"
            )
        try:
            with open_regular(self.locate(path)) as file:
                content = file.read(LARGEST_TEXT + 1)
        except OSError as error:
            raise unreadable(visible(path), error.strerror) from error
        return decoded(content, path)

    def heads(self, path: str, suffix: str, size: int) -> Iterator[tuple[str, bytes]]:
        """The first bytes of each file below a directory whose name ends so, in order.

        Raises:
            CannotJudgeError: ``unreadable``; also when it leads out of the workspace.
        """
        for place, directories, files in os.walk(self.locate(path)):
            directories.sort()
            for name in sorted(files):
                if name.endswith(suffix):
                    file = Path(place, name)
                    shown = file.relative_to(self.root).as_posix()
                    try:
                        with open_regular(file) as opened:
                            yield shown, opened.read(size)
                    except OSError as error:
                        raise unreadable(visible(shown), error.strerror) from error


def open_regular(real: Path) -> BinaryIO:
    """A regular file, opened for reading; a link is not followed, and nothing is waited for.

    Raises:
        OSError: when it cannot be opened, or is something else.
    """
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is not a regular file")
    return open(descriptor, "rb")  # noqa: PTH123 - a descriptor, so that nothing is opened twice


def decoded(content: bytes, path: str) -> str:
    r"""The text of a file: UTF-8, a byte order mark left out, ``\r\n`` as ``\n``.

    Raises:
        CannotJudgeError: ``too_large`` or ``not_utf8``.
    """
    if len(content) > LARGEST_TEXT:
        raise CannotJudgeError(
            f"{visible(path)} is larger than {LARGEST_TEXT // 1024**2} MiB",
            why="Such a file is not compared as text",
            remedy="Judge it by a command, such as grep",
            reason="too_large",
        )
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        byte, line = error.object[error.start], error.object.count(b"\n", 0, error.start) + 1
        raise CannotJudgeError(
            f"{visible(path)} is not UTF-8 text: byte 0x{byte:02x} in line {line}",
            why="It is binary, or was saved in another encoding",
            remedy="Save it as UTF-8, or judge it by a command",
            reason="not_utf8",
        ) from error


def outside(path: str, why: str) -> CannotJudgeError:
    """The error for a path that leads out of the workspace."""
    return CannotJudgeError(
        f"{visible(path)} leaves the workspace",
        why=why,
        remedy="Name a path inside the workspace, relative to it",
        reason="outside_workspace",
    )


def unreadable(what: str, why: str | None) -> CannotJudgeError:
    """The error for something that is there and cannot be read."""
    return CannotJudgeError(
        f"{what} cannot be read",
        why=why or "The system does not say why",
        remedy="Check its permissions, and that it is a regular file",
        reason="unreadable",
    )


NAME = "file-content"

#: Characters of evidence, and of the expected text in a sentence.
_LONGEST_EVIDENCE = 500
_LONGEST_IN_SENTENCE = 80
#: Characters of a line that are shown before the place that matters.
_BEFORE = 40


#: Says whether a text, which stands at a path, is as expected, and where.
TextCheck: TypeAlias = Callable[[str, str], Check]


def exactly(wanted: str) -> TextCheck:
    """The whole text has to be this one, line by line; the first difference is shown."""
    expected = _with_plain_line_ends(wanted)

    def check(text: str, path: str) -> Check:
        if text != expected:
            return _difference(_split(expected), _split(text), path)
        message = f"{visible(path)} is exactly the expected text"
        return Check(NAME, passed=True, message=message, location=Location(path))

    return check


def containing(wanted: str) -> TextCheck:
    """The text has to hold this one somewhere; the first place is shown."""
    if not wanted:
        raise ValueError("an empty text is in every file: say what the file has to contain")
    expected = _with_plain_line_ends(wanted)

    def check(text: str, path: str) -> Check:
        start = text.find(expected)
        if start < 0:
            return _absent(f"{visible(path)} does not contain {_quoted(wanted)}", path)
        words = f"{visible(path)} contains {_quoted(wanted)}"
        return _present(words, text, (start, start + len(expected)), path)

    return check


def matching(pattern: str) -> TextCheck:
    r"""Some part of the text has to match an RE2 expression; matching takes linear time.

    ``^`` and ``$`` stand for the start and end of a line, ``\A`` and ``\z`` for those of the
    text; a dot matches no line end unless the expression says ``(?s)``.

    Raises:
        ValueError: for an empty expression, and for one that RE2 refuses (look-around and back
            references among them).
    """
    if not pattern:
        raise ValueError("an empty expression matches every file: say what it has to match")
    expression = _compiled(pattern)

    def check(text: str, path: str) -> Check:
        found = expression.search(text)
        if not found:
            return _absent(f"nothing in {visible(path)} matches {_quoted(pattern)}", path)
        return _present(f"{visible(path)} matches {_quoted(pattern)}", text, found.span(), path)

    return check


#: How `FileContentJudge` learns what to expect.
_CHECKS = {"exact": exactly, "contains": containing, "regex": matching}


def expectation(**named: str | None) -> TextCheck | None:
    """The check of a text that is expected by one of these names, None where there is none.

    Raises:
        ValueError: for several expectations, or one that cannot be met or missed.
        TypeError: for one that is not text.
    """
    given = {kind: text for kind, text in named.items() if text is not None}
    if not given:
        return None
    if len(given) > 1:
        found = " and ".join(given)
        raise ValueError(f"name exactly one of exact, contains and regex, not {found}")
    ((kind, text),) = given.items()
    if not isinstance(text, str):
        raise TypeError(f"{kind} is text, not a {type(text).__name__}")
    return _CHECKS[kind](text)


def _absent(words: str, path: str) -> Check:
    return Check(NAME, passed=False, message=words, location=Location(path))


def _present(words: str, text: str, span: tuple[int, int], path: str) -> Check:
    """What stands at the span; a line end belongs to the line that it ends."""
    start, end = span
    first = text.count("\n", 0, start) + 1
    last = first + text.count("\n", start, max(start, end - 1))
    place = Location(path, first, last if last > first else None)
    evidence = _cut(text[start:end]) or None
    return Check(NAME, passed=True, message=words, location=place, evidence=evidence)


def _compiled(pattern: str) -> Any:  # noqa: ANN401 - RE2 has no type information
    import re2  # noqa: PLC0415 - a compiled extension that only expressions need

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?m){_with_plain_line_ends(pattern)}", options)
    except re2.error as error:
        message = error.args[0]
        reason = message.decode("utf-8", "replace") if isinstance(message, bytes) else message
        # RE2 repeats the part that it means, which may be our own beginning.
        shown = reason.replace("(?m)", "")
        raise ValueError(f"RE2 refuses {_quoted(pattern)}: {shown}") from error


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _split(text: str) -> list[str]:
    """The lines, each with its line end; the last one may have none."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def _difference(expected: list[str], found: list[str], path: str) -> Check:
    pairs = zip_longest(expected, found)
    number, (wanted, got) = next(
        (number, pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1]
    )
    column = _column(wanted or "", got or "")
    return Check(
        NAME,
        passed=False,
        message=f"{visible(path)} is not the expected text: {_told(number, wanted, got)}",
        location=Location(path, max(1, min(number, len(found)))),
        evidence=f"expected: {_shown(wanted, column)}\nfound:    {_shown(got, column)}",
    )


def _told(number: int, wanted: str | None, got: str | None) -> str:
    """What is different, in words."""
    if got is None:
        return f"it ends before line {number}"
    if wanted is None:
        return f"it goes on with line {number} where it should end"
    if wanted == f"{got}\n":
        return f"the line end after line {number} is missing"
    if got == f"{wanted}\n":
        return f"there is a line end after line {number} where there should be none"
    return f"line {number} is the first that differs"


def _column(wanted: str, got: str) -> int:
    pairs = enumerate(zip(wanted, got, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(wanted), len(got)))


def _shown(line: str | None, column: int) -> str:
    """A line in quotes, from a little before the column on; long lines are cut on both sides."""
    if line is None:
        return "(the end of the text)"
    start = max(0, column - _BEFORE)
    return f"{'…' if start else ''}{_cut(line[start:], _LONGEST_IN_SENTENCE)!r}"


def _quoted(text: str) -> str:
    return repr(_cut(text, _LONGEST_IN_SENTENCE))


def _cut(text: str, limit: int = _LONGEST_EVIDENCE) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


@dataclass(frozen=True)
class FileExistsJudge:
    """PASS where the path is a regular file of the workspace, FAIL where it is not.

    A directory, a FIFO, a socket or a device is no file. A link counts as what it leads to. ERROR
    ``no_workspace``, ``outside_workspace`` or ``unreadable`` where that cannot be known.

    Args:
        path: the file, relative to the workspace.

    Raises:
        ValueError: for an empty path, or one with a NUL character.
    """

    path: str | os.PathLike[str]
    _: KW_ONLY
    name: str = "file-exists"
    description: str = "the file is there"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", path_text(self.path))

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the file is there."""
        return answered(lambda: self.look(Workspace.of(context)))

    def look(self, tree: FileTree) -> Judgment:
        """The judgment of these files; raises CannotJudgeError where there can be none."""
        path = os.fspath(self.path)
        return _existence(path, tree.kind(path))


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
    _: KW_ONLY
    exact: str | None = None
    contains: str | None = None
    regex: str | None = None
    name: str = NAME
    description: str = "the file's text is as expected"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", path_text(self.path))
        self._check()  # what cannot be expected is refused at once

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the file's text is as expected."""
        return answered(lambda: self.look(Workspace.of(context)))

    def look(self, tree: FileTree) -> Judgment:
        """The judgment of these files; raises CannotJudgeError where there can be none."""
        path = os.fspath(self.path)
        kind = tree.kind(path)
        if kind in {"missing", "directory"}:
            return _existence(path, kind)
        return _said(self._check()(tree.text(path), path), path)

    def _check(self) -> TextCheck:
        found = expectation(exact=self.exact, contains=self.contains, regex=self.regex)
        if found is None:
            raise ValueError("name exactly one of exact, contains and regex, not none")
        return found


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
