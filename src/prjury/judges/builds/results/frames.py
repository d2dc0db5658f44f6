"""Where in the tree a test failed, by the stack that its report shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from prjury.judges.builds.results.script_frames import first_frame
from prjury.judges.builds.results.tree import TreeFiles

Place: TypeAlias = tuple[str | None, str | None]

_JAVA = re.compile(r"\s*at (?:\S+/)?(?P<type>[\w.$]+)\.[^.(]+\((?P<file>\w+\.\w+):(?P<line>\d+)\)")
_PYTEST = re.compile(r"(?P<path>[^\s:][^:]{0,300}\.py):(?P<line>\d+): ")
_PYTHON = re.compile(r'(?:E\s+|\s+)File "(?P<path>[^"]{1,300})", line (?P<line>\d+)')


def place_in(lines: Sequence[str], owner: str, tree: TreeFiles, report: str) -> Place:
    """The innermost frame that is in the tree.

    Args:
        owner: the test's class; a frame of its own is preferred to one in the code under test.
        report: where the report lies, to choose between modules with the same class.
    """
    for find in (_in_java, _in_python, _in_script):
        path, line = find(lines, owner, tree, report)
        if path:
            return path, line
    return None, None


def _in_java(lines: Sequence[str], owner: str, tree: TreeFiles, report: str) -> Place:
    fallback: Place = (None, None)
    for frame in filter(None, map(_JAVA.match, lines)):
        path = tree.of_type(frame["type"], frame["file"], report)
        if path and owner and frame["type"].startswith(owner.partition("$")[0]):
            return path, frame["line"]
        if path and fallback[0] is None:
            fallback = (path, frame["line"])
    return fallback


def _in_python(lines: Sequence[str], owner: str, tree: TreeFiles, report: str) -> Place:  # noqa: ARG001 - as the others
    for line in reversed(lines):
        match = _PYTEST.match(line) or _PYTHON.match(line)
        if match and (path := tree.find(match["path"])):
            return path, match["line"]
    return None, None


def _in_script(lines: Sequence[str], owner: str, tree: TreeFiles, report: str) -> Place:  # noqa: ARG001 - as the others
    told, line = first_frame(lines)
    path = tree.find(told) if told else None
    return (path, line) if path else (None, None)
