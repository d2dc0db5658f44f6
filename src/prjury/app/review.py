"""The whole review in one process: event -> PullRequest -> cascade -> Verdict -> Report."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prjury.app import backports, terms
from prjury.app.composition import builds, builds_here, review_ports
from prjury.app.policy_in_force import edits_workflow, policy_in_force, policy_notes
from prjury.app.registry import as_named, seat
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.stages.replay import ReusedVotes
from prjury.errors import UsageError
from prjury.git.open_snapshot import NothingToReview, Snapshot, open_snapshot
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds import suitability
from prjury.jury.judgment import Status
from prjury.policy.load import Policy
from prjury.policy.schema import Config, SuitabilityOptions
from prjury.ports import Publisher
from prjury.report.assemble import assemble
from prjury.report.model import EarlierVotes, PolicyOrigin, Report, Sandbox
from prjury.resources import own_version
from prjury.snapshot.model import PullRequest
from prjury.snapshot.patch_id import patch_id

if TYPE_CHECKING:
    from prjury.judges.quality.estimate import Forecast


def run(
    request: ReviewRequest, environment: RunEnvironment, publishers: Iterable[Publisher] = ()
) -> Report | NothingToReview:
    """Event -> PullRequest -> cascade -> Verdict -> Report -> publishers.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    started = time.monotonic()
    with open_snapshot(request.wanted) as taken:
        if isinstance(taken, NothingToReview):
            return taken
        policy = policy_in_force(taken.pull, taken.store, request.config, request.policy_path)
        snapshot = terms.exempted(taken, policy.config)
        refuse_idle_evidence(request, policy.config)
        environment.begun(policy)
        wired = review_ports(request, environment, policy.config, snapshot)
        ports = wired.ports
        said = _said_before(request, policy, snapshot.pull)
        again = ReusedVotes(said.judgments) if said else as_named
        word = said.override if said else None
        seating = seat(policy.config, ports, terms.unwanted(request), again)
        if request.models:
            wired.models.warm()
        context = terms.context_of(snapshot.pull, terms.seconds(request, policy.config))
        named = frozenset(request.backport_to)
        bench = backports.BranchJudges(
            snapshot, ports, policy.config, request.build, thorough=named
        )
        if builds_here(request, policy.config):
            _ = bench.picked  # a build could change the operator's packs
        verdict = terms.vote(seating, context, ports.progress)
        chosen = backports.choose_branches(snapshot, request, policy.config)
        tried = bench.beside(chosen.names, verdict.status, context.deadline)
        # No money is spent on where a change could go that is rejected.
        asks = request.models and verdict.status is not Status.FAIL
        opinion = backports.ask_opinion(tried, ports, context) if asks else None
        report = assemble(
            snapshot.pull,
            verdict,
            gate_policy=terms.gate_policy(policy.config),
            skipped=seating.skipped,
            policy=PolicyOrigin(policy.source, policy.hash, policy.resolved),
            sandbox=Sandbox(ports.shell.level, policy.config.sandbox.network),
            version=own_version(),
            backports=backports.with_opinions(tried, opinion),
            cost=terms.cost_of(verdict, wired.models.spent, opinion),
            elapsed_ms=round((time.monotonic() - started) * 1000),
            notes=(*notes_of(request, snapshot), *chosen.notes),
            override=terms.override(request.override or word, policy.config),
        )
    publish(report, publishers)
    return report


def forecast(
    request: ReviewRequest, environment: RunEnvironment
) -> tuple[Forecast, ...] | NothingToReview:
    """What a review would ask of models: event -> PullRequest -> questions. Nobody is asked.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    with open_snapshot(request.wanted) as taken:
        if isinstance(taken, NothingToReview):
            return taken
        policy = policy_in_force(taken.pull, taken.store, request.config, request.policy_path)
        snapshot = terms.exempted(taken, policy.config)
        wired = review_ports(request, environment, policy.config, snapshot)
        seating = seat(policy.config, wired.ports, terms.unwanted(request))
        context = terms.context_of(snapshot.pull, terms.seconds(request, policy.config))
        juries = (tier.jury for tier in seating.cascade.tiers if tier.jury)
        judges = [seat.judge for jury in juries for seat in jury.seats]
        if request.models and backports.choose_branches(snapshot, request, policy.config).names:
            judges.append(suitability.make(SuitabilityOptions(), wired.ports))
        try:
            return tuple(j.forecast(context) for j in judges if isinstance(j, ModelBackedJudge))
        finally:
            wired.ports.progress.close()


def publish(report: Report, publishers: Iterable[Publisher]) -> None:
    """Hangs the report up everywhere, in order."""
    for publisher in publishers:
        publisher.publish(report)


def _said_before(request: ReviewRequest, policy: Policy, pull: PullRequest) -> EarlierVotes | None:
    """What was said before, if it was of this very change, by this policy, and counts again.

    A change that touches workflows may have chosen itself what its own run leaves behind.
    """
    said = request.said
    same = said is not None and (said.patch, said.policy) == (patch_id(pull), policy.hash)
    return said if same and not edits_workflow(pull) else None


def notes_of(request: ReviewRequest, snapshot: Snapshot) -> tuple[str, ...]:
    """What a reader has to know where the change touches what it is judged by."""
    work_tree = snapshot.store.operator.work_tree
    path = request.policy_path
    return policy_notes(snapshot.pull, snapshot.store, request.config, work_tree, path)


def refuse_idle_evidence(request: ReviewRequest, config: Config) -> None:
    """Evidence that nobody reads is a mistake: somebody believes that it was judged.

    Raises:
        UsageError: for such evidence.
    """
    if request.evidence and not any(build.from_ == "evidence" for build in builds(config)):
        raise UsageError(
            f"--evidence {request.evidence} is given, and no build judge of the policy reads it",
            remedy="Leave it out, or set `build: {from: evidence}` in the policy",
        )
