"""Commands in comments: what the first line of one asks for. Nothing here acts.

A command takes a number, a branch or words for people; none takes an option, and no word of one
ever becomes part of a script, a workflow or an address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from prjury.report.sanitise import bare

CommandName: TypeAlias = Literal["help", "review", "fix", "override", "dismiss", "backport"]

#: What there is to write, and what it does, for people.
COMMANDS: Mapping[CommandName, tuple[str, str]] = {
    "help": ("/prjury help", "shows this list"),
    "review": ("/prjury review", "builds and judges this head again; the author may, too"),
    "fix": ("/prjury fix", "judges again and tries the repair of the policy"),
    "override": (
        "/prjury override REASON",
        "opens the gate for this head, whatever the verdict says",
    ),
    "dismiss": (
        "/prjury dismiss N REASON",
        "finding N of patterns or models no longer closes the gate, until its content changes",
    ),
    "backport": (
        "/prjury backport BRANCH",
        "opens a pull request onto a release branch, after the merge",
    ),
}
#: Words of earlier releases, and what to use.
_GONE = {
    "rerun": "`/prjury rerun` is gone; use `/prjury review`.",
    "explain": "`/prjury explain` is gone; the finding itself says it, with a link to its rule.",
}

#: Characters of a reason.
LONGEST_REASON = 300
_WORD = "/prjury"
_BRANCH = re.compile(r"(?!-)[A-Za-z0-9._/+-]{1,200}", re.ASCII)
_NUMBER = re.compile(r"[1-9]\d{0,3}", re.ASCII)


class CommentCommand(Struct, frozen=True):
    """A command that somebody has written."""

    name: CommandName
    number: int = 0
    #: The reason, or the branch; as somebody typed it.
    words: str = ""


def is_command(body: str) -> bool:
    """Tell whether a comment speaks to us, whatever it says then."""
    return _first_line(body).partition(" ")[0] == _WORD


def read_command(body: str) -> CommentCommand | None:
    """The command in the first line; None if it is not exactly one."""
    command = parse_command(body)
    return None if isinstance(command, str) else command


def parse_command(body: str) -> CommentCommand | str:
    """The command in the first line, or what is wrong with it; empty for a word that is none."""
    _, _, rest = _first_line(body).partition(" ")
    word, _, words = rest.partition(" ")
    if word in _GONE:
        return _GONE[word]
    name = next((name for name in COMMANDS if name == word), None)
    if name is None:
        return ""
    if name in {"help", "review", "fix"}:
        return f"`/prjury {name}` takes no words after it." if words else CommentCommand(name)
    if name == "backport":
        fits = _BRANCH.fullmatch(words)
        return CommentCommand(name, words=words) if fits else _lacks("branch", name)
    number = ""
    if name == "dismiss":
        number, _, words = words.partition(" ")
        if not _NUMBER.fullmatch(number):
            return _lacks("number of the finding", name)
    return _with_reason(name, int(number or 0), words)


def _with_reason(name: CommandName, number: int, reason: str) -> CommentCommand | str:
    if not bare(reason)[0].strip():
        return _lacks("reason", name)
    if len(reason) > LONGEST_REASON:
        return f"The reason has more than {LONGEST_REASON} characters."
    return CommentCommand(name, number, reason)


def _lacks(what: str, name: CommandName) -> str:
    return f"The {what} is missing: `{COMMANDS[name][0]}`."


def _first_line(body: str) -> str:
    return body.partition("\n")[0].removesuffix("\r")
