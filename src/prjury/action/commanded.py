"""Words of maintainers that are bound to one commit: an override, and a request for a repair.

Each is a status of the commit, so that a push leaves it behind; the comment to which it leads says
whose word it is. Both are asked for anew whenever somebody judges: a comment that was deleted or
edited, and an account that may not write any more, say nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prjury.action.commands import CommandName, CommentCommand, read_command
from prjury.errors import PrJuryError
from prjury.github.client import GitHub
from prjury.github.comments import find_comment
from prjury.github.payload import CommentFacts
from prjury.github.repo_client import RepoClient, login_of
from prjury.github.statuses import find_status, list_statuses, set_status
from prjury.report.model import Override

if TYPE_CHECKING:
    from prjury.github.statuses import PostedStatus

#: The statuses that commands leave on a commit, beside that of the gate.
OVERRIDE, FIX = "prjury/override", "prjury/fix"
_COMMANDS: dict[str, CommandName] = {OVERRIDE: "override", FIX: "fix"}
_COMMENT = re.compile(r"#issuecomment-(\d{1,18})$", re.ASCII)


@dataclass(frozen=True)
class CommitWords:
    """What maintainers have said of one commit.

    Attributes:
        fix: whether somebody asks for the repair.
        problem: why that is not known, one line for the log.
    """

    override: Override | None = None
    fix: bool = False
    problem: str = ""


def keep_command(
    client: GitHub, repo: str, head: str, context: str, comment: CommentFacts, url: str
) -> None:
    """Leave what a comment asks for on a commit; once more is the same as once.

    Raises:
        PublishError: if the status cannot be set.
    """
    room = RepoClient(client, repo)
    latest = find_status(room, head, context)
    if latest and login_of(latest.creator) == room.account() and latest.target_url == url:
        return
    does = "overrides the verdict on" if context == OVERRIDE else "asks for a repair of"
    words = f"@{comment.author} {does} this commit"
    set_status(room, head, context, state="success", description=words, target_url=url)


def read_commit_words(client: GitHub, repo: str, number: int, head: str) -> CommitWords:
    """Read what maintainers have said of a commit; a problem alone if GitHub cannot be asked."""
    try:
        room = RepoClient(client, repo)
        oldest_first = reversed(list(list_statuses(room, head)))
        latest = {status.context: status for status in oldest_first}
        override = _find_command(room, number, latest.get(OVERRIDE))
        fix = _find_command(room, number, latest.get(FIX))
    except PrJuryError as error:
        problem = f"Whether a comment overrides the verdict is not known: {error}"
        return CommitWords(problem=problem)
    word = Override(override[0], override[1].words) if override else None
    return CommitWords(word, fix is not None)


def _find_command(
    room: RepoClient, number: int, latest: PostedStatus | None
) -> tuple[str, CommentCommand] | None:
    """The author and the command that a status leads to; None if it does not hold any more."""
    match = _COMMENT.search(latest.target_url or "") if latest else None
    if latest is None or match is None or latest.state != "success":
        return None
    if login_of(latest.creator) != room.account():
        return None
    comment = find_comment(room, number, int(match[1]))
    if comment is None or not is_from_writer(room.client, room.repo, comment):
        return None
    command = read_command(comment.body)
    if command is None or command.name != _COMMANDS[latest.context]:
        return None
    return comment.author, command


def is_from_writer(client: GitHub, repo: str, comment: CommentFacts) -> bool:
    """Tell whether a person who may write has written a comment, as it stands.

    Raises:
        SourceError: if GitHub cannot be asked.
    """
    if comment.by_program or comment.edited or not comment.author:
        return False
    return client.may_write(repo, comment.author)
