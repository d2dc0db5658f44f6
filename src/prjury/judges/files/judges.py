"""Judges of a directory's files by what they should be, one for each way of comparing."""

from __future__ import annotations

import difflib
import os
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from prjury.errors import CannotJudgeError
from prjury.judges.files.meaning import (
    Meaning,
    find_language,
    find_meaning,
    read_pom_meaning,
    read_xml_text,
    split_words,
)
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
from prjury.jury.score import BooleanScore, NumericalScore
from prjury.manifests.manifest import ManifestError
from prjury.snapshot.model import visible

_MOST_LINES, _WIDEST_LINE = 40, 160


@dataclass(frozen=True)
class SemanticComparisonJudge:
    """PASS where each expected file is in the workspace and means the same, else FAIL.

    Source code is compared by the leaves of its syntax tree, ``pom.xml`` as a project, XML, JSON,
    YAML and TOML by their content, anything else as words. Further files of the workspace do not
    matter. The score is the share of files that are as expected. ERROR ``no_expectation``, or
    ``not_comparable`` where an expected file cannot be understood. What is ``expected`` is a file
    or a directory, whose place in the workspace is ``path`` or goes by its name.
    """

    expected: str | os.PathLike[str]
    path: str | None = None
    _: KW_ONLY
    meaning: ClassVar[Meaning | None] = None
    name: str = "semantic"
    description: str = "the files mean what is expected"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        check_path(self.expected)
        if self.path is not None:
            check_path(self.path)

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Compare the files."""
        return judge_or_error(lambda: self._compare_files(Workspace.of(context)))

    def _compare_files(self, workspace: Workspace) -> Judgment:
        place = Path(os.path.realpath(self.expected))
        path = self.path or (place.name if place.is_file() else ".")
        checks = []
        for where, text in list(_read_expected(place, path)):
            if workspace.kind(where) == "file":
                checks.append(self._check_text(where, text, workspace.text(where)))
            else:
                words = f"there is no file {visible(where)}"
                checks.append(Check.bad(self.name, words, Location(where)))
        failed = [check for check in checks if not check.passed]
        score = NumericalScore((len(checks) - len(failed)) / len(checks))
        if failed:
            more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
            return Judgment.failed(f"{failed[0].message}{more}", score=score, checks=checks)
        words = checks[0].message if len(checks) == 1 else f"all {len(checks)} files match"
        return Judgment.passed(words, score=score, checks=checks)

    def _check_text(self, path: str, expected: str, text: str) -> Check:
        name = visible(path)
        if expected == text:
            return Check.ok(self.name, f"{name} is the expected text", Location(path))
        meaning = type(self).meaning or find_meaning(path)
        try:
            goal = meaning(expected)
        except ManifestError as error:
            raise _make_refusal(f"the expected {name} cannot be compared", str(error)) from error
        words = f"{name} is not what is expected"
        try:
            if meaning(text) == goal:
                return Check.ok(self.name, f"{name} means what is expected", Location(path))
        except ManifestError as error:
            words = f"{name} cannot be compared: {error}"
        return _show_difference(self.name, words, path, expected, text)


@dataclass(frozen=True)
class TextComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as words: blanks and empty lines do not matter."""

    name: str = "text-comparison"
    meaning = split_words


@dataclass(frozen=True)
class SyntaxComparisonJudge(SemanticComparisonJudge):
    """The same, for source code alone; ERROR ``not_comparable`` for a language without a parser."""

    name: str = "syntax-comparison"

    def _check_text(self, path: str, expected: str, text: str) -> Check:
        if find_language(path) is None:
            what = f"{visible(path)} cannot be compared as source code"
            raise _make_refusal(what, "No parser for its language is here")
        return super()._check_text(path, expected, text)


@dataclass(frozen=True)
class XmlComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as XML."""

    name: str = "xml-comparison"
    meaning = read_xml_text


@dataclass(frozen=True)
class PomComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as a Maven project."""

    name: str = "pom-comparison"
    meaning = read_pom_meaning


@dataclass(frozen=True)
class SupersetJudge(SemanticComparisonJudge):
    """PASS where the workspace holds every line of the expected files, in their order.

    Further lines and files do not matter, nor do blanks. Otherwise as `SemanticComparisonJudge`.
    """

    name: str = "superset-diff"
    description: str = "the files hold at least the expected lines"

    def _check_text(self, path: str, expected: str, text: str) -> Check:
        rest = iter(split_words(text))
        for line in split_words(expected):
            if line not in rest:
                words = f"{visible(path)} lacks an expected line here: {visible(line)}"
                return _show_difference(self.name, words, path, expected, text)
        return Check.ok(self.name, f"{visible(path)} holds every expected line", Location(path))


def _make_refusal(what: str, why: str) -> CannotJudgeError:
    remedy = "Correct it, or compare it with TextComparisonJudge"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="not_comparable")


def _show_difference(name: str, message: str, path: str, expected: str, text: str) -> Check:
    before, after = split_words(expected), split_words(text)
    lines = list(difflib.unified_diff(before, after, "expected", "found", n=1, lineterm=""))
    rows = [line[:_WIDEST_LINE] for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        rows.append(f"… and {len(lines) - _MOST_LINES} more lines")
    return Check.bad(name, message, Location(path), evidence="\n".join(rows))


def _read_expected(place: Path, path: str) -> Iterator[tuple[str, str]]:
    """Yield each path in the workspace with the text that is expected there, in order."""
    if place.is_file():
        yield path, Workspace(place.parent).text(place.name)
        return
    files = find_reports(place, "**", everywhere=True) if place.is_dir() else []
    files = [file for file in files if not file.is_dir()]  # links to directories are none
    if not files:
        raise CannotJudgeError(
            f"there is nothing to compare with at {visible(str(place))}",
            why="It is not there, or holds no file",
            remedy="Name the file or the directory that holds what is expected",
            reason="no_expectation",
        )
    for file in files:
        name = file.relative_to(place).as_posix()
        yield str(PurePosixPath(path, name)), Workspace(place).text(name)


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
        if not files:
            raise CannotJudgeError(
                f"there are no classes below {visible(self.path)}",
                why="Nothing is compiled yet, or it lies elsewhere",
                remedy="Compile first, or name the directory as `path`",
                reason="no_classes",
            )
        demand = f"Java {self.release}" + ("" if self.exactly else " or lower")
        counts = Counter[int]()
        wrong = []
        for file in files:
            release = _read_release(file)
            counts[release] += 1
            if release > self.release or (self.exactly and release < self.release):
                path = Location(file.relative_to(workspace.root).as_posix())
                wrong.append(Check.bad(self.name, f"it needs Java {release}", path))
        words = f"all {len(files)} classes are for {demand}"
        if wrong:
            words = f"{len(wrong)} of {len(files)} classes are not for {demand}"
        classes = {str(release): count for release, count in sorted(counts.items())}
        make = Judgment.failed if wrong else Judgment.passed
        return make(
            words,
            score=BooleanScore(not wrong),
            checks=wrong[:_SHOWN] or [Check.ok(self.name, message=words)],
            metadata={"release": self.release, "classes": classes},
        )


def _read_release(place: Path) -> int:
    try:
        with open_regular(place) as file:
            magic, _, major = _HEADER.unpack(file.read(_HEADER.size))
    except (OSError, struct.error) as error:
        raise unreadable(visible(place.name), f"It is no class file ({error})") from error
    if magic != _MAGIC:
        raise unreadable(visible(place.name), "It is no class file")
    return int(major) - _OFFSET
