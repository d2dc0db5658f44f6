"""The added lines of a diff, and which of them the tests run by what reports say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from posixpath import basename, commonprefix, normpath
from typing import TYPE_CHECKING, TypeAlias

from prjury.judges.workspace.coverage_report import CoverageReport
from prjury.snapshot.diff import DiffError, PatchReader, read_hunk

if TYPE_CHECKING:
    from prjury.judges.builds.results.tree import TreeFiles

#: The added lines of files by their numbers.
AddedLines: TypeAlias = Mapping[str, Mapping[int, str]]
#: Of the files that a report names, which of their added lines were run, if they are code at all.
AddedCoverage: TypeAlias = Mapping[str, Mapping[int, bool]]

_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)")
#: No code in a language of braces: nothing, only brackets, or only a comment.
_NO_CODE = re.compile(r"\s*(//.*|[^\w\"'`]*)")


def read_added_lines(diff: str) -> dict[str, dict[int, str]]:
    """Read the added lines of a unified diff, of git or of ``diff -u``, by path and number.

    Raises:
        DiffError: for another text, or where a hunk ends too early.
    """
    if diff.strip() and not re.search(r"(?m)^(diff |--- |\+\+\+ |@@ )", diff):
        raise DiffError("it is no diff")
    reader = PatchReader(diff.encode("utf-8", "surrogateescape").split(b"\n"))
    added: dict[str, dict[int, str]] = {}
    path = ""
    while reader.more:
        if path and reader.peek().startswith(b"@@ "):
            lines = read_hunk(reader).lines
            numbers = {line.new: line.text for line in lines if line.sign == "+" and line.new}
            added.setdefault(path, {}).update(numbers)
        elif (line := reader.take()).startswith(b"+++ "):
            path = _read_path(line[4:])
    return {path: lines for path, lines in added.items() if lines}


def _read_path(header: bytes) -> str:
    """Read the path in a header; empty for a file that is removed."""
    path = header.rstrip(b"\r").partition(b"\t")[0]
    if path.startswith(b'"'):
        plain = path.strip(b'"')
        path = _ESCAPE.sub(lambda at: bytes([int(at[1], 8)]) if at[1][1:] else at[1], plain)
    return (
        "" if path == b"/dev/null" else path.removeprefix(b"b/").decode("utf-8", "surrogateescape")
    )


def match_coverage(
    reports: Iterable[CoverageReport], added: AddedLines, paths: Iterable[str], root: str = ""
) -> AddedCoverage:
    """Say which added lines were run; a line that any of the reports saw run was run.

    Args:
        paths: all files of the tree, to tell which one a report means.
        root: the directory of the tree.
    """
    from prjury.judges.builds.results.tree import TreeFiles  # noqa: PLC0415 - with all of builds

    tree = TreeFiles(frozenset(paths))
    coverage: dict[str, dict[int, bool]] = {}
    for report in reports:
        place = str(report.place).removeprefix(f"{root}/")
        for name, lines in report.files.items():
            path = _find_file(name, report.roots, place, tree)
            if path not in added:
                continue
            runs = coverage.setdefault(path, {})
            for number, text in added[path].items():
                if number in lines and not (report.by_block and _NO_CODE.fullmatch(text)):
                    runs[number] = lines[number] or runs.get(number, False)
    return coverage


def _find_file(name: str, roots: Sequence[str], place: str, tree: TreeFiles) -> str:
    """Return the file that a report at a place means; empty for none. Neighbours come first."""
    plain = normpath(name.replace("\\", "/"))
    for root in roots:
        if path := tree.of_package(normpath(root.replace("\\", "/")), plain):
            return path
    if plain in tree.paths:
        return plain
    longer = [path for path in tree.named(basename(plain)) if path.endswith(f"/{plain}")]
    nearest = max(longer, key=lambda path: len(commonprefix([path, place])), default="")
    return nearest or tree.of_package("", plain) or ""
