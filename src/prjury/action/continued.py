"""What earlier comments of ours add to a report: what became of findings, and who dismissed which.

A comment of our account may repeat a stranger's words, so a dismissal counts only where the command
that it answers still stands there, by a person who may write. None of it changes a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from prjury.action.commanded import is_word_of_a_writer
from prjury.action.commands import read_command
from prjury.errors import PrJuryError
from prjury.github.client import GitHub
from prjury.github.comments import Comments, PostedComment
from prjury.publishers.comment import Marker
from prjury.report.continuity import ToldVerdict, dismissals, since
from prjury.report.findings import findings
from prjury.report.model import Dismissal, Report

#: Dismissals that are looked up; each takes two requests.
_MOST = 30
_ANSWER = re.compile(r"answer\.(\d{1,18})", re.ASCII)


def continued(report: Report, client: GitHub, repo: str, number: int) -> Report | str:
    """The report with what earlier comments say; one line for the log where they cannot be read."""
    try:
        room = Comments(client, repo, number)
        every = room.comments()
        marked = [one for one in every if Marker.of(one.body)]
        account = room.author() if marked else ""
        own = [one for one in marked if one.author == account]
        found = tuple(_dismissals(report, own, client, room, repo))
    except PrJuryError as error:
        return f"What was said before is not known: {error}"
    reported = [each for one in own if (each := ToldVerdict.of(one.body))]
    before = since(report.verdict, report.pull.head.sha, reported[-1] if reported else None)
    return replace(report, since=before, dismissals=found)


def _dismissals(
    report: Report, own: Sequence[PostedComment], client: GitHub, room: Comments, repo: str
) -> Iterator[Dismissal]:
    prints = {one.check.fingerprint for one in findings(report.verdict)}
    found: dict[str, Dismissal] = {}
    answers = (one for one in own if any(d.finding in prints for d in dismissals([one.body])))
    for answer in islice(answers, _MOST):
        for one in dismissals([answer.body]):
            if one.finding in prints and _stands(answer, one, client, room, repo):
                found[one.finding] = one
    yield from found.values()


def _stands(
    answer: PostedComment, said: Dismissal, client: GitHub, room: Comments, repo: str
) -> bool:
    marker = Marker.of(answer.body)
    number = _ANSWER.fullmatch(marker.id) if marker else None
    command = room.one(int(number[1])) if number else None
    if command is None or command.author != said.by:
        return False
    asked = read_command(command.body)
    dismisses = asked is not None and asked.name == "dismiss"
    return dismisses and is_word_of_a_writer(client, repo, command)
