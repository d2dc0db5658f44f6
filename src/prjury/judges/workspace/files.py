"""The workspace and reports, whose author is not trusted: no path leads out, no read is endless."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias
from xml.etree.ElementTree import Element

from msgspec import Struct

from prjury.errors import CannotJudgeError
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment
from prjury.jury.score import BooleanScore, Score
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import visible

#: Bytes; a text that somebody wrote is far from it.
LARGEST_TEXT = 16 * 1024**2

Kind: TypeAlias = Literal["file", "missing", "directory", "special file"]


class FileTree(Protocol):
    """Files to be judged: a directory, or the tree of a commit."""

    def kind(self, path: str) -> Kind: ...

    def text(self, path: str) -> str: ...


def judge_or_error(decide: Callable[[], Judgment]) -> Judgment:
    """Return the judgment, or an ERROR with the reason why there can be none."""
    try:
        return decide()
    except CannotJudgeError as error:
        return Judgment.errored(str(error), metadata={"reason": error.reason})


def judge_checks(
    checks: Sequence[Check],
    words: str,
    score: Score | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Judgment:
    """Return PASS if every check passed, else FAIL."""
    passes = all(check.passed for check in checks)
    make = Judgment.passed if passes else Judgment.failed
    return make(words, score=score or BooleanScore(passes), checks=checks, metadata=metadata or {})


def require_text_path(path: str | os.PathLike[str]) -> str:
    """Return a path that was handed to a judge as text; ValueError or TypeError for none."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is text, not {text!r}")
    if not text.strip() or "\0" in text:
        raise ValueError(f"{text!r} is not a path")
    return text


class Workspace(Struct, frozen=True):
    """The directory that holds the work, by its path without symbolic links."""

    root: Path

    @classmethod
    def require(cls, context: JudgmentContext) -> Workspace:
        what = "there is no workspace to look into"
        remedy = "Hand one over: JudgmentContext(goal, workspace=Path(...))"
        if context.workspace is not None:
            root = Path(os.path.realpath(context.workspace))
            if root.is_dir():
                return cls(root)
            what = f"the workspace {visible(str(context.workspace))} is not a directory"
            remedy = "Name the directory that holds the work"
        raise CannotJudgeError(what, remedy=remedy, reason="no_workspace")

    def locate_inside(self, path: str) -> Path:
        """Return the real place of a path; there may be nothing. No link may lead out of it."""
        if Path(path).is_absolute():
            raise outside_workspace(path, "It is absolute")
        if Path(os.path.normpath(path)).parts[:1] == ("..",):
            raise outside_workspace(path, "It climbs out with `..`")
        real = Path(os.path.realpath(self.root / path))
        if not real.is_relative_to(self.root):
            raise outside_workspace(path, f"A symbolic link leads to {visible(str(real))}")
        return real

    def kind(self, path: str) -> Kind:
        try:
            mode = self.locate_inside(path).stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        except OSError as error:
            raise unreadable(visible(path), error.strerror) from error
        if stat.S_ISREG(mode):
            return "file"
        return "directory" if stat.S_ISDIR(mode) else "special file"

    def text(self, path: str) -> str:
        kind = self.kind(path)
        if kind != "file":
            why = "It is not there" if kind == "missing" else f"It is a {kind}"
            raise unreadable(visible(path), why)
        try:
            with open_regular(self.locate_inside(path)) as file:
                content = file.read(LARGEST_TEXT + 1)
        except OSError as error:
            raise unreadable(visible(path), error.strerror) from error
        return decode_text(content, path)


@dataclass(frozen=True)
class WorkspaceJudge:
    """A judge of the context's workspace; ERROR where there can be no judgment."""

    _: KW_ONLY
    name: str = ""
    description: str = ""
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Judge the workspace; ERROR where it cannot be read."""
        return judge_or_error(lambda: self.judge_in(Workspace.require(context), context))

    def judge_in(self, workspace: Workspace, context: JudgmentContext) -> Judgment:
        """Judge this workspace; raises CannotJudgeError where there can be no judgment."""
        raise NotImplementedError


def open_regular(real: Path) -> BinaryIO:
    """Open a regular file; a link is not followed, nothing waited for. OSError for all else."""
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is not a regular file")
    return open(descriptor, "rb")  # noqa: PTH123 - a descriptor, so that nothing is opened twice


def decode_text(content: bytes, path: str) -> str:
    r"""Return the text of a file: UTF-8, a byte order mark left out, ``\r\n`` as ``\n``."""
    if len(content) > LARGEST_TEXT:
        what = f"{visible(path)} is larger than {LARGEST_TEXT // 1024**2} MiB"
        remedy = "Judge it by a command, such as grep"
        raise CannotJudgeError(what, remedy=remedy, reason="too_large")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        byte, line = error.object[error.start], error.object.count(b"\n", 0, error.start) + 1
        what = f"{visible(path)} is not UTF-8 text: byte 0x{byte:02x} in line {line}"
        why = "It is binary, or was saved in another encoding"
        remedy = "Save it as UTF-8, or judge it by a command"
        raise CannotJudgeError(what, why=why, remedy=remedy, reason="not_utf8") from error


def outside_workspace(path: str, why: str) -> CannotJudgeError:
    what = f"{visible(path)} leaves the workspace"
    remedy = "Name a path inside the workspace, relative to it"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="outside_workspace")


def unreadable(subject: str, why: str | None) -> CannotJudgeError:
    what = f"{subject} cannot be read"
    why = why or "The system does not say why"
    remedy = "Check its permissions, and that it is a regular file"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="unreadable")


#: Bytes; reports of very large projects stay below it.
LARGEST_REPORT = 256 * 1024**2

_DEEPEST_ELEMENT = 100
#: Bytes; a line of a report holds a path and some numbers.
_LONGEST_LINE = 64 * 1024
_STORES = frozenset({".git", ".hg", ".svn"})


def find_files(root: Path, *globs: str, downloads_too: bool = False) -> list[Path]:
    """Find files by globs; reports are not looked for where tools keep what they downloaded."""
    from prjury.judges.builds.results.report_files import (  # noqa: PLC0415 - with all of builds
        DOWNLOADED,
        Listing,
        walk_files,
    )

    listing = Listing()
    paths = walk_files(root, listing, _STORES if downloads_too else DOWNLOADED)
    files = [root / path for path in paths if any(matches(path, glob) for glob in globs)]
    if listing.problems:
        what = f"{visible(str(root))} cannot be searched: {listing.problems[0]}"
        remedy = "Name the file itself, or a smaller directory"
        raise CannotJudgeError(what, remedy=remedy, reason="too_large")
    return sorted(files)


def walk_elements(path: Path, root_tag: str = "") -> Iterator[tuple[Element, Sequence[Element]]]:
    """Yield each element of a report at its end, with those around it, the outermost first."""
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415 - the same

    above: list[Element] = []
    with open_report(path) as file:
        try:
            for event, element in iterparse(file, ("start", "end"), forbid_dtd=False):
                if event == "end":
                    above.pop()
                    yield element, above
                    element.clear()
                    continue
                if not above and root_tag not in {"", element.tag}:
                    raise invalid_report(path, f"Its root is {element.tag!r}, not {root_tag!r}")
                above.append(element)
                if len(above) > _DEEPEST_ELEMENT:
                    why = f"It is nested deeper than {_DEEPEST_ELEMENT} levels"
                    raise invalid_report(path, why)
        except DefusedXmlException as error:
            raise invalid_report(path, "It declares entities, which are refused") from error
        except (ParseError, LookupError, ValueError) as error:
            raise invalid_report(path, f"It is not XML: {error}") from error


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a report, without their ends; broken characters as surrogates."""
    with open_report(path) as file:
        while line := file.readline(_LONGEST_LINE):
            if len(line) == _LONGEST_LINE:
                raise invalid_report(path, f"A line has {_LONGEST_LINE // 1024} KiB or more")
            yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")


def open_report(path: Path) -> BinaryIO:
    """Open a report, which is a regular file of a bounded size."""
    try:
        file = open_regular(path)
    except FileNotFoundError as error:
        raise missing_report(path) from error
    except OSError as error:
        why = "It is a symbolic link" if error.errno == errno.ELOOP else error.strerror
        raise unreadable(f"the report {visible(str(path))}", why) from error
    if os.fstat(file.fileno()).st_size > LARGEST_REPORT:
        file.close()
        raise large_report(path, f"is larger than {LARGEST_REPORT // 1024**2} MiB")
    return file


def invalid_report(path: Path, why: str) -> CannotJudgeError:
    what = f"the report {visible(str(path))} cannot be understood"
    remedy = "Have it written again by a complete build"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="report_invalid")


def missing_report(path: Path) -> CannotJudgeError:
    what = f"there is no report at {visible(str(path))}"
    why = "The build has not run, or writes its reports elsewhere"
    remedy = "Run it first, or name the report's place"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="report_missing")


def large_report(path: Path, excess: str) -> CannotJudgeError:
    what = f"the report {visible(str(path))} {excess}"
    remedy = "Name a report of a part of the project"
    return CannotJudgeError(what, remedy=remedy, reason="too_large")
