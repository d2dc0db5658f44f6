"""Which projects the scripts of a Gradle build name. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from prjury.judges.builds.systems.gradle_script import Token, at, blocks, tokens

_ALL_OF_THEM = frozenset("findProject childProjects getChildProjects".split())
_FOR_OTHERS = frozenset("subprojects allprojects getSubprojects getAllprojects".split())
_LOOPS = frozenset(
    "each eachWithIndex forEach for while collect collectMany map filter all".split()
)
#: Words for tasks that have to wait for others.
_ORDERING = frozenset("dependsOn evaluationDependsOn finalizedBy".split())
_PARTS = re.compile(r"[-_.]+")


@dataclass(frozen=True)
class Mentions:
    """What scripts say of projects.

    Attributes:
        named: the paths of the projects that they name; rather too many.
        needed: those of them that they name as a dependency of something.
        every: whether they may mean any project at all.
        configures: whether they set up projects other than their own.
        applies: whether they apply plugins, without which there is nothing to build.
    """

    named: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    every: bool = False
    configures: bool = False
    applies: bool = False

    def __or__(self, other: Mentions) -> Mentions:
        return Mentions(
            self.named | other.named,
            self.needed | other.needed,
            self.every or other.every,
            self.configures or other.configures,
            self.applies or other.applies,
        )


@dataclass(frozen=True)
class ProjectNames:
    """The projects of a build by all the names that scripts have for them.

    Attributes:
        known: their paths, such as ``:a:b``.
    """

    known: frozenset[str]

    @cached_property
    def accessors(self) -> Mapping[str, str]:
        """The paths by what follows ``projects.`` in scripts."""
        return {accessor(path): path for path in self.known}

    def mentions(self, text: str, own: str) -> Mentions:
        """What a script says.

        Args:
            own: the path of the project that it belongs to; empty for the root's.
        """
        script = tokens(text)
        words = {token.text for token in script if token.kind == "word"}
        places = range(len(script))
        needing = blocks(script, "dependencies") | _lines_with(script, _ORDERING)
        named = list(self._named(script, own))
        opened = any(_open(script, index) for index in places)
        looped = any(script[index].text in _LOOPS | _FOR_OTHERS for index in needing)
        collected = own != "" and any(_collects(script, index) for index in places)
        return Mentions(
            frozenset(path for _, path in named) - {own},
            frozenset(path for index, path in named if index in needing) - {own},
            opened or looped or collected,
            any(_configures(script, index) for index in places),
            bool(words & {"plugins", "apply"}),
        )

    def _named(self, script: Sequence[Token], own: str) -> Iterator[tuple[int, str]]:
        """The projects that a script names, with the places where it does."""
        for index, token in enumerate(script):
            found: Iterable[str] = ()
            if token.kind == "string" and token.fixed:
                if token.text.startswith(":"):
                    found = self._of_path(token.text)
                elif _is_handed_over(script, index):
                    found = (
                        *self._of_path(f"{own}:{token.text}"),
                        *self._of_path(f":{token.text}"),
                    )
            elif token.text == "projects" and at(script, index + 1).text == ".":
                found = self._of_accessor(script, index + 1)
            yield from ((index, path) for path in found)

    def _of_path(self, path: str) -> Iterator[str]:
        """The project that a path leads to, be it by one of its tasks."""
        tries = (path, path.rpartition(":")[0])
        return islice(filter(self.known.__contains__, tries), 1)

    def _of_accessor(self, script: Sequence[Token], index: int) -> Iterator[str]:
        name = ""
        while at(script, index).text == "." and at(script, index + 1).kind == "word":
            name = f"{name}.{at(script, index + 1).text}".removeprefix(".")
            if name in self.accessors:
                yield self.accessors[name]
            index += 2


def accessor(path: str) -> str:
    """``:my-lib:core_api`` is ``projects.myLib.coreApi`` in scripts."""
    return ".".join(map(_camel, path.removeprefix(":").split(":")))


def _camel(name: str) -> str:
    first, *rest = _PARTS.split(name)
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _is_handed_over(script: Sequence[Token], index: int) -> bool:
    """Whether a string is what ``project(…)`` gets."""
    before = [at(script, index - step).text for step in (1, 2, 3, 4)]
    if before[0] in {":", "="} and before[1] == "path":
        before = before[2:]
    return before[:2] == ["(", "project"]


def _open(script: Sequence[Token], index: int) -> bool:
    """Whether a project is meant there that only running the script would tell."""
    token, following = script[index], at(script, index + 1)
    if token.kind == "string":
        return not token.fixed and token.text.startswith(":")
    if token.text == "project" and token.kind == "word" and following.text == "(":
        return _computed(script, index + 2)
    return token.text in _ALL_OF_THEM and token.kind == "word"


def _collects(script: Sequence[Token], index: int) -> bool:
    """Whether other projects are gone through there, be it to depend on them."""
    token = script[index]
    return token.text in _FOR_OTHERS and token.kind == "word" and not _configures(script, index)


def _lines_with(script: Sequence[Token], words: frozenset[str]) -> frozenset[int]:
    """The places of all tokens on lines with one of these words."""
    found, line, chosen = set[int](), list[int](), False
    for index, token in enumerate(script):
        line.append(index)
        chosen = chosen or (token.kind == "word" and token.text in words)
        if token.kind == "line" or index == len(script) - 1:
            found.update(line if chosen else ())
            line, chosen = [], False
    return frozenset(found)


def _computed(script: Sequence[Token], index: int) -> bool:
    """Whether what is handed to ``project(…)`` has to be computed."""
    if at(script, index).text == "path":
        index += 2
    given = at(script, index)
    return given.text != ")" and (given.kind != "string" or not given.fixed)


def _configures(script: Sequence[Token], index: int) -> bool:
    """Whether other projects are set up there, without any of them being needed."""
    token, following, before = script[index], at(script, index + 1), at(script, index - 1)
    if token.kind != "word":
        return False
    if token.text in _FOR_OTHERS:
        whole = following.text == "{" and before.text != "."
        return whole or (before.text == "(" and at(script, index - 2).text == "configure")
    if token.text == "project":
        return [at(script, index + step).text for step in (1, 3, 4)] == ["(", ")", "{"]
    return token.text == "configure" and following.text == "("
