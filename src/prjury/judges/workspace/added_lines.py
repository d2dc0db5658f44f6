"""The added lines of a change, and which of them the tests run by what reports say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename, commonprefix, join, normpath
from typing import TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_report import CoverageReport

#: The added lines of files by their numbers.
AddedLines: TypeAlias = Mapping[str, Mapping[int, str]]
#: Of the files that a report names, which of their added lines were run, if they are code at all.
AddedCoverage: TypeAlias = Mapping[str, Mapping[int, bool]]

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
#: No code in a language of braces: nothing, only brackets, or only a comment.
_NO_CODE = re.compile(r"\s*(//.*|[^\w\"'`]*)")


def read_added_lines(diff: str) -> AddedLines:
    """Read the added lines of a unified diff, of git or of ``diff -u``.

    Hunks are read by their lengths, so no added line is taken for a header.

    Raises:
        CannotJudgeError: ``diff_invalid`` where a hunk ends too early.
    """
    added: dict[str, dict[int, str]] = {}
    lines = iter(diff.split("\n"))
    path = ""
    for line in lines:
        if line.startswith("+++ "):
            path = _read_path(line[4:].rstrip("\r"))
        elif match := _HUNK.match(line):
            old, new = (int(count) if count else 1 for count in (match[1], match[3]))
            added.setdefault(path, {}).update(_read_hunk(lines, int(match[2]), old, new))
    return {path: numbers for path, numbers in added.items() if numbers and path}


def _read_hunk(lines: Iterator[str], at: int, old: int, new: int) -> Iterator[tuple[int, str]]:
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
        else:
            old -= 1
        if not line.startswith("-"):
            at, new = at + 1, new - 1


def _read_path(text: str) -> str:
    """Read the path of a header; empty for a file that is removed."""
    name = text.partition("\t")[0]
    if name.startswith('"') and name.endswith('"'):
        raw = name[1:-1].encode("utf-8", "surrogateescape").decode("latin-1")
        plain = _ESCAPE.sub(lambda it: chr(int(it[1], 8)) if len(it[1]) > 1 else it[1], raw)
        name = plain.encode("latin-1").decode("utf-8", "surrogateescape")
    return "" if name == "/dev/null" else name.removeprefix("b/")


def match_coverage(
    reports: Iterable[CoverageReport], added: AddedLines, paths: Iterable[str], root: str = ""
) -> AddedCoverage:
    """Say which added lines were run; a line that any of the reports saw run was run.

    Args:
        paths: all files of the tree, to tell which one a report means.
        root: the directory of the tree.
    """
    tree = _TreePaths(paths)
    coverage: dict[str, dict[int, bool]] = {}
    for report in reports:
        place = str(report.place).removeprefix(f"{root}/")
        for name, lines in report.files.items():
            path = tree.find(name, report.roots, place)
            if path not in added:
                continue
            runs = coverage.setdefault(path, {})
            for number, text in added[path].items():
                if number in lines and not (report.by_block and _NO_CODE.fullmatch(text)):
                    runs[number] = lines[number] or runs.get(number, False)
    return coverage


class _TreePaths:
    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self.by_name: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            self.by_name.setdefault(basename(path), []).append(path)

    def find(self, name: str, roots: Sequence[str], place: str) -> str:
        """Return the path of the file that a report means; empty for none.

        Args:
            roots: the directories that the report's names start from.
            place: the report's own path, whose neighbour is meant where several fit.
        """
        plain = normpath(name.replace("\\", "/"))
        for root in roots:
            if path := self._find_end(normpath(join(root.replace("\\", "/"), plain))):
                return path
        if plain in self.paths:
            return plain
        longer = [
            path for path in self.by_name.get(basename(plain), ()) if path.endswith(f"/{plain}")
        ]
        if longer:
            return max(longer, key=lambda path: len(commonprefix([path, place])))
        return self._find_end(plain)

    def _find_end(self, path: str) -> str:
        """Return the longest end of a path that is a file: the tree lay elsewhere, then."""
        parts = [part for part in path.split("/") if part]
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        return next((end for end in ends if end in self.paths), "")
