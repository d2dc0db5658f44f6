from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.refusals import refused
from fakes.unruly import hanging
from prjury.jury.cascade import CascadedJury, Tier, conclude, list_blocking_tiers_with_statuses
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Seat
from prjury.jury.score import NumericalScore
from prjury.jury.verdicts import JuryVerdict, TierAttempt, TierPolicy, Verdict
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
    with refused(ValueError, "a cascade needs at least one tier"):
        CascadedJury([])


@pytest.mark.parametrize("policy", [REJECT, ACCEPT])
def test_the_last_tier_is_final(policy: TierPolicy) -> None:
    with refused(ValueError, "the last tier, c, must be a FINAL_TIER"):
        CascadedJury([tier("a", "P", FINAL), tier("b", "P", FINAL), tier("c", "P", policy)])


def test_names_are_unique() -> None:
    with refused(ValueError, "tier names must be unique: a, last, a, last"):
        CascadedJury([tier("a", "P"), FINALLY_FINE, tier("a", "P"), FINALLY_FINE])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": " "}, "a tier needs a name"),
        ({"policy": "reject"}, "'reject' is not a valid TierPolicy"),
        ({"policy": None}, "None is not a valid TierPolicy"),
        ({"on_error": "ignore"}, "on_error is 'block' or 'continue', not 'ignore'"),
        ({"min_confidence": 1.5}, "min_confidence is in 0..1, not 1.5"),
        ({"min_confidence": -0.5}, "min_confidence is in 0..1, not -0.5"),
        ({"min_confidence": math.nan}, "min_confidence must be finite, not nan"),
    ],
)
def test_an_impossible_tier_is_refused(options: dict[str, Any], words: str) -> None:
    with refused(ValueError, words):
        Tier(**{"name": "a", "jury": None, **options})


@pytest.mark.parametrize("sure", [0, 0.0, 0.5, 1, 1.0, None])
def test_a_confidence_is_a_share(sure: float | None) -> None:
    assert Tier("a", None, min_confidence=sure).min_confidence == sure


@pytest.mark.parametrize("word", ["false", "no", 0, None])
def test_yes_and_no_are_no_words(word: Any) -> None:
    with refused(TypeError, f"advisory is True or False, not {word!r}"):
        Tier("a", None, advisory=word)
    with refused(TypeError, f"continue_on_reject is True or False, not {word!r}"):
        Tier("a", None, continue_on_reject=word)
    with refused(TypeError, f"advisory is True or False, not {word!r}"):
        TierAttempt("a", FINAL, word)


def test_a_tier_that_did_not_run_has_no_verdict_and_took_no_time() -> None:
    attempt = TierAttempt("gate", REJECT)
    assert (attempt.verdict, attempt.skipped_because, attempt.elapsed_ms) == (None, None, 0)
    assert (attempt.ran, attempt.status, attempt.statuses) == (False, None, frozenset())
    assert (attempt.advisory, attempt.worrying_abstention) == (False, None)
    assert (attempt.asks_a_model, attempt.escalated, attempt.outcomes) == (
        False,
        frozenset(),
        frozenset(),
    )


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
    assert (verdict.status, verdict.decided_by) == (PASS, "last")
    assert ran(verdict) == ["quick", "last"]


def test_an_accepting_tier_does_not_accept_without_ballots() -> None:
    class Empty:
        name = "empty"

        def vote(self, context: object, **_: Any) -> JuryVerdict:
            return JuryVerdict(SAYS["P"])

    empty: Any = Empty()
    assert ran(vote(Tier("quick", empty, ACCEPT), FINALLY_FINE)) == ["quick", "last"]


def asked(name: str, policy: TierPolicy, **judges: str) -> Tier[object]:
    """A tier of programs and models that say these letters, counted by consensus."""
    seats = [
        Says(f"{kind}{n}", SAYS[letter], TYPES[kind])
        for kind, letters in judges.items()
        for n, letter in enumerate(letters)
    ]
    return Tier(name, seated(seats, ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)), policy)


TYPES = {"programs": JudgeType.DETERMINISTIC, "models": JudgeType.LLM_POWERED}


@pytest.mark.parametrize(
    ("quick", "last", "status", "decided_by"),
    [
        ("F", "P", PASS, "last"),
        ("PF", "P", PASS, "last"),
        ("PA", "P", PASS, "last"),
        ("PF", "F", FAIL, "last"),
        ("PF", "A", ABSTAIN, "last"),
        ("PF", "E", ERROR, "last"),
        ("PN", "F", FAIL, "last"),
        ("PF", "N", ABSTAIN, None),
        ("E", "P", ERROR, "quick"),
        ("PE", "P", ERROR, "quick"),
        ("PE", "F", FAIL, "last"),
    ],
)
@pytest.mark.parametrize("kind", ["programs", "models"])
def test_after_a_tier_that_did_not_accept_the_later_ones_decide(
    quick: str, last: str, status: Status, decided_by: str | None, kind: str
) -> None:
    """Programs are followed by programs and models by models, so no model lifts a program."""
    first = asked("quick", ACCEPT, **{kind: quick})
    verdict = vote(first, asked("last", FINAL, **{kind: last}))
    if (kind, quick, last) == ("programs", "E", "P"):
        assert verdict.aggregated.reasoning == "quick: programs0: crashed"
    assert (verdict.status, verdict.decided_by) == (status, decided_by)
    assert conclude(verdict.attempts) == verdict


@pytest.mark.parametrize("errors", ErrorPolicy)
def test_no_error_policy_hides_an_error_of_a_tier_that_did_not_accept(errors: ErrorPolicy) -> None:
    quick = tier("quick", "PPE", ACCEPT, MajorityVoting(on_error=errors))
    assert vote(quick, FINALLY_FINE).status is ERROR
    assert vote(quick, tier("last", "-", FINAL)).status is ERROR


@pytest.mark.parametrize(
    ("quick", "last", "status"),
    [
        ({"programs": "F"}, {"models": "P"}, FAIL),
        ({"programs": "PF"}, {"models": "A"}, FAIL),
        ({"programs": "FE"}, {"models": "P"}, ERROR),
        ({"programs": "PA"}, {"models": "P"}, ABSTAIN),
        ({"programs": "PN"}, {"models": "P"}, PASS),
        ({"programs": "F"}, {"programs": "P", "models": "P"}, FAIL),
        ({"programs": "F", "models": "P"}, {"models": "P"}, FAIL),
        ({"programs": "P", "models": "F"}, {"models": "P"}, PASS),
        ({"models": "F"}, {"models": "P"}, PASS),
        ({"models": "F"}, {"programs": "P"}, PASS),
    ],
)
def test_a_model_does_not_lift_what_programs_of_an_accepting_tier_say(
    quick: dict[str, str], last: dict[str, str], status: Status
) -> None:
    verdict = vote(asked("quick", ACCEPT, **quick), asked("last", FINAL, **last))
    assert verdict.status is status
    assert conclude(verdict.attempts) == verdict


def test_a_model_breaks_no_tie_of_the_programs_of_an_accepting_tier() -> None:
    tied = tier("quick", "PF", ACCEPT, MajorityVoting(TiePolicy.ABSTAIN))
    verdict = vote(tied, asked("last", FINAL, models="P"))
    assert (verdict.status, verdict.decided_by) == (ABSTAIN, "quick")
    assert verdict.aggregated.metadata["reason"] == "tie"
    assert vote(tied, asked("last", FINAL, programs="P")).status is PASS


def test_programs_after_an_accepting_tier_may_lift_it_though_a_model_was_asked_before() -> None:
    quick, model = asked("quick", ACCEPT, programs="F"), asked("model", REJECT, models="P")
    assert vote(quick, model, asked("last", FINAL, programs="P")).status is PASS


@pytest.mark.parametrize(("ballots", "status"), [("F", FAIL), ("E", ERROR), ("PA", ABSTAIN)])
def test_an_accepting_tier_stands_where_no_later_blocking_tier_ran(
    ballots: str, status: Status
) -> None:
    quick = tier("quick", ballots, ACCEPT)
    assert vote(quick, tier("last", "-", FINAL)).status is status
    assert vote(quick, tier("last", "P", FINAL, advisory=True)).status is status


@pytest.mark.parametrize(
    ("ballots", "status"), [("P", PASS), ("F", FAIL), ("E", ERROR), ("A", ABSTAIN), ("N", ABSTAIN)]
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
    assert verdict.aggregated.label == "nobody_voted"
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


@pytest.mark.parametrize("last", ["P", "F", "E", "B", "N"])
def test_without_any_blocking_tier_nobody_voted(last: str) -> None:
    advice = tier("advice", "F", advisory=True)
    verdict = vote(advice, tier("quality", last, FINAL, advisory=True))
    words = "nobody voted for it, because all tiers that ran are advisory"
    assert verdict.aggregated == Judgment.abstained(words, "nobody_voted")
    assert verdict.decided_by is None


# What the blocking tiers add up to.


@pytest.mark.parametrize(
    ("tiers", "status"),
    [
        (["P", "P"], PASS),
        (["P", "N"], PASS),
        (["N", "K"], ABSTAIN),
        (["NN", "KN"], ABSTAIN),
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


def test_an_abstention_by_the_vote_is_somebodys_concern() -> None:
    tied = tier("tied", "PP", voting=AverageVoting(1.0, undecided=(0.9, 1.0)))
    verdict = vote(tied, FINALLY_FINE)
    assert (verdict.status, verdict.decided_by) == (ABSTAIN, "tied")
    assert verdict.aggregated.metadata["reason"] == "undecided"


def test_a_dropped_seat_does_not_make_an_abstention_benign() -> None:
    judges = [Seat(Says("a", SAYS["P"]), 0.0), Says("b", SAYS["N"])]
    verdict = vote(Tier("last", seated(judges, WeightedAverageVoting()), FINAL))
    assert verdict.status is ABSTAIN


@given(strategies.verdicts())
def test_the_status_is_the_worst_that_the_counted_tiers_bring(verdict: Verdict) -> None:
    brought = frozenset[Status]().union(
        *(found for _, found in list_blocking_tiers_with_statuses(verdict.attempts))
    )
    worst = next((status for status in (FAIL, ERROR, ABSTAIN) if status in brought), None)
    assert verdict.status in ({worst} if worst else {PASS, ABSTAIN})
    blocking = [a for a in verdict.attempts if a.ran and not a.advisory]
    if verdict.status is PASS:
        assert any(PASS in attempt.statuses for attempt in blocking)
        assert not any(attempt.statuses & {FAIL, ERROR} for attempt in blocking[-1:]) or (
            blocking[-1].status is PASS
        )
    if verdict.decided_by is None:
        assert verdict.aggregated.label == "nobody_voted"
    else:
        assert verdict.decided_by in {attempt.name for attempt in blocking}


@given(strategies.verdicts())
def test_a_pass_rests_on_no_fail_error_or_worry(verdict: Verdict) -> None:
    blocking = [a for a in verdict.attempts if a.ran and not a.advisory]
    for attempt in blocking if verdict.status is PASS else ():
        if attempt.policy is REJECT:
            assert not attempt.statuses & {FAIL, ERROR}
        if attempt.policy is ACCEPT and attempt is not blocking[-1]:
            assert ERROR not in attempt.statuses
        else:
            assert attempt.verdict
            silent = {said.label for said in attempt.verdict.individual if said.status is ABSTAIN}
            assert silent <= {"not_applicable", "not_configured"}


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
    stopping = {a.status for a in verdict.attempts if a.policy is not ACCEPT and not a.advisory}
    assert not (verdict.status is PASS and stopping & {FAIL, ERROR})


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


@given(strategies.cascades(), st.booleans(), strategies.benches(min_size=0))
def test_a_rejecting_tier_runs_the_next_only_if_told_to_and_then_never_passes(
    rest: CascadedJury[object], told: bool, others: list[Ballot]
) -> None:
    gate = Tier("gate", sitting(*others, SAYS["F"]), continue_on_reject=told)
    verdict = CascadedJury([gate, *rest.tiers]).vote(None)
    assert (verdict.status, verdict.decided_by) == (FAIL, "gate")
    if not told:
        assert ran(verdict) == ["gate"]
        assert {a.skipped_because for a in verdict.attempts[1:]} == {"gate failed"}
    else:
        assert ran(verdict)[1:] == ran(rest.vote(None))


@given(
    strategies.cascades(),
    st.sampled_from(["block", "continue"]),
    strategies.benches([PASS, ABSTAIN, ERROR], min_size=0),
)
def test_an_erring_gate_is_never_waved_through_by_a_later_pass(
    rest: CascadedJury[object], on_error: Any, others: list[Ballot]
) -> None:
    gate = Tier("gate", sitting(*others, SAYS["E"]), on_error=on_error)
    verdict = CascadedJury([gate, *rest.tiers]).vote(None)
    if on_error == "block":
        assert (verdict.status, ran(verdict)) == (ERROR, ["gate"])
    else:
        assert verdict.status in {ERROR, FAIL}
        assert ran(verdict)[1:] == ran(rest.vote(None))


@given(strategies.cascades())
def test_every_tier_and_every_seat_is_in_the_verdict(cascade: CascadedJury[object]) -> None:
    verdict = cascade.vote(None)
    for tier_, attempt in zip(cascade.tiers, verdict.attempts, strict=True):
        asked = (tier_.name, tier_.policy, tier_.advisory)
        assert (attempt.name, attempt.policy, attempt.advisory) == asked
        if attempt.verdict:
            assert tier_.jury
            names = [seat.title for seat in tier_.jury.seats]
            assert [ballot.judge for ballot in attempt.verdict.ballots] == names


def sitting(*said: Ballot | Judgment) -> Any:
    """A jury of judges who say this, counted by consensus."""
    judgments = [one.judgment if isinstance(one, Ballot) else one for one in said]
    judges = [Says("judge", judgment) for judgment in judgments]
    return seated(judges, ConsensusVoting(on_error=ErrorPolicy.PROPAGATE))


# What the verdict tells.


def scored(value: float, name: str = "rates") -> Says:
    return Says(name, Judgment.passed("so so", score=NumericalScore(value)))


@pytest.mark.parametrize(
    ("tiers", "status", "words"),
    [
        ([tier("gate", "FPF")], FAIL, "gate: F: broken; F-2: broken"),
        ([tier("gate", "FPE")], FAIL, "gate: F: broken"),
        ([tier("gate", "EPE")], ERROR, "gate: E: crashed; E-2: crashed"),
        ([tier("gate", "PNB")], ABSTAIN, "gate: too dear"),
        ([tier("gate", "PB"), tier("more", "PA")], ABSTAIN, "gate: too dear"),
        ([tier("gate", "PP"), tier("more", "N")], PASS, "last: 1 of 1 passed"),
        ([tier("gate", "P"), tier("more", "F")], FAIL, "more: F: broken"),
        (
            [Tier("gate", seated([scored(0.6), Says("B", SAYS["B"])], AverageVoting(0.9)))],
            FAIL,
            "gate: mean 0.60 of 1 is below the threshold 0.90; B abstained: too dear",
        ),
    ],
)
def test_the_verdict_names_the_tier_and_quotes_those_who_decided(
    tiers: list[Tier[object]], status: Status, words: str
) -> None:
    verdict = vote(*tiers, FINALLY_FINE)
    assert (verdict.status, verdict.aggregated.reasoning) == (status, words)


def test_scores_without_a_passing_ballot_are_no_vote_for_it() -> None:
    """An average passes although every judge failed: nobody voted for it."""
    judges = [Says(f"a{n}", Judgment.failed("no", NumericalScore(0.6))) for n in range(2)]
    rated = Tier("last", seated(judges, AverageVoting()), FINAL)
    assert vote(rated).aggregated.label == "nobody_voted"
    assert vote(tier("build", "P"), rated).status is PASS


@pytest.mark.parametrize(
    ("ballots", "label", "reason"),
    [
        ("PNB", "budget", "budget"),
        ("AB", None, "nobody_voted"),
        ("B", "budget", "budget"),
        ("PE", None, "crashed"),
        ("PF", None, None),
        ("P", None, None),
        ("N", "nobody_voted", "nobody_voted"),
    ],
)
def test_the_label_and_the_reason_of_a_verdict(
    ballots: str, label: str | None, reason: str | None
) -> None:
    said = vote(tier("last", ballots, FINAL)).aggregated
    assert (said.label, said.metadata.get("reason")) == (label, reason)


class Saying:
    """A strategy that says the same whatever the ballots are."""

    name = "saying"

    def __init__(self, judgment: Judgment) -> None:
        self.judgment = judgment

    def aggregate(self, ballots: object, /) -> Judgment:
        return self.judgment


TIRED = Judgment(ABSTAIN, "tired", label="tired")


@pytest.mark.parametrize(
    ("judge", "aggregate", "reason"),
    [
        (SAYS["E"], Judgment.errored("no", metadata={"reason": "tier"}), "crashed"),
        (Judgment.errored("no"), Judgment.errored("no", metadata={"reason": "tier"}), "tier"),
        (Judgment.errored("no"), Judgment.errored("no"), "judge_erred"),
        (SAYS["P"], Judgment.errored("no"), "judge_erred"),
        (TIRED, Judgment.abstained("no", metadata={"reason": "tier"}), "tired"),
        (SAYS["A"], Judgment.abstained("no", metadata={"reason": "tier"}), "tier"),
        (SAYS["A"], TIRED, "tired"),
        (SAYS["A"], Judgment.abstained("no"), "judge_abstained"),
    ],
)
def test_no_error_and_no_abstention_is_without_a_reason(
    judge: Judgment, aggregate: Judgment, reason: str
) -> None:
    jury = seated([Says("a", judge)], Saying(aggregate))
    said = vote(Tier("last", jury, FINAL)).aggregated
    assert (said.status, said.metadata["reason"]) == (aggregate.status, reason)


def test_the_label_of_a_fail_is_not_the_verdicts() -> None:
    flaky = Says("tests", Judgment.failed("1 failed", label="flaky", metadata={"reason": "tests"}))
    said = vote(Tier("last", seated([flaky], ConsensusVoting()), FINAL)).aggregated
    assert (said.status, said.label) == (FAIL, None)
    assert "reason" not in said.metadata


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


@pytest.mark.parametrize(("said", "kind"), [(None, "NoneType"), (SAYS["P"], "Judgment")])
def test_a_bench_that_returns_something_else_has_not_judged(said: Any, kind: str) -> None:
    class Odd(Crashing):
        def vote(self, context: object, **_: Any) -> Any:
            return said

    odd: Any = Odd()
    broken = vote(Tier("odd", odd, FINAL)).attempts[0]
    assert broken.verdict == JuryVerdict(
        Judgment.errored(
            f"crashed with TypeError: the vote returned a {kind} instead of a JuryVerdict",
            metadata={"reason": "crashed"},
        )
    )


def test_a_cascade_within_a_vote_keeps_to_that_ones_time() -> None:
    with hanging() as stuck:
        jury = seated([stuck], ConsensusVoting(on_error=ErrorPolicy.PROPAGATE))
        inner = CascadedJury([Tier("stuck", jury, FINAL)])

        def cascades(context: object) -> Judgment:
            return inner.vote(context).aggregated

        said = seated([cascades], ConsensusVoting()).vote(None, timeout=1.0).individual[0]
    assert said.reasoning.startswith("stuck: hanging: did not answer within")
    assert said.metadata["reason"] == "timeout"


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
