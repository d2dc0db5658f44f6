from __future__ import annotations

import json
from typing import Any

from fakes import reports as fake
from fakes.derivation import gate_from_report
from prjury.jury.count import NeverLifting, NeverOverruling, aggregate_ballots
from prjury.jury.gate import Gate
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import AverageVoting
from prjury.policy.load import default_policy
from prjury.report.codec import report_to_json
from prjury.report.model import PolicyOrigin

RESOLVED = default_policy().resolved


def written(**more: Any) -> dict[str, Any]:
    ballots = (fake.ballot("merge", fake.MERGED), fake.ballot("build", fake.BUILT))
    policy = PolicyOrigin("default", "c" * 64, {**RESOLVED, **more})
    report = fake.report(
        fake.tier("build", *ballots),
        fake.tier("version-patterns", fake.ballot("patterns", fake.PATTERNS)),
        fake.quality_tier(fake.NO_MODEL),
        policy=policy,
    )
    loaded: dict[str, Any] = json.loads(json.dumps(report_to_json(report)))
    return loaded


def test_the_votes_are_counted_by_the_policy_and_not_by_the_report() -> None:
    assert gate_from_report(written(), recounts=True) is Gate.SUCCESS
    other = [{**tier, "voting": {"median": {"threshold": 1.0}}} for tier in RESOLVED["tiers"]]
    recounted = written(tiers=other)
    recounted["tiers"][1]["judgments"][0]["score"] = 0.5
    assert gate_from_report(recounted, recounts=True) is Gate.FAILURE


def test_judges_that_only_lower_are_known_from_the_counts() -> None:
    passed = Judgment.passed("fine")
    ballots = [
        fake.ballot("merge", Judgment.failed("no"), kind=JudgeType.LLM_POWERED),
        fake.ballot("build", passed, kind=JudgeType.LLM_POWERED),
    ]
    voting = NeverOverruling(NeverLifting(AverageVoting(0.5), frozenset({"build"})))
    said = aggregate_ballots(voting, ballots)
    assert said.status is Status.FAIL
    assert said.metadata["aggregation"]["only_lower"] == ("build",)
