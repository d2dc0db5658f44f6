"""The stage decide: ask models about evidence, with their key, but no repository and no token."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, cast

from msgspec import structs

from prjury.app import steps
from prjury.app.composition import model_panel
from prjury.app.registry import seat
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.stages.evidence import Opinions, StageEvidence, TakenAlong
from prjury.app.stages.replay import make_records, replay_records
from prjury.models.memory import memory_at
from prjury.ports import NoModels, Panel, Ports


def ask_needed_models(
    evidence: StageEvidence,
    evidence_digest: str,
    request: ReviewRequest,
    environment: RunEnvironment,
) -> Opinions:
    """Ask the models that the evidence waits for, and no others; programs are replayed from it."""
    started = time.monotonic()
    trusting = structs.replace(request, trusts_policy=request.trusts_policy or evidence.trusted)
    panel = model_panel(trusting, environment, evidence.policy.config)
    ports = Ports(
        TakenAlong(evidence.files),
        cast("Any", None),  # no program runs here
        environment.progress,
        models=NoModels(Panel((), *evidence.spares)) if evidence.spares else panel,
        memory=memory_at(environment.environ, panel.secret),
        redact=environment.redact,
    )
    casting = replay_records(evidence.records, ask=True)
    seating = seat(evidence.policy.config, ports, evidence.unwanted, casting)
    panel.start_loading_clients()
    seconds = evidence.seconds if request.timeout is None else request.timeout
    context = replace(
        steps.context_of(evidence.pull, seconds),
        find_call_sites=lambda: evidence.call_sites,
        read_issues=lambda: evidence.issues,
    )
    verdict = steps.vote(seating, context, ports.progress)
    asks = evidence.unwanted.model_backed is None
    opinion = steps.ask_opinion(evidence.backports, verdict, ports, context) if asks else None
    waited = {place for place, record in evidence.records.items() if record.waits}
    return Opinions(
        evidence_digest,
        {at: record for at, record in make_records(seating, verdict).items() if at in waited},
        steps.cost_of(verdict, panel.spent, opinion),
        opinion,
        round((time.monotonic() - started) * 1000),
    )
