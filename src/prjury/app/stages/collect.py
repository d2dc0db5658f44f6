"""The stage collect: ask every judge that needs no model; nothing of the change is run."""

from __future__ import annotations

import time

from msgspec import Struct
from msgspec.structs import replace

from prjury.app import steps
from prjury.app.composition import models_for, program_ports
from prjury.app.earning import read_base_record
from prjury.app.registry import seat
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.stages.evidence import ReadingAlong, StageEvidence
from prjury.app.stages.replay import defer_models, make_records
from prjury.app.steps import OpenedChange
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.git.open_snapshot import NothingToReview, Snapshot
from prjury.judges.context import LINKED_ISSUES
from prjury.policy.schema import Config
from prjury.ports import Panel, Ports
from prjury.ports.messages import Prompt, Reply
from prjury.report.model import NO_REPAIR
from prjury.resources import program_version
from prjury.snapshot.model import visible

#: Tokens; more than any model has, for here nothing is laid out for one.
_ROOM = 100_000_000


class RecordingModel:
    """Refuses every question (`prjury.ports.ChatModel`)."""

    name = "unasked"
    identity = "unasked"
    room = _ROOM

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - it refuses
        """Raises CannotJudgeError."""
        raise CannotJudgeError("models are asked in another job", reason="waiting")

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002 - as above
        """Nothing is known of it."""
        return None


class RecordingModels:
    """Seats a model that is not asked, so that what it would read is read."""

    def panel(self, request: str = "auto") -> Panel:  # noqa: ARG002 - it is nobody in particular
        """One seat."""
        return Panel((RecordingModel(),))


def collect(
    request: ReviewRequest, environment: RunEnvironment, workflow: str | None = None
) -> StageEvidence | NothingToReview:
    """Ask every judge that is a program, and keep what the models will need.

    Builds are taken from evidence even where the policy runs them: nothing of the change runs here.
    """
    started = time.monotonic()
    with steps.open_change(request) as opened:
        if isinstance(opened, NothingToReview):
            return opened
        change = replace(opened, policy=opened.policy.built_elsewhere)
        ports = _ports(change, environment, workflow)
        reading = ReadingAlong(change.snapshot.store, change.pull.base.sha)
        casting = defer_models(replace(ports, repository=reading))
        seating = seat(change.config, ports, change.unwanted, casting)
        context = change.add_call_sites_and_issues(change.start_clock(), environment.environ)
        verdict = steps.vote(seating, context, ports.progress)
        chosen = change.choose_branches()
        branches = change.branch_judges(ports)
        return StageEvidence(
            pull=change.pull,
            policy=change.policy,
            records=make_records(seating, verdict),
            files=reading.seen,
            version=program_version(),
            unwanted=change.unwanted,
            backports=branches.judge_beside(chosen.names, verdict.status, context.deadline),
            notes=(*change.notes, *chosen.notes, *_no_repair(change.config)),
            spares=_spares(change),
            trusted=request.trusts_policy or request.config is not None,
            level=ports.shell.level,
            seconds=change.seconds,
            call_sites=tuple(context.find_call_sites()) if _spares(change) is None else (),
            issues=tuple(context.once.get(LINKED_ISSUES, tuple)),
            calibration=read_base_record(
                change.snapshot.store, change.pull.base.sha, change.config
            ),
            answers_commands=change.answers_commands,
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )


class Refused(Struct, frozen=True):
    """Evidence that is not even read (`prjury.ports.Evidence`)."""

    why: str

    def read(self) -> bytes:
        """Raises CannotJudgeError, ``evidence_untrusted``."""
        raise CannotJudgeError(
            "the build's evidence does not count",
            why=self.why,
            remedy="Change the workflow in a pull request of its own, and have somebody look at it",
            reason="evidence_untrusted",
        )


def _describe_edit(snapshot: Snapshot, workflow: str | None) -> str:
    """Say why what the workflow left behind proves nothing; empty where the change leaves it alone.

    The runner takes the workflow from the merge of the change with its base, so it is the base's
    own wherever the merged tree has the same file.
    """
    if workflow is None:
        return ""
    pull = snapshot.pull
    ran = pull.merge.tree or pull.head.sha
    base, merged = (
        [entry.blob for entry in snapshot.store.files(tree) if entry.path == workflow]
        for tree in (pull.base.sha, ran)
    )
    if base == merged and base:
        return ""
    return f"The change edits {visible(workflow)}, the workflow that made it"


def _ports(change: OpenedChange, environment: RunEnvironment, workflow: str | None) -> Ports:
    ports = program_ports(change.request, environment, change.config, change.snapshot.store)
    edited = _describe_edit(change.snapshot, workflow)
    evidence = Refused(edited) if edited else ports.evidence
    return replace(ports, models=RecordingModels(), evidence=evidence)


def _no_repair(config: Config) -> tuple[str, ...]:
    return (NO_REPAIR,) if config.fix.enabled else ()


def _spares(change: OpenedChange) -> tuple[str, str] | None:
    nobody = models_for(change.pull, change.config.pulls, change.request.actor)
    panel = nobody.panel() if nobody else None
    return (panel.missing, panel.label) if panel else None
