"""What the scripts of a ``package.json`` run, as far as their text tells. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from prjury.judges.builds.systems.manifest import table

Runner: TypeAlias = Literal["node", "jest", "vitest", "mocha"]

_RUNNERS: Mapping[str, Runner] = {"jest": "jest", "vitest": "vitest", "mocha": "mocha"}
_PLACEHOLDER = re.compile(r"echo .*no test specified", re.IGNORECASE)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = frozenset("&|;<>()")
#: Programs that only run the one that follows.
_BEFORE = frozenset({"npx", "cross-env", "c8", "nyc"})

#: After these the commands that follow run elsewhere, or not at all.
_AWAY = frozenset({"cd", "pushd", "exit", "exec"})

#: Options of node that take the next word as their value.
_WITH_VALUE = frozenset({"--import", "--require", "-r", "--loader", "--experimental-loader", "-C"})

#: What a script of the root says that runs the same script in all packages, as words beside its
#: options; `{}` stands for the script's name.
_DELEGATES: Mapping[str, Sequence[str]] = {
    "npm": ("run {}", "run-script {}", "{}"),
    "pnpm": ("run {}", "{}", "recursive run {}", "recursive {}"),
    "yarn": ("workspaces run {}", "workspaces foreach run {}"),
    "bun": ("run {}", "{}"),
    "lerna": ("run {}",),
    "turbo": ("run {}", "{}"),
}
#: One of these has to be there, where the words alone do not say that all packages are meant.
_ALL = {
    "npm": frozenset({"--workspaces", "-ws", "--ws"}),
    "pnpm": frozenset({"-r", "--recursive"}),
    "bun": frozenset({"--filter=*", "--workspaces"}),
}
#: Options that change nothing in what is run.
_HARMLESS = frozenset(
    "--if-present --stream --parallel --no-bail --aggregate-output --no-sort --sort -A -a -p -t -v "
    "-i -pt -pv -ptv -Ap -At -Apt -Aptv -Apv --all --topological --topological-dev --verbose "
    "--interlaced".split()
)


def script_of(package: Mapping[str, Any], name: str) -> str:
    """The text of a script, empty where there is none, or only what ``npm init`` writes."""
    text = table(package, "scripts").get(name)
    return text if isinstance(text, str) and not _PLACEHOLDER.search(text) else ""


def has_script(package: Mapping[str, Any], name: str) -> bool:
    """Whether there is such a script at all, be it the one that ``npm init`` writes."""
    return name in table(package, "scripts")


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
        """The test runner that it starts, None for any other program."""
        program = self.words[0].rpartition("/")[2]
        if program != "node":
            return _RUNNERS.get(program)
        if any(word.endswith(("/bin/jest.js", ".bin/jest")) for word in self.words):
            return "jest"
        return "node" if "--test" in self.words else None

    def has(self, *options: str) -> bool:
        """Whether one of the options is given, with a value or without."""
        return any(word.partition("=")[0] in options for word in self.words)


def last_command(text: str) -> ScriptCommand | None:
    """The command whose arguments a script's own become; None where that is not certain."""
    words = _split(text)
    if any(word.startswith("#") or (word != "&&" and set(word) <= _OPERATORS) for word in words):
        return None
    segments = _segments(words)
    last = _prepared(segments[-1])
    return ScriptCommand(last, len(segments) == 1) if last else None


def _split(text: str) -> list[str]:
    """The words of a shell's line, none for one that the shell changes before it runs it."""
    if any(mark in text for mark in "`$\n\\"):
        return []
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quotation that does not end
        return []


def _segments(words: Sequence[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            found.append([])
        else:
            found[-1].append(word)
    return found


def _prepared(words: Sequence[str]) -> tuple[str, ...]:
    """The command without variables that are set for it and without programs that only run it."""
    left = list(words)
    while left and (_ASSIGNED.match(left[0]) or left[0] in _BEFORE):
        left.pop(0)
    return tuple(left)


def node_options(words: Sequence[str]) -> tuple[str, ...] | None:
    """What ``node --test`` is told besides files; None where files cannot be told from values."""
    options: list[str] = []
    waiting = iter(words[1:])
    for word in waiting:
        if not word.startswith("-"):
            continue
        options.append(word)
        if word in _WITH_VALUE:
            value = next(waiting, None)
            if value is None:
                return None
            options.append(value)
    return tuple(options) if "--test" in options else None


def delegate_of(package: Mapping[str, Any], name: str) -> str | None:
    """The program by which the root's script runs the same one in all packages, or None.

    A script with others before or after it does more than that.
    """
    if script_of(package, f"pre{name}") or script_of(package, f"post{name}"):
        return None
    command = last_command(script_of(package, name))
    return _delegate(command.words, name) if command and command.alone else None


def goes_through(package: Mapping[str, Any], name: str) -> bool:
    """Whether the root's script runs the same one in all packages, whatever else it does."""
    text = script_of(package, name)
    commands = list(filter(None, map(_prepared, _segments(_split(text)))))
    if last_command(text) is None or any(words[0] in _AWAY for words in commands):
        return False
    return any(_delegate(words, name) for words in commands)


def _delegate(words: Sequence[str], name: str) -> str | None:
    program, options, others = words[0], set[str](), list[str]()
    for word in words[1:]:
        if word.startswith("-"):
            options.add(word)
        else:
            others.append(word)
    wanted = [form.format(name) for form in _DELEGATES.get(program, ())]
    needed = _ALL.get(program, frozenset())
    recursive = "recursive" in others
    if " ".join(others) not in wanted or (needed and not recursive and not needed & options):
        return None
    return program if options <= needed | _HARMLESS else None
