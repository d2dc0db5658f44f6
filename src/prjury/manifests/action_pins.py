"""Reads what workflows, actions and pre-commit pin in repositories of others, line by line.

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
_REPO = re.compile(r"""\s*(?:-\s+)?repo:\s+["']?([^\s"'#]+)""")
_REV = re.compile(r"""\s*(?:-\s+)?rev:\s+["']?([^\s"'#]+)["']?(?:\s+\#(.*))?""")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|/)")
_BLOCK = re.compile(r"^(\s*(?:-\s+)*)[^#\s].*?:\s+(?:&\S+\s+)?[|>][-+0-9]*\s*(?:\s#.*)?$")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TOLD = re.compile(r"(?:^|[@=:\s])(v?\d{1,5}(?:\.\d{1,5}){0,2})(?=$|[\s,;)+-])")


def read_workflow_pins(content: bytes) -> Manifest:
    """Read the actions and workflows that are used, each with the line that does."""
    pins = []
    above = ""
    for number, line in _number_lines_outside_blocks(text_of(content)):
        match = _match_use(above + line.lstrip()) if above else None
        above = f"{line.partition(' #')[0]} " if _USES_BELOW.match(line) else ""
        if match := match or _match_use(line):
            pins.append(_make_pin(match[1].lower(), match[2], match[3] or "", number))
    return Manifest(coordinates=tuple(pins))


def read_pre_commit_pins(content: bytes) -> Manifest:
    pins = []
    repo = ""
    for number, line in _number_lines_outside_blocks(text_of(content)):
        if match := _REPO.match(line):
            repo = match[1]
        elif repo and (match := _REV.match(line)):
            pins.append(_make_pin(repo, match[1], match[2] or "", number))
    return Manifest(coordinates=tuple(pins))


def _make_pin(name: str, ref: str, comment: str, number: int) -> Coordinate:
    is_commit = _COMMIT.fullmatch(ref) is not None
    version = _TOLD.search(comment) if is_commit else None
    shown = version[1] if version else ref
    pin = ref if is_commit else None
    return Coordinate("", name, shown, Role.DEPENDENCY, (number,), "action", pin=pin)


def _match_use(line: str) -> re.Match[str] | None:
    plain = _ESCAPE.sub(lambda code: chr(int(code[1] or code[2] or "2f", 16)), line)
    return _USES.search(plain)


def _number_lines_outside_blocks(text: str) -> Iterator[tuple[int, str]]:
    block: int | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        indentation = len(line) - len(line.lstrip())
        if not line.strip() or (block is not None and indentation > block):
            continue
        block = None
        if line.lstrip().startswith("#"):
            continue
        if match := _BLOCK.match(line):
            block = len(match[1])
        yield number, line
