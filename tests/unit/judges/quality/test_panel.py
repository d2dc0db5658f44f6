from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.quality.votes import join_ballots
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import Ballot

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
WORDS = {"p": PASS, "f": FAIL, "a": ABSTAIN, "e": ERROR}
READ = {"read": ["a.py"], "unread": []}


def said(status: Status, score: float | None = None, *checks: Check, **more: Any) -> Judgment:
    votes = status in {PASS, FAIL}
    number = NumericalScore((status is PASS) * 1.0 if score is None else score) if votes else None
    metadata = {"scope": READ, "review": {"dropped": {"no_quote": 1, "not_changed": 1}}, **more}
    return Judgment(status, f"it is {status}", number, checks=checks, metadata=metadata)


def ballots(statuses: str) -> list[Ballot]:
    return [Ballot(f"m{at}", said(WORDS[word])) for at, word in enumerate(statuses)]


def decided(statuses: str, chair: Judgment | None = None) -> Judgment:
    return join_ballots(ballots(statuses), chair)


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ("pp", PASS),
        ("pf", FAIL),
        ("ppf", PASS),
        ("pff", FAIL),
        ("ppa", PASS),
        ("pfa", FAIL),
        ("paa", ABSTAIN),
        ("faa", ABSTAIN),
        ("pa", ABSTAIN),
        ("fa", ABSTAIN),
        ("pe", ERROR),
        ("ppe", PASS),
        ("pae", ERROR),
        ("ppaa", ABSTAIN),
        ("pppaa", PASS),
        ("aaa", ABSTAIN),
        ("eee", ERROR),
    ],
)
def test_more_than_half_must_vote_and_more_must_pass_than_fail(
    statuses: str, status: Status
) -> None:
    assert decided(statuses).status is status


def test_who_dissents_is_heard_in_warnings_each_thing_once() -> None:
    here = Check("risk", False, "drops a table", Location("a.py", 1), "error", "DROP")
    there = Check("risk", False, "also here", Location("a.py", 9))
    fine = Check("tests", True, "tested")
    seats = [
        Ballot("one", said(PASS, 1.0, fine)),
        Ballot("two", said(PASS, 1.0, fine)),
        Ballot("three", said(FAIL, 0.0, here, there)),
        Ballot("four", said(FAIL, 0.5, here, fine)),
        Ballot("five", said(PASS, 1.0)),
    ]
    judgment = join_ballots(seats)
    assert judgment.status is PASS
    assert [(c.message, c.severity) for c in judgment.failed_checks] == [
        ("three: drops a table", "warning"),
        ("three: also here", "warning"),
    ]
    assert judgment.failed_checks[0].evidence == "DROP"


def test_silence_has_the_first_reason_a_crash_before_all() -> None:
    seats = [
        Ballot("one", Judgment.abstained("no reply", "timeout")),
        Ballot("two", Judgment.abstained("refused", "refused")),
    ]
    assert join_ballots(seats).label == "timeout"
    crash = Judgment.errored("boom", metadata={"reason": "crashed"})
    judgment = join_ballots([*seats, Ballot("three", crash)])
    assert (judgment.status, judgment.metadata["reason"]) == (ERROR, "crashed")


@given(st.text("pfae", min_size=2, max_size=7))
def test_a_seat_without_an_answer_never_helps_to_pass(statuses: str) -> None:
    passes = decided(statuses).status is PASS
    for word in "afe":
        for at, was in enumerate(statuses):
            if was != "p":
                continue
            other = decided(statuses[:at] + word + statuses[at + 1 :])
            assert passes or other.status is not PASS
    if passes:
        assert statuses.count("p") > statuses.count("f")
        assert statuses.count("p") + statuses.count("f") > len(statuses) / 2


# The chair.


@pytest.mark.parametrize(
    ("statuses", "chair", "status"),
    [
        ("pf", PASS, PASS),
        ("pf", FAIL, FAIL),
        ("pp", FAIL, FAIL),
        ("pp", ABSTAIN, ABSTAIN),
        ("pp", ERROR, ERROR),
        ("ff", PASS, FAIL),
        ("fa", PASS, FAIL),
        ("ppa", PASS, PASS),
        ("pff", PASS, FAIL),
        ("paa", PASS, ABSTAIN),
        ("pae", PASS, ERROR),
    ],
)
def test_the_chair_decides_but_passes_nothing_that_no_seat_passes(
    statuses: str, chair: Status, status: Status
) -> None:
    judgment = decided(statuses, said(chair, scope={"read": ["juror-1"], "unread": []}))
    assert judgment.status is status
    assert "; the chair decided: " in judgment.reasoning
    assert judgment.metadata["scope"] == {"read": ("a.py",), "unread": ()}


@pytest.mark.parametrize("chair", [PASS, FAIL, ABSTAIN])
def test_where_nobody_voted_the_chair_has_nothing_to_say(chair: Status) -> None:
    seats = [Ballot(name, Judgment.abstained("no reply", "timeout")) for name in ("one", "two")]
    for some in (seats, seats[:1]):
        judgment = join_ballots(some, said(chair))
        assert (judgment.status, judgment.label) == (ABSTAIN, "timeout")
        assert "chair" not in judgment.reasoning


@given(st.text("pfae", min_size=1, max_size=6), st.sampled_from("pfae"))
def test_no_chair_lifts_what_nobody_passes(statuses: str, chair: str) -> None:
    judgment = decided(statuses, said(WORDS[chair]))
    assert judgment.status is not PASS or "p" in statuses
    if WORDS[chair] is not PASS:
        assert judgment.status is not PASS
