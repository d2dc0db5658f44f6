"""Where PR Jury sits in the workflows of a repository, and what is wrong with them.

What zizmor and actionlint report of workflows (pins, hygiene, injection) is not asked again, nor
what GitHub and the action say themselves: inputs and modes that there are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import TypeVar

from msgspec import Struct

from prjury.errors import PrJuryError
from prjury.manifests.workflow import ALL, Permissions, Workflow, WorkflowJob, WorkflowStep

#: The name of the required check in every workflow that `prjury init` writes.
GATE = "prjury"
#: The modes of the jobs that stand after a build, in their order.
JUDGING = ("collect", "decide", "publish")
#: The modes that GitHub starts from the default branch only, whatever a pull request holds.
BACKPORT, CONFLICTS, COMMENT = "backport", "conflicts", "comment"
FROM_DEFAULT = (*JUDGING, BACKPORT, CONFLICTS, COMMENT)

_NAMES = frozenset({"pr-jury", "prjury"})
#: The steps with our action in the files that `prjury init` writes, by their names.
_STEPS = (
    *("Review", "Build", "Collect", "Decide", "Publish", "Answer", "Tell of conflicts"),
    "Open pull requests onto release branches",
)
#: The text in the workflows as `prjury init` writes them without `--action`.
_PLACEHOLDER = "OWNER/pr-jury@COMMIT"
_TYPES = {
    "opened": "a new pull request is not judged",
    "synchronize": "new commits are not judged",
    "reopened": "a reopened pull request is not judged",
    "edited": "a pull request that is moved to another base stays judged by the old one",
    "ready_for_review": "a draft is not judged when it becomes ready",
}
_SKIPPED = "and a skipped job counts as success for a required check"
_SECRET = re.compile(r"\bsecrets\s*(\.\s*(?!GITHUB_TOKEN\b)\w+|\[)", re.IGNORECASE)
_WORKS = "it cannot work"
_TELLS = {"pull-requests: write": "it cannot comment", "checks: write": "it cannot annotate lines"}
_REUSES = dict.fromkeys(
    ("actions: read", "pull-requests: read", "statuses: read"),
    "it cannot reuse the verdict on the pull request",
)
#: By the work of a job, the permissions that it needs, and what it cannot do without each.
_NEEDED: Mapping[str, Mapping[str, str]] = {
    "review": {"contents: read": _WORKS, **_TELLS},
    "queue": {"contents: read": _WORKS, **_REUSES},
    "elsewhere": {"contents: read": _WORKS},
    "build": {"contents: read": _WORKS},
    "collect": {
        **dict.fromkeys(
            ("contents: read", "actions: read", "checks: read", "pull-requests: read"), _WORKS
        ),
        "statuses: read": "it cannot read what other checks say by status",
    },
    "decide": {},
    "publish": {
        "statuses: write": _WORKS,
        **_TELLS,
        "actions: read": "it cannot say which run it reports on",
    },
    CONFLICTS: {
        "contents: read": _WORKS,
        **_TELLS,
        "statuses: write": "it cannot keep the status true where that is the gate",
    },
    BACKPORT: {"contents: write": _WORKS, "pull-requests: write": _WORKS},
    COMMENT: {
        "pull-requests: write": _WORKS,
        "actions: write": "it cannot start a run again",
        "statuses: write": "nobody can override the gate by a comment",
    },
}
#: The work beside which nothing may be written: it runs a change's code, or holds a model's key.
_ALONE = {
    **dict.fromkeys(("build", "review"), "runs the change's code"),
    "decide": "holds the model's key",
}
#: What a review may write: how it tells its verdict.
_TELLING = frozenset({"pull-requests", "checks", "issues", "statuses", "security-events"})

Subject = TypeVar("Subject")


class Level(StrEnum):
    """How much a finding matters; only problems make `prjury doctor` fail."""

    PROBLEM = "problem"
    WARNING = "warning"
    UNKNOWN = "not checked"
    FINE = "fine"


class Diagnosis(Struct, frozen=True):
    """One thing that was looked at."""

    level: Level
    about: str
    #: A sentence without its full stop: what is so, and after a semicolon the fix.
    text: str

    @property
    def sentence(self) -> str:
        return f"{self.about}: {self.text}" if self.about else self.text


problem = partial(Diagnosis, Level.PROBLEM)
warning = partial(Diagnosis, Level.WARNING)
unknown = partial(Diagnosis, Level.UNKNOWN)
fine = partial(Diagnosis, Level.FINE)


def examine(
    subject: Subject, checks: Mapping[str, Callable[[Subject], Iterable[Diagnosis]]]
) -> Iterator[Diagnosis]:
    """Ask each check; one that finds nothing says what is fine."""
    for text, check in checks.items():
        yield from list(check(subject)) or [fine("", text)]


def join_sentence(error: PrJuryError) -> str:
    """An error's three parts as one sentence without its full stop."""
    first, *more = [part.strip().rstrip(".") for part in (error.what, error.why, error.remedy)]
    for part in filter(None, more):
        word = part.partition(" ")[0]
        plain = word[1:].islower() or len(word) == 1
        first += f"; {part[:1].lower() + part[1:] if plain else part}"
    return first


class ActionUse(Struct, frozen=True):
    """A step in which PR Jury runs."""

    workflow: Workflow
    job: WorkflowJob
    step: WorkflowStep

    @property
    def mode(self) -> str:
        return self.step.inputs.get("mode") or "review"

    @property
    def about(self) -> str:
        return self.workflow.path

    @property
    def on_pull_requests(self) -> bool:
        """True if it reviews pull requests on its own: its job is the gate."""
        return self.mode == "review" and "pull_request" in self.workflow.triggers

    @property
    def in_queue(self) -> bool:
        """True if it reviews merge groups: its job is the gate there."""
        return self.mode == "review" and "merge_group" in self.workflow.triggers

    @property
    def posts_as_app(self) -> bool:
        """True if it writes with a token that an earlier step has made."""
        return "steps." in self.step.inputs.get("github-token", "")

    def variable(self, name: str) -> str:
        """The value of a variable of the step, as the file has it."""
        places = (self.step.env, self.job.env, self.workflow.env)
        return next((place[name] for place in places if place.get(name)), "")


@dataclass(frozen=True)
class Setup:
    """What stands in a repository."""

    workflows: tuple[Workflow, ...]
    #: Whether this is the repository of PR Jury itself, where `uses: ./` is it.
    is_home: bool = False
    default_branch: str | None = None
    #: The paths of the workflows there; None where they are not known.
    on_default: frozenset[str] | None = None

    @cached_property
    def uses(self) -> tuple[ActionUse, ...]:
        return tuple(
            ActionUse(workflow, job, step)
            for workflow in self.workflows
            for job in workflow.jobs
            for step in job.steps
            if self._uses_own_action(workflow, step)
        )

    def of_modes(self, *names: str) -> list[ActionUse]:
        return [use for use in self.uses if use.mode in names]

    @property
    def gates(self) -> list[ActionUse]:
        """The uses whose jobs are the gate, for pull requests first."""
        gates = [use for use in self.uses if use.on_pull_requests or use.in_queue]
        return sorted(gates, key=lambda use: not use.on_pull_requests)

    @property
    def gate_names(self) -> list[str]:
        """The names of the required check; the status of the mode for forks comes last."""
        names = [use.job.name for use in self.gates]
        return list(dict.fromkeys(names + [GATE] * bool(self.of_modes("publish"))))

    def _uses_own_action(self, workflow: Workflow, step: WorkflowStep) -> bool:
        """Tell by the action's name, or by the step's in a file of ours.

        A copy of the action may have any name; other actions in such a file are not ours.
        """
        if step.action in {".", "./"}:
            return self.is_home
        name = step.action.partition("/")[2]
        if name.partition("/")[0].lower() in _NAMES:
            return True
        is_own = PurePosixPath(workflow.path).stem.startswith(GATE)
        return is_own and bool(name) and step.name in _STEPS


def examine_setup(setup: Setup, *, complete: bool = True) -> Iterator[Diagnosis]:
    """Find what is wrong with the workflows; ``complete`` if all of them could be read."""
    if setup.uses or complete:
        yield from examine(setup, CHECKS if setup.uses else _UNUSED)


def check_action_use(setup: Setup) -> Iterator[Diagnosis]:
    for workflow in setup.workflows if not setup.uses else ():
        if any("jury" in job.uses.lower() for job in workflow.jobs):
            text = "it calls a workflow elsewhere, and only this directory is looked at"
            yield unknown(workflow.path, text)
            return
    if not setup.uses:
        text = "no workflow runs PR Jury; write one with `prjury init`"
        yield problem(".github/workflows", text)
    for path in dict.fromkeys(use.about for use in setup.uses if use.step.uses == _PLACEHOLDER):
        text = f"it still holds `{_PLACEHOLDER}`; put the action's repository and commit there"
        yield problem(path, text)


def check_missing_stages(setup: Setup) -> Iterator[Diagnosis]:
    builds, judging = setup.of_modes("build"), setup.of_modes(*JUDGING)
    modes = {use.mode for use in (*builds, *judging)}
    if missing := [mode for mode in ("build", *JUDGING) if modes and mode not in modes]:
        text = f"no job has `mode: {'`, `mode: '.join(missing)}`"
        yield problem(
            (*builds, *judging)[0].about, f"{text}; write the workflows with `prjury init --forks`"
        )


def check_awaited_build(setup: Setup) -> Iterator[Diagnosis]:
    judging = setup.of_modes(*JUDGING)
    names = {use.workflow.name for use in setup.of_modes("build")}
    for workflow in {use.about: use.workflow for use in judging}.values():
        trigger = workflow.triggers.get("workflow_run")
        awaited = trigger.workflows if trigger else ()
        if trigger and trigger.types is not None and "completed" not in trigger.types:
            text = "`workflow_run` lacks the type `completed`, so that it never judges; add it"
            yield problem(workflow.path, text)
        if names and not names & set(awaited):
            yield problem(
                workflow.path,
                f"it waits for {', '.join(f'`{name}`' for name in awaited) or 'nothing'}, but the "
                f"build is called `{min(names)}`; put that name into `workflow_run.workflows`",
            )


def check_gate_closes_for_new_heads(setup: Setup) -> Iterator[Diagnosis]:
    publishing, watching = setup.of_modes("publish"), setup.of_modes(CONFLICTS)
    if publishing and not watching:
        what = "nothing closes the gate of a new head until its verdict is there"
        fix = "write prjury-comment.yml with `prjury init --forks`"
        yield warning(publishing[0].about, f"{what}; {fix}")
    right = "status" if publishing else "job"
    for use in watching:
        if (use.variable("PRJURY_GATE") == "status") is not bool(publishing):
            text = f"set `PRJURY_GATE: {right}` in the job `{use.job.id}`"
            yield problem(use.about, f"the gate is a {right} here; {text}")


def check_workflows_on_default_branch(setup: Setup) -> Iterator[Diagnosis]:
    for path in dict.fromkeys(use.about for use in setup.of_modes(*FROM_DEFAULT)):
        if setup.on_default is None:
            text = "GitHub starts it from the default branch only, which is not known here"
            yield unknown(path, f"{text}; make sure that it is merged there")
        elif path not in setup.on_default:
            text = f"GitHub starts it from `{setup.default_branch}` only, where it is not; merge it"
            yield warning(path, text)


def check_triggers(setup: Setup) -> Iterator[Diagnosis]:
    for use in setup.of_modes("review", "build"):
        trigger = use.workflow.triggers.get("pull_request")
        for name, outcome in _TYPES.items() if trigger else ():
            if trigger and name not in trigger.started_by:
                tell = warning if name == "ready_for_review" else problem
                text = f"`pull_request` lacks the type `{name}`, so that {outcome}"
                yield tell(use.about, f"{text}; add it to `types`")
    for path, event, name in dict.fromkeys(
        (use.about, event, name)
        for use in setup.uses
        for event, trigger in use.workflow.triggers.items()
        for name in trigger.filters
        if event != "push"
    ):
        tell = problem if name.startswith("paths") or event == "workflow_run" else warning
        what = f"`{event}` is filtered by `{name}`: where that leaves a change out, the required"
        yield tell(path, f"{what} check never starts and blocks the merge; remove the filter")


def check_gate_always_runs(setup: Setup) -> Iterator[Diagnosis]:
    for gate in setup.gates:
        job = gate.job
        text = f"the job `{job.name}`"
        if job.condition:
            yield problem(gate.about, f"{text} has an `if`, {_SKIPPED}; remove the `if`")
        if job.needs:
            yield problem(
                gate.about,
                f"{text} needs `{', '.join(job.needs)}`: if that fails it is skipped, {_SKIPPED}; "
                "remove `needs`",
            )
        # The step may be left out exactly where the job's name is not the gate's.
        inner = gate.step.condition.strip().removeprefix("${{").removesuffix("}}").strip()
        if inner and not (job.idle_if and inner in {f"!{job.idle_if}", f"!({job.idle_if})"}):
            what = f"the step with PR Jury in {text} has an `if`, and without it the job is green"
            yield problem(gate.about, f"{what}; remove the `if`")
    for use in setup.of_modes("publish"):
        conditions = filter(None, (use.job.condition, use.step.condition))
        if not use.job.condition or any("always()" not in text for text in conditions):
            what = f"the job `{use.job.id}` lacks `if: always()`: where a job before it fails, "
            yield problem(use.about, f"{what}the status `{GATE}` never comes; add it")


def check_gate_can_fail(setup: Setup) -> Iterator[Diagnosis]:
    for gate in setup.gates:
        name = gate.job.name
        if gate.job.continues or gate.step.continues:
            what = f"the job `{name}` is green whatever the verdict is, by `continue-on-error`"
            yield problem(gate.about, f"{what}; remove it")
        if gate.step.inputs.get("fail-on") == "never":
            what = f"`fail-on: never` keeps the job `{name}` green, so that it is not gating"
            yield warning(gate.about, f"{what}; remove it when the verdict is to count")


def check_gate_names_and_count(setup: Setup) -> Iterator[Diagnosis]:
    names, gates = setup.gate_names, setup.gates
    if len(names) > 1:
        yield problem(
            next(gate for gate in gates if gate.job.name != GATE).about,
            f"the gate has several names, {', '.join(f'`{name}`' for name in names)}, and where "
            f"one of them is required the others never arrive; call every such job `{GATE}`",
        )
    for gate in gates:
        if gate.job.has_matrix:
            what = f"the job `{gate.job.name}` has a matrix, so its checks have other names"
            yield problem(gate.about, f"{what} than the required one; remove the matrix")
    own = {(gate.about, gate.job.id) for gate in gates}
    for workflow in setup.workflows:
        for job in workflow.jobs:
            if job.name in names and (workflow.path, job.id) not in own:
                what = f"the job `{job.id}` is called `{job.name}` like the required check"
                yield problem(workflow.path, f"{what} and can turn it green; give it another name")
    alone = [gate for gate in gates if gate.on_pull_requests]
    others: list[ActionUse] = [*alone[1:], *setup.of_modes("publish")] if alone else []
    if others:
        what = f"it judges pull requests, and {alone[0].about} does so too"
        fix = "keep the one that fits, for a pull request has one gate"
        yield problem(others[0].about, f"{what}; {fix}")


def check_permissions(setup: Setup) -> Iterator[Diagnosis]:
    for use in setup.of_modes(*_NEEDED):
        if use.posts_as_app:
            continue  # such a token has the permissions of the app
        permissions = use.job.permissions
        permissions = use.workflow.permissions if permissions is None else permissions
        text = f"the job `{use.job.id}`"
        if permissions is None:
            yield warning(
                use.about,
                f"{text} declares no `permissions` and gets the repository's default, which may "
                "be too much or too little; list them as `prjury init` does",
            )
            continue
        work = use.mode
        if work == "review" and not use.on_pull_requests:
            work = "queue" if use.in_queue else "elsewhere"
        for permission, outcome in _NEEDED[work].items():
            if not _has(permissions, permission):
                tell = problem if outcome == _WORKS else warning
                words = f"lacks the permission `{permission}`, without which {outcome}; add it"
                yield tell(use.about, f"{text} {words}")
        writes = [scope for scope, level in permissions.items() if level == "write"]
        if use.mode == "review":
            writes = [scope for scope in writes if scope not in _TELLING]
        if writes and use.mode in _ALONE:
            name = "write-all" if ALL in writes else f"{writes[0]}: write"
            words = f"{_ALONE[use.mode]} and has the permission `{name}`, which it does not need"
            yield problem(use.about, f"{text} {words}; remove it")


def _has(permissions: Permissions, permission: str) -> bool:
    scope, _, level = permission.partition(": ")
    return not {permissions.get(scope), permissions.get(ALL)}.isdisjoint({level, "write"})


def check_secrets_in_builds(setup: Setup) -> Iterator[Diagnosis]:
    for use in setup.of_modes("build"):
        job = use.job
        places = [use.workflow.env, job.env]
        places += [texts for step in job.steps for texts in (step.env, step.inputs)]
        texts = [text for place in places for text in place.values()]
        texts += [step.run for step in job.steps]
        if job.inherits_secrets or any(map(_SECRET.search, texts)):
            what = f"the job `{job.id}` runs the change's code and is given a secret"
            yield problem(use.about, f"{what}; remove it, the judge has the model's key")


_UNUSED = {"PR Jury runs here": check_action_use}
#: By what is true where its function finds nothing, in the order in which it is printed.
CHECKS = {
    **_UNUSED,
    "the stages are complete": check_missing_stages,
    "the judge waits for the build": check_awaited_build,
    "a new head waits for its verdict": check_gate_closes_for_new_heads,
    "what starts from the default branch is there": check_workflows_on_default_branch,
    "every event that changes the verdict starts a run": check_triggers,
    "the gate cannot be skipped and does not hang": check_gate_always_runs,
    "the gate is closed by the verdict": check_gate_can_fail,
    "the gate has one name, and nobody else has it": check_gate_names_and_count,
    "every job has the permissions that it needs": check_permissions,
    "no build has a secret": check_secrets_in_builds,
}
