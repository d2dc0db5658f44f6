"""Judges of a directory's files by what they should be, one for each way of comparing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path, PurePosixPath

from prjury.errors import CannotJudgeError
from prjury.judges.files.comparison import (
    Meaning,
    SourceTexts,
    difference,
    language_here,
    meaning_of,
    words,
    xml_value,
)
from prjury.judges.files.pom import pom_meaning
from prjury.judges.files.syntax import NotComparableError
from prjury.judges.workspace.file_tree import FileTree
from prjury.judges.workspace.files import Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore
from prjury.snapshot.model import visible

#: Files of an expectation; more is a mistake rather than an expectation.
_MOST_FILES = 20_000
_SKIPPED = frozenset({".git", ".hg", ".svn"})


@dataclass(frozen=True)
class ExpectedFiles:
    """A file or a directory with what a workspace should hold; it is the operator's own.

    Attributes:
        place: the file or directory.
        path: where it belongs in the workspace; a file by its name, a directory at the top.
    """

    place: Path
    path: str

    def texts(self) -> Iterator[tuple[str, str]]:
        """Each path in the workspace with the text that is expected there, in order.

        Raises:
            CannotJudgeError: ``no_expectation`` where nothing is there, or what is there cannot be
                read as text.
        """
        root = Workspace(self.place if self.place.is_dir() else self.place.parent)
        names = list(self._names())
        if not names:
            raise _no_expectation(self.place, "It holds no file")
        for name in names:
            prefix = self.path if self.place.is_file() else str(PurePosixPath(self.path, name))
            yield prefix, root.text(name)

    def _names(self) -> Iterator[str]:
        if self.place.is_file():
            yield self.place.name
            return
        if not self.place.is_dir():
            raise _no_expectation(self.place, "It is not there")
        found: list[str] = []
        for place, directories, files in os.walk(self.place):
            directories[:] = sorted(set(directories) - _SKIPPED)
            below = Path(place).relative_to(self.place)
            found += [(below / name).as_posix() for name in files]
            if len(found) > _MOST_FILES:
                raise _no_expectation(self.place, f"It holds more than {_MOST_FILES:,} files")
        yield from sorted(found)


def _found(tree: FileTree, path: str) -> str | None:
    """The text of the file; None where no file is there."""
    return tree.text(path) if tree.kind(path) == "file" else None


def _lines(text: str) -> list[str]:
    """The lines without blanks at their ends, nor empty ones at the end of the text."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _no_expectation(place: Path, why: str) -> CannotJudgeError:
    return CannotJudgeError(
        f"there is nothing to compare with at {visible(str(place))}",
        why=why,
        remedy="Name the file or the directory that holds what is expected",
        reason="no_expectation",
    )


@dataclass(frozen=True)
class SemanticComparisonJudge:
    """PASS where each expected file is in the workspace and means the same, else FAIL.

    Source code is compared as syntax, ``pom.xml`` as a project, XML, JSON, YAML and TOML by their
    content, anything else as words. Further files of the workspace do not matter. The score is the
    share of files that are as expected. ERROR ``no_workspace``, ``outside_workspace``,
    ``no_expectation``, ``unreadable``, ``too_large``, ``not_utf8``, or ``not_comparable`` where an
    expected file cannot be understood.

    Args:
        expected: a file or a directory; relative to the current directory.
        path: where it belongs in the workspace, if that is another place than by its name.

    Raises:
        ValueError: for an empty path, or one with a NUL character.
    """

    expected: str | os.PathLike[str]
    path: str | None = None
    _: KW_ONLY
    name: str = "semantic"
    description: str = "the files mean what is expected"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        path_text(self.expected)
        if self.path is not None:
            path_text(self.path)

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the files mean the same."""
        return answered(lambda: self.look(Workspace.of(context)))

    def meaning(self, path: str, sources: SourceTexts) -> Meaning:
        """How the file at this path is compared."""
        return meaning_of(path, sources)

    def look(self, tree: FileTree) -> Judgment:
        """The judgment of these files.

        Raises:
            CannotJudgeError: where there can be none.
        """
        place = Path(os.path.realpath(self.expected))
        path = self.path or (place.name if place.is_file() else ".")
        expected = dict(ExpectedFiles(place, path).texts())
        found = {where: _found(tree, where) for where in expected}
        sources = SourceTexts(
            (where, side)
            for where, text in expected.items()
            for side in (text, found[where])
            if side is not None and found[where] != text
        )
        checks = [
            self._check(where, text, found[where], sources) for where, text in expected.items()
        ]
        failed = [check for check in checks if not check.passed]
        score = NumericalScore((len(checks) - len(failed)) / len(checks))
        if not failed:
            words = checks[0].message if len(checks) == 1 else f"all {len(checks)} files match"
            return Judgment.passed(words, score=score, checks=checks)
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return Judgment.failed(f"{failed[0].message}{more}", score=score, checks=checks)

    def _check(self, path: str, expected: str, found: str | None, sources: SourceTexts) -> Check:
        if found is None:
            return Check.bad(self.name, f"there is no file {visible(path)}", Location(path))
        return self.compared(path, expected, found, sources)

    def compared(self, path: str, expected: str, found: str, sources: SourceTexts) -> Check:
        """The check of one file.

        Raises:
            CannotJudgeError: ``not_comparable`` where the expected text cannot be understood.
        """
        shown = visible(path)
        if expected == found:
            return Check.ok(self.name, f"{shown} is the expected text", Location(path))
        meaning = self.meaning(path, sources)
        try:
            wanted = meaning(expected)
        except NotComparableError as error:
            if _lines(expected) == _lines(found):
                return Check.ok(self.name, f"{shown} holds the expected lines", Location(path))
            raise CannotJudgeError(
                f"the expected {shown} cannot be compared",
                why=str(error),
                remedy="Correct it, or compare it as text",
                reason="not_comparable",
            ) from error
        try:
            same, why = wanted == meaning(found), "is not what is expected"
        except NotComparableError as error:
            same, why = False, f"cannot be compared: {error}"
        if same:
            return Check.ok(self.name, f"{shown} means what is expected", Location(path))
        diff, line = difference(expected, found)
        return Check.bad(self.name, f"{shown} {why}", Location(path, line), evidence=diff)


@dataclass(frozen=True)
class TextComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as words: blanks and empty lines do not matter."""

    name: str = "text-comparison"
    description: str = "the files hold the expected words"

    def meaning(self, path: str, sources: SourceTexts) -> Meaning:  # noqa: ARG002
        """How the file at this path is compared."""
        return words


@dataclass(frozen=True)
class SyntaxComparisonJudge(SemanticComparisonJudge):
    """The same, for source code alone; ERROR ``not_comparable`` for a language without a parser."""

    name: str = "syntax-comparison"
    description: str = "the source code means what is expected"

    def meaning(self, path: str, sources: SourceTexts) -> Meaning:
        """How the file at this path is compared."""
        if language_here(path) is None:
            raise CannotJudgeError(
                f"{visible(path)} cannot be compared as source code",
                why="No parser for its language is here",
                remedy="Compare it with SemanticComparisonJudge or TextComparisonJudge",
                reason="not_comparable",
            )
        return meaning_of(path, sources)


@dataclass(frozen=True)
class XmlComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as XML."""

    name: str = "xml-comparison"
    description: str = "the XML means what is expected"

    def meaning(self, path: str, sources: SourceTexts) -> Meaning:  # noqa: ARG002
        """How the file at this path is compared."""
        return xml_value


@dataclass(frozen=True)
class PomComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as a Maven project."""

    name: str = "pom-comparison"
    description: str = "the Maven project is the expected one"

    def meaning(self, path: str, sources: SourceTexts) -> Meaning:  # noqa: ARG002
        """How the file at this path is compared."""
        return pom_meaning


@dataclass(frozen=True)
class SupersetJudge(SemanticComparisonJudge):
    """PASS where the workspace holds every line of the expected files, in their order.

    Further lines and files do not matter, nor do blanks. Otherwise as `SemanticComparisonJudge`.
    """

    name: str = "superset-diff"
    description: str = "the files hold at least the expected lines"

    def compared(
        self,
        path: str,
        expected: str,
        found: str,
        sources: SourceTexts,  # noqa: ARG002 - lines are compared as they stand
    ) -> Check:
        """The check of one file."""
        rest = iter(words(found))
        missing = next((line for line in words(expected) if line not in rest), None)
        if missing is None:
            message = f"{visible(path)} holds every expected line"
            return Check.ok(self.name, message, Location(path))
        diff, line = difference(expected, found)
        message = f"{visible(path)} lacks an expected line here: {visible(missing)}"
        return Check.bad(self.name, message, Location(path, line), evidence=diff)
