"""The mode ``backport``: once a change is merged, pull requests bring it to release branches.

It is started by the merge; later a command in a comment asks for a branch. Nothing of the change
is checked out, built or run, and nothing is ever pushed to a release branch: each pull request
comes from a new branch, which is made through GitHub's API.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from prjury.action.job import Job, JobResult
from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind
from prjury.github.repo_client import RepoClient
from prjury.publishers.backport_pulls import BackportPulls, Opening, Proposal
from prjury.publishers.files import add_markdown
from prjury.report.sanitise import inline_code, plain
from prjury.snapshot.model import visible
from prjury.snapshot.picked import HEADS

if TYPE_CHECKING:
    from prjury.app.backport import Picks

_WORDS = {
    "opened": "opened",
    "draft": "opened as a draft that holds nothing yet",
    "there": "there already",
    "nothing": "nothing opened",
}


def backport_merged_pull(job: Job) -> JobResult:
    """Open what the policy wants; a branch that moves meanwhile is judged once more."""
    remedy = "Use `pull_request_target` with the type `closed`"
    event = job.require_event_and_token(EventKind.PULL_REQUEST_TARGET, remedy=remedy)
    with job.dependencies.connect(event, job.inputs) as client:
        merge = _read_backportable_event_or_reason(event, client)
        opened = merge if isinstance(merge, str) else judge_and_open_backports(job, merge, client)
    return job.end_idle(opened) if isinstance(opened, str) else opened.summarise_and_end()


def judge_and_open_backports(
    job: Job, event: Event, client: GitHub, branches: Sequence[str] = ()
) -> BackportRound | str:
    """Open what the policy wants for these branches, or for its own; or why nothing is to do."""
    judged = job.dependencies.picks(job, event, branches)
    if judged.reason or judged.opening is None:
        return judged.reason or "The policy opens no backports: `backport.open`."
    round_ = BackportRound(job, event, judged.opening, client)
    if moved := round_.propose_and_list_moved_branches(judged):
        second = job.dependencies.picks(job, event, tuple(moved))
        still = round_.propose_and_list_moved_branches(second)
        missing = moved.keys() - {pick.branch for pick in second.picks}
        for branch in sorted({*still, *missing}):
            round_.complain(branch, str(still.get(branch, moved[branch])))
    return round_


def _read_backportable_event_or_reason(event: Event, client: GitHub) -> Event | str:
    if event.action != "closed":
        return "Nothing to do: it was not closed."
    pull = client.pull(event.repo, event.number or 0)
    if not pull.merged:
        return f"Nothing to do: #{event.number} is not merged."
    if not pull.is_fork and (pull.head.ref or "").startswith(HEADS):
        return f"Nothing to do: #{event.number} is a backport itself."
    return replace(event, pull=pull)


@dataclass
class BackportRound:
    """What has become of each branch; ``lines`` tells it as a list in Markdown."""

    job: Job
    event: Event
    opening: Opening
    client: GitHub
    outcomes: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def propose_and_list_moved_branches(self, judged: Picks) -> dict[str, PublishError]:
        """Open one pull request after the other; return the branches that have moved."""
        for one in judged.backports:
            if one.verdict == "error":
                self.complain(one.branch, "; ".join(one.reasons) or "there is no verdict")
        room = RepoClient(self.client, self.event.repo)
        pulls = BackportPulls(room, self.opening, self.job.log.redact)
        moved: dict[str, PublishError] = {}
        for pick in judged.picks:
            try:
                self._say(pulls.propose(pick))
            except PublishError as error:
                if error.reason == "moved":
                    moved[pick.branch] = error
                else:
                    self.complain(pick.branch, str(error))
        return moved

    def complain(self, branch: str, why: str) -> None:
        self.complaints.append(f"{visible(branch)}: {why}")
        self.lines.append(f"* {inline_code(branch)}: {plain(why, None, self.job.log.redact)}")

    def _say(self, done: Proposal) -> None:
        words = _WORDS[done.state] + (f" ({done.note})" if done.note else "")
        address = f": {done.url}" if done.url else ""
        self.outcomes.append(f"{visible(done.branch)}: {words}{address}")
        link = f": <{done.url}>" if done.url else ""
        shown = plain(words, None, self.job.log.redact)
        self.lines.append(f"* {inline_code(done.branch)}: {shown}{link}")

    def summarise_and_end(self) -> JobResult:
        nothing = "No release branch is suitable"
        if not self.lines:
            self.job.log.say(f"{nothing} for #{self.event.number}; nothing was opened.")
        if self.job.places.summary:
            lines = "\n".join(self.lines) or f"{nothing}; nothing was opened."
            with suppress(PublishError):
                title = f"## Backports of #{self.event.number}"
                add_markdown(self.job.places.summary, f"{title}\n\n{lines}\n")
        return self.job.report_end(self.outcomes, self.complaints)
