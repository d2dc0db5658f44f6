"""COLLECT: reads git, the policy and a build's evidence; runs nothing, and asks no model."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from prjury.app import backports, terms
from prjury.app.composition import models_for, program_ports
from prjury.app.policy_in_force import policy_in_force
from prjury.app.registry import seat
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import notes_of
from prjury.app.stages.evidence import StageEvidence
from prjury.app.stages.files import ReadingAlong
from prjury.app.stages.replay import DeferredJudges, records_of
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.git.open_snapshot import NothingToReview, Snapshot, open_snapshot
from prjury.policy.load import Policy
from prjury.policy.schema import Config, JudgeEntry
from prjury.ports import Panel, Ports
from prjury.ports.messages import Prompt, Reply
from prjury.resources import own_version
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
    """Event -> PullRequest -> every judge that is a program -> evidence.

    A build is taken from its evidence, whatever the policy says of where it runs: here nothing of
    the change ever runs.

    Args:
        workflow: the file of the workflow that made the build's evidence; where the change edits
            it, what it has left behind is no evidence.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    started = time.monotonic()
    with open_snapshot(request.wanted) as taken:
        if isinstance(taken, NothingToReview):
            return taken
        policy = policy_in_force(taken.pull, taken.store, request.config, request.policy_path)
        snapshot = terms.exempted(taken, policy.config)
        policy = Policy(built_elsewhere(policy.config), policy.source)
        ports = _ports(request, environment, policy.config, snapshot)
        if edited := _edited(snapshot, workflow):
            ports = replace(ports, evidence=Refused(edited))
        along = ReadingAlong(snapshot.store, snapshot.pull.base.sha)
        cast = DeferredJudges(replace(ports, repository=along))
        seating = seat(policy.config, ports, terms.unwanted(request), cast)
        seconds = terms.seconds(request, policy.config)
        context = terms.context_of(snapshot.pull, seconds)
        verdict = terms.vote(seating, context, ports.progress)
        chosen = backports.choose_branches(snapshot, request, policy.config)
        named = frozenset(request.backport_to)
        bench = backports.BranchJudges(snapshot, ports, policy.config, thorough=named)
        return StageEvidence(
            pull=snapshot.pull,
            policy=policy,
            records={**cast.seats, **records_of(seating, cast.places, verdict)},
            files=along.seen,
            version=own_version(),
            unwanted=terms.unwanted(request),
            backports=bench.beside(chosen.names, verdict.status, context.deadline),
            notes=(*notes_of(request, snapshot), *chosen.notes),
            spares=_spares(request, policy.config, snapshot),
            trusted=request.trusts_policy or request.config is not None,
            level=ports.shell.level,
            seconds=seconds,
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )


@dataclass(frozen=True)
class Refused:
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


def _edited(snapshot: Snapshot, workflow: str | None) -> str:
    """Why what the workflow left behind proves nothing; empty where the change leaves it alone.

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


def built_elsewhere(config: Config) -> Config:
    """The policy whose builds were made in another job."""
    tiers = [
        tier.model_copy(update={"judges": list(map(_elsewhere, tier.judges))})
        for tier in config.tiers
    ]
    return config.model_copy(update={"tiers": tiers})


def _elsewhere(entry: JudgeEntry) -> JudgeEntry:
    if entry.build is None or entry.build.from_ != "run":
        return entry
    return entry.model_copy(update={"build": entry.build.model_copy(update={"from_": "evidence"})})


def _ports(
    request: ReviewRequest, environment: RunEnvironment, config: Config, snapshot: Snapshot
) -> Ports:
    ports = program_ports(request, environment, config, snapshot.store)
    return replace(ports, models=RecordingModels())


def _spares(request: ReviewRequest, config: Config, snapshot: Snapshot) -> tuple[str, str] | None:
    nobody = models_for(snapshot.pull, config.pulls, request.actor)
    panel = nobody.panel() if nobody else None
    return (panel.missing, panel.label) if panel else None
