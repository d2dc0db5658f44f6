"""``prjury backport``: event -> PullRequest -> release branches -> verdicts, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from prjury.app import backports, steps
from prjury.app.composition import review_ports
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.git.open_snapshot import Landed, NothingToReview, Snapshot, SnapshotRequest
from prjury.policy.load import Policy
from prjury.report.backports import Backports
from prjury.resources import own_version


@dataclass(frozen=True)
class BackportResult:
    """The verdicts, and what they were made from.

    Attributes:
        policy: in force.
    """

    told: Backports
    snapshot: Snapshot
    policy: Policy


def backport(request: ReviewRequest, environment: RunEnvironment) -> Backports | NothingToReview:
    """Judges the change for the branches that the operator names, or else for the policy's.

    A change that the base holds already is judged as it came in.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    with judge_backports(request, environment) as found:
        return found.told if isinstance(found, BackportResult) else found


@contextmanager
def judge_backports(
    request: ReviewRequest, environment: RunEnvironment, *, texts: bool = True
) -> Iterator[BackportResult | NothingToReview]:
    """The same, as long as the repository is open.

    Args:
        texts: whether what the author says in title and description may ask for a backport.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    started = time.monotonic()
    with steps.open_change(replace(request, wanted=_as_landed(request.wanted))) as change:
        if isinstance(change, NothingToReview):
            yield change
            return
        snapshot, policy = change.snapshot, change.policy
        wired = review_ports(request, environment, policy.config, snapshot)
        chosen = change.choose_branches(alone=True)
        if not chosen.names:
            why = "; ".join([*chosen.notes, *chosen.skipped]) or "the policy names none"
            yield NothingToReview(f"No release branch to judge for: {why}. Name one with --onto.")
            return
        context = change.start_clock()
        bench = backports.BranchJudges(snapshot, wired.ports, policy.config, request.build, texts)
        try:
            tried = bench.judged(chosen.names, context.deadline)
            opinion = backports.ask_opinion(tried, wired.ports, context) if request.models else None
        finally:
            wired.ports.progress.close()
        told = Backports(
            pull=snapshot.pull,
            backports=backports.with_opinions(tried, opinion),
            policy=policy.source,
            policy_hash=policy.hash,
            version=own_version(),
            notes=(*snapshot.pull.notes, *chosen.notes),
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )
        yield BackportResult(told, snapshot, policy)


def _as_landed(wanted: SnapshotRequest) -> SnapshotRequest:
    return wanted if wanted.landed else replace(wanted, landed=Landed())
