"""What a request and the policy in force come to together."""

from __future__ import annotations

from dataclasses import replace

from prjury.app.registry import Seating, Unwanted
from prjury.app.request import ReviewRequest
from prjury.deadline import Deadline
from prjury.git.open_snapshot import Snapshot
from prjury.judges.context import PullRequestContext
from prjury.jury.cascade import Verdict
from prjury.jury.gate import GatePolicy
from prjury.jury.judgment import Judgment, Status
from prjury.models.budget import Spent
from prjury.policy.schema import Config
from prjury.ports import Progress
from prjury.report.model import Cost, Override
from prjury.snapshot import exempt
from prjury.snapshot.model import PullRequest, printable


def unwanted(request: ReviewRequest) -> Unwanted:
    """The judges that the operator does not want."""
    builds = {} if request.build else {"build": "--no-build"}
    return Unwanted(builds, None if request.models else "--no-llm")


def seconds(request: ReviewRequest, config: Config) -> float:
    """How long all judges together may take."""
    return config.limits.wall if request.timeout is None else request.timeout


def context_of(pull: PullRequest, seconds: float) -> PullRequestContext:
    """What judges are asked about, and until when."""
    goal = f"merge {printable(pull.head.ref)} into {printable(pull.base.ref)}"
    return PullRequestContext(goal, pull=pull, deadline=Deadline.after(seconds))


def gate_policy(config: Config) -> GatePolicy:
    """What closes the gate."""
    gate = config.gate
    block_on = frozenset(Status(word) for word in gate.block_on)
    return GatePolicy(block_on, gate.not_configured, gate.coverage_floor)


def exempted(snapshot: Snapshot, config: Config) -> Snapshot:
    """The photograph, with the files marked that the policy exempts from being read."""
    return replace(snapshot, pull=exempt.exempted(snapshot.pull, config.coverage.exempt))


def override(given: Override | None, config: Config) -> Override | None:
    """The maintainer's word, if it counts under this policy."""
    label = config.gate.override.label
    return given if given and label and given.label.casefold() == label.casefold() else None


def vote(seating: Seating, context: PullRequestContext, progress: Progress) -> Verdict:
    """The cascade's verdict; whoever listens is told that it is over."""
    try:
        timeout = context.deadline.remaining
        return seating.cascade.vote(context, timeout=timeout, listener=progress)
    finally:
        progress.close()


def cost_of(verdict: Verdict, spent: Spent, *others: Judgment | None) -> Cost:
    """What the models have taken, also for judges that came to no end, and what memory saved."""
    judgments = (
        *(b.judgment for a in verdict.attempts if a.verdict for b in a.verdict.ballots),
        *filter(None, others),
    )
    usages = (judgment.metadata.get("usage") for judgment in judgments)
    cached = sum(usage["cached_calls"] for usage in usages if usage)
    return Cost(spent.calls, cached, spent.input_tokens, spent.output_tokens, spent.usd)
