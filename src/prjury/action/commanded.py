"""Words of maintainers that are bound to one commit: an override, and a request for a repair.

Each is a status of the commit, so that a push leaves it behind; the comment to which it leads says
whose word it is. Both are asked for anew whenever somebody judges: a comment that was deleted or
edited, and an account that may not write any more, say nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prjury.action.commands import CommandName, CommentCommand, read_command
from prjury.errors import PrJuryError
from prjury.github.check_runs import PostedStatus, Statuses
from prjury.github.client import GitHub
from prjury.github.comments import Comments
from prjury.github.payload import CommentFacts
from prjury.report.model import Override

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
    statuses = Statuses(client, repo)
    latest = statuses.latest(head, context)
    if latest and latest.creator == statuses.account() and latest.target_url == url:
        return
    does = "overrides the verdict on" if context == OVERRIDE else "asks for a repair of"
    words = f"@{comment.author} {does} this commit"
    statuses.create(head, context, state="success", description=words, target_url=url)


def read_commit_words(client: GitHub, repo: str, number: int, head: str) -> CommitWords:
    """Read what maintainers have said of a commit; a problem alone if GitHub cannot be asked."""
    try:
        statuses = Statuses(client, repo)
        latest = statuses.newest(head)
        override = _find_command(client, repo, number, statuses, latest.get(OVERRIDE))
        fix = _find_command(client, repo, number, statuses, latest.get(FIX))
    except PrJuryError as error:
        problem = f"Whether a comment overrides the verdict is not known: {error}"
        return CommitWords(problem=problem)
    word = Override(override[0], override[1].words) if override else None
    return CommitWords(word, fix is not None)


def _find_command(
    client: GitHub, repo: str, number: int, statuses: Statuses, latest: PostedStatus | None
) -> tuple[str, CommentCommand] | None:
    match = _COMMENT.search(latest.target_url) if latest else None
    if latest is None or match is None or latest.state != "success":
        return None
    if latest.creator != statuses.account():
        return None
    comment = Comments(client, repo, number).one(int(match[1]))
    if comment is None or not is_from_writer(client, repo, comment):
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
