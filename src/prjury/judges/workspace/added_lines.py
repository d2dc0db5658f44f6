"""Which added lines of a change the tests run: the change, and what reports say of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import commonprefix, join, normpath
from typing import TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_formats.report import CoverageReport

#: The added lines of files by their numbers.
AddedLines: TypeAlias = Mapping[str, Mapping[int, str]]
#: Of the files that a report names, which of their added lines were run, if they are code at all.
AddedCoverage: TypeAlias = Mapping[str, Mapping[int, bool]]

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
#: What is no code in a language of braces: nothing, only brackets, or only a comment.
_NO_CODE = re.compile(r"\s*(//.*|[^\w\"'`]*)")


def added_by(diff: str) -> AddedLines:
    """The added lines of a unified diff, of git or of ``diff -u``.

    Hunks are read by their lengths, so no added line is taken for a header.

    Raises:
        CannotJudgeError: ``diff_invalid`` where a hunk ends too early.
    """
    added: dict[str, dict[int, str]] = {}
    lines = iter(diff.split("\n"))
    path = ""
    for line in lines:
        if line.startswith("+++ "):
            path = _path(line[4:].rstrip("\r"))
        elif found := _HUNK.match(line):
            old, new = (int(count) if count else 1 for count in (found[1], found[3]))
            added.setdefault(path, {}).update(_added(lines, int(found[2]), old, new))
    return {path: numbers for path, numbers in added.items() if numbers and path}


def _added(lines: Iterator[str], at: int, old: int, new: int) -> Iterator[tuple[int, str]]:
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            raise CannotJudgeError(
                "the diff ends in the middle of a hunk",
                remedy="Hand over the whole diff",
                reason="diff_invalid",
            )
        if line.startswith("\\"):
            continue
        if line.startswith("+"):
            yield at, line[1:]
        if not line.startswith("-"):
            at, new = at + 1, new - 1
        if not line.startswith("+"):
            old -= 1


def _path(text: str) -> str:
    """The path of a header; empty for a file that is removed."""
    name = text.partition("\t")[0]
    if name.startswith('"') and name.endswith('"'):
        escaped = name[1:-1].encode("utf-8", "surrogateescape").decode("latin-1")
        plain = _ESCAPE.sub(lambda one: chr(int(one[1], 8)) if len(one[1]) > 1 else one[1], escaped)
        name = plain.encode("latin-1").decode("utf-8", "surrogateescape")
    return "" if name == "/dev/null" else name.removeprefix("b/")


def added_coverage(
    reports: Iterable[CoverageReport], added: AddedLines, known: Iterable[str], root: str = ""
) -> AddedCoverage:
    """What the reports say of the added lines; a line that any of them saw run was run.

    Args:
        known: the paths of all files of the tree, to tell which one a report means.
        root: where the tree is.
    """
    tree, found = _Tree(known), dict[str, dict[int, bool]]()
    for report in reports:
        place = str(report.place).removeprefix(f"{root}/")
        for name, lines in report.files.items():
            path = tree.find(name, report.roots, place)
            if path not in added:
                continue
            known_lines = found.setdefault(path, {})
            for number, text in added[path].items():
                code = number in lines and not (report.by_block and _NO_CODE.fullmatch(text))
                if code:
                    known_lines[number] = lines[number] or known_lines.get(number, False)
    return found


class _Tree:
    """The files of a tree, as reports name them."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._named: dict[str, list[str]] = {}
        for path in self._known:
            self._named.setdefault(PurePosixPath(path).name, []).append(path)

    def find(self, name: str, roots: Sequence[str], place: str) -> str:
        """The path of the file that a report means; empty for none.

        Args:
            roots: the directories that the report's names start from.
            place: the report's own path, whose neighbour is meant where several fit.
        """
        plain = normpath(name.replace("\\", "/"))
        if plain in self._known and not roots:
            return plain
        for root in roots:
            if below := self._end_of(normpath(join(root.replace("\\", "/"), plain))):
                return below
        if plain in self._known:
            return plain
        longer = [
            path
            for path in self._named.get(PurePosixPath(plain).name, ())
            if path.endswith(f"/{plain}")
        ]
        if longer:
            return max(sorted(longer), key=lambda path: len(commonprefix([path, place])))
        return self._end_of(plain)

    def _end_of(self, path: str) -> str:
        """The longest end of a path that is a file of the tree: the tree lay elsewhere, then."""
        parts = [part for part in path.split("/") if part]
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        return next((end for end in ends if end in self._known), "")


def unmeasured(added: AddedLines, coverage: AddedCoverage, sources: Iterable[str]) -> list[str]:
    """The changed source files of which no report knows anything."""
    return sorted(path for path in sources if path in added and path not in coverage)
