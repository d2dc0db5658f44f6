"""The sentence: a pull request is photographed, a cascade of juries looks at it, a report is made.

The only place that wires things together: which door leads where is decided here and nowhere else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING

from prjury.config.load import POLICY_PATH
from prjury.config.pending import pending_note
from prjury.config.schema import BuildOptions, Config
from prjury.deadline import Deadline
from prjury.errors import ConfigError, UsageError
from prjury.judges.backport import try_backport
from prjury.judges.context import PullRequestContext
from prjury.jury.cascade import Verdict
from prjury.jury.gate import GatePolicy
from prjury.jury.judgment import Status
from prjury.models.choose import choose
from prjury.models.connect import connect
from prjury.policy import policy_in_force, policy_notes
from prjury.ports import Checks, Doors, Progress, Publisher
from prjury.publishers.progress import SilentProgress
from prjury.pull.model import PullRequest, printable
from prjury.registry import Seating, Unwanted, seat
from prjury.report.assemble import assemble
from prjury.report.model import Backport, Cost, PolicyOrigin, Report, Sandbox
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.sources.checks import checks_of
from prjury.sources.evidence import EvidenceFile
from prjury.sources.git.store import Store
from prjury.sources.pulls import NothingToReview, Photo, Wanted, photographed
from prjury.sources.shell import ContainedShell

if TYPE_CHECKING:
    from prjury.judges.build.zone import Built


@dataclass(frozen=True)
class ReviewRequest:
    """What the operator asks for.

    Attributes:
        wanted: which pull request.
        config: a policy file of the operator's own; without it the base commit's is in force.
        policy_path: where the base commit's policy stands.
        build: whether builds may run.
        models: whether model-backed judges may be asked.
        model: a model by name, ``provider:name``.
        offline: no network at all.
        timeout: seconds for all judges together; the policy's ``limits.wall`` if None.
        backport_to: branches beyond those that the policy names.
        evidence: what a build elsewhere has left behind, where the policy takes the build from it.
    """

    wanted: Wanted = field(default_factory=Wanted)
    config: Path | None = None
    policy_path: str = POLICY_PATH
    build: bool = True
    models: bool = True
    model: str | None = None
    offline: bool = False
    timeout: float | None = None
    backport_to: tuple[str, ...] = ()
    evidence: Path | None = None


@dataclass(frozen=True)
class Surroundings:
    """What a run finds around it.

    Attributes:
        environ: the operator's environment.
        progress: hears what is going on.
        redact: takes secrets out of whatever leaves this machine.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=SilentProgress)
    redact: Redact = BY_SHAPE


def run(
    request: ReviewRequest, surroundings: Surroundings, publishers: Iterable[Publisher] = ()
) -> Report | NothingToReview:
    """Event -> PullRequest -> cascade -> Verdict -> Report -> publishers.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    started = time.monotonic()
    with photographed(request.wanted) as photo:
        if isinstance(photo, NothingToReview):
            return photo
        policy = policy_in_force(photo.pull, photo.store, request.config, request.policy_path)
        _refuse_idle_evidence(request, policy.config)
        doors = _doors(request, surroundings, policy.config, photo.store)
        seating = seat(policy.config, doors, _unwanted(request))
        verdict = _vote(request, policy.config, photo.pull, seating, doors.progress)
        report = assemble(
            photo.pull,
            verdict,
            gate_policy=_gate_policy(policy.config),
            skipped=seating.skipped,
            policy=PolicyOrigin(policy.source, policy.hash, policy.resolved),
            sandbox=Sandbox(doors.shell.level, policy.config.sandbox.network),
            version=installed_version("prjury"),
            backports=_backports(request, policy.config, photo),
            cost=cost_of(verdict),
            elapsed_ms=round((time.monotonic() - started) * 1000),
            notes=(*_notes(request, photo), *pending_note(policy.config)),
        )
    publish(report, publishers)
    return report


def build(request: ReviewRequest, surroundings: Surroundings) -> Built | NothingToReview:
    """The untrusted half alone: event -> PullRequest -> build -> evidence.

    It runs whatever source the policy names, for this is where that source comes from.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    from prjury.judges.build.zone import built  # noqa: PLC0415 - models that a review does without

    with photographed(request.wanted) as photo:
        if isinstance(photo, NothingToReview):
            return photo
        policy = policy_in_force(photo.pull, photo.store, request.config, request.policy_path)
        options = _builds(policy.config)
        if len(options) != 1:
            raise ConfigError(
                f"the policy seats {len(options) or 'no'} build judges, and one is needed",
                remedy="Seat one, such as `judges: [merge, build]`, or name another with --config",
            )
        doors = _build_doors(surroundings, policy.config, photo.store)
        context = _context(photo.pull, _seconds(request, policy.config))
        try:
            return built(options[0], doors, context, installed_version("prjury"))
        finally:
            doors.progress.close()


def publish(report: Report, publishers: Iterable[Publisher]) -> None:
    """Hangs the report up everywhere, in order."""
    for publisher in publishers:
        publisher.publish(report)


def _notes(request: ReviewRequest, photo: Photo) -> tuple[str, ...]:
    work_tree = photo.store.operator.work_tree
    path = request.policy_path
    return policy_notes(photo.pull, photo.store, request.config, work_tree, path)


def _doors(
    request: ReviewRequest, surroundings: Surroundings, config: Config, store: Store
) -> Doors:
    doors = _build_doors(surroundings, config, store)
    sources = {build.from_ for build in _builds(config)}
    if "checks" in sources:
        url = request.wanted.url or store.operator.remote_url
        doors = _with_checks(doors, checks_of(url, surroundings.environ, offline=request.offline))
    if request.evidence and "evidence" in sources:
        doors = replace(doors, evidence=EvidenceFile(request.evidence))
    flag = request.model or _model_of_policy(config)
    model = choose(config.models, surroundings.environ, flag=flag, offline=request.offline)
    if isinstance(model, str):
        return replace(doors, model_missing=model)
    return replace(doors, model=connect(model))


def _build_doors(surroundings: Surroundings, config: Config, store: Store) -> Doors:
    """The doors that a build needs, and no others."""
    sandbox = config.sandbox
    shell = ContainedShell(
        surroundings.environ, extra_env=sandbox.env, level=sandbox.level, network=sandbox.network
    )
    return Doors(store, shell, surroundings.progress, redact=surroundings.redact)


def _with_checks(doors: Doors, checks: Checks | str) -> Doors:
    if isinstance(checks, str):
        return replace(doors, checks_missing=checks)
    return replace(doors, checks=checks)


def _builds(config: Config) -> list[BuildOptions]:
    """The options of every build judge of the policy."""
    return [entry.build for tier in config.tiers for entry in tier.judges if entry.build]


def _refuse_idle_evidence(request: ReviewRequest, config: Config) -> None:
    """Evidence that nobody reads is a mistake: somebody believes that it was judged."""
    if request.evidence and not any(build.from_ == "evidence" for build in _builds(config)):
        raise UsageError(
            f"--evidence {request.evidence} is given, and no build judge of the policy reads it",
            remedy="Leave it out, or set `build: {from: evidence}` in the policy",
        )


def _model_of_policy(config: Config) -> str | None:
    """The model that the first quality judge of the policy names."""
    named = [entry.quality.model for t in config.tiers for entry in t.judges if entry.quality]
    return next(iter(named), None)


def _unwanted(request: ReviewRequest) -> Unwanted:
    builds = {} if request.build else {"build": "--no-build"}
    return Unwanted(builds, None if request.models else "--no-llm")


def _vote(
    request: ReviewRequest,
    config: Config,
    pull: PullRequest,
    seating: Seating,
    progress: Progress,
) -> Verdict:
    seconds = _seconds(request, config)
    try:
        return seating.cascade.vote(_context(pull, seconds), timeout=seconds, listener=progress)
    finally:
        progress.close()


def _seconds(request: ReviewRequest, config: Config) -> float:
    return config.limits.wall if request.timeout is None else request.timeout


def _context(pull: PullRequest, seconds: float) -> PullRequestContext:
    goal = f"merge {printable(pull.head.ref)} into {printable(pull.base.ref)}"
    return PullRequestContext(goal, pull=pull, deadline=Deadline.after(seconds))


def _gate_policy(config: Config) -> GatePolicy:
    gate = config.gate
    block_on = frozenset(Status(word) for word in gate.block_on)
    return GatePolicy(block_on, gate.not_configured, gate.coverage_floor)


def _backports(request: ReviewRequest, config: Config, photo: Photo) -> tuple[Backport, ...]:
    named = config.backport.branches
    for branch in request.backport_to:
        photo.store.operator.commit(branch)  # the operator's own word has to name something
    branches = dict.fromkeys((*request.backport_to, *([] if named == "auto" else named)))
    return tuple(try_backport(photo.pull, branch, photo.store) for branch in branches)


def cost_of(verdict: Verdict) -> Cost:
    """What all judges of the verdict have spent on models."""
    spent = [
        ballot.judgment.metadata["usage"]
        for attempt in verdict.attempts
        for ballot in (attempt.verdict.ballots if attempt.verdict else ())
        if "usage" in ballot.judgment.metadata
    ]
    prices = [usage["usd"] for usage in spent]
    return Cost(
        llm_calls=sum(usage["llm_calls"] for usage in spent),
        cached_calls=sum(usage["cached_calls"] for usage in spent),
        input_tokens=sum(usage["input_tokens"] for usage in spent),
        output_tokens=sum(usage["output_tokens"] for usage in spent),
        usd=None if None in prices else math.fsum(prices),
    )
