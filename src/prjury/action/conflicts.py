"""The mode ``conflicts``: what GitHub starts no run for.

The event ``pull_request`` starts nothing where the merge conflicts. This job stands beside the
workflow that judges: it works from the default branch, merges as objects, builds nothing, asks no
model, and publishes where there is a conflict. Where a base has moved, it looks through the pull
requests onto it that conflict now, and speaks only where a comment of ours stands already. Where
the gate is a status, it also closes the gate of a new head until there is a verdict.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace

from prjury.action.history import PullHistory
from prjury.action.job import Job, JobResult, PriorState
from prjury.action.publishing import Publication
from prjury.errors import PrJuryError, PublishError, SourceError
from prjury.git.open_snapshot import NothingToReview
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind
from prjury.github.payload import PullFacts
from prjury.github.pulls import MergeState, await_mergeability, poll_states_and_total, read_message
from prjury.snapshot.model import visible

#: The word in the comment's marker where a conflict is all that the report was made of.
CONFLICT = "conflict"
#: The variable that says what the gate is: a job, or a status where building is a job of its own.
GATE = "PRJURY_GATE"
#: Words of a head's message for which GitHub starts no run.
_SKIPS = re.compile(
    r"\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|^skip-checks: *true\s*\Z",
    re.IGNORECASE | re.MULTILINE,
)
_SKIPPED = "The head's message says {}, so that nothing starts: push another commit"
#: Pull requests that are looked at for one push, and conflicts that are judged for it.
_MOST, _MOST_JUDGED = 50, 10


def judge_conflicts(job: Job) -> JobResult:
    kinds = (EventKind.PULL_REQUEST_TARGET, EventKind.PUSH)
    event = job.require_event_and_token(*kinds, remedy="Use `pull_request_target` and `push`")
    with job.dependencies.connect(event, job.inputs) as client:
        watch = _Watch(job, event, client)
        if event.kind is EventKind.PUSH:
            watch.judge_conflicting_pulls_onto_base()
        else:
            watch.close_gate_and_judge_if_conflicting()
    # The verdicts hang on their heads; this job is red only where one was not published.
    return job.report_end(watch.observations, watch.complaints)


@dataclass
class _Watch:
    """One look at what may conflict."""

    job: Job
    event: Event
    client: GitHub
    observations: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def close_gate_and_judge_if_conflicting(self) -> None:
        number = self.event.number or 0
        if self.event.action == "edited" and not self.event.moved:
            self.observations.append("Nothing to do: neither side has changed.")
            return
        pull = await_mergeability(self.client, self.event.repo, number)
        if pull.closed or pull.head.sha != self.event.pull.head.sha:
            self.observations.append(f"Nothing to do: #{number} is closed, or has a newer head.")
            return
        if self.job.environ.get(GATE) == "status":
            self._close_gate_until_verdict(pull.head.sha or "")
        if pull.mergeable:
            self.observations.append(f"#{number} can be merged, so that it is judged.")
        else:
            self._judge_and_post_conflict(pull, PullHistory(self.client, self.event.repo, number))

    def _close_gate_until_verdict(self, head: str) -> None:
        """Close the gate until there is a verdict; that of a later run stays."""
        with Publication(self.job, self.event, by_status=True) as publication:
            match = None
            with suppress(SourceError):
                match = _SKIPS.search(read_message(self.client, self.event.repo, head))
            if match:
                publication.set_gate("error", _SKIPPED.format(match[0].strip()))
            else:
                publication.set_gate("pending", "The verdict follows")
            publication.gates = False

    def judge_conflicting_pulls_onto_base(self) -> None:
        base = self.event.pull.base
        if not (base.ref and base.sha):
            self.observations.append("Nothing to do: no branch has moved.")
            return
        states, total = poll_states_and_total(self.client, self.event.repo, base.ref, _MOST)
        judged = 0
        for state in states:
            if state.mergeable is not False or judged == _MOST_JUDGED:
                continue
            try:
                judged += self._check_listed_pull(state)
            except PrJuryError as error:
                self.complaints.append(f"#{state.number}: {error}")
        self.observations.append(
            f"Looked at {len(states)} of {total} open pull requests onto {visible(base.ref)}."
        )

    def _check_listed_pull(self, state: MergeState) -> bool:
        history = PullHistory(self.client, self.event.repo, state.number)
        verdict = next((marker for marker, _ in history.own if marker.id == "default"), None)
        if verdict is None or (verdict.head == state.head_sha and verdict.files == CONFLICT):
            return False
        self._judge_and_post_conflict(self.client.pull(self.event.repo, state.number), history)
        return True

    def _judge_and_post_conflict(self, pull: PullFacts, history: PullHistory) -> None:
        event = replace(self.event, kind=EventKind.PULL_REQUEST_TARGET, pull=pull)
        try:
            judged = self.job.dependencies.judge(self.job, event, PriorState())
        except NothingToReview as nothing:
            self.observations.append(f"#{pull.number}: {nothing.what}")
            return
        if not judged.pull.merge.conflicts:
            self.observations.append(f"#{pull.number} merges without a conflict.")
            return
        by_status = False
        try:
            by_status = history.find_gate(pull.head.sha or "") is not None
        except PublishError as error:
            if error.reason != "permission":
                raise
        with Publication(self.job, event, CONFLICT, by_status, history) as publication:
            publication.publish_and_end(judged)
        self.complaints += publication.complaints
        self.observations.append(f"#{pull.number}: {judged.headline}")
