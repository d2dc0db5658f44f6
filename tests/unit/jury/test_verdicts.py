"""Verdicts within verdicts, as values, as JSON and as text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fakes.refusals import refused
from prjury import __version__
from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.jury import Jury
from prjury.jury.score import NumericalScore
from prjury.jury.verdicts import JuryVerdict, TierPolicy, Verdict, children_of
from prjury.jury.voting import Ballot, ConsensusVoting, MajorityVoting
from strategies import Says, seated

REJECT, ACCEPT, FINAL = TierPolicy
BROKEN = Check("tests", passed=False, message="1 failed", location=Location("a.py", 3))
FINE = Judgment.passed("fine", NumericalScore(0.75), confidence=0.5)
FAILED = Judgment.failed("1 failed\nsee the log", NumericalScore(0.25), checks=[BROKEN])


def inner(*said: Judgment, name: str = "inner") -> Jury[object]:
    return seated([Says(f"j{n}", one) for n, one in enumerate(said)], MajorityVoting(), name)


def cascade(*said: Judgment, advice: Judgment = FINE) -> CascadedJury[object]:
    advisory = Tier("advice", inner(advice), REJECT, advisory=True)
    return CascadedJury([advisory, Tier("last", inner(*said), FINAL)])


# A jury on a jury.


def test_a_nested_jury_keeps_its_verdict_and_its_findings() -> None:
    jury = inner(FINE, FAILED, FAILED)
    verdict = seated([jury.as_judge(), Says("plain", FINE)], ConsensusVoting()).vote(None)
    assert verdict.by_name["inner"].checks == (BROKEN, BROKEN)
    assert list(verdict.children) == ["inner"]
    child = verdict.children["inner"]
    assert isinstance(child, JuryVerdict)
    alone = jury.vote(None)
    assert (child.aggregated, child.individual) == (alone.aggregated, alone.individual)
    assert [(b.judge, b.weight, b.type) for b in child.ballots] == [
        (b.judge, b.weight, b.type) for b in alone.ballots
    ]


def test_children_survive_json() -> None:
    judges = [inner(FINE, FAILED).as_judge("jury"), cascade(FAILED).as_judge()]
    verdict = seated(judges, MajorityVoting()).vote(None)
    written = json.loads(json.dumps([judgment_to_json(each) for each in verdict.individual]))
    ballots = [
        replace(ballot, judgment=judgment_from_json(data))
        for ballot, data in zip(verdict.ballots, written, strict=True)
    ]
    assert children_of(ballots) == verdict.children
    assert list(verdict.children) == ["jury", "cascade"]


@pytest.mark.parametrize("note", ["x", [], {}, {"a": 1}, {"a": {"status": "pass"}}])
def test_what_a_judge_notes_by_itself_is_no_verdict(note: Any) -> None:
    ballots = tuple(
        Ballot(key, Judgment.passed("", metadata={key: note})) for key in ("jury", "cascade")
    )
    children = children_of(ballots)
    assert not children or children == {"jury": JuryVerdict(Judgment.passed(""))}


# A cascade on a jury.


def test_a_cascade_sits_on_a_jury() -> None:
    judge = cascade(FINE, FAILED, FAILED, advice=FAILED).as_judge()
    assert (judge.name, judge.description) == ("cascade", "the jury advice, last")
    verdict = seated([judge, Says("plain", FINE)], MajorityVoting()).vote(None)
    said = verdict.by_name["cascade"]
    assert (said.status, said.metadata["decided_by"]) == (Status.FAIL, "last")
    assert said.checks == (BROKEN, BROKEN)  # those of the advisory tier are no findings
    child = verdict.children["cascade"]
    assert isinstance(child, Verdict)
    assert (child.status, child.decided_by) == (Status.FAIL, "last")
    assert [attempt.name for attempt in child.attempts] == ["advice", "last"]
    assert child.aggregated.checks == ()
    assert child.individual == (FAILED, FINE, FAILED, FAILED)


def test_a_model_in_a_cascade_on_a_jury_lifts_no_program() -> None:
    model = seated([Says("m", FINE, JudgeType.LLM_POWERED)], MajorityVoting())
    praise = CascadedJury([Tier("last", model, FINAL)]).as_judge()
    judges = [Says("build", FAILED), praise, praise]
    verdict = seated(judges, MajorityVoting(), models_lift=False).vote(None)
    assert verdict.status is Status.FAIL


def test_a_cascade_that_is_no_judge_is_refused() -> None:
    whole: Any = cascade(FINE)
    with refused(TypeError, "outer: seat the cascade's as_judge() on a jury of this tier"):
        Tier("outer", whole)


def test_judges_of_one_name_in_several_tiers() -> None:
    verdict = cascade(FAILED, FINE).vote(None)
    assert dict(verdict.by_name) == {"j0": FINE, "j0-2": FAILED, "j1": FINE}


# As text.


def test_a_verdict_is_printed_in_a_few_lines() -> None:
    lines = str(cascade(FAILED, FINE, FAILED).vote(None)).splitlines()
    assert lines == [
        "FAIL: last: j0: 1 failed",
        "  advice (advisory): PASS: j0 PASS",
        "  last: FAIL: j0 FAIL, j1 PASS, j2 FAIL",
    ]
    stopped = CascadedJury([Tier("build", inner(FAILED)), Tier("last", inner(FINE), FINAL)])
    assert str(stopped.vote(None)).splitlines()[2] == "  last: not asked (build failed)"


def test_a_jurys_verdict_is_printed_with_its_judges() -> None:
    assert str(inner(FINE, FINE, FAILED).vote(None)).splitlines() == [
        "PASS: 2 of 3 passed",
        "  j0: PASS: fine",
        "  j1: PASS: fine",
        "  j2: FAIL: 1 failed",
    ]
    assert str(Judgment.passed("")) == "PASS"


def test_the_version() -> None:
    assert __version__.count(".") >= 2
