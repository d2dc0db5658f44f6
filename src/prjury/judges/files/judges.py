"""Judges of a directory's files by what they should be, one for each way of comparing."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path, PurePosixPath

from prjury.errors import CannotJudgeError
from prjury.judges.files.meaning import (
    Meaning,
    find_language,
    find_meaning,
    read_xml_text,
    split_words,
)
from prjury.judges.files.pom import read_pom_meaning
from prjury.judges.workspace.file_tree import FileTree
from prjury.judges.workspace.files import Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore
from prjury.manifests.manifest import ManifestError
from prjury.snapshot.model import visible

_MOST_LINES = 40
_WIDEST_LINE = 160
#: Files of an expectation; more is a mistake rather than an expectation.
_MOST_FILES = 20_000
_SKIPPED = frozenset({".git", ".hg", ".svn"})


@dataclass(frozen=True)
class SemanticComparisonJudge:
    """PASS where each expected file is in the workspace and means the same, else FAIL.

    Source code is compared by the leaves of its syntax tree, ``pom.xml`` as a project, XML, JSON,
    YAML and TOML by their content, anything else as words. Further files of the workspace do not
    matter. The score is the share of files that are as expected. ERROR ``no_workspace``,
    ``outside_workspace``, ``no_expectation``, ``unreadable``, ``too_large``, ``not_utf8``, or
    ``not_comparable`` where an expected file cannot be understood.

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
        """Compare the files."""
        return answered(lambda: self.look(Workspace.of(context)))

    def meaning(self, path: str) -> Meaning:
        """How the file at this path is compared."""
        return find_meaning(path)

    def look(self, tree: FileTree) -> Judgment:
        """The judgment of these files.

        Raises:
            CannotJudgeError: where there can be none.
        """
        place = Path(os.path.realpath(self.expected))
        path = self.path or (place.name if place.is_file() else ".")
        checks = [
            self._compare_file(tree, where, text)
            for where, text in list(_expected_texts(place, path))
        ]
        failed = [check for check in checks if not check.passed]
        score = NumericalScore((len(checks) - len(failed)) / len(checks))
        if not failed:
            words = checks[0].message if len(checks) == 1 else f"all {len(checks)} files match"
            return Judgment.passed(words, score=score, checks=checks)
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return Judgment.failed(f"{failed[0].message}{more}", score=score, checks=checks)

    def _compare_file(self, tree: FileTree, path: str, expected: str) -> Check:
        if tree.kind(path) != "file":
            return Check.bad(self.name, f"there is no file {visible(path)}", Location(path))
        return self.compare(path, expected, tree.text(path))

    def compare(self, path: str, expected: str, text: str) -> Check:
        """The check of one file.

        Raises:
            CannotJudgeError: ``not_comparable`` where the expected text cannot be understood.
        """
        shown = visible(path)
        if expected == text:
            return Check.ok(self.name, f"{shown} is the expected text", Location(path))
        meaning = self.meaning(path)
        try:
            wanted = meaning(expected)
        except ManifestError as error:
            if _strip_lines(expected) == _strip_lines(text):
                return Check.ok(self.name, f"{shown} holds the expected lines", Location(path))
            raise CannotJudgeError(
                f"the expected {shown} cannot be compared",
                why=str(error),
                remedy="Correct it, or compare it as text",
                reason="not_comparable",
            ) from error
        try:
            same, why = wanted == meaning(text), "is not what is expected"
        except ManifestError as error:
            same, why = False, f"cannot be compared: {error}"
        if same:
            return Check.ok(self.name, f"{shown} means what is expected", Location(path))
        diff, line = show_difference(expected, text)
        return Check.bad(self.name, f"{shown} {why}", Location(path, line), evidence=diff)


@dataclass(frozen=True)
class TextComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as words: blanks and empty lines do not matter."""

    name: str = "text-comparison"
    description: str = "the files hold the expected words"

    def meaning(self, path: str) -> Meaning:  # noqa: ARG002
        """How the file at this path is compared."""
        return split_words


@dataclass(frozen=True)
class SyntaxComparisonJudge(SemanticComparisonJudge):
    """The same, for source code alone; ERROR ``not_comparable`` for a language without a parser."""

    name: str = "syntax-comparison"
    description: str = "the source code means what is expected"

    def meaning(self, path: str) -> Meaning:
        """How the file at this path is compared."""
        if find_language(path) is None:
            raise CannotJudgeError(
                f"{visible(path)} cannot be compared as source code",
                why="No parser for its language is here",
                remedy="Compare it with SemanticComparisonJudge or TextComparisonJudge",
                reason="not_comparable",
            )
        return find_meaning(path)


@dataclass(frozen=True)
class XmlComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as XML."""

    name: str = "xml-comparison"
    description: str = "the XML means what is expected"

    def meaning(self, path: str) -> Meaning:  # noqa: ARG002
        """How the file at this path is compared."""
        return read_xml_text


@dataclass(frozen=True)
class PomComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as a Maven project."""

    name: str = "pom-comparison"
    description: str = "the Maven project is the expected one"

    def meaning(self, path: str) -> Meaning:  # noqa: ARG002
        """How the file at this path is compared."""
        return read_pom_meaning


@dataclass(frozen=True)
class SupersetJudge(SemanticComparisonJudge):
    """PASS where the workspace holds every line of the expected files, in their order.

    Further lines and files do not matter, nor do blanks. Otherwise as `SemanticComparisonJudge`.
    """

    name: str = "superset-diff"
    description: str = "the files hold at least the expected lines"

    def compare(self, path: str, expected: str, text: str) -> Check:
        """The check of one file."""
        rest = iter(split_words(text))
        missing = next((line for line in split_words(expected) if line not in rest), None)
        if missing is None:
            message = f"{visible(path)} holds every expected line"
            return Check.ok(self.name, message, Location(path))
        diff, line = show_difference(expected, text)
        message = f"{visible(path)} lacks an expected line here: {visible(missing)}"
        return Check.bad(self.name, message, Location(path, line), evidence=diff)


def show_difference(expected: str, text: str) -> tuple[str, int]:
    """A short diff of two texts, blanks aside, and the first line of the second one in it."""
    before, after = split_words(expected), split_words(text)
    lines = list(difflib.unified_diff(before, after, "expected", "found", n=1, lineterm=""))
    pairs = enumerate(zip(before, after, strict=False))
    first = next((at for at, (a, b) in pairs if a != b), min(len(before), len(after)))
    numbers = [number for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    shown = [
        line if len(line) <= _WIDEST_LINE else f"{line[: _WIDEST_LINE - 1]}…"
        for line in lines[:_MOST_LINES]
    ]
    if len(lines) > _MOST_LINES:
        shown.append(f"… and {len(lines) - _MOST_LINES} more lines")
    return "\n".join(shown), numbers[min(first, len(numbers) - 1)] if numbers else 1


def _strip_lines(text: str) -> list[str]:
    """The lines without blanks at their ends, nor empty ones at the end of the text."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _expected_texts(place: Path, path: str) -> Iterator[tuple[str, str]]:
    """Each path in the workspace with the text that is expected there, in order.

    Raises:
        CannotJudgeError: ``no_expectation`` where nothing is there, or what is there cannot be
            read as text.
    """
    if place.is_file():
        yield path, Workspace(place.parent).text(place.name)
        return
    names: list[str] = []
    for directory, directories, files in os.walk(place):
        directories[:] = sorted(set(directories) - _SKIPPED)
        names += [(Path(directory, name).relative_to(place)).as_posix() for name in files]
        if len(names) > _MOST_FILES:
            break
    if not 0 < len(names) <= _MOST_FILES:
        raise CannotJudgeError(
            f"there is nothing to compare with at {visible(str(place))}",
            why="It is not there, or holds no file" if not names else "It holds too many files",
            remedy="Name the file or the directory that holds what is expected",
            reason="no_expectation",
        )
    for name in sorted(names):
        yield str(PurePosixPath(path, name)), Workspace(place).text(name)
