"""Judges of a directory's files by what they should be, one for each way of comparing."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from posixpath import commonprefix
from typing import Any, ClassVar

from prjury.errors import CannotJudgeError
from prjury.judges.files.meaning import (
    Meaning,
    canonicalize_xml,
    find_language,
    find_meaning,
    read_pom_meaning,
    split_words,
)
from prjury.judges.workspace.files import (
    FileTree,
    Kind,
    Workspace,
    WorkspaceJudge,
    find_files,
    judge_checks,
    open_regular,
    require_text_path,
    unreadable,
)
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore
from prjury.manifests.manifest import ManifestError
from prjury.snapshot.model import printable, visible

_MOST_LINES, _WIDEST_LINE = 40, 160


@dataclass(frozen=True)
class SemanticComparisonJudge(WorkspaceJudge):
    """PASS where each expected file is in the workspace and means the same, else FAIL.

    Source code is compared by the leaves of its syntax tree, ``pom.xml`` as a project, XML, JSON,
    YAML and TOML by their content, anything else as words. Further files do not matter. The score
    is the share of files that are as expected. What is ``expected`` is a file or a directory, whose
    place in the workspace is ``path`` or goes by its name.
    """

    expected: str | os.PathLike[str]
    path: str | None = None
    _: KW_ONLY
    meaning: ClassVar[Meaning | None] = None
    name: str = "semantic"
    description: str = "the files mean what is expected"

    def __post_init__(self) -> None:
        require_text_path(self.expected)
        if self.path is not None:
            require_text_path(self.path)

    def judge_in(self, workspace: Workspace, _context: JudgmentContext) -> Judgment:
        place = Path(os.path.realpath(self.expected))
        path = self.path or (place.name if place.is_file() else ".")
        checks = []
        for where, text in list(_read_expected_files(place, path)):
            if workspace.kind(where) == "file":
                checks.append(self._check_text_or_meaning(where, text, workspace.text(where)))
            else:
                words = f"there is no file {visible(where)}"
                checks.append(Check.bad(self.name, words, Location(where)))
        failed = [check for check in checks if not check.passed]
        score = NumericalScore((len(checks) - len(failed)) / len(checks))
        words = checks[0].message if len(checks) == 1 else f"all {len(checks)} files match"
        if failed:
            more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
            words = f"{failed[0].message}{more}"
        return judge_checks(checks, words, score)

    def _check_text_or_meaning(self, path: str, expected: str, text: str) -> Check:
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

    _: KW_ONLY
    name: str = "text-comparison"
    meaning = split_words


@dataclass(frozen=True)
class SyntaxComparisonJudge(SemanticComparisonJudge):
    """The same, for source code alone; ERROR ``not_comparable`` for a language without a parser."""

    _: KW_ONLY
    name: str = "syntax-comparison"

    def _check_text_or_meaning(self, path: str, expected: str, text: str) -> Check:
        if find_language(path) is None:
            what = f"{visible(path)} cannot be compared as source code"
            raise _make_refusal(what, "No parser for its language is here")
        return super()._check_text_or_meaning(path, expected, text)


@dataclass(frozen=True)
class XmlComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as XML."""

    _: KW_ONLY
    name: str = "xml-comparison"
    meaning = canonicalize_xml


@dataclass(frozen=True)
class PomComparisonJudge(SemanticComparisonJudge):
    """The same, with every file compared as a Maven project."""

    _: KW_ONLY
    name: str = "pom-comparison"
    meaning = read_pom_meaning


@dataclass(frozen=True)
class SupersetJudge(SemanticComparisonJudge):
    """PASS where the workspace holds every line of the expected files, in their order."""

    _: KW_ONLY
    name: str = "superset-diff"
    description: str = "the files hold at least the expected lines"

    def _check_text_or_meaning(self, path: str, expected: str, text: str) -> Check:
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


def _read_expected_files(place: Path, path: str) -> Iterator[tuple[str, str]]:
    if place.is_file():
        yield path, Workspace(place.parent).text(place.name)
        return
    files = find_files(place, "**", downloads_too=True) if place.is_dir() else []
    files = [file for file in files if not file.is_dir()]  # links to directories are none
    if not files:
        what = f"there is nothing to compare with at {visible(str(place))}"
        remedy = "Name the file or the directory that holds what is expected"
        raise CannotJudgeError(what, remedy=remedy, reason="no_expectation")
    for file in files:
        name = file.relative_to(place).as_posix()
        yield str(PurePosixPath(path, name)), Workspace(place).text(name)


#: The major version of a class file minus this is the Java release that it needs.
_OFFSET = 44
_SHOWN = 20


@dataclass(frozen=True)
class ClassVersionJudge(WorkspaceJudge):
    """PASS where every class below a directory of the workspace runs on a Java release, else FAIL.

    With ``exactly``, each has to be compiled for just that release. Archives are not looked into.
    """

    release: int
    path: str = "."
    exactly: bool = False
    _: KW_ONLY
    name: str = "class-version"
    description: str = "the classes run on the Java release"

    def __post_init__(self) -> None:
        if isinstance(self.release, bool) or not isinstance(self.release, int):
            raise TypeError(f"a Java release is an integer, not {self.release!r}")
        if self.release < 1:
            raise ValueError(f"there is no Java release {self.release}")
        require_text_path(self.path)

    def judge_in(self, workspace: Workspace, _context: JudgmentContext) -> Judgment:
        place = workspace.locate_inside(self.path)
        files = find_files(place, "*.class", downloads_too=True) if place.is_dir() else []
        if not files:
            what = f"there are no classes below {visible(self.path)}"
            why = "Nothing is compiled yet, or it lies elsewhere"
            remedy = "Compile first, or name the directory as `path`"
            raise CannotJudgeError(what, why=why, remedy=remedy, reason="no_classes")
        demand = f"Java {self.release}" + ("" if self.exactly else " or lower")
        counts = Counter[int]()
        wrong = []
        for file in files:
            release = _read_java_release(file)
            counts[release] += 1
            if release > self.release or (self.exactly and release < self.release):
                path = Location(file.relative_to(workspace.root).as_posix())
                wrong.append(Check.bad(self.name, f"it needs Java {release}", path))
        words = f"all {len(files)} classes are for {demand}"
        if wrong:
            words = f"{len(wrong)} of {len(files)} classes are not for {demand}"
        checks = wrong[:_SHOWN] or [Check.ok(self.name, message=words)]
        classes = {str(release): count for release, count in sorted(counts.items())}
        return judge_checks(checks, words, metadata={"release": self.release, "classes": classes})


def _read_java_release(class_file: Path) -> int:
    try:
        with open_regular(class_file) as file:
            header = file.read(8)
    except OSError as error:
        raise unreadable(visible(class_file.name), error.strerror) from error
    if not re.fullmatch(rb"(?s)\xca\xfe\xba\xbe.{4}", header):
        raise unreadable(visible(class_file.name), "It is no class file")
    return int.from_bytes(header[6:]) - _OFFSET


NAME = "file-content"

#: Characters of the expected text in a sentence, and of a line before its difference.
_LONGEST_IN_SENTENCE, _BEFORE = 80, 40
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class FileExistsJudge(WorkspaceJudge):
    """PASS where the path is a regular file of the workspace, or leads to one; else FAIL."""

    path: str | os.PathLike[str]
    _: KW_ONLY
    name: str = "file-exists"
    description: str = "the file is there"

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", require_text_path(self.path))

    def judge_in(self, tree: FileTree, _context: JudgmentContext | None = None) -> Judgment:
        """Look for the file, or into it; the files may be those of a commit."""
        path = os.fspath(self.path)
        check = self._check_file_as_expected(tree, path, tree.kind(path))
        return judge_checks([check], check.message, metadata={"path": printable(path)})

    def _check_file_as_expected(self, tree: FileTree, path: str, kind: Kind) -> Check:  # noqa: ARG002 - others read it
        words = "is there" if kind == "file" else f"is a {kind}, not a file"
        message = f"{visible(path)} {words}"
        if kind == "missing":
            message = f"there is no file {visible(path)}"
        return Check("file-exists", kind == "file", message, Location(path))


@dataclass(frozen=True)
class FileContentJudge(FileExistsJudge):
    r"""PASS where a file's text is, contains or matches what is expected, else FAIL.

    The text is UTF-8; ``\r\n`` counts as ``\n``, in the expectation too. ``regex`` is RE2's; ``^``
    and ``$`` are those of lines. A file that is not there is FAIL; ERROR where the text cannot be
    had. ValueError unless exactly one expectation is named that can be met and missed.
    """

    _: KW_ONLY
    exact: str | None = None
    contains: str | None = None
    regex: str | None = None
    name: str = NAME
    description: str = "the file's text is as expected"

    def __post_init__(self) -> None:
        super().__post_init__()
        texts = {kind: getattr(self, kind) for kind in ("exact", "contains", "regex")}
        kinds = [kind for kind, text in texts.items() if text is not None]
        if len(kinds) != 1:
            names = " and ".join(kinds) or "none"
            raise ValueError(f"name exactly one of exact, contains and regex, not {names}")
        if not isinstance(texts[kinds[0]], str):
            raise TypeError(f"{kinds[0]} is text, not a {type(texts[kinds[0]]).__name__}")
        if "" in {self.contains, self.regex}:
            raise ValueError("an empty text is in every file: say what the file has to hold")
        if self.regex:
            _compile_re2(self.regex)  # what cannot be expected is refused at once

    def _check_file_as_expected(self, tree: FileTree, path: str, kind: Kind) -> Check:
        if kind in {"missing", "directory"}:
            return super()._check_file_as_expected(tree, path, kind)
        text = tree.text(path)
        if self.exact is not None:
            return _check_exact_text(self.exact.replace("\r\n", "\n"), text, path)
        if self.contains:
            start, words = text.find(self.contains.replace("\r\n", "\n")), "contain"
        else:
            match = _compile_re2(self.regex or "").search(text)
            start, words = (match.start() if match else -1), "match"
        quoted = _quote(self.contains or self.regex or "")
        if start < 0:
            return Check.bad(NAME, f"{visible(path)} does not {words} {quoted}", Location(path))
        words = "contains" if self.contains else "matches"
        place = Location(path, text.count("\n", 0, start) + 1)
        return Check.ok(NAME, f"{visible(path)} {words} {quoted}", place)


def _check_exact_text(expected: str, text: str, path: str) -> Check:
    if text == expected:
        return Check.ok(NAME, f"{visible(path)} is exactly the expected text", Location(path))
    lines = _LINE.findall(text)
    pairs = zip_longest(_LINE.findall(expected), lines, fillvalue="")
    number, wish, line = next((at, a, b) for at, (a, b) in enumerate(pairs, 1) if a != b)
    start = max(0, len(commonprefix([wish, line])) - _BEFORE)
    evidence = f"expected: {_quote(wish[start:])}\nfound:    {_quote(line[start:])}"
    words = f"{visible(path)} is not the expected text: line {number} is the first that differs"
    place = Location(path, max(1, min(number, len(lines))))
    return Check.bad(NAME, words, place, evidence=evidence)


def _compile_re2(pattern: str) -> Any:  # noqa: ANN401 - RE2 has no type information
    import re2  # noqa: PLC0415 - a compiled extension that only expressions need

    options = re2.Options()
    options.log_errors = False
    try:
        plain = pattern.replace("\r\n", "\n")
        return re2.compile(f"(?m){plain}", options)
    except re2.error as error:
        message = error.args[0]
        reason = message.decode("utf-8", "replace") if isinstance(message, bytes) else message
        # RE2 repeats the part that it means, which may be our own beginning.
        reason = reason.replace("(?m)", "")
        raise ValueError(f"RE2 refuses {_quote(pattern)}: {reason}") from error


def _quote(text: str) -> str:
    cut = text if len(text) <= _LONGEST_IN_SENTENCE else f"{text[: _LONGEST_IN_SENTENCE - 1]}…"
    return repr(cut)
