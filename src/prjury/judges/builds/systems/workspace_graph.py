"""The members of a workspace, their dependencies, and which of them a change affects. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from prjury.judges.builds.plan import BuildScope
from prjury.judges.builds.systems.source_tree import Changes, nearest
from prjury.snapshot.model import visible

#: With more affected members than this, everything is built.
MOST_NAMED = 200


@dataclass(frozen=True)
class Member:
    """A part of a workspace that can be built and tested by itself.

    Attributes:
        name: its name in the build system.
        directory: its directory, from the workspace's root; ``""`` is the root.
        manifest: the path of its manifest.
        needs: the names of the members that it depends on.
    """

    name: str
    directory: str
    manifest: str
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WorkspaceGraph:
    """Members, and the paths that the root as a member owns.

    Attributes:
        own: directories and files of the root member; a change to anything else outside of the
            members may affect all of them.
        unreadable: why the members are not known for certain; empty if they are.
    """

    members: Sequence[Member]
    own: tuple[str, ...] = ()
    unreadable: str = ""

    def scope(self, changes: Changes | None) -> BuildScope:
        """The names of the affected members, or the reason for all of them."""
        if changes is None:
            return BuildScope()
        if because := self.unreadable or self._everything(changes):
            return BuildScope(because=because)
        return self.named(with_dependents(self.touched(changes), self.needs))

    def touched(self, changes: Changes) -> frozenset[str]:
        """The names of the members in which something changes."""
        owners = {self._owner(path) for path in changes.paths} | self._documented(changes)
        return frozenset(member.name for member in self.members if member.directory in owners)

    def named(self, names: frozenset[str]) -> BuildScope:
        """The scope of these members."""
        if len(names) > MOST_NAMED:
            return BuildScope(because=f"the change affects more than {MOST_NAMED} packages")
        listed = tuple(member.name for member in self.members if member.name in names)
        return BuildScope(listed, "packages that the change touches, and those that depend on them")

    @property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """The direct dependencies of each member."""
        return {member.name: member.needs for member in self.members}

    def _everything(self, changes: Changes) -> str:
        """Why the change may affect every member, or nothing.

        If a manifest changes, the base may have other members and dependencies than this tree.
        """
        manifests = {member.manifest for member in self.members}
        for path in sorted(changes.paths):
            if path in manifests:
                return f"{visible(path)} changes, and with it the dependencies between packages"
            if self._owner(path) is None:
                return f"{visible(path)} belongs to no single package"
        return ""

    def _owner(self, path: str) -> str | None:
        directory = nearest(path, frozenset(member.directory for member in self.members))
        if directory == "" and not self._is_own(path):
            return None
        return directory

    def _is_own(self, path: str) -> bool:
        return any(path == own or path.startswith(f"{own}/") for own in self.own)

    def _documented(self, changes: Changes) -> set[str | None]:
        """The members with changed documentation, which may be compiled or packaged."""
        directories = frozenset(member.directory for member in self.members) - {""}
        return {nearest(path, directories) for path in changes.docs}


def with_dependents(names: Iterable[str], needs: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The names, and all that depend on them, directly or through others."""
    users: dict[str, set[str]] = {}
    for user, needed in needs.items():
        for name in needed:
            users.setdefault(name, set()).add(user)
    return _closure(names, users)


def with_needs(names: Iterable[str], needs: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The names, and all that they depend on, directly or through others."""
    return _closure(names, needs)


def _closure(names: Iterable[str], edges: Mapping[str, Iterable[str]]) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(edges.get(name, ()))
    return frozenset(found)


def needed_first(names: Iterable[str], needs: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The names, each after those that it needs; otherwise, and in cycles, by name."""
    chosen, ordered = frozenset(names), dict[str, None]()
    for first in sorted(chosen):
        path = [(first, iter(sorted(needs.get(first, frozenset()) & chosen)))]
        open_ = {first}
        while path:
            name, waiting = path[-1]
            following = next((n for n in waiting if n not in ordered and n not in open_), None)
            if following is None:
                ordered.setdefault(name)
                path.pop()
            else:
                open_.add(following)
                path.append((following, iter(sorted(needs.get(following, frozenset()) & chosen))))
    return tuple(ordered)


_TOKEN = re.compile(r"\*\*/?|\*|\?|\[[!^]?[^\]/]+\]|[^*?\[{}\\()!|]+")
_MOST_ALTERNATIVES = 64


def matching(patterns: Sequence[str], directories: Iterable[str]) -> frozenset[str] | None:
    """The directories that the patterns name; a later pattern with ``!`` excludes.

    Returns:
        None if a pattern has a form that is not understood.
    """
    compiled = [(pattern.startswith("!"), _compiled(pattern.lstrip("!"))) for pattern in patterns]
    known = [(taken, expression) for taken, expression in compiled if expression]
    if len(known) < len(compiled):
        return None
    chosen = set[str]()
    for directory in directories:
        fitting = [taken for taken, expression in known if expression.fullmatch(directory)]
        if fitting and not fitting[-1]:
            chosen.add(directory)
    return frozenset(chosen)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:  # noqa: ANN401 - a pattern of re2, which has no types
    """The pattern for an engine that takes linear time on any input, or None."""
    import re2  # noqa: PLC0415 - only workspaces need it

    expressions = [_expression(plain) for plain in _expanded(pattern)]
    if not all(expressions):
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile("|".join(f"(?:{expression})" for expression in expressions), options)
    except re2.error:
        return None


def _expanded(pattern: str) -> list[str]:
    """The pattern with its ``{a,b}`` expanded, unless there are too many."""
    waiting, done = [pattern], list[str]()
    while waiting:
        if len(waiting) + len(done) > _MOST_ALTERNATIVES:
            return [pattern]
        text = waiting.pop(0)
        if match := re.search(r"\{([^{}]*,[^{}]*)\}", text):
            before, after = text[: match.start()], text[match.end() :]
            waiting += [f"{before}{choice}{after}" for choice in match[1].split(",")]
        else:
            done.append(text)
    return done


def _expression(pattern: str) -> str:
    """The pattern as a regular expression; empty if it is not understood."""
    cleaned = "/".join(part for part in pattern.split("/") if part not in {"", "."})
    position, found = 0, list[str]()
    while position < len(cleaned):
        match = _TOKEN.match(cleaned, position)
        if match is None:
            return ""
        found.append(_translated(match[0]))
        position = match.end()
    return "".join(found) or "(?:)"


def _translated(part: str) -> str:
    if part == "**/":
        return r"(?:[^/]+/)*"
    if part == "**":
        return r".*"
    if part == "*":
        return r"[^/]*"
    if part == "?":
        return r"[^/]"
    if part.startswith("["):
        inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[").replace("&", r"\&")
        return f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]"
    return re.escape(part)
