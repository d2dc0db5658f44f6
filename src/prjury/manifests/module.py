"""A module of the project: what it and its parents declare, and what that says about a rule.

Only the leading numbers of versions count: ``4.0.0-RC1`` is 4.0.0, because a release candidate has
the API of its release; of ``>=4.0-RC1`` milestones are not sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal

from msgspec import Struct

from prjury.manifests.manifest import ECOSYSTEMS, FAMILIES, Role
from prjury.manifests.spans import VersionSpan, numbers, read_span

_BOUNDS = r"((?:\s+(?:>=|<)\s*\d+(?:\.\d+)*(?:-RC1)?)*)"
_REQUIREMENT = re.compile(rf"({'|'.join(ECOSYSTEMS)}):([^\s:]+)(?::([^\s:]+))?{_BOUNDS}")
_SPAN = re.compile(_BOUNDS)
_BOUND = re.compile(r"(>=|<)\s*(\d+(?:\.\d+)*)")
_ALWAYS = "always"
_EARLY = re.compile(r"\d[-.](?:M\d|alpha|beta|SNAPSHOT)", re.IGNORECASE)


class Truth(Enum):
    """A requirement holds for every version that is allowed, for some, for none; or who knows."""

    YES = "yes"
    SOME = "some"
    NO = "no"
    UNKNOWN = "unknown"
    ABSENT = "absent"


class Requirement(Struct, frozen=True):
    """A dependency or platform to be declared, in a span or any; names may hold ``*``."""

    ecosystem: str
    group: str
    artifact: str
    span: VersionSpan | None
    text: str

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read ``ECOSYSTEM:NAME [>=version] [<version]``, or ``always``; else ValueError."""
        if text.strip() == _ALWAYS:
            return cls("", "", "", None, _ALWAYS)
        match = _REQUIREMENT.fullmatch(text.strip())
        if not match or (match[3] and match[1] != "maven"):
            raise ValueError(
                f"{text!r} is not a requirement such as `maven:org.springframework.boot >=4.0`, "
                "`pypi:numpy >=2`, `runtime:python >=3.12` or `always`"
            )
        span = span_of(match[4])
        if match[1] == "maven":
            return cls(match[1], match[2], match[3] or "*", span, text.strip())
        return cls(match[1], "", match[2], span, text.strip())

    def names(self, ecosystem: str, group: str, artifact: str) -> bool:
        return (
            ecosystem == self.ecosystem
            and _fits(artifact, self.artifact)
            and _fits(group, self.group)
        )

    def check_version(self, version: str | None) -> Truth:
        """Return true if a declared version is inside the span; None is an unknown version."""
        if self.span is None:
            return Truth.YES
        declared = read_span(version, self.ecosystem, self.artifact) if version else None
        if declared is None or declared == VersionSpan():
            return Truth.UNKNOWN
        if declared.within(self.span):
            is_first = "-RC1" in self.text and declared.low == self.span.low
            return Truth.SOME if is_first and _EARLY.search(version or "") else Truth.YES
        return Truth.NO if declared.excludes(self.span) else Truth.SOME


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or ("*" in pattern and fnmatchcase(name, pattern))


def parse_span(text: str) -> VersionSpan:
    """Read ``>=1.2 <3``, of which one bound may lack; ValueError for anything else."""
    span = span_of(text) if _SPAN.fullmatch(f" {text.strip()}") else None
    if span is None:
        raise ValueError(f"{text!r} are no versions such as `<3` or `>=1 <4`")
    return span


def span_of(bounds: str | None) -> VersionSpan | None:
    bounds_by_sign = {sign: numbers(version) for sign, version in _BOUND.findall(bounds or "")}
    if not bounds_by_sign:
        return None
    return VersionSpan(bounds_by_sign.get(">=") or (0,), bounds_by_sign.get("<"))


_ROLES = tuple(Role)


@dataclass(frozen=True, slots=True)
class DeclaredVersion:
    """A coordinate with its properties resolved; level 0 is the module's own file, 1 its parent."""

    group: str
    artifact: str
    version: str | None
    written: str | None
    role: Role
    path: str
    level: int
    ecosystem: str = "maven"
    optional: bool = False
    line: int | None = field(default=None, compare=False)
    scope: str = field(default="", compare=False)
    for_all: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}" if self.group else self.artifact

    @property
    def place(self) -> tuple[str, Role, str, str, str]:
        """Where it stands: another version declared there moves this one."""
        return self.path, self.role, self.ecosystem, self.group, self.artifact

    @property
    def _precedence(self) -> tuple[bool, int, int, bool]:
        """Plugins say least about a library; else the nearest build file wins, as in Maven."""
        return self.role is Role.PLUGIN, self.level, _ROLES.index(self.role), self.optional

    def meets(self, requirement: Requirement) -> Truth:
        """Compare it; an optional one is not sure, but for pytest, which is always optional."""
        truth = requirement.check_version(self.version)
        unsure = self.optional and self.artifact != "pytest"
        return Truth.SOME if unsure and truth is Truth.YES else truth

    def __lt__(self, other: DeclaredVersion) -> bool:
        return self._precedence < other._precedence


@dataclass(frozen=True)
class ManifestModule:
    """The nearest build file of some files, with everything that it inherits.

    Attributes:
        declared: all coordinates of the module and its parents, those that count first, first.
        names, requested, selves: as the base has them, so that no change excuses itself.
        at: ``"head"`` where the pull request changes one of the build files.
        broken: one of the build files could not be read, so that nothing is sure.
    """

    path: str = ""
    names: tuple[str, ...] = ()
    declared: tuple[DeclaredVersion, ...] = ()
    requested: tuple[DeclaredVersion, ...] = ()
    selves: tuple[DeclaredVersion, ...] = ()
    at: Literal["base", "head"] = "base"
    broken: bool = False
    family: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)
    _truths: dict[str, Truth] = field(default_factory=dict, compare=False, repr=False)

    def evidence(self, requirement: Requirement) -> list[DeclaredVersion]:
        """The declarations that decide about a requirement: the same file, the same role."""
        group = None if "*" in requirement.group else requirement.group
        near = self._by_group.get((requirement.ecosystem, group), ())
        matching = sorted(d for d in near if requirement.names(d.ecosystem, d.group, d.artifact))
        decisive = [d for d in matching if d.version] or matching
        return [d for d in decisive if not decisive[0] < d]

    @cached_property
    def _by_group(self) -> Mapping[tuple[str, str | None], Sequence[DeclaredVersion]]:
        groups: dict[tuple[str, str | None], list[DeclaredVersion]] = {}
        for declared in self.declared:
            for group in (declared.group, None):
                groups.setdefault((declared.ecosystem, group), []).append(declared)
        return groups

    def truth(self, requirement: Requirement) -> Truth:
        """Return true if the requirement holds here; hundreds of rules ask for the same few."""
        if requirement.text not in self._truths:
            self._truths[requirement.text] = self._check_requirement(requirement)
        return self._truths[requirement.text]

    def _check_requirement(self, requirement: Requirement) -> Truth:
        if not requirement.ecosystem:
            return Truth.YES
        truths = {declared.meets(requirement) for declared in self.evidence(requirement)}
        if truths:
            return truths.pop() if len(truths) == 1 else Truth.UNKNOWN
        key = requirement.ecosystem
        if key == "runtime":
            key = f"runtime:{requirement.artifact}"
        is_possible = not self.family or FAMILIES.get(key, self.family) == self.family
        return Truth.UNKNOWN if self.broken and is_possible else Truth.ABSENT

    def is_itself(self, requirements: Iterable[Requirement]) -> bool:
        return next(self.itself(requirements), None) is not None

    def itself(self, requirements: Iterable[Requirement]) -> Iterator[DeclaredVersion]:
        """Yield those names of the project itself of which the requirements speak."""
        wishes = list(requirements)
        for own in self.selves:
            if any(r.names(own.ecosystem, own.group, own.artifact) for r in wishes):
                yield own

    def any_of(self, requirements: Iterable[Requirement]) -> Truth:
        """Return true if one of them holds: a sure answer counts more than an unsure one."""
        truths = {self.truth(requirement) for requirement in requirements}
        order = (Truth.YES, Truth.SOME, Truth.NO, Truth.UNKNOWN)
        return next((truth for truth in order if truth in truths), Truth.ABSENT)


class Sides(Struct, frozen=True):
    """The module of a file in the head and in the base; for a ``fresh`` one the module above it."""

    head: ManifestModule
    base: ManifestModule
    fresh: bool = False
    for_tests: bool = True

    @property
    def key(self) -> tuple[str, str, bool, bool]:
        """The build files; no other sides of one pull request have the same."""
        return self.head.path, self.base.path, self.fresh, self.for_tests

    @property
    def is_one_module(self) -> bool:
        return self.head.path == self.base.path

    def moves(self, requirements: Iterable[Requirement]) -> bool:
        """Return true if the head declares other versions of all that decides at the base."""
        wishes = list(requirements)
        sure = [r for r in wishes if self.base.truth(r) is Truth.YES]
        unsure = {Truth.SOME, Truth.UNKNOWN}
        deciding = sure or [r for r in wishes if self.base.truth(r) in unsure]
        return self.is_one_module and bool(deciding) and all(map(self._is_denied_by_head, deciding))

    def _is_denied_by_head(self, requirement: Requirement) -> bool:
        """Return true if what decided at the base, or another entry of its file, says otherwise."""
        if self.head.truth(requirement) is not Truth.NO:
            return False
        decided = self.base.evidence(requirement)
        places = {declared.place for declared in decided}
        present = [declared for declared in self.head.declared if declared.place in places]
        if present:
            return all(declared.meets(requirement) is Truth.NO for declared in present)
        files = {declared.path for declared in decided}
        return all(declared.path in files for declared in self.head.evidence(requirement))
