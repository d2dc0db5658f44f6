"""Judges of a directory's files by what they should be, one for each way of comparing."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from prjury.code.languages import Language, language_of
from prjury.code.parser import NotParsed, Parsed, Parser, job
from prjury.code.source import UnreadableError, decode, resolved
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.files.form import FORMS
from prjury.judges.files.pom import pom_meaning
from prjury.judges.files.syntax import Canonical, NotComparableError, canonical
from prjury.judges.workspace.file_tree import FileTree
from prjury.judges.workspace.files import Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore
from prjury.manifests.manifest import ManifestError
from prjury.manifests.syntax import toml_of
from prjury.snapshot.model import visible

#: Seconds for parsing all texts.
_SECONDS = 60.0
_MOST_LINES = 40
_WIDEST_LINE = 160
_SPACE = re.compile(r"\s+")

#: Brings a text into a form in which two texts that mean the same are equal.
#: It raises `NotComparableError` where the text cannot be understood.
Meaning: TypeAlias = Callable[[str], object]


def words(text: str) -> list[str]:
    """The lines that hold something, with single blanks."""
    lines = (_SPACE.sub(" ", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


class SourceTexts:
    """Source code of several files, parsed together the first time that one is asked for."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """Take the path and the text of each; those in languages without a parser are left out."""
        self._waiting = {
            (language.name, text): language
            for path, text in texts
            if (language := language_here(path))
        }
        self._parsed: dict[tuple[str, str], Parsed | NotParsed] = {}

    def meaning(self, language: Language, text: str) -> Canonical:
        """The canonical syntax tree of a text.

        Raises:
            NotComparableError: where it cannot be parsed.
        """
        key = (language.name, text)
        plain = _plain(language, text)
        if key not in self._parsed:
            self._waiting.setdefault(key, language)
            self._parse()
        parsed = self._parsed[key]
        if isinstance(parsed, NotParsed):
            raise NotComparableError(f"it could not be parsed ({parsed})")
        return canonical(plain, parsed, language)

    def _parse(self) -> None:
        jobs, keys = [], []
        for key, language in self._waiting.items():
            with contextlib.suppress(NotComparableError):  # said when it is asked for
                jobs.append(job(_plain(language, key[1]), language, tree=True))
                keys.append(key)
        replies = Parser().parse(jobs, Deadline.after(_SECONDS))
        self._parsed.update(zip(keys, replies, strict=True))
        self._waiting.clear()


def _plain(language: Language, text: str) -> str:
    try:
        return resolved(decode(text.encode()), language)
    except UnreadableError as error:
        raise NotComparableError(str(error)) from error


def language_here(path: str) -> Language | None:
    """The language of a file, if its source code can be compared."""
    language = language_of(path)
    return language if language and language.name in FORMS else None


def json_value(text: str) -> object:
    """JSON; the order of keys has no meaning, a key that is given twice is refused."""
    try:
        return _typed(json.loads(text, object_pairs_hook=_once))
    except RecursionError as error:
        raise NotComparableError("it is nested without end") from error
    except ValueError as error:
        raise NotComparableError(f"it is not JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is given twice")
    return made


#: Lists and maps of YAML within each other, where they are written in brackets.
_DEEPEST = 200


def yaml_value(text: str) -> object:
    """The YAML documents of a text, without aliases."""
    import yaml  # noqa: PLC0415 - only for YAML

    opening = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
    closing = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
    depth = 0
    try:
        for token in yaml.scan(text):  # each token takes longer the deeper it stands
            if isinstance(token, yaml.AliasToken):
                raise NotComparableError("it has aliases, which are not followed")
            depth += isinstance(token, opening) - isinstance(token, closing)
            if depth > _DEEPEST:
                raise NotComparableError("it is nested without end")
        return [_typed(document) for document in yaml.safe_load_all(text)]
    except RecursionError as error:
        raise NotComparableError("it is nested without end") from error
    except (yaml.YAMLError, ValueError) as error:
        raise NotComparableError(f"it is not YAML: {str(error).splitlines()[0]}") from error


def toml_value(text: str) -> object:
    """TOML; the order of keys and tables has no meaning."""
    try:
        return _typed(toml_of(text))
    except ManifestError as error:
        raise NotComparableError(str(error)) from error


def _typed(value: object) -> object:
    """The value with the type of its numbers: ``1``, ``1.0`` and ``true`` are not the same."""
    if isinstance(value, dict):
        return {("key", str(type(key)), key): _typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    return (type(value).__name__, repr(value) if value != value else value)  # noqa: PLR0124 - NaN


def xml_value(text: str) -> str:
    """XML in its canonical form; comments, prefixes and blanks around texts have no meaning."""
    from xml.etree.ElementTree import canonicalize  # noqa: PLC0415 - only for XML

    from defusedxml import DefusedXmlException  # noqa: PLC0415 - the same
    from defusedxml.ElementTree import ParseError, fromstring  # noqa: PLC0415 - the same

    plain = text.removeprefix("\ufeff")
    try:
        fromstring(plain, forbid_dtd=True)
        return canonicalize(plain, strip_text=True, rewrite_prefixes=True)
    except DefusedXmlException as error:
        raise NotComparableError("it has a document type or entities, which are refused") from error
    except (ParseError, ValueError, RecursionError) as error:
        raise NotComparableError(f"it is not XML: {error}") from error


_BY_SUFFIX: dict[str, Meaning] = {
    ".json": json_value,
    ".yml": yaml_value,
    ".yaml": yaml_value,
    ".toml": toml_value,
    ".xml": xml_value,
}


def meaning_of(path: str, sources: SourceTexts) -> Meaning:
    """How a file of this name is compared: as code, POM, XML, data, or else as words."""
    if PurePosixPath(path).name == "pom.xml":
        return pom_meaning
    if (by_suffix := _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())) is not None:
        return by_suffix
    language = language_here(path)
    return partial(sources.meaning, language) if language else words


def difference(expected: str, found: str) -> tuple[str, int]:
    """A short diff of two texts, blanks aside, and the first line of the second one in it."""
    pair = [_squeezed(text) for text in (expected, found)]
    numbers = [number for number, _ in pair[1]]
    before, after = ([line for _, line in side] for side in pair)
    lines = list(difflib.unified_diff(before, after, "expected", "found", n=1, lineterm=""))
    first = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), None)
    at = min(len(before), len(after)) if first is None else first
    line = numbers[min(at, len(numbers) - 1)] if numbers else 1
    return "\n".join(_shortened(lines)), line


def _squeezed(text: str) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), start=1)
    return [(number, _SPACE.sub(" ", line).strip()) for number, line in lines if line.strip()]


def _shortened(lines: list[str]) -> Iterable[str]:
    for line in lines[:_MOST_LINES]:
        yield line if len(line) <= _WIDEST_LINE else f"{line[: _WIDEST_LINE - 1]}…"
    if len(lines) > _MOST_LINES:
        yield f"… and {len(lines) - _MOST_LINES} more lines"


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
