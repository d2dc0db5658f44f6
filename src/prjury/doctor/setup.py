"""The workflows of a repository together, and where PR Jury sits in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from msgspec import Struct

from prjury.manifests.workflow import Workflow, WorkflowJob, WorkflowStep

#: The name of the required check in every workflow that `prjury init` writes.
GATE = "prjury"
#: The modes of the jobs that stand after a build, in their order.
JUDGING = ("collect", "decide", "publish")
#: The modes that GitHub starts from the default branch only, whatever a pull request holds.
BACKPORT, CONFLICTS, COMMENT = "backport", "conflicts", "comment"
FROM_DEFAULT = (*JUDGING, BACKPORT, CONFLICTS, COMMENT)

_NAMES = frozenset({"pr-jury", "prjury"})
#: The steps with our action in the files that `prjury init` writes, by their names.
_STEPS = frozenset(
    {
        "Review",
        "Build",
        "Collect",
        "Decide",
        "Publish",
        "Answer",
        "Tell of conflicts",
        "Open pull requests onto release branches",
    }
)


class ActionUse(Struct, frozen=True):
    """A step in which PR Jury runs."""

    workflow: Workflow
    job: WorkflowJob
    step: WorkflowStep

    @property
    def mode(self) -> str:
        """The mode that the step names."""
        return self.step.inputs.get("mode") or "review"

    @property
    def about(self) -> str:
        """The file."""
        return self.workflow.path

    @property
    def on_pull_requests(self) -> bool:
        """Tell whether it reviews pull requests on its own: its job is the gate."""
        return self.mode == "review" and "pull_request" in self.workflow.triggers

    @property
    def in_queue(self) -> bool:
        """Tell whether it reviews merge groups: its job is the gate there."""
        return self.mode == "review" and "merge_group" in self.workflow.triggers

    @property
    def posts_as_app(self) -> bool:
        """Tell whether it writes with a token that an earlier step has made."""
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
        """Every step in which PR Jury runs."""
        return tuple(self._find_uses())

    def of_modes(self, *names: str) -> list[ActionUse]:
        """The uses in these modes."""
        return [one for one in self.uses if one.mode in names]

    @property
    def is_apart(self) -> bool:
        """Tell whether building and judging are jobs of their own, as forks need it."""
        return bool(self.of_modes("build", *JUDGING))

    @property
    def gates(self) -> list[ActionUse]:
        """The uses whose jobs are the gate, for pull requests first."""
        gates = [one for one in self.uses if one.on_pull_requests or one.in_queue]
        return sorted(gates, key=lambda one: not one.on_pull_requests)

    @property
    def gate_names(self) -> list[str]:
        """The names of the required check; the status of the mode for forks comes last."""
        names = [one.job.name for one in self.gates]
        return list(dict.fromkeys(names + [GATE] * bool(self.of_modes("publish"))))

    def _find_uses(self) -> Iterator[ActionUse]:
        for workflow in self.workflows:
            for job in workflow.jobs:
                for step in job.steps:
                    if self._is_ours(workflow, step):
                        yield ActionUse(workflow, job, step)

    def _is_ours(self, workflow: Workflow, step: WorkflowStep) -> bool:
        """Tell whether it is our action: by its name, or by the step's in a file of ours.

        A copy of the action may have any name; other actions in such a file are not ours.
        """
        if step.action in {".", "./"}:
            return self.is_home
        _, _, name = step.action.partition("/")
        if name.partition("/")[0].lower() in _NAMES:
            return True
        is_own = PurePosixPath(workflow.path).stem.startswith(GATE)
        return is_own and bool(name) and step.name in _STEPS
