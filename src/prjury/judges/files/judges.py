"""Judges of a directory's files by what they should be, one for each way of comparing."""

from __future__ import annotations

import difflib
import os
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
from prjury.judges.workspace.files import Workspace, check_path, judge_or_error
from prjury.judges.workspace.reports import find_reports
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore
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
            if workspace.kind(where) != "file":
                words = f"there is no file {visible(where)}"
                checks.append(Check.bad(self.name, words, Location(where)))
            else:
                checks.append(self._check_text(where, text, workspace.text(where)))
        failed = [check for check in checks if not check.passed]
        score = NumericalScore((len(checks) - len(failed)) / len(checks))
        if not failed:
            words = checks[0].message if len(checks) == 1 else f"all {len(checks)} files match"
            return Judgment.passed(words, score=score, checks=checks)
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return Judgment.failed(f"{failed[0].message}{more}", score=score, checks=checks)

    def _check_text(self, path: str, expected: str, text: str) -> Check:
        name = visible(path)
        if expected == text:
            return Check.ok(self.name, f"{name} is the expected text", Location(path))
        meaning = type(self).meaning or find_meaning(path)
        try:
            goal = meaning(expected)
        except ManifestError as error:
            raise _make_refusal(f"the expected {name} cannot be compared", str(error)) from error
        try:
            if meaning(text) == goal:
                return Check.ok(self.name, f"{name} means what is expected", Location(path))
            why = "is not what is expected"
        except ManifestError as error:
            why = f"cannot be compared: {error}"
        return _show_difference(self.name, f"{name} {why}", path, expected, text)


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
    entries = find_reports(place, "**", everywhere=True) if place.is_dir() else []
    files = [entry for entry in entries if not entry.is_dir()]  # links to directories are none
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
