"""Release lines: what versions branches are named for, and which branch a short name means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

Version = tuple[int, ...]

#: Words by which branches of releases are called; the branches of one word are a family.
_FAMILIES = (
    r"releases?|release-branch|rel|releng|stable|maintenance|maint|branch|support|lts|series|"
    r"versions?|linux|r(?=\d)"
)
_NUMBERS = r"\d{1,4}(?:[._-]\d{1,4}){0,4}"
_NAME = re.compile(
    rf"(?:(?P<family>{_FAMILIES})[-_./]?)?(?P<v>v?)(?P<numbers>{_NUMBERS})(?P<x>[._-][xy*])?"
    r"(?:[-_](?P<after>stable|maintenance|lts|branch|release)(?:-[ec]e)?)?",
    re.IGNORECASE,
)
_REMOTE = re.compile(r"(?:refs/heads/|refs/remotes/)?(?:origin/|upstream/)?")
_AND_LATER = re.compile(r"[vV]?(\d{1,4}(?:\.\d{1,4}){0,4})(?:\.[xy])?\+")
#: Numbers of a release; one with fewer names a line.
_RELEASE = 3


@dataclass(frozen=True, slots=True)
class RequestLine:
    """What a branch's name says of the releases that are made from it.

    Attributes:
        version: the numbers, without the wildcard: (1, 2) for ``1.2.x``.
        family: the word beside the numbers, in lower case; empty where there is none.
        open: whether the name leaves numbers open, as ``1.2.x`` does.
        plain: whether the numbers stand alone, with neither a word nor a ``v`` nor a wildcard.
    """

    version: Version
    family: str = ""
    open: bool = False
    plain: bool = False

    @property
    def is_release(self) -> bool:
        """Whether it is one release rather than a line of them, as ``1.2.3`` is."""
        return len(self.version) >= _RELEASE and not self.open


def line_of(name: str) -> RequestLine | None:
    """The release line that a branch is named for; None for a branch of another kind.

    A single number alone is none: it is as well an issue's number.
    """
    match = _NAME.fullmatch(bare(name))
    if match is None:
        return None
    family = (match["family"] or match["after"] or "").casefold()
    if family.startswith(("release", "version")):
        family = family[:7]
    version = tuple(map(int, re.split(r"[._-]", match["numbers"])))
    plain = not (family or match["v"] or match["x"])
    if plain and (len(version) == 1 or "." not in match["numbers"]):
        return None
    return RequestLine(version, family, bool(match["x"]), plain)


def bare(name: str) -> str:
    """The branch's name without what only says where it lies."""
    match = _REMOTE.match(name)
    return name[match.end() :] if match else name


def meant(target: str, branches: Sequence[str]) -> tuple[str, ...]:
    """Those of the branches that a text means, often a short form; none if it means another one.

    The name itself comes first, then the line of that version, then the line that a full release
    belongs to: ``1.2`` means ``release/1.2`` and ``v1.2.x``, ``1.2.3`` means ``1.2.x`` where no
    branch is named for ``1.2.3``. A shorter version never means a longer one: ``1.2`` is not
    ``1.2.3``, and ``3.1`` is not ``3.12``. A word beside the version has to be the branch's own.
    ``5.4+`` means every line from 5.4 on.
    """
    wanted = bare(target.strip())
    if later := _AND_LATER.fullmatch(wanted):
        least = tuple(map(int, later[1].split(".")))
        return tuple(name for name in branches if _version(name) >= least)
    for same in (str.__eq__, lambda one, other: one.casefold() == other.casefold()):
        if found := tuple(name for name in branches if same(bare(name), wanted)):
            return found
    line = line_of(wanted) or _of_number(wanted)
    if line is None:
        return ()
    ways = [line] if line.open or len(line.version) != _RELEASE else [line, _its_line(line)]
    for way in ways:
        if found := tuple(name for name in branches if _is(way, line_of(name))):
            return found
    return ()


def _version(name: str) -> Version:
    line = line_of(name)
    return line.version if line else ()


def _of_number(wanted: str) -> RequestLine | None:
    """A number alone, which as somebody's wish is a version."""
    return RequestLine((int(wanted),), plain=True) if re.fullmatch(r"[0-9]{1,4}", wanted) else None


def _its_line(release: RequestLine) -> RequestLine:
    return RequestLine(release.version[:-1], release.family, open=True)


def _is(wanted: RequestLine, line: RequestLine | None) -> bool:
    if line is None or line.version != wanted.version:
        return False
    return wanted.family in {"", line.family}
