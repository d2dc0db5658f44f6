"""The scripts of a ``package.json``: what they run in the end. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from prjury.manifests.node import PackageJson

Runner: TypeAlias = Literal["node", "jest", "vitest", "mocha"]

_RUNNERS = frozenset(get_args(Runner)) - {"node"}
#: Programs that run the program after them; those that measure coverage have options of their own.
_COVERING = frozenset({"c8", "nyc"})
_BEFORE = frozenset({"npx", "cross-env"}) | _COVERING
#: Words before a runner with which package managers start it.
_STARTING = frozenset({"yarn", "pnpm", "bunx", "exec"})
_OPERATORS = frozenset("&|;<>()")


def script_of(package: PackageJson, name: str) -> str:
    """The text of a script; empty if there is none, or one that tests nothing.

    Such is that of ``npm init``, and one that only says where the tests are.
    """
    text = package.scripts.get(name, "")
    words = text.replace(";", " ; ").replace("&&", " && ").split()
    ends_so = words[-2:-1] == ["exit"] and words[-1] != "0"
    commands = 1 + words.count("&&") + words.count(";")
    only_says = words[:1] == ["echo"] and ends_so and commands == len(("echo", "exit"))
    return "" if only_says or "no test specified" in text.lower() else text


@dataclass(frozen=True)
class ScriptCommand:
    """The last command of a script.

    Attributes:
        words: program and arguments, without what only prepares for it.
        alone: whether it is the only one.
    """

    words: tuple[str, ...]
    alone: bool

    @property
    def runner(self) -> Runner | None:
        """The test runner that it starts; None for another program."""
        program = self.words[0].rpartition("/")[2]
        if program in _RUNNERS:
            return cast("Runner", program)
        if program != "node":
            return None
        if any(word.endswith(("/bin/jest.js", ".bin/jest")) for word in self.words):
            return "jest"
        return "node" if "--test" in self.words else None

    def has(self, *options: str) -> bool:
        """Whether one of the options is given, with a value or without."""
        return any(word.partition("=")[0] in options for word in self.words)


def last_command(text: str) -> ScriptCommand | None:
    """The command that gets a script's arguments; None if that is uncertain."""
    words = _split(text)
    if any(word.startswith("#") or (word != "&&" and set(word) <= _OPERATORS) for word in words):
        return None
    ands = [at for at, word in enumerate(words) if word == "&&"]
    last = _strip_preparation(words[ands[-1] + 1 :] if ands else words)
    return ScriptCommand(last, not ands) if last else None


def _split(text: str) -> list[str]:
    """The words of a shell's line; none if the shell would expand it."""
    if any(mark in text for mark in "`$\n\\"):
        return []
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quotation that does not end
        return []


def _strip_preparation(words: Sequence[str]) -> tuple[str, ...]:
    """The command without assignments and programs before it that only run it."""
    left = list(words)
    while left and (left[0] in _BEFORE or _is_assignment(left[0])):
        left.pop(0)
    start = next((at for at, word in enumerate(left) if word in _RUNNERS), 0)
    covered = not _COVERING.isdisjoint(words) and all(word[0] == "-" for word in left[:start])
    return tuple(left[start:] if covered or _STARTING.issuperset(left[:start]) else left)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
