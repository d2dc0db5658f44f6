"""The workflows of a repository together, and where PR Jury sits in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from prjury.app.app_token import APP_ACTION
from prjury.manifests.workflow import ALL, Permissions, Workflow, WorkflowJob, WorkflowStep
from prjury.policy.schema import OverrideConfig

#: What the required check is called in every workflow that `prjury init` writes.
GATE = "prjury"
#: The modes of the jobs that stand after a build, in their order.
JUDGING = ("collect", "decide", "publish")
#: The mode that opens pull requests onto release branches.
BACKPORT = "backport"
#: The mode that tells of what GitHub starts no run for.
CONFLICTS = "conflicts"
#: The mode that answers commands in comments.
COMMENT = "comment"
MODES = ("review", "build", *JUDGING, BACKPORT, CONFLICTS, COMMENT)
#: The action's inputs, as `prjury.action.inputs` has them.
INPUTS = frozenset(
    "base build config fail-on github-token head junit mode model model-api-key model-base-url "
    "python-version".split()
)
#: The part of the work that tells the last verdict again, with a maintainer's word: publishing,
#: where a label starts it.
OVERRIDE = "override"
#: What GitHub starts from the default branch only, whatever a pull request holds.
FROM_DEFAULT = (*JUDGING, OVERRIDE, BACKPORT, CONFLICTS, COMMENT)

#: What the inputs of the action that makes an app's token are called by which it asks for rights.
_ASKED = "permission-"
_NAMES = frozenset({"pr-jury", "prjury"})
_OTHERS = frozenset({"actions", "github"})


@dataclass(frozen=True)
class ActionUse:
    """A step in which PR Jury runs."""

    workflow: Workflow
    job: WorkflowJob
    step: WorkflowStep

    @property
    def mode(self) -> str:
        """The mode that the step names."""
        return self.step.inputs.get("mode") or "review"

    @property
    def part(self) -> str:
        """The part of the work that the step does: its mode, but for `OVERRIDE`."""
        triggers = self.workflow.triggers
        return OVERRIDE if self.overrules and "workflow_run" not in triggers else self.mode

    @property
    def app_rights(self) -> Permissions | None:
        """What the token of an app may do that the step posts with; None where it has none."""
        token = self.step.inputs.get("github-token", "")
        made = [step for step in self.job.steps if step.action == APP_ACTION]
        if not made or "outputs.token" not in token:
            return None
        asked = {
            name.removeprefix(_ASKED): level
            for name, level in made[0].inputs.items()
            if name.startswith(_ASKED)
        }
        return asked or {ALL: "write"}

    @property
    def overrules(self) -> bool:
        """Whether it hears a maintainer's label where the gate is a status."""
        return self.mode == "publish" and "pull_request_target" in self.workflow.triggers

    @property
    def about(self) -> str:
        """The file."""
        return self.workflow.path

    @property
    def on_pull_requests(self) -> bool:
        """Whether it reviews pull requests on its own: its job is the gate."""
        return self.mode == "review" and "pull_request" in self.workflow.triggers

    @property
    def in_queue(self) -> bool:
        """Whether it reviews merge groups: its job is the gate there."""
        return self.mode == "review" and "merge_group" in self.workflow.triggers

    @property
    def is_gate(self) -> bool:
        """Whether the job's outcome is the gate."""
        return self.on_pull_requests or self.in_queue


@dataclass(frozen=True)
class Setup:
    """What stands in a repository.

    Attributes:
        is_home: whether this is the repository of PR Jury itself, where `uses: ./` is it.
        default_branch: None where it is not known.
        on_default: the paths of the workflows there; None where they are not known.
        override: what the policy says of overruling; None where that cannot be read.
    """

    workflows: tuple[Workflow, ...]
    is_home: bool = False
    default_branch: str | None = None
    on_default: frozenset[str] | None = None
    override: OverrideConfig | None = field(default_factory=OverrideConfig)

    @cached_property
    def uses(self) -> tuple[ActionUse, ...]:
        """Every step in which PR Jury runs."""
        return tuple(self._find_uses())

    def parts(self, *names: str) -> list[ActionUse]:
        """The uses that do these parts of the work."""
        return [one for one in self.uses if one.part in names]

    @property
    def overruling(self) -> list[ActionUse]:
        """The uses that hear a maintainer's label where the gate is a status."""
        return [one for one in self.uses if one.overrules]

    @property
    def label(self) -> str | None:
        """The label that overrides the gate; None where there is none, or none is known."""
        return self.override.label if self.override else None

    @property
    def is_apart(self) -> bool:
        """Whether building and judging are jobs of their own, as forks need it."""
        return bool(self.parts("build", *JUDGING))

    @property
    def has_app(self) -> bool:
        """Whether the gate is a status that an app of one's own sets."""
        return any(one.app_rights for one in self.parts("publish"))

    @property
    def gates(self) -> list[ActionUse]:
        """The uses whose jobs are the gate, for pull requests first."""
        found = [one for one in self.uses if one.is_gate]
        return sorted(found, key=lambda one: not one.on_pull_requests)

    @property
    def gate_names(self) -> list[str]:
        """What the required check can be called; the status of the mode for forks comes last."""
        names = [one.job.name for one in self.gates]
        return list(dict.fromkeys(names + [GATE] * bool(self.parts("publish"))))

    def _find_uses(self) -> Iterator[ActionUse]:
        for workflow in self.workflows:
            for job in workflow.jobs:
                for step in job.steps:
                    if self._is_ours(workflow, step):
                        yield ActionUse(workflow, job, step)

    def _is_ours(self, workflow: Workflow, step: WorkflowStep) -> bool:
        """By the action's name; in a file of ours, by whatever name a copy of it has."""
        if step.action in {".", "./"}:
            return self.is_home
        owner, _, name = step.action.partition("/")
        if name.partition("/")[0].lower() in _NAMES:
            return True
        ours = PurePosixPath(workflow.path).stem.startswith(GATE)
        return ours and bool(name) and owner not in _OTHERS and owner != "."
