"""What GitHub does in front of a runner: which workflows an event starts, what waits, what ends.

It knows of events, activities, filters of branches, conflicts, who acted and with which token;
then of concurrency, of the checks that jobs leave on a commit, and of what the merge box makes of
them. It runs nothing: a test says how a run ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from runner.expressions import filled, holds

Payload = Mapping[str, Any]
Status = Literal["pending", "in_progress", "completed"]

#: What starts a workflow that names no activities.
_DEFAULTS: Mapping[str, frozenset[str]] = {
    "pull_request": frozenset({"opened", "synchronize", "reopened"}),
    "pull_request_target": frozenset({"opened", "synchronize", "reopened"}),
}
#: Whose runs have no secrets and a token that only reads.
_UNTRUSTED = frozenset({"dependabot[bot]"})


@dataclass
class Check:
    """The check run of a job."""

    name: str
    head: str
    run: int
    conclusion: str | None = None


@dataclass
class Run:
    """A run of a workflow.

    Attributes:
        jobs: the checks of its jobs by their ids; a run that waits has none yet.
        reads_only: whether its token only reads, and there are no secrets.
    """

    id: int
    file: str
    event: str
    payload: Payload
    head: str
    group: str
    reads_only: bool
    attempt: int = 1
    status: Status = "pending"
    conclusion: str | None = None
    jobs: dict[str, Check] = field(default_factory=dict)


@dataclass(frozen=True)
class Ruleset:
    """What the rules of the branch below ask for.

    Attributes:
        required: the checks, by name.
        queue: whether a merge queue merges.
    """

    required: tuple[str, ...] = ("prjury",)
    queue: bool = False


@dataclass
class Triggers:
    """A repository's workflows, and everything that was started.

    Attributes:
        workflows: documents by their files' names.
        rules: what the merge box asks for.
        statuses: the state of each status of a commit, by its context.
    """

    workflows: Mapping[str, Any]
    rules: Ruleset = Ruleset()
    statuses: Callable[[str], Mapping[str, str]] = lambda _head: {}
    runs: list[Run] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @classmethod
    def of(cls, *files: Path) -> Triggers:
        return cls({file.name: _document(file.read_text()) for file in files})

    def happens(
        self, event: str, payload: Payload, *, conflicts: bool = False, by_job: bool = False
    ) -> list[Run]:
        """An event, and what it starts.

        Args:
            conflicts: whether the pull request's merge does.
            by_job: whether a job has done it with its own token, which starts nothing.
        """
        if by_job or (event == "pull_request" and conflicts):
            return []
        files = [name for name, one in self.workflows.items() if _starts(one, event, payload)]
        return [self._start(name, event, payload) for name in files]

    def ends(self, run: Run, conclusion: str) -> list[Run]:
        """A run has ended, and what waits for it, or for its workflow, starts."""
        run.status, run.conclusion = "completed", conclusion
        for check in run.jobs.values():
            check.conclusion = check.conclusion or conclusion
        for other in self.runs:
            if other.status == "pending" and other.group == run.group:
                self._begin(other)
                break
        name = self.workflows[run.file].get("name", "")
        told = {"action": "completed", "workflow_run": {"name": name, **_told(run)}}
        where = {key: run.payload[key] for key in ("repository", "sender") if key in run.payload}
        return self.happens("workflow_run", {**told, **where})

    def again(self, run: Run) -> Run:
        """The button to run it again: the same run, another attempt, checks of its own."""
        run.attempt, run.conclusion = run.attempt + 1, None
        self._begin(run)
        return run

    def newest(self, head: str, name: str) -> str | None:
        """How the newest check of a name on a commit stands; None where there is none."""
        found = [one for one in self.checks if (one.head, one.name) == (head, name)]
        return (found[-1].conclusion or "in progress") if found else None

    def merge_box(self, head: str, *, conflicts: bool = False, draft: bool = False) -> str:
        """What stands below the pull request."""
        if conflicts:
            return "blocked: this branch has conflicts"
        if draft:
            return "blocked: this pull request is still a work in progress"
        for required in self.rules.required:
            states = {self.newest(head, required), self.statuses(head).get(required)} - {None}
            if not states:
                return f"blocked: {required} expected, waiting for status to be reported"
            # A skipped or neutral check counts as a success.
            for state in states - {"success", "skipped", "neutral"}:
                return f"blocked: {state}"
        return "ready"

    def queued(self, head: str, group: Payload) -> list[Run]:
        """The merge queue takes what the merge box lets in, and tests it on its base."""
        assert self.rules.queue
        assert self.merge_box(head) == "ready"
        return self.happens("merge_group", group)

    def is_merged(self, group: Payload) -> bool:
        """Whether the queue merges: the required checks of the group are those of its commit."""
        return self.merge_box(_head("merge_group", group)) == "ready"

    def _start(self, file: str, event: str, payload: Payload) -> Run:
        number = 100 + len(self.runs)
        document = self.workflows[file]
        weak = _weak(event, payload)
        run = Run(number, file, event, payload, _head(event, payload), str(number), weak)
        limit = document.get("concurrency")
        if limit:
            context = context_of(run)
            run.group = filled(limit["group"], context)
            ends_others = filled(limit.get("cancel-in-progress", False), context) == "true"
            self._make_room(run.group, ends_others=ends_others)
        self.runs.append(run)
        if not any(one.group == run.group and one.status == "in_progress" for one in self.runs):
            self._begin(run)
        return run

    def _make_room(self, group: str, *, ends_others: bool) -> None:
        """One run of a group is at work, and one waits; who has waited gives way."""
        for other in self.runs:
            waits = other.group == group and other.status == "pending"
            if waits or (ends_others and other.group == group and other.status == "in_progress"):
                other.status, other.conclusion = "completed", "cancelled"
                for check in other.jobs.values():
                    check.conclusion = check.conclusion or "cancelled"

    def _begin(self, run: Run) -> None:
        """Its jobs are checks from now on; one whose condition does not hold is skipped."""
        run.status = "in_progress"
        context = context_of(run)
        for name, job in self.workflows[run.file]["jobs"].items():
            check = Check(filled(job.get("name", name), context), run.head, run.id)
            if not job.get("needs") and not holds(job.get("if"), context, failed=False):
                check.conclusion = "skipped"
            run.jobs[name] = check
            self.checks.append(check)
        if all(one.conclusion for one in run.jobs.values()):
            run.status, run.conclusion = "completed", "skipped"


def _document(text: str) -> Any:
    document = yaml.safe_load(text)
    document["on"] = document.pop(True, None) or document["on"]  # YAML 1.1 takes `on` for true
    return document


def _starts(document: Any, event: str, payload: Payload) -> bool:
    on = document["on"]
    if event not in on:
        return False
    wanted = (on[event] if isinstance(on, Mapping) else None) or {}
    if event == "push":
        branch = str(payload["ref"]).removeprefix("refs/heads/")
        return branch in wanted.get("branches", [branch])
    if event == "workflow_run":
        return payload["workflow_run"]["name"] in wanted["workflows"]
    return payload.get("action") in (wanted.get("types") or _DEFAULTS.get(event, frozenset()))


def _head(event: str, payload: Payload) -> str:
    """The commit on which the checks hang: what runs after a run is of the default branch."""
    if event == "push":
        return str(payload["after"])
    if event == "merge_group":
        return str(payload["merge_group"]["head_sha"])
    return str(payload["pull_request"]["head"]["sha"]) if "pull_request" in payload else "main"


def _told(run: Run) -> Payload:
    """What is told of a run that has ended."""
    head = run.payload.get("pull_request", {}).get("head", {})
    return {
        "id": run.id,
        "run_attempt": run.attempt,
        "path": f".github/workflows/{run.file}",
        "event": run.event,
        "conclusion": run.conclusion,
        "head_sha": run.head,
        "head_branch": head.get("ref", ""),
        "head_repository": {"full_name": head["repo"]["full_name"] if head else ""},
        "triggering_actor": run.payload.get("sender"),
    }


def _weak(event: str, payload: Payload) -> bool:
    """Whether the change's own workflow runs, and somebody has made it whom nobody knows."""
    if event != "pull_request":
        return False
    pull = payload["pull_request"]
    fork = pull["head"]["repo"]["full_name"] != pull["base"]["repo"]["full_name"]
    return fork or payload.get("sender", {}).get("login") in _UNTRUSTED


def context_of(run: Run) -> Mapping[str, Any]:
    pull = run.payload.get("pull_request") or {}
    github = {
        "event": run.payload,
        "event_name": run.event,
        "run_id": str(run.id),
        "ref": run.payload.get("ref", ""),
        "base_ref": pull.get("base", {}).get("ref", ""),
    }
    return {"github": github}


def started(runs: list[Run]) -> Iterator[str]:
    """The files of the runs that have something to do."""
    for run in runs:
        if run.conclusion != "skipped":
            yield run.file
