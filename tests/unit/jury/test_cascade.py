from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

import strategies
from prjury.jury.bench import JuryVerdict, Seat
from prjury.jury.cascade import CascadedJury, Tier, TierAttempt, TierPolicy, Verdict, conclude
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    TiePolicy,
    VotingStrategy,
    WeightedAverageVoting,
)
from strategies import Says, seated

REJECT, ACCEPT, FINAL = TierPolicy
PASS, FAIL, ABSTAIN, ERROR = Status
SAYS: Mapping[str, Judgment] = {
    "P": Judgment.passed("fine", confidence=0.9),
    "F": Judgment.failed("broken"),
    "E": Judgment.errored("crashed", metadata={"reason": "crashed"}),
    "N": Judgment.abstained("docs only", "not_applicable"),
    "K": Judgment.abstained("no key", "not_configured"),
    "B": Judgment.abstained("too dear", "budget"),
    "A": Judgment.abstained("no idea"),
}
SEVERITY = [PASS, ABSTAIN, ERROR, FAIL]


def tier(
    name: str,
    ballots: str,
    policy: TierPolicy = REJECT,
    voting: VotingStrategy | None = None,
    **options: Any,
) -> Tier[object]:
    """A tier whose judges say these letters; ``-`` seats nobody."""
    judges = [Says(letter, SAYS[letter]) for letter in ballots if letter != "-"]
    voting = voting or ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)
    return Tier(name, seated(judges, voting) if judges else None, policy, **options)


def vote(*tiers: Tier[object]) -> Verdict:
    return CascadedJury(tiers).vote(None)


def ran(verdict: Verdict) -> list[str]:
    return [attempt.name for attempt in verdict.attempts if attempt.ran]


FINALLY_FINE = tier("last", "P", FINAL)


# How a cascade is built.


def test_a_cascade_has_tiers() -> None:
    with pytest.raises(ValueError, match="at least one tier"):
        CascadedJury([])


@pytest.mark.parametrize("policy", [REJECT, ACCEPT])
def test_the_last_tier_is_final(policy: TierPolicy) -> None:
    with pytest.raises(ValueError, match="must be a FINAL_TIER"):
        CascadedJury([FINALLY_FINE, tier("a", "P", policy)])


def test_names_are_unique() -> None:
    with pytest.raises(ValueError, match="unique"):
        CascadedJury([tier("last", "P"), FINALLY_FINE])


@pytest.mark.parametrize(
    "options",
    [
        {"name": " "},
        {"policy": "reject"},
        {"policy": None},
        {"on_error": "ignore"},
        {"min_confidence": 1.5},
        {"min_confidence": float("nan")},
    ],
)
def test_an_impossible_tier_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"name|TierPolicy|on_error|min_confidence"):
        Tier(**{"name": "a", "jury": None, **options})


@pytest.mark.parametrize("name", ["advisory", "continue_on_reject"])
@pytest.mark.parametrize("word", ["false", "no", 0, None])
def test_yes_and_no_are_no_words(name: str, word: Any) -> None:
    options: dict[str, Any] = {"name": "a", "jury": None, name: word}
    with pytest.raises(TypeError, match=name):
        Tier(**options)
    with pytest.raises(TypeError, match="advisory"):
        TierAttempt("a", FINAL, word)


def test_a_policy_given_as_a_word_is_that_policy() -> None:
    lenient = MajorityVoting()
    verdict = vote(tier("gate", "PPF", "reject_on_any_fail", lenient), FINALLY_FINE)  # type: ignore[arg-type]
    assert (verdict.status, ran(verdict)) == (FAIL, ["gate"])
    bench = (Ballot("a", SAYS["F"]), Ballot("b", SAYS["P"]))
    attempt = TierAttempt("a", "reject_on_any_fail", verdict=JuryVerdict(SAYS["P"], bench))  # type: ignore[arg-type]
    assert attempt.status is FAIL


def test_the_tiers_are_fixed() -> None:
    tiers = [FINALLY_FINE]
    cascade = CascadedJury(tiers)
    tiers.append(tier("more", "F", FINAL))
    assert [attempt.name for attempt in cascade.vote(None).attempts] == ["last"]


# When a tier ends the matter.


def test_a_rejecting_tier_stops_even_if_the_vote_passed() -> None:
    verdict = vote(tier("gate", "PPF", voting=MajorityVoting()), FINALLY_FINE)
    gate, last = verdict.attempts
    assert gate.verdict
    assert gate.verdict.aggregated.status is PASS
    assert (verdict.status, verdict.decided_by, ran(verdict)) == (FAIL, "gate", ["gate"])
    assert verdict.aggregated.reasoning == "gate: F: broken"
    assert verdict.aggregated.score is None
    assert (last.ran, last.skipped_because, last.status) == (False, "gate failed", None)


def test_a_rejecting_tier_stops_when_the_vote_failed_without_a_failing_ballot() -> None:
    strict = AverageVoting(threshold=0.9)
    unsure = seated([Says("a", Judgment.passed("so so", score=NumericalScore(0.6)))], strict)
    verdict = vote(Tier("gate", unsure), FINALLY_FINE)
    assert (verdict.status, ran(verdict)) == (FAIL, ["gate"])


def test_after_a_rejection_later_tiers_may_give_feedback() -> None:
    for last in ("P", "F", "E", "A"):
        gate = tier("gate", "PF", continue_on_reject=True)
        verdict = vote(gate, tier("middle", "P"), tier("last", last, FINAL))
        assert (verdict.status, verdict.decided_by) == (FAIL, "gate")
        assert ran(verdict) == ["gate", "middle", "last"]


@pytest.mark.parametrize("policy", ErrorPolicy)
def test_an_error_in_a_rejecting_tier_stops_whatever_the_error_policy(policy: ErrorPolicy) -> None:
    gate = tier("gate", "PPPE", voting=MajorityVoting(on_error=policy))
    verdict = vote(gate, FINALLY_FINE)
    assert (verdict.status, verdict.decided_by, ran(verdict)) == (ERROR, "gate", ["gate"])
    assert verdict.attempts[1].skipped_because == "gate could not be judged"
    assert verdict.aggregated.metadata["reason"] == "crashed"


@pytest.mark.parametrize("policy", ErrorPolicy)
@pytest.mark.parametrize(("last", "expected"), [("P", ERROR), ("F", FAIL), ("A", ERROR)])
def test_after_an_error_later_tiers_may_run(
    policy: ErrorPolicy, last: str, expected: Status
) -> None:
    gate = tier("gate", "PPPE", voting=MajorityVoting(on_error=policy), on_error="continue")
    verdict = vote(gate, tier("last", last, FINAL))
    assert (verdict.status, ran(verdict)) == (expected, ["gate", "last"])


@pytest.mark.parametrize(("ballots", "status"), [("FE", FAIL), ("EF", FAIL)])
def test_a_fail_outranks_an_error(ballots: str, status: Status) -> None:
    assert vote(tier("gate", ballots), FINALLY_FINE).status is status
    verdict = vote(tier("gate", ballots, on_error="continue"), FINALLY_FINE)
    assert (verdict.status, ran(verdict)) == (status, ["gate"])


def test_an_accepting_tier_stops_when_all_pass() -> None:
    verdict = vote(tier("quick", "PP", ACCEPT), tier("last", "F", FINAL))
    assert (verdict.status, verdict.decided_by, ran(verdict)) == (PASS, "quick", ["quick"])
    assert verdict.attempts[1].skipped_because == "quick accepted"


@pytest.mark.parametrize("ballots", ["PA", "PN", "PE", "PF", "A", "E"])
def test_an_accepting_tier_asks_on_unless_all_pass(ballots: str) -> None:
    lenient = MajorityVoting(TiePolicy.PASS, ErrorPolicy.IGNORE)
    verdict = vote(tier("quick", ballots, ACCEPT, lenient), tier("last", "F", FINAL))
    assert (verdict.status, ran(verdict)) == (FAIL, ["quick", "last"])


@pytest.mark.parametrize(
    ("confidences", "asked"),
    [((0.8, 0.9), ["quick"]), ((0.79, 0.9), ["quick", "last"]), ((None, 0.9), ["quick", "last"])],
)
def test_an_accepting_tier_may_ask_for_confidence(
    confidences: tuple[float | None, ...], asked: list[str]
) -> None:
    judges = [Says("a", Judgment.passed("", confidence=sure)) for sure in confidences]
    quick = Tier("quick", seated(judges, ConsensusVoting()), ACCEPT, min_confidence=0.8)
    assert ran(vote(quick, FINALLY_FINE)) == asked


def test_an_accepting_tier_does_not_accept_what_its_own_vote_refused() -> None:
    weak = Says("a", Judgment.passed("so so", score=NumericalScore(0.3)))
    quick = Tier("quick", seated([weak], AverageVoting()), ACCEPT)
    verdict = vote(quick, FINALLY_FINE)
    assert (verdict.status, ran(verdict)) == (FAIL, ["quick", "last"])


def test_a_tier_that_did_not_accept_is_not_lifted_by_a_later_one() -> None:
    assert vote(tier("quick", "F", ACCEPT), FINALLY_FINE).status is FAIL
    assert vote(tier("quick", "E", ACCEPT), FINALLY_FINE).status is ERROR
    assert vote(tier("quick", "PA", ACCEPT), FINALLY_FINE).status is ABSTAIN


@pytest.mark.parametrize(
    ("ballots", "status"), [("P", PASS), ("F", FAIL), ("E", ERROR), ("A", ABSTAIN), ("N", PASS)]
)
def test_a_final_tier_in_the_middle_stops(ballots: str, status: Status) -> None:
    verdict = vote(tier("middle", ballots, FINAL), tier("never", "P"), FINALLY_FINE)
    assert (verdict.status, ran(verdict)) == (status, ["middle"])
    reasons = [attempt.skipped_because for attempt in verdict.attempts[1:]]
    assert reasons == ["middle was final", "middle was final"]


def test_a_tier_without_judges_did_not_run() -> None:
    verdict = vote(tier("build", "-"), tier("patterns", "P"), FINALLY_FINE)
    build, *_ = verdict.attempts
    assert (build.ran, build.status, build.skipped_because) == (
        False,
        None,
        "no judge was asked for",
    )
    assert (verdict.status, ran(verdict)) == (PASS, ["patterns", "last"])


def test_nobody_judged_is_no_pass() -> None:
    verdict = vote(tier("build", "-"), tier("last", "-", FINAL))
    assert (verdict.status, verdict.decided_by) == (ABSTAIN, None)
    assert verdict.aggregated.label == "nobody_judged"
    assert conclude([]).status is ABSTAIN


# Advisory tiers.


@pytest.mark.parametrize("policy", TierPolicy)
@pytest.mark.parametrize("ballots", ["P", "F", "E", "A", "PFE", "N"])
@pytest.mark.parametrize("later", ["P", "F", "E", "A"])
def test_an_advisory_tier_changes_nothing(policy: TierPolicy, ballots: str, later: str) -> None:
    advice = tier("advice", ballots, policy, advisory=True)
    last = tier("last", later, FINAL)
    with_advice, without = vote(advice, last), vote(last)
    assert with_advice.aggregated == without.aggregated
    assert with_advice.decided_by == without.decided_by == "last"
    assert ran(with_advice) == ["advice", "last"]


@pytest.mark.parametrize("last", ["P", "F", "E", "B"])
def test_an_advisory_final_tier_changes_nothing(last: str) -> None:
    verdict = vote(tier("build", "P"), tier("quality", last, FINAL, advisory=True))
    assert (verdict.status, verdict.decided_by) == (PASS, "build")
    assert ran(verdict) == ["build", "quality"]


@pytest.mark.parametrize("last", ["P", "F", "E", "B"])
def test_without_any_blocking_tier_the_final_ones_status_stands(last: str) -> None:
    advice = tier("advice", "F", advisory=True)
    verdict = vote(advice, tier("quality", last, FINAL, advisory=True))
    assert (verdict.status, verdict.decided_by) == (SAYS[last].status, "quality")


# What the blocking tiers add up to.


@pytest.mark.parametrize(
    ("tiers", "status"),
    [
        (["P", "P"], PASS),
        (["P", "N"], PASS),
        (["N", "K"], PASS),
        (["PN", "P"], PASS),
        (["P", "B"], ABSTAIN),
        (["P", "A"], ABSTAIN),
        (["PA", "P"], ABSTAIN),
        (["A", "E"], ERROR),
        (["A", "F"], FAIL),
        (["PA", "PE"], ERROR),
    ],
)
def test_the_status_is_the_worst_of_the_blocking_tiers(tiers: list[str], status: Status) -> None:
    first, last = tiers
    assert vote(tier("first", first), tier("last", last, FINAL)).status is status


def test_the_commonest_run() -> None:
    verdict = vote(
        tier("build", "PP"),
        tier("version-patterns", "N", continue_on_reject=True),
        tier("quality", "K", FINAL, advisory=True),
    )
    assert (verdict.status, verdict.decided_by) == (PASS, "build")
    assert verdict.aggregated.reasoning == "build: 2 of 2 passed"


def test_an_abstention_by_the_vote_is_somebodys_concern() -> None:
    tied = tier("tied", "PP", voting=AverageVoting(1.0, undecided=(0.9, 1.0)))
    verdict = vote(tied, FINALLY_FINE)
    assert (verdict.status, verdict.decided_by) == (ABSTAIN, "tied")
    assert verdict.aggregated.metadata["reason"] == "undecided"


def test_a_dropped_seat_does_not_make_an_abstention_benign() -> None:
    judges = [Seat(Says("a", SAYS["P"]), 0.0), Says("b", SAYS["N"])]
    verdict = vote(Tier("last", seated(judges, WeightedAverageVoting()), FINAL))
    assert verdict.status is ABSTAIN


def test_a_benign_word_over_other_ballots_is_not_believed() -> None:
    excuse = JuryVerdict(SAYS["N"], (Ballot("a", SAYS["F"]),))
    assert conclude([TierAttempt("last", FINAL, verdict=excuse)]).status is ABSTAIN
    silent = JuryVerdict(SAYS["A"], (Ballot("a", SAYS["N"]),))
    assert conclude([TierAttempt("last", FINAL, verdict=silent)]).status is ABSTAIN


@given(strategies.verdicts())
def test_no_verdict_is_better_than_its_blocking_tiers(verdict: Verdict) -> None:
    blocking = [a for a in verdict.attempts if a.ran and not a.advisory]
    found = {attempt.status for attempt in blocking}
    worried = any(attempt.worrying_abstention for attempt in blocking)
    if verdict.status is FAIL and blocking:
        assert FAIL in found
    elif verdict.status is ERROR and blocking:
        assert FAIL not in found
        assert ERROR in found
    elif verdict.status is ABSTAIN and blocking:
        assert not found & {FAIL, ERROR}
        assert worried
    elif blocking:
        assert not found & {FAIL, ERROR}
        assert not worried
    deciding = {a.name for a in verdict.attempts if a.ran and not (blocking and a.advisory)}
    assert verdict.decided_by in deciding if deciding else verdict.decided_by is None


@given(strategies.verdicts())
def test_a_pass_rests_on_no_fail_error_or_worry_in_rejecting_tiers(verdict: Verdict) -> None:
    if verdict.status is PASS:
        for attempt in verdict.attempts:
            if attempt.policy is REJECT and not attempt.advisory:
                assert not attempt.statuses & {FAIL, ERROR}
            labels = {
                judgment.label
                for judgment in (attempt.verdict.individual if attempt.verdict else ())
                if judgment.status is ABSTAIN and not attempt.advisory
            }
            blocking = any(a.ran and not a.advisory for a in verdict.attempts)
            assert labels <= {"not_applicable", "not_configured"} or not blocking


@given(strategies.verdicts())
def test_a_verdict_that_is_no_answer_says_why(verdict: Verdict) -> None:
    assert verdict.aggregated.reasoning.strip()
    deciding = [a for a in verdict.attempts if a.name == verdict.decided_by and a.verdict]
    if verdict.status in {PASS, FAIL}:
        assert "reason" not in verdict.aggregated.metadata
    for attempt in deciding:
        assert attempt.verdict
        if attempt.verdict.aggregated.status is verdict.status is ERROR:
            assert attempt.verdict.aggregated.metadata["reason"]


@given(strategies.cascades())
def test_what_a_cascade_does(cascade: CascadedJury[object]) -> None:
    verdict = cascade.vote(None)
    tiers = list(cascade.tiers)
    assert [attempt.name for attempt in verdict.attempts] == [tier.name for tier in tiers]
    assert verdict == conclude(verdict.attempts)
    stopped = False
    for tier_, attempt in zip(tiers, verdict.attempts, strict=True):
        assert attempt.ran is (tier_.jury is not None and not stopped)
        assert attempt.ran is (attempt.skipped_because is None)
        if attempt.ran and not tier_.advisory:
            stopped = stopped or _ends(tier_, attempt)
    blocking = {a.status for a in verdict.attempts if a.ran and not a.advisory}
    assert not (verdict.status is PASS and blocking & {FAIL, ERROR})


def _ends(tier_: Tier[object], attempt: TierAttempt) -> bool:
    """The policies once more, in other words."""
    assert attempt.verdict
    if tier_.policy is FINAL:
        return True
    if tier_.policy is ACCEPT:
        sure = tier_.min_confidence or 0.0
        confident = tier_.min_confidence is None or all(
            said.confidence is not None and said.confidence >= sure
            for said in attempt.verdict.individual
        )
        passed = {*attempt.statuses, attempt.verdict.aggregated.status} == {PASS}
        return passed and confident
    if attempt.status is FAIL:
        return not tier_.continue_on_reject
    return attempt.status is ERROR and tier_.on_error == "block"


# Tiers that crash, and time.


class Crashing:
    """A jury that does not even get as far as a vote."""

    name = "crashing"

    def vote(self, context: object, **_: Any) -> JuryVerdict:
        raise RuntimeError("the bench collapsed")


@pytest.mark.parametrize(
    ("policy", "on_error", "asked"),
    [
        (REJECT, "block", ["broken"]),
        (REJECT, "continue", ["broken", "last"]),
        (ACCEPT, "block", ["broken", "last"]),
        (FINAL, "block", ["broken"]),
    ],
)
def test_a_tier_that_crashes_is_an_error(
    policy: TierPolicy, on_error: Any, asked: list[str]
) -> None:
    crashing: Any = Crashing()
    verdict = vote(Tier("broken", crashing, policy, on_error=on_error), FINALLY_FINE)
    assert (verdict.status, verdict.decided_by, ran(verdict)) == (ERROR, "broken", asked)
    assert "the bench collapsed" in verdict.aggregated.reasoning
    broken = verdict.attempts[0]
    assert broken.verdict
    assert broken.verdict.individual == ()
    assert verdict.aggregated.metadata["reason"] == "crashed"


def test_one_deadline_for_all_tiers() -> None:
    released = threading.Event()

    def hangs(context: object) -> Judgment:
        released.wait(30)
        return SAYS["P"]

    stuck = seated([hangs], ConsensusVoting(on_error=ErrorPolicy.PROPAGATE))
    tiers = [Tier("stuck", stuck, on_error="continue"), FINALLY_FINE]
    started = time.monotonic()
    verdict = CascadedJury(tiers).vote(None, timeout=0.1)
    released.set()
    assert time.monotonic() - started < 5
    assert verdict.status is ERROR
    assert verdict.aggregated.metadata["reason"] == "timeout"
    late = verdict.attempts[1].verdict
    assert late
    assert late.individual[0].reasoning == "was not asked, because the time was over before"


def test_listeners_hear_the_tier_by_its_jurys_name() -> None:
    heard: list[str] = []

    class Listener:
        def judge_started(self, jury: str, judge: str) -> None:
            heard.append(f"{jury}/{judge}")

        def judge_finished(self, jury: str, ballot: Ballot) -> None:
            heard.append(f"{jury}/{ballot.judge} {ballot.judgment.status}")

    jury = seated([Says("merge", SAYS["P"])], ConsensusVoting(), "build")
    CascadedJury([Tier("build", jury, FINAL)]).vote(None, listener=Listener())
    assert heard == ["build/merge", "build/merge pass"]
