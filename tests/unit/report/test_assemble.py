from __future__ import annotations

from fakes import reports as fake
from prjury.jury.gate import Gate, GatePolicy
from prjury.jury.judgment import Judgment, Status
from prjury.report.assemble import gate_policy_of
from prjury.report.model import SkippedJudge

UNREAD = Judgment.passed("ok", metadata={"scope": {"read": ["a.py"], "unread": []}})
HALF = fake.pull([fake.file("a.py", 50), fake.file("b.py", 50)], notes=("the tree is dirty",))
TIER = fake.tier("t", fake.ballot("j", UNREAD))


def test_a_pass_below_the_floor_is_an_error_with_a_closed_gate() -> None:
    report = fake.report(TIER, pull_request=HALF)
    assert report.verdict.status is Status.ERROR
    assert report.gate is Gate.ACTION_REQUIRED
    assert report.coverage.added_lines_judged == 50


def test_the_floor_is_the_policys() -> None:
    report = fake.report(TIER, pull_request=HALF, gate_policy=GatePolicy(coverage_floor=0.5))
    assert report.verdict.status is Status.PASS


def test_a_failure_below_the_floor_stays_a_failure() -> None:
    bad = Judgment.failed("no", metadata={"scope": {"read": [], "unread": []}})
    report = fake.report(fake.tier("t", fake.ballot("j", bad)), pull_request=HALF)
    assert report.verdict.status is Status.FAIL
    assert report.gate is Gate.FAILURE


def test_judges_that_were_never_seated_stay_with_their_tier() -> None:
    skipped = {"t": [SkippedJudge("build", "--no-build")], "gone": [SkippedJudge("x", "y")]}
    report = fake.report(TIER, skipped=skipped)
    assert [tier.skipped for tier in report.tiers] == [(SkippedJudge("build", "--no-build"),)]


def test_the_gate_that_was_applied_is_recorded() -> None:
    strict = GatePolicy(frozenset({Status.FAIL}), "block", 0.5)
    report = fake.report(TIER, gate_policy=strict)
    assert gate_policy_of(report.policy) == strict
    assert report.policy.resolved["tiers"] == fake.TIERS
