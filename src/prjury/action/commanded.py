"""Overrides by a comment: kept as a status of the commit that they are for, and looked up there.

A status belongs to one commit, so that a push leaves the override behind; the comment to which it
leads says whose word it is. Both are asked for anew whenever somebody judges: a comment that was
deleted or edited, and an account that may not write any more, overrule nothing.
"""

from __future__ import annotations

import re

from prjury.action.commands import read_command
from prjury.errors import PrJuryError
from prjury.github.check_runs import Statuses
from prjury.github.client import GitHub
from prjury.github.comments import Comments
from prjury.github.payload import CommentFacts
from prjury.report.model import OVERRIDE_COMMAND, Override

#: The status that a comment's override leaves on a commit, beside that of the gate.
CONTEXT = "prjury/override"
_COMMENT = re.compile(r"#issuecomment-(\d{1,18})$", re.ASCII)


def keep_override(client: GitHub, repo: str, head: str, said: CommentFacts, url: str) -> None:
    """Leave the override that a comment asks for on a commit; once more is the same as once.

    Raises:
        PublishError: where the status cannot be set.
    """
    statuses = Statuses(client, repo)
    latest = statuses.latest(head, CONTEXT)
    if latest and latest.creator == statuses.account() and latest.target_url == url:
        return
    words = f"@{said.author} overrides the verdict on this commit"
    statuses.create(head, CONTEXT, state="success", description=words, target_url=url)


def commanded_override(client: GitHub, repo: str, number: int, head: str) -> Override | None:
    """The override that a comment on this pull request has left on this commit, if it still holds.

    Raises:
        PublishError: where GitHub cannot be asked.
        SourceError: the same.
    """
    statuses = Statuses(client, repo)
    latest = statuses.latest(head, CONTEXT)
    found = _COMMENT.search(latest.target_url) if latest else None
    if latest is None or found is None or latest.state != "success":
        return None
    if latest.creator != statuses.account():
        return None
    said = Comments(client, repo, number).one(int(found[1]))
    if said is None or not is_word_of_a_writer(client, repo, said):
        return None
    command = read_command(said.body)
    if command is None or command.name != "override":
        return None
    return Override(OVERRIDE_COMMAND, said.author, command.words)


def override_by_comment(client: GitHub, repo: str, number: int, head: str) -> Override | str | None:
    """As `commanded_override`; where GitHub does not tell, none, and one line for the log."""
    try:
        return commanded_override(client, repo, number, head)
    except PrJuryError as error:
        return f"Whether a comment overrides the verdict is not known: {error}"


def is_word_of_a_writer(client: GitHub, repo: str, said: CommentFacts) -> bool:
    """Whether a person who may write has written a comment, as it stands.

    Raises:
        SourceError: where GitHub cannot be asked.
    """
    if said.by_program or said.edited or not said.author:
        return False
    return client.may_write(repo, said.author)
