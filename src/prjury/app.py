"""The sentence: a pull request is photographed, a cascade looks at it, a report is made."""

from __future__ import annotations

import time
from collections.abc import Iterable
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING

from prjury.config.pending import pending_note
from prjury.config.schema import Config, SuitabilityOptions
from prjury.deadline import Deadline
from prjury.errors import ConfigError, UsageError
from prjury.judges.backport import is_open, try_backport, with_opinion
from prjury.judges.context import PullRequestContext
from prjury.judges.llm.judge import ModelBackedJudge
from prjury.judges.llm.kinds import suitability
from prjury.jury.asking import guarded, itself
from prjury.jury.cascade import Verdict
from prjury.jury.gate import GatePolicy
from prjury.jury.judgment import Judgment, Status
from prjury.models.purse import Spent
from prjury.policy import policy_in_force, policy_notes
from prjury.ports import Doors, Progress, Publisher
from prjury.pull.model import PullRequest, printable
from prjury.registry import Seating, Unwanted, seat
from prjury.report.assemble import assemble
from prjury.report.model import Backport, Cost, PolicyOrigin, Report, Sandbox
from prjury.request import ReviewRequest, Surroundings
from prjury.sources.pulls import NothingToReview, Photo, photographed
from prjury.wiring import build_doors, builds, review_doors

if TYPE_CHECKING:
    from prjury.judges.build.zone import Built
    from prjury.judges.llm.forecast import Forecast


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
        wired = review_doors(request, surroundings, policy.config, photo.store)
        doors = wired.doors
        seating = seat(policy.config, doors, _unwanted(request))
        if request.models:
            wired.models.warm()
        context = _context(photo.pull, _seconds(request, policy.config))
        verdict = _vote(seating, context, doors.progress)
        backports, opinion = _backports(
            request, policy.config, photo, _asking(doors, verdict), context
        )
        report = assemble(
            photo.pull,
            verdict,
            gate_policy=_gate_policy(policy.config),
            skipped=seating.skipped,
            policy=PolicyOrigin(policy.source, policy.hash, policy.resolved),
            sandbox=Sandbox(doors.shell.level, policy.config.sandbox.network),
            version=installed_version("prjury"),
            backports=backports,
            cost=cost_of(verdict, wired.models.spent, opinion),
            elapsed_ms=round((time.monotonic() - started) * 1000),
            notes=(*_notes(request, photo), *pending_note(policy.config)),
        )
    publish(report, publishers)
    return report


def forecast(
    request: ReviewRequest, surroundings: Surroundings
) -> tuple[Forecast, ...] | NothingToReview:
    """What a review would ask of models: event -> PullRequest -> questions. Nobody is asked.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    with photographed(request.wanted) as photo:
        if isinstance(photo, NothingToReview):
            return photo
        policy = policy_in_force(photo.pull, photo.store, request.config, request.policy_path)
        wired = review_doors(request, surroundings, policy.config, photo.store)
        seating = seat(policy.config, wired.doors, _unwanted(request))
        context = _context(photo.pull, _seconds(request, policy.config))
        juries = (tier.jury for tier in seating.cascade.tiers if tier.jury)
        judges = [seat.judge for jury in juries for seat in jury.seats]
        if request.models and _branches(request, policy.config):
            judges.append(suitability.make(SuitabilityOptions(), wired.doors))
        try:
            return tuple(j.forecast(context) for j in judges if isinstance(j, ModelBackedJudge))
        finally:
            wired.doors.progress.close()


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
        options = builds(policy.config)
        if len(options) != 1:
            raise ConfigError(
                f"the policy seats {len(options) or 'no'} build judges, and one is needed",
                remedy="Seat one, such as `judges: [merge, build]`, or name another with --config",
            )
        doors = build_doors(surroundings, policy.config, photo.store)
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


def _refuse_idle_evidence(request: ReviewRequest, config: Config) -> None:
    """Evidence that nobody reads is a mistake: somebody believes that it was judged."""
    if request.evidence and not any(build.from_ == "evidence" for build in builds(config)):
        raise UsageError(
            f"--evidence {request.evidence} is given, and no build judge of the policy reads it",
            remedy="Leave it out, or set `build: {from: evidence}` in the policy",
        )


def _unwanted(request: ReviewRequest) -> Unwanted:
    builds = {} if request.build else {"build": "--no-build"}
    return Unwanted(builds, None if request.models else "--no-llm")


def _vote(seating: Seating, context: PullRequestContext, progress: Progress) -> Verdict:
    try:
        timeout = context.deadline.remaining
        return seating.cascade.vote(context, timeout=timeout, listener=progress)
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


def _asking(doors: Doors, verdict: Verdict) -> Doors | None:
    """The doors to the models; None where no money is spent, because the change is rejected."""
    return None if verdict.status is Status.FAIL else doors


def _backports(
    request: ReviewRequest,
    config: Config,
    photo: Photo,
    doors: Doors | None,
    context: PullRequestContext,
) -> tuple[tuple[Backport, ...], Judgment | None]:
    """The branches' verdicts, and what a model says where they leave the decision open."""
    for branch in request.backport_to:
        photo.store.operator.commit(branch)  # the operator's own word has to name something
    branches = _branches(request, config)
    tried = tuple(try_backport(photo.pull, branch, photo.store) for branch in branches)
    if doors is None or not request.models or not any(map(is_open, tried)):
        return tried, None
    judge = suitability.make(SuitabilityOptions(), doors)
    opinion = guarded(lambda: judge.judge(context), itself)
    opened = (with_opinion(one, opinion) if is_open(one) else one for one in tried)
    return tuple(opened), opinion


def _branches(request: ReviewRequest, config: Config) -> tuple[str, ...]:
    """The branches that the operator or the policy names, each once."""
    named = config.backport.branches
    return tuple(dict.fromkeys((*request.backport_to, *([] if named == "auto" else named))))


def cost_of(verdict: Verdict, spent: Spent, *others: Judgment | None) -> Cost:
    """What the models have taken, also for judges that came to no end, and what memory saved."""
    judgments = (
        *(b.judgment for a in verdict.attempts if a.verdict for b in a.verdict.ballots),
        *filter(None, others),
    )
    usages = (judgment.metadata.get("usage") for judgment in judgments)
    cached = sum(usage["cached_calls"] for usage in usages if usage)
    return Cost(spent.calls, cached, spent.input_tokens, spent.output_tokens, spent.usd)
