"""The workspace: a directory whose content is judged, and the paths that lead into it.

What lies there was made by somebody who is not trusted. So no path may lead out of it, no link
either, and nothing is opened but regular files of a bounded size.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from prjury.errors import CannotJudgeError
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment
from prjury.snapshot.model import visible

#: Bytes; a text that somebody wrote is far from it.
LARGEST_TEXT = 16 * 1024**2

Kind: TypeAlias = Literal["file", "missing", "directory", "FIFO", "socket", "device"]

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
            raise _outside(path, "It is absolute")
        if Path(os.path.normpath(path)).parts[:1] == ("..",):
            raise _outside(path, "It climbs out with `..`")
        real = Path(os.path.realpath(self.root / path))
        if not real.is_relative_to(self.root):
            raise _outside(path, f"A symbolic link leads to {visible(str(real))}")
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
            raise _unreadable(path, error.strerror) from error
        return _KINDS.get(stat.S_IFMT(mode), "device")

    def text(self, path: str) -> str:
        r"""A file's text: UTF-8, a byte order mark left out, ``\r\n`` as ``\n``.

        Raises:
            CannotJudgeError: ``unreadable``, ``too_large`` or ``not_utf8``; also when it leads out
                of the workspace.
        """
        kind = self.kind(path)
        if kind != "file":
            raise _unreadable(path, f"It is a {kind}" if kind != "missing" else "It is not there")
        try:
            content = _content(self.locate(path))
        except OSError as error:
            raise _unreadable(path, error.strerror) from error
        if len(content) > LARGEST_TEXT:
            raise CannotJudgeError(
                f"{visible(path)} is larger than {LARGEST_TEXT // 1024**2} MiB",
                why="Such a file is not compared as text",
                remedy="Judge it by a command, such as grep",
                reason="too_large",
            )
        return _decoded(content, path)


def _content(real: Path) -> bytes:
    """The file's bytes, one more than are allowed at most.

    It was a regular file a moment ago. If something else is there by now, nothing is waited for.
    """
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, so that it is no link
        return file.read(LARGEST_TEXT + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _decoded(content: bytes, path: str) -> str:
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


def _outside(path: str, why: str) -> CannotJudgeError:
    return CannotJudgeError(
        f"{visible(path)} leaves the workspace",
        why=why,
        remedy="Name a path inside the workspace, relative to it",
        reason="outside_workspace",
    )


def _unreadable(path: str, why: str | None) -> CannotJudgeError:
    return CannotJudgeError(
        f"{visible(path)} cannot be read",
        why=why or "The system does not say why",
        remedy="Check its permissions, and that it is a regular file",
        reason="unreadable",
    )
