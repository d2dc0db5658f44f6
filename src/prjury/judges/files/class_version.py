"""The versions of compiled Java classes."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.file_tree import FileTree
from prjury.judges.workspace.files import Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import visible

_MAGIC = 0xCAFEBABE
_HEADER = struct.Struct(">IHH")
#: The major version of a class file minus this is the Java release that it needs.
_OFFSET = 44
_MOST_CLASSES = 200_000
_SHOWN = 20


@dataclass(frozen=True)
class ClassVersionJudge:
    """PASS where every class below a directory of the workspace runs on a Java release, else FAIL.

    Files with the ending ``.class`` are looked at, not those within archives. ERROR
    ``no_workspace``, ``outside_workspace``, ``unreadable``, and ``no_classes`` where there are
    none, because nothing is compiled yet.

    Args:
        release: the highest Java release that a class may need, such as 17.
        path: the directory, relative to the workspace.
        exactly: whether each class has to be compiled for just that release.

    Raises:
        ValueError: for a release below 1, an empty path, or one with a NUL character.
        TypeError: for a release that is not an integer.
    """

    release: int
    path: str = "."
    exactly: bool = False
    _: KW_ONLY
    name: str = "class-version"
    description: str = "the classes run on the Java release"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        if isinstance(self.release, bool) or not isinstance(self.release, int):
            raise TypeError(f"a Java release is an integer, not {self.release!r}")
        if self.release < 1:
            raise ValueError(f"there is no Java release {self.release}")
        path_text(self.path)

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the classes run on the release."""
        return answered(lambda: self.look(Workspace.of(context)))

    def look(self, tree: FileTree) -> Judgment:
        """The judgment of these files.

        Raises:
            CannotJudgeError: where there can be none.
        """
        found = list(_classes(tree, self.path))
        if not found:
            raise CannotJudgeError(
                f"there are no classes below {visible(self.path)}",
                why="Nothing is compiled yet, or it lies elsewhere",
                remedy="Compile first, or name the directory as `path`",
                reason="no_classes",
            )
        wrong = [each for each in found if not self._fits(each[1])]
        counts = {str(k): n for k, n in sorted(Counter(release for _, release in found).items())}
        asked = f"Java {self.release}" + ("" if self.exactly else " or lower")
        metadata = {"release": self.release, "classes": counts}
        if not wrong:
            words = f"all {len(found)} classes are for {asked}"
            check = Check.ok(self.name, message=words)
            return Judgment.passed(
                words, score=BooleanScore.PASS, checks=[check], metadata=metadata
            )
        checks = [
            Check.bad(self.name, f"it needs Java {release}", Location(path))
            for path, release in wrong[:_SHOWN]
        ]
        words = f"{len(wrong)} of {len(found)} classes are not for {asked}"
        return Judgment.failed(words, score=BooleanScore.FAIL, checks=checks, metadata=metadata)

    def _fits(self, release: int) -> bool:
        return release == self.release if self.exactly else release <= self.release


def _classes(tree: FileTree, place: str) -> Iterator[tuple[str, int]]:
    """The path of each class and the release that it needs."""
    heads = tree.heads(place, ".class", _HEADER.size)
    for count, (path, head) in enumerate(heads, 1):
        if count > _MOST_CLASSES:
            raise _unreadable(place, f"It holds more than {_MOST_CLASSES:,} classes")
        yield path, _release(path, head)


def _release(path: str, head: bytes) -> int:
    try:
        magic, _, major = _HEADER.unpack(head)
    except struct.error as error:
        raise _unreadable(path, "It is no complete file") from error
    if magic != _MAGIC:
        raise _unreadable(path, "It is not a class file")
    return int(major) - _OFFSET


def _unreadable(path: str, why: str) -> CannotJudgeError:
    return CannotJudgeError(
        f"{visible(path)} cannot be read as classes",
        why=why,
        remedy="Compile again, or name another directory",
        reason="unreadable",
    )
