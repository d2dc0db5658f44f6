"""What a Makefile says of its targets, as far as its text tells. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from prjury.judges.builds.systems.source_tree import SourceTree, joined

NAMES = ("GNUmakefile", "makefile", "Makefile")
_MOST_INCLUDED = 100

_CONTINUED = re.compile(r"\\\r?\n")
_RULE = re.compile(r"(?P<names>[^\s:=#][^:=#]*?)[ \t]*(?P<colons>::?)(?![:=])(?P<rest>.*)")
#: After the colon of a rule a variable may be set for the target alone: that makes no target.
_OWN_VARIABLE = re.compile(r"\s*(?:(?:export|override|private)\s+)*[\w.-]+\s*(?:[?+!]|:{1,3})?=")
_ASSIGNED = re.compile(
    r"[ \t]*(?:(?:export|override|private)[ \t]+)*(?P<name>[\w.-]+)[ \t]*(?:[?+]|:{1,3})?="
    r"(?P<value>.*)"
)
_INCLUDE = re.compile(r"[ \t]*[-s]?include[ \t]+(?P<files>[^#]*)")
_VARIABLE = re.compile(r"\$[({]([\w.-]+)[)}]")
_SHELL = re.compile(r"\$[({]shell\b|\$[({](?:eval|call|foreach|file)\b")
#: Where a path begins with a variable.
_BEGINS = re.compile(r"\$[({]([\w.-]+)[)}]/")
#: What make sets itself, or what leads to where things are installed.
_KNOWN = frozenset(
    "CURDIR PWD MAKE MAKEFILE_LIST MAKECMDGOALS SHELL HOME TMPDIR DESTDIR PREFIX prefix "
    "bindir libdir includedir datadir mandir sysconfdir".split()
)
#: What a Makefile does for any target that it does not know: it hands them on to another one.
_HANDS_ON = re.compile(r"\$[({]MAKE[)}][^\n]*\$@")


@dataclass(frozen=True)
class MakeRule:
    """What one target is made from, as the Makefile's text has it; it may have several rules."""

    needs: tuple[str, ...] = ()
    double: bool = False


@dataclass(frozen=True)
class Makefile:
    """Rules and variables of a Makefile with all that it includes.

    Attributes:
        directory: where it is, from the root of the tree.
        unclear: whether it includes what cannot be told, or what lies outside of its directory.
    """

    file: str
    directory: str
    texts: tuple[str, ...]
    unclear: bool = False
    rules: Mapping[str, MakeRule] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def hands_on(self) -> bool:
        """Whether it has a way for every target, so that another program may know it."""
        pattern = "%" in self.rules and any(map(_HANDS_ON.search, self.texts))
        return ".DEFAULT" in self.rules or pattern

    def is_phony(self, target: str) -> bool:
        """Whether it says that a target is no file."""
        return target in self.rules.get(".PHONY", MakeRule()).needs

    def is_asleep(self, target: str, root: SourceTree) -> bool:
        """Whether make may do nothing for a target, because the tree has a file of that name.

        It does something if the target is declared, or is made from what is not there.
        """
        if self.is_phony(target) or not self._is_there(target, root):
            return False
        rule = self.rules.get(target, MakeRule())
        if rule.double and not rule.needs:
            return False
        plain = [name for name in rule.needs if not set(name) & set("$%|*?")]
        return not any(self.is_phony(one) or not self._is_there(one, root) for one in plain)

    def _is_there(self, name: str, root: SourceTree) -> bool:
        path = joined(self.directory, name)
        return path is not None and (path in root.files or path in root.directories)


def read_makefile(root: SourceTree, directory: str) -> Makefile | None:
    """The Makefile that make would take in a directory of the tree, with what it includes."""
    prefix = f"{directory}/" if directory else ""
    path = root.has(*(f"{prefix}{name}" for name in NAMES))
    if path is None:
        return None
    texts, unclear = _included(root, directory, path)
    variables = dict(assigned(texts))
    rules: dict[str, MakeRule] = {}
    for name, rule in _rules(texts, variables):
        before = rules.get(name, MakeRule())
        rules[name] = MakeRule(before.needs + rule.needs, before.double or rule.double)
    return Makefile(path.removeprefix(prefix), directory, tuple(texts), unclear, rules, variables)


def lines_of(text: str) -> Iterator[str]:
    """The lines as make sees them, without recipes."""
    for line in _CONTINUED.sub(" ", text).splitlines():
        if not line.startswith("\t"):
            yield line


def assigned(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Every variable that is set, with its text."""
    for text in texts:
        for line in lines_of(text):
            if match := _ASSIGNED.match(line):
                yield match["name"], match["value"].strip()


def wanders(texts: list[str]) -> bool:
    """Whether a path begins with a variable of which these files do not tell where it leads."""
    variables = dict(assigned(texts))
    used = {name for text in texts for name in _BEGINS.findall(text)}
    return any(not _is_told(name, variables, frozenset()) for name in used)


def _is_told(name: str, variables: Mapping[str, str], seen: frozenset[str]) -> bool:
    if name in _KNOWN or name in seen or name.isdigit():
        return True
    value = variables.get(name)
    if value is None or _SHELL.search(value) or len(seen) > _MOST_INCLUDED:
        return False
    return all(_is_told(one, variables, seen | {name}) for one in _VARIABLE.findall(value))


def _included(root: SourceTree, directory: str, path: str) -> tuple[list[str], bool]:
    """The texts of a Makefile and of all files that it includes, and whether any is not known."""
    found: dict[str, str] = {}
    waiting, unclear = [path], False
    while waiting and len(found) < _MOST_INCLUDED:
        one = waiting.pop(0)
        if one in found:
            continue
        found[one] = root.text(one)
        for word in included_words(found[one]):
            place = None if "$" in word else joined(directory, word)
            inside = place is not None and (not directory or place.startswith(f"{directory}/"))
            unclear = unclear or not inside
            waiting += _fitting(root, place) if place is not None else []
    return list(found.values()), unclear or bool(waiting)


def included_words(text: str) -> Iterator[str]:
    """What a Makefile includes, as it names it."""
    for line in lines_of(text):
        if match := _INCLUDE.match(line):
            yield from match["files"].split()


def _fitting(root: SourceTree, pattern: str) -> list[str]:
    if not set(pattern) & set("*?["):
        return [pattern] if pattern in root.files else []
    return sorted(path for path in root.files if fnmatchcase(path, pattern))


def _rules(texts: list[str], variables: Mapping[str, str]) -> Iterator[tuple[str, MakeRule]]:
    for text in texts:
        for line in lines_of(text):
            match = _RULE.match(line)
            if match is None or _OWN_VARIABLE.match(match["rest"]):
                continue
            needs = _expanded(re.split(r"[;#]", match["rest"], maxsplit=1)[0], variables).split()
            for name in _expanded(match["names"].rstrip("& "), variables).split():
                yield name, MakeRule(tuple(needs), match["colons"] == "::")


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    """The text with the variables filled in whose own text is plain."""
    return _VARIABLE.sub(lambda match: _plain(match, variables), text)


def _plain(match: re.Match[str], variables: Mapping[str, str]) -> str:
    value = variables.get(match[1], "$")
    return match[0] if "$" in value else value
