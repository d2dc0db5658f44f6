"""Judges of one file: it is there, and its text is as expected."""

from __future__ import annotations

import os
import re
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from posixpath import commonprefix
from typing import Any

from prjury.judges.workspace.files import FileTree, Kind, Workspace, check_path, judge_or_error
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import printable, visible

NAME = "file-content"

#: Characters of the expected text in a sentence, and of a line before its difference.
_LONGEST_IN_SENTENCE, _BEFORE = 80, 40
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


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
        """Look for the file, or into it."""
        return judge_or_error(lambda: self.look(Workspace.of(context)))

    def look(self, tree: FileTree) -> Judgment:
        """Judge these files; raises CannotJudgeError where there can be no judgment."""
        path = os.fspath(self.path)
        check = self._check_file(tree, path, tree.kind(path))
        make = Judgment.passed if check.passed else Judgment.failed
        score, metadata = BooleanScore(check.passed), {"path": printable(path)}
        return make(check.message, score=score, checks=[check], metadata=metadata)

    def _check_file(self, tree: FileTree, path: str, kind: Kind) -> Check:  # noqa: ARG002 - others read it
        words = "is there" if kind == "file" else f"is a {kind}, not a file"
        message = f"{visible(path)} {words}"
        if kind == "missing":
            message = f"there is no file {visible(path)}"
        return Check("file-exists", kind == "file", message, Location(path))


@dataclass(frozen=True)
class FileContentJudge(FileExistsJudge):
    r"""PASS where a file's text is, contains or matches what is expected, else FAIL.

    The text is UTF-8, with or without a byte order mark; ``\r\n`` counts as ``\n``, in the
    expectation too. ``regex`` is RE2's; ``^`` and ``$`` are those of lines. A file that is not
    there, or a directory in its place, is FAIL. ERROR where the text cannot be had: not a regular
    file, above 16 MiB, not UTF-8, outside of the workspace. ValueError unless exactly one
    expectation is named that can be met and missed.
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
            _compile(self.regex)  # what cannot be expected is refused at once

    def _check_file(self, tree: FileTree, path: str, kind: Kind) -> Check:
        if kind in {"missing", "directory"}:
            return super()._check_file(tree, path, kind)
        text = tree.text(path)
        if self.exact is not None:
            return _compare_lines(self.exact.replace("\r\n", "\n"), text, path)
        if self.contains:
            start, words = text.find(self.contains.replace("\r\n", "\n")), "contain"
        else:
            match = _compile(self.regex or "").search(text)
            start, words = (match.start() if match else -1), "match"
        quoted = _quote(self.contains or self.regex or "")
        if start < 0:
            return Check.bad(NAME, f"{visible(path)} does not {words} {quoted}", Location(path))
        words = "contains" if self.contains else "matches"
        place = Location(path, text.count("\n", 0, start) + 1)
        return Check.ok(NAME, f"{visible(path)} {words} {quoted}", place)


def _compare_lines(expected: str, text: str, path: str) -> Check:
    """Demand the whole text; the first line that differs is shown."""
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


def _quote(text: str) -> str:
    cut = text if len(text) <= _LONGEST_IN_SENTENCE else f"{text[: _LONGEST_IN_SENTENCE - 1]}…"
    return repr(cut)
