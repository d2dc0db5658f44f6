"""The versions of compiled Java classes."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import (
    Workspace,
    check_path,
    judge_or_error,
    open_regular,
    unreadable,
)
from prjury.judges.workspace.reports import find_reports
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import visible

_MAGIC = 0xCAFEBABE
_HEADER = struct.Struct(">IHH")
#: The major version of a class file minus this is the Java release that it needs.
_OFFSET = 44
_SHOWN = 20


@dataclass(frozen=True)
class ClassVersionJudge:
    """PASS where every class below a directory of the workspace runs on a Java release, else FAIL.

    With ``exactly``, each has to be compiled for just that release. Archives are not looked into.
    ERROR ``no_classes`` where nothing is compiled yet.
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
        check_path(self.path)

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Read the version of each class."""
        return judge_or_error(lambda: self._judge_classes(Workspace.of(context)))

    def _judge_classes(self, workspace: Workspace) -> Judgment:
        place = workspace.locate(self.path)
        files = find_reports(place, "*.class", everywhere=True) if place.is_dir() else []
        releases = {
            file.relative_to(workspace.root).as_posix(): _read_release(file) for file in files
        }
        if not releases:
            raise CannotJudgeError(
                f"there are no classes below {visible(self.path)}",
                why="Nothing is compiled yet, or it lies elsewhere",
                remedy="Compile first, or name the directory as `path`",
                reason="no_classes",
            )
        wrong = {
            path: release
            for path, release in releases.items()
            if release > self.release or (self.exactly and release < self.release)
        }
        demand = f"Java {self.release}" + ("" if self.exactly else " or lower")
        words = f"all {len(releases)} classes are for {demand}"
        checks = [Check.ok(self.name, message=words)]
        if wrong:
            words = f"{len(wrong)} of {len(releases)} classes are not for {demand}"
            checks = [
                Check.bad(self.name, f"it needs Java {release}", Location(path))
                for path, release in list(wrong.items())[:_SHOWN]
            ]
        counts = {str(release): n for release, n in sorted(Counter(releases.values()).items())}
        make = Judgment.failed if wrong else Judgment.passed
        metadata = {"release": self.release, "classes": counts}
        return make(words, score=BooleanScore(not wrong), checks=checks, metadata=metadata)


def _read_release(place: Path) -> int:
    try:
        with open_regular(place) as file:
            magic, _, major = _HEADER.unpack(file.read(_HEADER.size))
    except (OSError, struct.error) as error:
        raise unreadable(visible(place.name), f"It is no class file ({error})") from error
    if magic != _MAGIC:
        raise unreadable(visible(place.name), "It is no class file")
    return int(major) - _OFFSET
