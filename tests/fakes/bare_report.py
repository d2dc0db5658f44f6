"""The smallest report that there is, for publishers that do not look into the tiers."""

from __future__ import annotations

from typing import Any

from prjury.jury.gate import Gate
from prjury.jury.judgment import Judgment, Status
from prjury.jury.verdicts import Verdict
from prjury.report.model import Coverage, PolicyOrigin, Report, Sandbox
from prjury.snapshot.model import MergeTrial, PullRequest, Side

PULL = PullRequest(
    repo="octo/shop",
    base=Side("main", "a" * 40),
    head=Side("cart", "b" * 40),
    merge_base="a" * 40,
    merge=MergeTrial("c" * 40),
    number=7,
    title="Move the cart",
)


def report(status: Status = Status.PASS, gate: Gate = Gate.SUCCESS, **more: Any) -> Report:
    """A report with this verdict and nothing in its tiers."""
    fields: dict[str, Any] = {
        "pull": PULL,
        "verdict": Verdict(Judgment(status, "build: as told"), "build", ()),
        "gate": gate,
        "headline": "Ready to merge",
        "tiers": (),
        "coverage": Coverage("tree", 0, 0, 0, 0),
        "policy": PolicyOrigin("default", "0" * 64),
        "sandbox": Sandbox("L1", network=True),
        "version": "0.1.0",
    }
    return Report(**{**fields, **more})
