from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.refusals import refused
from prjury.errors import ExitCode
from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.gate import (
    UNREAD_CONTENT,
    Gate,
    GatePolicy,
    err_below_coverage_floor,
    gate,
    lower_unread_pass,
)
from prjury.jury.judgment import Judgment, Status
from prjury.jury.verdicts import TierPolicy, Verdict
from prjury.jury.voting import Ballot, ConsensusVoting, ErrorPolicy
from strategies import Says, seated

REJECT, ACCEPT, FINAL = TierPolicy
SILENT = (Status.ABSTAIN, Status.ERROR)
FINE = Judgment.passed("fine")
BROKEN = Judgment.failed("broken")


def silent(label: str) -> Judgment:
    return Judgment.abstained(label, label)


def erring(reason: str) -> Judgment:
    return Judgment.errored(reason, metadata={"reason": reason})


def tier(name: str, *said: Judgment, policy: TierPolicy = REJECT, **options: Any) -> Tier[Any]:
    judges = [Says(f"{name}{n}", judgment) for n, judgment in enumerate(said)]
    voting = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)
    return Tier(name, seated(judges, voting) if judges else None, policy, **options)


def verdict(*said: Judgment, advisory: Iterable[Judgment] = ()) -> Verdict:
    """A blocking tier with these judges, then the advisory one that says the rest."""
    last = tier("quality", *advisory, policy=FINAL, advisory=True)
    return CascadedJury([tier("build", *said), last]).vote(None)


# The table, line by line: what happened, and what it does in a blocking tier.
TABLE = [
    pytest.param(silent("not_applicable"), Gate.SUCCESS, id="does not apply"),
    pytest.param(silent("not_configured"), Gate.SUCCESS, id="no provider or key"),
    pytest.param(FINE, Gate.SUCCESS, id="passed"),
    pytest.param(BROKEN, Gate.FAILURE, id="failed"),
    *(
        pytest.param(silent(label), Gate.ACTION_REQUIRED, id=f"could not judge: {label}")
        for label in ("refused", "budget", "tainted", "invalid_reply", "too_large")
    ),
    *(
        pytest.param(erring(reason), Gate.ACTION_REQUIRED, id=f"error: {reason}")
        for reason in ("crashed", "timeout", "report_invalid", "sandbox_unavailable")
    ),
]
EXIT_CODES = {
    Gate.SUCCESS: ExitCode.OPEN,
    Gate.FAILURE: ExitCode.REJECTED,
    Gate.ACTION_REQUIRED: ExitCode.NOT_JUDGED,
}


@pytest.mark.parametrize(("said", "expected"), TABLE)
def test_a_blocking_tier_in_which_somebody_passes(said: Judgment, expected: Gate) -> None:
    conclusion = gate(verdict(FINE, said))
    assert conclusion is expected
    assert conclusion.exit_code is EXIT_CODES[expected]


@pytest.mark.parametrize(("said", "expected"), TABLE)
def test_a_blocking_tier_alone(said: Judgment, expected: Gate) -> None:
    unvoted = expected is Gate.SUCCESS and said.status is Status.ABSTAIN
    assert gate(verdict(said)) is (Gate.ACTION_REQUIRED if unvoted else expected)


@pytest.mark.parametrize(("said", "expected"), TABLE)
def test_one_judge_of_a_blocking_tier(said: Judgment, expected: Gate) -> None:
    assert gate(verdict(FINE, said)) is expected
    assert gate(verdict(said, FINE, silent("not_applicable"))) is expected


@pytest.mark.parametrize(("said", "expected"), TABLE)
def test_an_advisory_tier_neither_closes_nor_opens(said: Judgment, expected: Gate) -> None:
    assert gate(verdict(FINE, advisory=[said])) is Gate.SUCCESS
    assert gate(verdict(advisory=[said])) is Gate.ACTION_REQUIRED
    assert gate(verdict(BROKEN, advisory=[said])) is Gate.FAILURE


#: The most lenient policy that there is.
LENIENT = GatePolicy(block_on=frozenset(), not_configured="pass", coverage_floor=0.0)


@pytest.mark.parametrize("policy", [GatePolicy(), LENIENT])
@pytest.mark.parametrize(
    "said",
    [
        [],
        [silent("not_configured")],
        [silent("not_applicable"), silent("not_applicable")],
        [silent("not_applicable"), silent("not_configured")],
    ],
)
@pytest.mark.parametrize("advice", [[], [FINE], [BROKEN], [erring("crashed")]])
def test_no_policy_opens_where_nobody_voted(
    policy: GatePolicy, said: list[Judgment], advice: list[Judgment]
) -> None:
    voted = verdict(*said, advisory=advice)
    assert (voted.status, voted.aggregated.label) == (Status.ABSTAIN, "nobody_voted")
    assert gate(voted, policy) is Gate.ACTION_REQUIRED
    assert gate(err_below_coverage_floor(voted, 0, 10, 0.0), policy) is Gate.ACTION_REQUIRED


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([BROKEN, erring("crashed"), silent("budget"), FINE], Gate.FAILURE),
        ([erring("crashed"), silent("budget"), FINE], Gate.ACTION_REQUIRED),
        ([silent("budget"), FINE], Gate.ACTION_REQUIRED),
        ([FINE], Gate.SUCCESS),
    ],
)
def test_the_order_of_the_statuses(said: list[Judgment], expected: Gate) -> None:
    assert gate(verdict(*said)) is expected
    assert gate(verdict(*reversed(said))) is expected


# The policy of the gate.


@pytest.mark.parametrize(
    ("said", "policy", "expected"),
    [
        (silent("not_configured"), "block", Gate.ACTION_REQUIRED),
        (silent("not_configured"), "pass", Gate.SUCCESS),
        (silent("not_applicable"), "block", Gate.SUCCESS),
        (FINE, "block", Gate.SUCCESS),
    ],
)
def test_a_missing_key_may_close_the_gate(said: Judgment, policy: Any, expected: Gate) -> None:
    assert gate(verdict(FINE, said), GatePolicy(not_configured=policy)) is expected
    assert gate(verdict(FINE, advisory=[said]), GatePolicy(not_configured=policy)) is Gate.SUCCESS


@pytest.mark.parametrize(
    ("said", "block_on", "expected"),
    [
        (BROKEN, ["error", "abstain"], Gate.SUCCESS),
        (erring("crashed"), ["fail", "abstain"], Gate.SUCCESS),
        (silent("budget"), ["fail", "error"], Gate.SUCCESS),
        (BROKEN, ["fail"], Gate.FAILURE),
        (erring("crashed"), ["error"], Gate.ACTION_REQUIRED),
        (silent("budget"), ["abstain"], Gate.ACTION_REQUIRED),
    ],
)
def test_what_blocks_can_be_chosen(said: Judgment, block_on: Any, expected: Gate) -> None:
    assert gate(verdict(FINE, said), GatePolicy(block_on)) is expected


def test_a_status_that_is_let_through_hides_no_other() -> None:
    rest = GatePolicy(frozenset({Status.ERROR, Status.ABSTAIN}))
    assert gate(verdict(BROKEN, erring("crashed")), rest) is Gate.ACTION_REQUIRED
    assert gate(verdict(BROKEN, silent("budget")), rest) is Gate.ACTION_REQUIRED
    assert gate(verdict(FINE, BROKEN, silent("not_applicable")), rest) is Gate.SUCCESS
    tiers = [tier("a", BROKEN, continue_on_reject=True), tier("b", erring("x"), policy=FINAL)]
    assert gate(CascadedJury(tiers).vote(None), rest) is Gate.ACTION_REQUIRED
    missing = GatePolicy(frozenset({Status.ERROR}), not_configured="block")
    assert gate(verdict(BROKEN, silent("not_configured")), missing) is Gate.ACTION_REQUIRED


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"block_on": {Status.PASS}}, "PASS cannot close the gate"),
        ({"block_on": {"pass"}}, "PASS cannot close the gate"),
        ({"block_on": {"hope"}}, "'hope' is not a valid Status"),
        ({"not_configured": "blocks"}, "not_configured is 'pass' or 'block', not 'blocks'"),
        ({"coverage_floor": -0.1}, "coverage_floor is in 0..1, not -0.1"),
        ({"coverage_floor": 1.5}, "coverage_floor is in 0..1, not 1.5"),
        ({"coverage_floor": 95}, "coverage_floor is in 0..1, not 95"),
        ({"coverage_floor": math.nan}, "coverage_floor must be finite, not nan"),
    ],
)
def test_an_impossible_policy_is_refused(options: dict[str, Any], words: str) -> None:
    with refused(ValueError, words):
        GatePolicy(**options)


@pytest.mark.parametrize("floor", [0, 0.0, 0.5, 1, 1.0])
def test_the_floor_is_a_share(floor: float) -> None:
    assert GatePolicy(coverage_floor=floor).coverage_floor == floor


def test_an_excuse_for_nobody_is_no_status_against_the_merge() -> None:
    passed = verdict(FINE)
    missing = replace(passed, aggregated=silent("not_configured"))
    assert gate(missing) is Gate.SUCCESS
    assert gate(missing, GatePolicy(not_configured="block")) is Gate.ACTION_REQUIRED
    dear = replace(passed, aggregated=silent("budget"))
    assert gate(dear) is Gate.ACTION_REQUIRED


class Uncountable:
    """A strategy that cannot count what nobody got wrong."""

    name = "uncountable"

    def aggregate(self, ballots: object, /) -> Judgment:
        return erring("uncountable")


@pytest.mark.parametrize("policy", TierPolicy)
def test_a_tier_that_erred_without_an_erring_ballot_is_hidden_by_no_fail(
    policy: TierPolicy,
) -> None:
    first = tier("build", BROKEN, continue_on_reject=True)
    second = Tier("vote", seated([Says("a", FINE)], Uncountable()), policy)
    voted = CascadedJury([first, second, tier("last", policy=FINAL)]).vote(None)
    assert voted.status is Status.FAIL
    assert gate(voted, GatePolicy(frozenset({Status.ERROR}))) is Gate.ACTION_REQUIRED


@st.composite
def gate_policies(draw: st.DrawFn) -> GatePolicy:
    closing = st.sets(st.sampled_from([Status.FAIL, Status.ERROR, Status.ABSTAIN]))
    missing: st.SearchStrategy[Any] = st.sampled_from(["pass", "block"])
    return GatePolicy(frozenset(draw(closing)), draw(missing), draw(strategies.shares))


@given(strategies.verdicts())
def test_the_default_gate_is_the_status(verdict: Verdict) -> None:
    conclusion = gate(verdict)
    assert (conclusion is Gate.SUCCESS) is (verdict.status is Status.PASS)
    assert (conclusion is Gate.FAILURE) is (verdict.status is Status.FAIL)


@given(strategies.verdicts(), gate_policies(), st.integers(0, 5), st.integers(0, 5))
def test_no_gate_is_open_without_a_vote_or_over_what_closes_it(
    verdict: Verdict, policy: GatePolicy, read: int, unread: int
) -> None:
    """Whatever the tiers, their judges, their voting and the gate's policy are."""
    held = err_below_coverage_floor(verdict, read, read + unread, policy.coverage_floor)
    if gate(held, policy) is not Gate.SUCCESS:
        return
    blocking = [a for a in verdict.attempts if a.ran and not a.advisory]
    assert any(Status.PASS in attempt.statuses for attempt in blocking)
    closing = {*policy.block_on}
    assert held.status not in closing
    for attempt in blocking:
        if attempt.policy is REJECT:
            assert not attempt.statuses & closing & {Status.FAIL, Status.ERROR}
        if attempt.policy is ACCEPT:
            assert not attempt.statuses & closing & {Status.ERROR}
    assert blocking[-1].status not in closing
    labels = {said.label for a in blocking if a.verdict for said in a.verdict.individual}
    assert policy.not_configured == "pass" or "not_configured" not in labels


@given(strategies.cascades(), gate_policies(), strategies.benches(SILENT))
def test_advice_and_silence_open_no_gate(
    cascade: CascadedJury[object], policy: GatePolicy, silence: list[Ballot]
) -> None:
    """Advisory tiers of any kind, and a blocking one whose judges abstain or err."""
    quiet = Tier("quiet", seated([Says(b.judge, b.judgment) for b in silence], ConsensusVoting()))
    advice = [replace(one, advisory=True) for one in cascade.tiers]
    voted = CascadedJury([quiet, *advice]).vote(None)
    assert voted.status is not Status.PASS
    assert gate(voted, policy) is not Gate.SUCCESS


# Coverage.


@pytest.mark.parametrize(
    ("judged", "total", "floor", "enough"),
    [
        (95, 100, 0.95, True),
        (94, 100, 0.95, False),
        (0, 0, 0.95, True),
        (0, 0, 1.0, True),
        (55, 100, 0.55, True),
        (7, 100, 0.07, True),
        (29, 100, 0.29, True),
        (999, 1000, 1.0, False),
        (0, 10, 0.0, True),
    ],
)
def test_the_coverage_floor(judged: int, total: int, floor: float, enough: bool) -> None:
    before = verdict(FINE)
    held = err_below_coverage_floor(before, judged, total, floor)
    if enough:
        assert held is before
    else:
        assert (held.status, held.decided_by) == (Status.ERROR, None)
        assert held.aggregated.metadata == {"reason": "coverage_floor"}
        assert f"only {judged} of {total} added lines" in held.aggregated.reasoning
        assert held.attempts == before.attempts
        assert gate(held) is Gate.ACTION_REQUIRED


@given(st.integers(1, 2000), st.integers(1, 100))
def test_a_floor_in_percent_is_met_exactly(hundreds: int, percent: int) -> None:
    before, floor = verdict_of_one_pass, percent / 100
    judged, total = hundreds * percent, hundreds * 100
    assert err_below_coverage_floor(before, judged, total, floor) is before
    assert err_below_coverage_floor(before, judged - 1, total, floor) is not before


verdict_of_one_pass = verdict(FINE)


def test_a_fail_stays_a_fail() -> None:
    failed = verdict(BROKEN)
    assert err_below_coverage_floor(failed, 0, 10, 0.95) is failed


def test_an_error_stays_an_error_and_says_both() -> None:
    held = err_below_coverage_floor(verdict(erring("timeout")), 0, 10, 0.95)
    assert held.status is Status.ERROR
    assert held.aggregated.metadata["reason"] == "timeout"
    assert "timeout; only 0 of 10" in held.aggregated.reasoning


@pytest.mark.parametrize("said", [FINE, BROKEN, erring("crashed"), silent("not_configured")])
def test_a_missed_floor_closes_the_gate_where_only_advice_was_given(said: Judgment) -> None:
    held = err_below_coverage_floor(verdict(advisory=[said]), 0, 10, 0.95)
    assert held.status is Status.ERROR
    assert gate(held) is Gate.ACTION_REQUIRED


@pytest.mark.parametrize(
    ("unread", "words"),
    [
        (["lib/a.jar"], "lib/a.jar changed"),
        (["lib/a.jar", "b"], "lib/a.jar and 1 more changed"),
        (["lib/a.jar", "b", "c"], "lib/a.jar and 2 more changed"),
    ],
)
def test_what_no_judge_can_read_is_no_pass(unread: list[str], words: str) -> None:
    passed = verdict(FINE)
    held = lower_unread_pass(passed, unread)
    expected = Judgment.abstained(
        f"{words}, and no judge can read such content",
        UNREAD_CONTENT,
        metadata={"reason": UNREAD_CONTENT},
    )
    assert (held.aggregated, held.decided_by) == (expected, None)
    assert held.attempts == passed.attempts
    assert gate(held) is Gate.ACTION_REQUIRED


def test_where_nothing_is_unread_or_nothing_passed_a_verdict_stays() -> None:
    passed, failed = verdict(FINE), verdict(BROKEN)
    assert lower_unread_pass(passed, []) is passed
    assert lower_unread_pass(failed, ["lib/a.jar"]) is failed
