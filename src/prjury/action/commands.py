"""Commands in comments: what the first line of one asks for. Nothing here acts.

A command takes a number, a branch or words for people; none takes an option, and no word of one
ever becomes part of a script, a workflow or an address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

CommandName: TypeAlias = Literal[
    "help", "review", "rerun", "explain", "dismiss", "override", "backport", "fix"
]

#: What there is to write, and what it does, for people.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("/prjury help", "shows this list"),
    ("/prjury review", "builds and judges this head again, all of it"),
    ("/prjury rerun", "runs what failed in the last run again"),
    ("/prjury explain N", "says more of the finding with the number N"),
    ("/prjury dismiss N REASON", "marks that finding as dismissed until its content changes"),
    ("/prjury override REASON", "opens the gate for this head, whatever the verdict says"),
    ("/prjury backport BRANCH", "opens a pull request onto a release branch, after the merge"),
    ("/prjury fix", "starts the review again that tries the repair of the policy"),
)

#: Characters of a reason.
LONGEST_REASON = 300
_WORD = "/prjury"
_BRANCH = re.compile(r"(?!-)[A-Za-z0-9._/+-]{1,200}", re.ASCII)
_NUMBER = re.compile(r"[1-9]\d{0,3}", re.ASCII)
_BARE = frozenset({"help", "review", "rerun", "fix"})


@dataclass(frozen=True, slots=True)
class CommentCommand:
    """What somebody asks for.

    Attributes:
        number: of the finding that it is about, 0 for none.
        words: the reason, or the branch; as somebody typed it.
    """

    name: CommandName
    number: int = 0
    words: str = ""


def is_command(body: str) -> bool:
    """Whether a comment speaks to us, whatever it says then."""
    return _first_line(body).partition(" ")[0] == _WORD


def read_command(body: str) -> CommentCommand | None:
    """The command in the first line; None where it is not exactly one."""
    _, _, rest = _first_line(body).partition(" ")
    name, _, words = rest.partition(" ")
    if name not in get_args(CommandName):
        return None
    known: CommandName = name  # type: ignore[assignment] # one of the words, as was just looked up
    if name in _BARE:
        return None if words else CommentCommand(known)
    if name == "backport":
        return CommentCommand(known, words=words) if _BRANCH.fullmatch(words) else None
    if name == "override":
        return CommentCommand(known, words=words) if _is_reason(words) else None
    number, _, reason = words.partition(" ")
    fits = _is_reason(reason) if name == "dismiss" else not reason
    fits = fits and _NUMBER.fullmatch(number) is not None
    return CommentCommand(known, int(number), reason) if fits else None


def _first_line(body: str) -> str:
    return body.partition("\n")[0].removesuffix("\r")


def _is_reason(words: str) -> bool:
    return bool(words.strip()) and len(words) <= LONGEST_REASON
