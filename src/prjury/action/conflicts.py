"""The mode ``conflicts``: what GitHub starts no run for.

The event ``pull_request`` starts nothing where the merge conflicts. This job stands beside the
workflow that judges: it works from the default branch, merges as objects, builds nothing, asks no
model, and publishes where there is a conflict. Where a base has moved, it looks through the pull
requests onto it, the last updated first and not more than `_MOST`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from prjury.action.dependencies import Beforehand
from prjury.action.job import Job, JobResult
from prjury.action.publishing import Publication
from prjury.errors import PrJuryError, PublishError, UsageError
from prjury.github.check_runs import CheckRuns, Statuses
from prjury.github.client import GitHub
from prjury.github.comments import Comments, PostedComment
from prjury.github.event import Event, EventKind, read_event
from prjury.github.mergeability import MergeState, merge_states, settled_pull
from prjury.github.payload import PullFacts
from prjury.publishers.check_run import NAME
from prjury.publishers.comment import Marker, mark_outdated
from prjury.publishers.status import CONTEXT
from prjury.report.model import Report
from prjury.report.sanitise import inline_code
from prjury.snapshot.model import visible

#: What the comment's marker says where a conflict is all that the report was made of.
CONFLICT = "conflict"
#: Pull requests that are looked at for one push, and conflicts that are judged for it.
_MOST, _MOST_JUDGED = 50, 10


def conflicts(job: Job) -> JobResult:
    """Tell of conflicts: of the event's pull request, or of those onto the branch that has moved.

    Raises:
        UsageError: for an event of another kind, or without a token.
        SourceError: when GitHub cannot be asked.
    """
    event = read_event(job.environ)
    if event.kind not in {EventKind.PULL_REQUEST_TARGET, EventKind.PUSH}:
        raise UsageError(
            f"The mode {job.inputs.mode} does not run on {event.kind}",
            remedy="Use `pull_request_target` and `push`",
        )
    if not job.inputs.github_token:
        raise job.no_token
    with job.dependencies.connect(event, job.inputs) as client:
        watch = _Watch(job, event, client)
        if event.kind is EventKind.PUSH:
            watch.look_through()
        else:
            watch.look_at_one()
    return watch.ended()


@dataclass
class _Watch:
    """One look at what may conflict.

    Attributes:
        reported: what was found, one line each.
        complaints: what failed, one line each; one pull request does not stop the others.
    """

    job: Job
    event: Event
    client: GitHub
    reported: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def look_at_one(self) -> None:
        """The event's own pull request."""
        number = self.event.number or 0
        pull = settled_pull(self.client, self.event.repo, number)
        if pull.closed or pull.head.sha != self.event.pull.head.sha:
            self.reported.append(f"Nothing to do: #{number} is closed, or has a newer head.")
        elif pull.mergeable:
            self.reported.append(f"Nothing to do: #{number} can be merged, so that it is judged.")
        else:
            self._judge(pull)

    def look_through(self) -> None:
        """The pull requests onto the branch that has moved."""
        base = self.event.pull.base
        if not (base.ref and base.sha):
            self.reported.append("Nothing to do: no branch has moved.")
            return
        states, total = merge_states(self.client, self.event.repo, base.ref, _MOST)
        judged = 0
        for state in states:
            try:
                judged += self._look_at(state, base.sha, may_judge=judged < _MOST_JUDGED)
            except PrJuryError as error:
                self.complaints.append(f"#{state.number}: {error}")
        self.reported.append(
            f"Looked at {len(states)} of {total} open pull requests onto {visible(base.ref)}."
        )

    def _look_at(self, state: MergeState, base: str, *, may_judge: bool) -> bool:
        comments = Comments(self.client, self.event.repo, state.number)
        found = _ours(comments)
        marker = (Marker.of(found.body) if found else None) or Marker("")
        of_head = marker.head == state.head_sha
        if state.mergeable is False:
            known = of_head and marker.files == CONFLICT and not marker.moved
            if known or not may_judge:
                return False
            return self._judge(self.client.pull(self.event.repo, state.number))
        if found and state.mergeable and of_head and not marker.moved and marker.base != base:
            self._mark(state, found, comments, resolved=marker.files == CONFLICT)
        return False

    def _judge(self, pull: PullFacts) -> bool:
        """Merges as objects, and publishes where that conflicts."""
        event = replace(self.event, kind=EventKind.PULL_REQUEST_TARGET, pull=pull)
        judged = self.job.dependencies.judge(event, self.job.inputs, Beforehand())
        if not isinstance(judged, Report):
            self.reported.append(f"#{pull.number}: {judged.reason}")
            return True
        if not judged.pull.merge.conflicts:
            self.reported.append(f"#{pull.number} merges without a conflict.")
            return True
        by_status = self._by_status(pull.head.sha or "")
        with Publication(self.job, event, CONFLICT, by_status=by_status) as publication:
            publication.finish(judged)
        self.complaints += publication.complaints
        self.reported.append(f"#{pull.number}: {judged.headline}")
        return True

    def _mark(
        self, state: MergeState, found: PostedComment, comments: Comments, *, resolved: bool
    ) -> None:
        """Says in the comment that it is about an older base, unless a run is at work already."""
        base = self.event.pull.base
        runs = CheckRuns(self.client, self.event.repo).named(state.head_sha, NAME)
        if any(run.conclusion is None for run in runs):
            return
        branch = inline_code(base.ref or "")
        if resolved:
            said = f"The merge into {branch} no longer conflicts, and nothing else was judged."
        else:
            said = f"{branch} has moved on since; this is the verdict on the earlier one."
        again = "A push judges it anew, and so does closing and reopening this pull request."
        body = mark_outdated(found.body, (base.sha or "")[:12], f"{said} {again}")
        comments.edit(found.id, body)
        self.reported.append(f"#{state.number}: its verdict is about an older base.")
        if resolved:
            self._withdraw(state)

    def _withdraw(self, state: MergeState) -> None:
        """No check may go on to tell of a conflict that is none any more."""
        pull = self.client.pull(self.event.repo, state.number)
        event = replace(self.event, kind=EventKind.PULL_REQUEST_TARGET, pull=pull)
        by_status = self._by_status(state.head_sha)
        with Publication(self.job, event, by_status=by_status) as publication:
            publication.withdraw(
                "It no longer conflicts. Push, or close and reopen it, to judge it"
            )

    def _by_status(self, head: str) -> bool:
        try:
            latest = Statuses(self.client, self.event.repo).latest(head, CONTEXT)
        except PublishError as error:
            if error.reason != "permission":
                raise
            return False
        return latest is not None and latest.creator == self.client.login()

    def ended(self) -> JobResult:
        """The verdicts hang on their heads; this job is red only where one was not published."""
        return self.job.ended(self.reported, self.complaints)


def _ours(comments: Comments) -> PostedComment | None:
    """Our own comment; a stranger's with such a marker is none."""
    author = comments.author()
    marked = (one for one in comments.comments() if one.author == author)
    return next((one for one in marked if (it := Marker.of(one.body)) and it.id == "default"), None)
