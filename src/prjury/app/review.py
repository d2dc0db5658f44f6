"""The whole review in one process: event -> Snapshot -> cascade -> Verdict -> Report.

This is the page to read first. Each step is one function of `steps`, `composition`, `registry` or
`release_branches`; the four stages in `stages` are lists of the same steps, for jobs of their own.
The face that asked, `cli` or `action`, has the report published.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

from prjury.app import steps
from prjury.app.composition import make_review_ports, runs_others
from prjury.app.registry import seat_judges
from prjury.app.release_branches import with_opinions
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.steps import OpenedChange
from prjury.policy.tiers import SuitabilityOptions
from prjury.report.assemble import assemble
from prjury.report.model import Report, Sandbox
from prjury.resources import program_version

if TYPE_CHECKING:
    from prjury.judges.quality.model_seat import Forecast


def run(request: ReviewRequest, environment: RunEnvironment) -> Report:
    """Judge a change; raises NothingToReview where there is none."""
    started = time.monotonic()
    with steps.open_change(request) as change:
        steps.refuse_unread_evidence(change)
        environment.begun(change.policy)
        steps.record_change(change, environment.journal, started)
        report = _judge_change(change, environment, started)
        steps.record_verdict(report, environment.journal)
        return report


def _judge_change(change: OpenedChange, environment: RunEnvironment, started: float) -> Report:
    request, config = change.request, change.config
    ports, models = make_review_ports(request, environment, config, change.snapshot)
    shell = ports.shell
    seating = seat_judges(config, ports, change.unwanted, steps.choose_casting(change))
    if request.models:
        models.start_loading_clients()
    context = change.add_call_site_and_issue_lookups(change.start_clock(), environment.environ)
    branches = change.branch_judges(ports, build=request.build)
    if runs_others(request, config):
        branches.read_packs()
    with closing(ports.progress), ThreadPoolExecutor(1) as pool:
        chosen = change.choose_branches()
        begun = branches.start_unless_built_or_conflicting(chosen.names, context.deadline, pool)
        verdict = steps.hold_vote(seating, context, ports.progress)
        verdict, earned = steps.apply_calibration(change, verdict)
        tried = branches.judge_or_skip_each(chosen.names, verdict.status, context.deadline, begun)
        opinion = steps.ask_opinion(tried, verdict, ports, context) if request.models else None
        recovery = steps.attempt_repair_if_wanted(change, seating, verdict, ports, context)
    return assemble(
        change.pull,
        verdict,
        skipped=seating.skipped,
        policy=steps.origin_of(change.policy),
        sandbox=Sandbox(shell.level, config.sandbox.network, tuple(shell.gaps), tuple(shell.lent)),
        version=program_version(),
        backports=with_opinions(tried, opinion),
        cost=steps.sum_costs(verdict, models.spent, opinion, recovery=recovery),
        elapsed_ms=round((time.monotonic() - started) * 1000),
        notes=(*change.notes, *chosen.notes, *earned),
        override=request.override,
        recovery=recovery,
        answers_commands=change.answers_commands,
    )


def forecast_model_use(request: ReviewRequest, environment: RunEnvironment) -> tuple[Forecast, ...]:
    """Estimate what a review would ask of models, without asking any."""
    from prjury.judges.quality.judge import ModelBackedJudge  # noqa: PLC0415 - a review may need none
    from prjury.judges.quality.kinds import make_suitability  # noqa: PLC0415 - as above

    with steps.open_change(request) as change:
        ports, _ = make_review_ports(request, environment, change.config, change.snapshot)
        seating = seat_judges(change.config, ports, change.unwanted)
        context = change.add_call_site_and_issue_lookups(change.start_clock(), environment.environ)
        juries = (tier.jury for tier in seating.cascade.tiers if tier.jury)
        judges = [seat.judge for jury in juries for seat in jury.seats]
        if request.models and change.choose_branches().names:
            judges.append(make_suitability(SuitabilityOptions(), ports))
        try:
            asking = [judge for judge in judges if isinstance(judge, ModelBackedJudge)]
            return tuple(judge.forecast(context) for judge in asking)
        finally:
            ports.progress.close()
