"""What earlier comments of ours add to a run: what became of findings, and who dismissed which.

A comment of our account may repeat a stranger's words, so a dismissal counts only while the command
that it answers still stands there, by a person who may write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prjury.action.commanded import is_from_writer
from prjury.action.commands import read_command
from prjury.errors import PrJuryError
from prjury.github.client import GitHub
from prjury.github.comments import find_comment, list_comments
from prjury.github.repo_client import RepoClient, login_of
from prjury.publishers.comment import Marker
from prjury.report.continuity import ToldVerdict, dismissals, since
from prjury.report.findings import findings
from prjury.report.model import Dismissal, Report

#: Dismissals that are looked up; each takes two requests.
_MOST = 30
_ANSWER = re.compile(r"answer\.(\d{1,18})", re.ASCII)


@dataclass(frozen=True)
class EarlierComments:
    """What our earlier comments on a pull request say.

    Attributes:
        verdict: the last verdict; None if there is none.
        problem: why the comments cannot be read, one line.
    """

    verdict: ToldVerdict | None = None
    dismissals: tuple[Dismissal, ...] = ()
    problem: str = ""

    def continue_in(self, report: Report) -> Report:
        """The report with what became of the earlier findings, and the dismissals of its own."""
        if self.problem:
            return report
        prints = {one.check.fingerprint for one in findings(report.verdict)}
        own = tuple(one for one in self.dismissals if one.finding in prints)
        became = since(report.verdict, report.pull.head.sha, self.verdict)
        return replace(report, since=became, dismissals=own)


def read_earlier_comments(client: GitHub, repo: str, number: int) -> EarlierComments:
    """Read our own comments; where GitHub cannot be asked, there is nothing but the reason."""
    try:
        room = RepoClient(client, repo)
        comments = list_comments(room, number)
        marked = [comment for comment in comments if Marker.of(comment.body or "")]
        account = room.account() if marked else ""
        own = [comment.body for comment in marked if login_of(comment.user) == account]
        valid = _find_dismissals(own, room, number)
    except PrJuryError as error:
        return EarlierComments(problem=f"What was said before is not known: {error}")
    verdicts = [verdict for body in own if (verdict := ToldVerdict.of(body))]
    return EarlierComments(verdicts[-1] if verdicts else None, valid)


def _find_dismissals(own: Sequence[str], room: RepoClient, number: int) -> tuple[Dismissal, ...]:
    answers = [body for body in own if dismissals([body])]
    by_finding: dict[str, Dismissal] = {}
    for answer in answers[-_MOST:]:
        author = _find_author(answer, room, number)
        for dismissal in dismissals([answer]):
            if dismissal.by == author:
                by_finding[dismissal.finding] = dismissal
    return tuple(by_finding.values())


def _find_author(answer: str, room: RepoClient, pull: int) -> str | None:
    marker = Marker.of(answer)
    number = _ANSWER.fullmatch(marker.id) if marker else None
    comment = find_comment(room, pull, int(number[1])) if number else None
    command = read_command(comment.body) if comment else None
    if comment is None or command is None or command.name != "dismiss":
        return None
    if not is_from_writer(room.client, room.repo, comment):
        return None
    return comment.author
