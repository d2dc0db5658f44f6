"""Reads which actions a GitHub workflow or action uses, line by line.

A YAML reader would drop the comments, in which the version of a pinned commit stands, and refuse
what GitHub takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.manifests.manifest import Coordinate, Manifest, Role
from prjury.manifests.syntax import text_of

_USES = re.compile(
    r"""(?:^\s*(?:-\s+)*|[{,]\s*)["']?uses["']?\s*:\s*(?:&\S+\s+)?["']?"""
    r"""([\w.-]+(?:/[\w.-]+)+)@([\w./+-]+)["']?(?=\s|,|\}|$)(?:[^#\n]*(?:\s\#(.*))?)$""",
    re.VERBOSE,
)
_USES_BELOW = re.compile(r"""^\s*(?:-\s+)*["']?uses["']?\s*:\s*(?:&\S+\s*)?(?:\s#.*)?$""")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|/)")
_BLOCK = re.compile(r"^(\s*(?:-\s+)*)[^#\s].*?:\s+(?:&\S+\s+)?[|>][-+0-9]*\s*(?:\s#.*)?$")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TOLD = re.compile(r"(?:^|[@=:\s])(v?\d{1,5}(?:\.\d{1,5}){0,2})(?=$|[\s,;)+-])")


def read_workflow(content: bytes) -> Manifest:
    """The actions and workflows that are used, each with the line that does.

    Where a commit is used, the version in the comment behind it counts.

    Raises:
        ManifestError: for a file that is no text.
    """
    found = []
    above = ""
    for number, line in _code_lines(text_of(content)):
        match = _used(above + line.lstrip()) if above else None
        above = f"{line.partition(' #')[0]} " if _USES_BELOW.match(line) else ""
        if match := match or _used(line):
            version = _version(match[2], match[3] or "")
            name = match[1].lower()
            found.append(Coordinate("", name, version, Role.DEPENDENCY, (number,), "action"))
    return Manifest(coordinates=tuple(found))


def _used(line: str) -> re.Match[str] | None:
    """The action in a line, which a string may spell with escapes."""
    return _USES.search(_ESCAPE.sub(_character, line))


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else "/"


def _version(ref: str, comment: str) -> str:
    told = _TOLD.search(comment) if _COMMIT.fullmatch(ref) else None
    return told[1] if told else ref


def _code_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are neither comments nor inside a block of text, such as a script."""
    block: int | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        indentation = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        if block is not None and indentation > block:
            continue
        block = None
        if line.lstrip().startswith("#"):
            continue
        if match := _BLOCK.match(line):
            block = len(match[1])
        yield number, line
