"""Judges of one file: it is there, and its text is as expected."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from posixpath import commonprefix
from typing import Any, TypeAlias

from prjury.judges.workspace.files import FileTree, Kind, Workspace, check_path, judge_or_error
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import printable, visible

NAME = "file-content"

#: Characters of evidence, of the expected text in a sentence, and of a line before its difference.
_LONGEST_EVIDENCE, _LONGEST_IN_SENTENCE, _BEFORE = 500, 80, 40
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

#: Compares a text, which stands at a path, with what is expected.
TextCheck: TypeAlias = Callable[[str, str], Check]


@dataclass(frozen=True)
class FileExistsJudge:
    """PASS where the path is a regular file of the workspace, or leads to one; else FAIL."""

    path: str | os.PathLike[str]
    _: KW_ONLY
    name: str = "file-exists"
    description: str = "the file is there"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", check_path(self.path))

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Look for the file."""
        return judge_or_error(lambda: self.look(Workspace.of(context)))

    def look(self, tree: FileTree) -> Judgment:
        """Judge these files; raises CannotJudgeError where there can be no judgment."""
        path = os.fspath(self.path)
        return _judge_existence(path, tree.kind(path))


@dataclass(frozen=True)
class FileContentJudge:
    r"""PASS where a file's text is, contains or matches what is expected, else FAIL.

    The text is UTF-8, with or without a byte order mark; ``\r\n`` counts as ``\n``, in the
    expectation too. A file that is not there, or a directory in its place, is FAIL. ERROR where the
    text cannot be had: not a regular file, above 16 MiB, not UTF-8, outside of the workspace.
    ValueError unless exactly one expectation is named that can be met and missed.

    Args:
        path: the file, relative to the workspace.
        exact: the whole text, the last line end included.
        contains: what has to stand somewhere in it.
        regex: an RE2 expression that has to match somewhere; ``^`` and ``$`` are those of lines.
    """

    path: str | os.PathLike[str]
    _: KW_ONLY
    exact: str | None = None
    contains: str | None = None
    regex: str | None = None
    name: str = NAME
    description: str = "the file's text is as expected"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", check_path(self.path))
        self._make_check()  # what cannot be expected is refused at once

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Compare the file's text."""
        return judge_or_error(lambda: self.look(Workspace.of(context)))

    def look(self, tree: FileTree) -> Judgment:
        """Judge these files; raises CannotJudgeError where there can be no judgment."""
        path = os.fspath(self.path)
        kind = tree.kind(path)
        if kind in {"missing", "directory"}:
            return _judge_existence(path, kind)
        return _judge_check(self._make_check()(tree.text(path), path), path)

    def _make_check(self) -> TextCheck:
        makers = {"exact": expect_exactly, "contains": expect_part, "regex": expect_match}
        texts = {kind: getattr(self, kind) for kind in makers if getattr(self, kind) is not None}
        if len(texts) != 1:
            names = " and ".join(texts) or "none"
            raise ValueError(f"name exactly one of exact, contains and regex, not {names}")
        ((kind, text),) = texts.items()
        if not isinstance(text, str):
            raise TypeError(f"{kind} is text, not a {type(text).__name__}")
        return makers[kind](text)


def _judge_existence(path: str, kind: Kind) -> Judgment:
    messages = {
        "file": f"{visible(path)} is there",
        "missing": f"there is no file {visible(path)}",
    }
    message = messages.get(kind, f"{visible(path)} is a {kind}, not a file")
    return _judge_check(Check("file-exists", kind == "file", message, Location(path)), path)


def _judge_check(check: Check, path: str) -> Judgment:
    make = Judgment.passed if check.passed else Judgment.failed
    score, metadata = BooleanScore(check.passed), {"path": printable(path)}
    return make(check.message, score=score, checks=[check], metadata=metadata)


def expect_exactly(text: str) -> TextCheck:
    """Demand the whole text; the first line that differs is shown."""
    expected = text.replace("\r\n", "\n")

    def check(text: str, path: str) -> Check:
        if text == expected:
            return Check.ok(NAME, f"{visible(path)} is exactly the expected text", Location(path))
        lines = _LINE.findall(text)
        pairs = zip_longest(_LINE.findall(expected), lines, fillvalue="")
        number, wish, line = next((at, a, b) for at, (a, b) in enumerate(pairs, 1) if a != b)
        start = max(0, len(commonprefix([wish, line])) - _BEFORE)
        rows = (_quote(row[start:]) for row in (wish, line))
        evidence = "expected: {}\nfound:    {}".format(*rows)
        words = f"{visible(path)} is not the expected text: line {number} is the first that differs"
        place = Location(path, max(1, min(number, len(lines))))
        return Check.bad(NAME, words, place, evidence=evidence)

    return check


def expect_part(text: str) -> TextCheck:
    """Demand that the text holds this one somewhere; the first place is shown."""
    if not text:
        raise ValueError("an empty text is in every file: say what the file has to contain")
    part, quoted = text.replace("\r\n", "\n"), _quote(text)

    def check(text: str, path: str) -> Check:
        start = text.find(part)
        if start < 0:
            return Check.bad(NAME, f"{visible(path)} does not contain {quoted}", Location(path))
        return _show_place(f"{visible(path)} contains {quoted}", text, path, start, len(part))

    return check


def expect_match(pattern: str) -> TextCheck:
    r"""Demand that some part matches an RE2 expression; matching takes linear time.

    ``^`` and ``$`` stand for the start and end of a line, ``\A`` and ``\z`` for those of the
    text; a dot matches no line end unless the expression says ``(?s)``.
    """
    if not pattern:
        raise ValueError("an empty expression matches every file: say what it has to match")
    expression, quoted = _compile(pattern), _quote(pattern)

    def check(text: str, path: str) -> Check:
        match = expression.search(text)
        if not match:
            return Check.bad(NAME, f"nothing in {visible(path)} matches {quoted}", Location(path))
        start, end = match.span()
        return _show_place(f"{visible(path)} matches {quoted}", text, path, start, end - start)

    return check


def _compile(pattern: str) -> Any:  # noqa: ANN401 - RE2 has no type information
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


def _show_place(words: str, text: str, path: str, start: int, length: int) -> Check:
    """Return the check of a part; a line end belongs to the line that it ends."""
    first = text.count("\n", 0, start) + 1
    last = first + text.count("\n", start, start + max(0, length - 1))
    place = Location(path, first, last if last > first else None)
    evidence = _shorten_text(text[start : start + length], _LONGEST_EVIDENCE) or None
    return Check(NAME, passed=True, message=words, location=place, evidence=evidence)


def _quote(text: str) -> str:
    return repr(_shorten_text(text, _LONGEST_IN_SENTENCE))


def _shorten_text(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
