"""Release branches: which ones a change is judged for, their versions, and short names for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from msgspec import Struct

from prjury.policy.schema import BackportConfig
from prjury.ports.types import BranchTip
from prjury.snapshot.model import visible

#: Seconds without a commit, while other branches move, after which a line counts as unmaintained.
_UNMAINTAINED = 2 * 365 * 86_400
#: So many branches are taken where the policy names none.
MOST = 3
_GLOB = frozenset("*?[")
#: So many skipped branches are named.
_FEW = 5


class ChosenBranches(Struct, frozen=True):
    """The branches to judge for, problems of the policy's list, and why others are skipped."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def choose_target_branches(
    found: Sequence[BranchTip], default: str, config: BackportConfig, base: str | None = None
) -> ChosenBranches:
    """Return the branches to judge for: newest version first, or in the order of the policy."""
    others = [one for one in found if bare(one.name) not in {bare(default), bare(base or default)}]
    if isinstance(config.branches, str):
        # A change on a release branch goes to older ones; newer ones get it by merging.
        own = read_release_line(base) if base and bare(base) != bare(default) else None
        older = [
            one
            for one in others
            if own is None or ((line := read_release_line(one.name)) and line.version < own.version)
        ]
        default_or_all = [one for one in found if bare(one.name) == bare(default)] or found
        return _choose_maintained_branches(older, default_or_all, config)
    return _expand_entries(others, config.branches)


def is_locked(name: str, locked: Sequence[str]) -> str | None:
    """Return the policy entry that locks a branch, or None."""
    return next((entry for entry in locked if fnmatchcase(bare(name), entry)), None)


def _expand_entries(found: Sequence[BranchTip], entries: Sequence[str]) -> ChosenBranches:
    names: list[str] = []
    notes: list[str] = []
    for entry in entries:
        matching = [one for one in found if fnmatchcase(bare(one.name), entry)]
        if not set(entry) & _GLOB:
            names.append(entry)
        elif matching:
            names += [one.name for one in sorted(matching, key=_newest_first)]
        else:
            notes.append(f"backport.branches: {visible(entry)} matches no branch")
    return ChosenBranches(tuple(dict.fromkeys(names)), tuple(notes))


def _choose_maintained_branches(
    others: Sequence[BranchTip], default_or_all: Sequence[BranchTip], config: BackportConfig
) -> ChosenBranches:
    lines = [(tip, line) for tip in others if (line := read_release_line(tip.name))]
    families = Counter(line.family for _, line in lines)
    # A word that no other branch shares may be a topic's.
    lines = [(tip, line) for tip, line in lines if line.usual or families[line.family] > 1]
    # Branches of single releases count only if there are no others.
    tips = [tip for tip, line in lines if not line.is_release] or [tip for tip, _ in lines]
    oldest = max((tip.date for tip in default_or_all), default=0) - _UNMAINTAINED
    names: list[str] = []
    skipped: list[str] = []
    for tip in sorted(tips, key=_newest_first):
        if is_locked(tip.name, config.locked):
            skipped.append(f"{visible(tip.name)} not tried: locked by the policy")
        elif 0 < tip.date < oldest:
            year = datetime.fromtimestamp(tip.date, UTC).year
            how = "name it in `backport.branches` to include it"
            skipped.append(f"{visible(tip.name)} not tried: last commit {year}; {how}")
        else:
            names.append(tip.name)
    return ChosenBranches(tuple(names[:MOST]), skipped=() if names else tuple(skipped[:_FEW]))


def _newest_first(branch: BranchTip) -> tuple[bool, tuple[int, ...], int, str]:
    line = read_release_line(branch.name)
    version = line.version if line else ()
    return line is None, tuple(-number for number in version), -branch.date, branch.name


#: Words in names of release branches; branches with the same word are a family.
_FAMILIES = (
    r"releases?|release-branch|rel|releng|stable|maintenance|maint|branch|support|lts|series|"
    r"versions?|linux|r(?=\d)"
)
_NUMBERS = r"\d{1,4}(?:[._-]\d{1,4}){0,4}"
_NAME = re.compile(
    rf"(?:(?P<family>{_FAMILIES})[-_./]?)?(?P<v>v?)(?P<numbers>{_NUMBERS})(?P<x>[._-]?[xy*])?"
    r"(?:[-_](?P<after>stable|maintenance|lts|branch|release)(?:-[ec]e)?)?",
    re.IGNORECASE,
)
#: Another word before the numbers, such as the project's name.
_OTHER_FAMILY = re.compile(
    r"(?P<family>[a-z]{2,20})[-_/](?P<v>v?)(?P<numbers>\d{1,3}(?:\.\d{1,3}){0,3})(?P<x>[._]?[xy*])?",
    re.IGNORECASE,
)
#: Words of branches that are no release's.
_TOPICS = frozenset(
    "backport bug bugfix bump cherry chore dependabot deps doc docs feat feature fix gh hotfix"
    " issue merge patch pick pr prep prepare refactor renovate revert test tests topic update"
    " upgrade use wip".split()
)
_REMOTE = re.compile(r"(?:refs/heads/|refs/remotes/)?(?:origin/|upstream/)?")
_AND_LATER = re.compile(r"[vV]?(\d{1,4}(?:\.\d{1,4}){0,4})(?:\.[xy])?\+")
#: Numbers of a single release; fewer name a line.
_RELEASE = 3


class ReleaseLine(Struct, frozen=True):
    """The release line that a branch is named for: (1, 2) for ``1.2.x``, which is ``open``."""

    version: tuple[int, ...]
    family: str = ""
    open: bool = False
    plain: bool = False
    usual: bool = True

    @property
    def is_release(self) -> bool:
        """Return true if it is a single release such as ``1.2.3``."""
        return len(self.version) >= _RELEASE and not self.open


def read_release_line(name: str) -> ReleaseLine | None:
    """Return a branch's release line; a single number is none: it may be an issue's."""
    match = _NAME.fullmatch(bare(name))
    if match is None:
        return _read_prefixed_line(bare(name))
    family = (match["family"] or match["after"] or "").casefold()
    if family.startswith(("release", "version")):
        family = family[:7]
    version = tuple(map(int, re.split(r"[._-]", match["numbers"])))
    plain = not (family or match["v"] or match["x"])
    if plain and (len(version) == 1 or "." not in match["numbers"]):
        return None
    return ReleaseLine(version, family, bool(match["x"]), plain)


def _read_prefixed_line(name: str) -> ReleaseLine | None:
    """Return the line of a branch such as ``camel-4.8.x`` or ``PHP-8.2``."""
    match = _OTHER_FAMILY.fullmatch(name)
    if match is None or match["family"].casefold() in _TOPICS:
        return None
    if not (match["x"] or "." in match["numbers"]):
        return None
    version = tuple(map(int, match["numbers"].split(".")))
    return ReleaseLine(version, match["family"].casefold(), bool(match["x"]), usual=False)


def bare(name: str) -> str:
    """Return the branch's name without ``refs/heads/`` or a remote."""
    match = _REMOTE.match(name)
    return name[match.end() :] if match else name


def match_branches(target: str, branches: Sequence[str]) -> tuple[str, ...]:
    """Return the branches that a text means, often a short form; none if it means another one.

    First the exact name, then the line of that version, then the line that a full release belongs
    to: ``1.2`` means ``release/1.2`` and ``v1.2.x``; ``1.2.3`` means ``1.2.x`` if no branch has
    that name, else ``1.x``. A shorter version never means a longer one: ``3.1`` is not ``3.12``. A
    word beside the version must match. ``5.4+`` means every line from 5.4 on.
    """
    name = bare(target.strip())
    lines = [(branch, line) for branch in branches if (line := read_release_line(branch))]
    if later := _AND_LATER.fullmatch(name):
        least = tuple(map(int, later[1].split(".")))
        return tuple(branch for branch, line in lines if line.version >= least)
    for same in (str.__eq__, lambda one, other: one.casefold() == other.casefold()):
        if exact := tuple(branch for branch in branches if same(bare(branch), name)):
            return exact
    line = read_release_line(name)
    if line is None and re.fullmatch(r"[0-9]{1,4}", name):
        line = ReleaseLine((int(name),), plain=True)  # in a request, a number is a version
    if line is None:
        return ()
    versions = [line.version]
    if not line.open and len(line.version) == _RELEASE:
        versions.append(line.version[:-1])
    lines = [(branch, one) for branch, one in lines if line.family in {"", one.family}]
    for version in versions:
        if same_line := tuple(branch for branch, one in lines if one.version == version):
            return same_line
    # The whole line of a major version, such as 5.x.
    return tuple(branch for branch, one in lines if one.open and one.version == line.version[:1])
