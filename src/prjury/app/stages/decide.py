"""JUDGE: asks models about evidence; it has their key, no repository and no token."""

from __future__ import annotations

import time
from typing import Any

from prjury.app import backports, terms
from prjury.app.composition import model_panel
from prjury.app.registry import Seating, seat
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.stages.evidence import Opinions, StageEvidence
from prjury.app.stages.files import TakenAlong
from prjury.app.stages.replay import Asking, Records, records_of
from prjury.jury.cascade import Verdict
from prjury.jury.judgment import Status
from prjury.models.memory import memory_at
from prjury.ports import NoModels, Ports


def decide(
    evidence: StageEvidence, digest: str, request: ReviewRequest, environment: RunEnvironment
) -> Opinions:
    """Evidence -> cascade, in which programs say again what they said -> what models said.

    Args:
        digest: sha256 of the evidence's file.
        request: the operator's word on models; the pull request is that of the evidence.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    started = time.monotonic()
    config = evidence.policy.config
    bench = model_panel(request, environment, config)
    nobody: Any = None  # what runs programs is not here
    ports = Ports(
        TakenAlong(evidence.files),
        nobody,
        environment.progress,
        models=NoModels(*evidence.spares) if evidence.spares else bench,
        memory=memory_at(environment.environ, bench.secret),
        redact=environment.redact,
    )
    cast = Asking(evidence.records)
    seating = seat(config, ports, evidence.unwanted, cast)
    bench.warm()
    seconds = evidence.seconds if request.timeout is None else request.timeout
    context = terms.context_of(evidence.pull, seconds)
    verdict = terms.vote(seating, context, ports.progress)
    asks = evidence.unwanted.model_backed is None and verdict.status is not Status.FAIL
    opinion = backports.ask_opinion(evidence.backports, ports, context) if asks else None
    return Opinions(
        digest,
        _said(evidence.records, cast, seating, verdict),
        terms.cost_of(verdict, bench.spent, opinion),
        opinion,
        round((time.monotonic() - started) * 1000),
    )


def _said(records: Records, cast: Asking, seating: Seating, verdict: Verdict) -> Records:
    """What those said who had waited, as far as they were reached."""
    every = records_of(seating, cast.places, verdict)
    waited = (place for place, record in records.items() if record.waits)
    return {place: every[place] for place in waited if place in every}
