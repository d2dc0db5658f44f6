from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import FOUR, SMALL, answer, document, quote, reply
from prjury.judges.quality.evidence import (
    Claim,
    Lines,
    Opinion,
    ReportedFinding,
    VerifiedAnswer,
    join_passes,
    read_answers,
    verify_answers,
)
from prjury.judges.quality.prompt_input import make_sections
from prjury.judges.quality.votes import PassMark, decide, join_ballots, prose
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


LINES = Lines(make_sections([SMALL], str)[0])
OLD = {**quote(text="return a - b"), "side": "old"}


def opinion(*verdicts: str, confidence: float = 0.9) -> Opinion:
    answers = {
        name: answer(verdict, [quote()] if verdict == "fail" else [], confidence)
        for name, verdict in zip(FOUR, verdicts, strict=True)
    }
    return Opinion([verify_answers(read_answers(reply(FOUR, **answers), FOUR), LINES)], LINES)


Said: TypeAlias = Literal["pass", "fail", "abstain"]
P: Said = "pass"
F: Said = "fail"
A: Said = "abstain"


@pytest.mark.parametrize(
    ("verdicts", "score", "status"),
    [
        ((P, P, P, P), 1.0, Status.PASS),
        ((P, P, P, F), 0.75, Status.PASS),
        ((P, P, F, F), 0.5, Status.FAIL),
        ((F, F, F, F), 0.0, Status.FAIL),
        ((P, P, A, A), 1.0, Status.PASS),
        ((P, P, F, A), 2 / 3, Status.FAIL),
        ((F, A, A, A), 0.0, Status.FAIL),
    ],
)
def test_the_score_is_the_share_of_what_counts(
    verdicts: tuple[str, ...], score: float, status: Status
) -> None:
    judgment = decide(opinion(*verdicts), PassMark(0.7))
    assert judgment.status is status
    assert isinstance(judgment.score, NumericalScore)
    assert judgment.score.value == pytest.approx(score)
    assert [check.passed for check in judgment.checks] == [v == P for v in verdicts if v != A]


MARK = PassMark(0.7, frozenset({"correctness", "risk"}))


@pytest.mark.parametrize(
    ("verdicts", "score", "status", "reasoning"),
    [
        ((P, P, P, P), 1.0, Status.PASS, "4 of 4 criteria passed, the threshold is 0.70"),
        (
            (F, P, P, P),
            0.0,
            Status.FAIL,
            "3 of 4 criteria passed, but correctness must pass; failed: correctness",
        ),
        (
            (P, F, P, F),
            0.0,
            Status.FAIL,
            "2 of 4 criteria passed, but risk must pass; failed: tests, risk",
        ),
        (
            (P, F, P, P),
            0.5,
            Status.FAIL,
            (
                "3 of 4 criteria passed; tests and conventions reach 0.50, the threshold is 0.70; "
                "failed: tests"
            ),
        ),
        (
            (P, A, A, P),
            1.0,
            Status.PASS,
            "2 of 2 criteria passed, the threshold is 0.70; not judged: tests, conventions",
        ),
        (
            (F, A, A, A),
            0.0,
            Status.FAIL,
            (
                "0 of 1 criteria passed, but correctness must pass; failed: correctness; "
                "not judged: tests, conventions, risk"
            ),
        ),
    ],
)
def test_no_must_may_fail_and_the_threshold_is_for_the_others(
    verdicts: tuple[str, ...], score: float, status: Status, reasoning: str
) -> None:
    judgment = decide(opinion(*verdicts), MARK)
    assert (judgment.status, judgment.effective_score) == (status, score)
    assert judgment.reasoning == reasoning


def test_every_true_quote_of_a_failure_is_a_check_of_its_own() -> None:
    first = quote(line=1, text="def add(a, b):")
    answers = read_answers(
        reply(risk=answer(F, [quote(), first, quote(), quote(text="gone()")])), FOUR
    )
    judgment = decide(Opinion([verify_answers(answers, LINES)], LINES), MARK)
    assert [(str(c.location), c.evidence) for c in judgment.failed_checks] == [
        ("src/app.py:2", "return a + b"),
        ("src/app.py:1", "def add(a, b):"),
    ]
    assert len({c.fingerprint for c in judgment.failed_checks}) == 2
    assert [c.name for c in judgment.checks if c.passed] == ["correctness", "tests", "conventions"]


def test_a_check_stands_where_its_evidence_is() -> None:
    (check,) = decide(opinion(P, P, P, F), PassMark(0.7)).failed_checks
    assert (check.name, check.evidence) == ("risk", "return a + b")
    assert str(check.location) == "src/app.py:2"


def test_the_prose_of_the_model_is_tame() -> None:
    assert prose("a\n\nb\t c\u202e\ud800\x1b[0m") == "a b c\\u{202e}\\u{d800}\\u{1b}[0m"
    assert prose("x" * 3000) == "x" * 2000 + "… (+1000 chars)"


@given(
    st.lists(st.sampled_from([P, F, A]), min_size=4, max_size=4),
    st.floats(0.01, 1),
    st.sets(st.sampled_from(FOUR)),
)
def test_more_failures_never_help_and_no_share_outweighs_a_must(
    verdicts: list[str], threshold: float, must: set[str]
) -> None:
    mark = PassMark(threshold, frozenset(must))
    before = decide(opinion(*verdicts), mark)
    for place, verdict in enumerate(verdicts):
        if verdict == P:
            after = decide(opinion(*verdicts[:place], F, *verdicts[place + 1 :]), mark)
            assert not (before.status is Status.FAIL and after.status is Status.PASS)
            assert (after.effective_score or 0) <= (before.effective_score or 0)
    if before.status is Status.PASS:
        assert P in verdicts
        assert F not in [
            verdict for name, verdict in zip(FOUR, verdicts, strict=True) if name in must
        ]


def test_the_factory_of_these_tests_writes_what_the_schema_wants() -> None:
    assert list(document()["criteria"]) == list(FOUR)


def claim(line: int = 1, severity: str = "error", second: Any = None) -> Claim:
    finding = quote("a.py", line, "x", severity=severity)
    return Claim(msgspec.convert(finding, ReportedFinding), second)


def finding(said: Said, confidence: float = 0.9, dropped: int = 0, line: int = 1) -> VerifiedAnswer:
    claims = (claim(line),) if said == F else ()
    return VerifiedAnswer(
        said, confidence, f"{said} {confidence}", claims, len(claims) + dropped, no_quote=dropped
    )


def opinion_of(*chunks: str | tuple[VerifiedAnswer, ...]) -> Opinion:
    """Sheets of one word for each criterion: ``"pfa"``."""
    words = {"p": P, "f": F, "a": A}
    rows = [tuple(finding(words[c]) for c in s) if isinstance(s, str) else s for s in chunks]
    return Opinion([{f"c{at}": it for at, it in enumerate(row)} for row in rows], Lines([]))


@pytest.mark.parametrize(
    ("chunks", "merged"),
    [
        (["p"], P),
        (["p", "p"], P),
        (["p", "f"], F),
        (["f", "p"], F),
        (["a", "p"], P),
        (["a", "f"], F),
        (["a", "a"], A),
    ],
)
def test_a_failure_on_one_chunk_fails_the_criterion(chunks: list[str], merged: str) -> None:
    assert opinion_of(*chunks).answers["c0"].verdict == merged


def test_a_failure_without_evidence_leaves_the_question_open() -> None:
    unfounded = VerifiedAnswer(F, 0.9, "so I feel")
    assert opinion_of((unfounded,), (finding(P),)).answers["c0"].verdict == A


@pytest.mark.parametrize(
    ("said", "claims", "verdict"),
    [
        (F, [claim(second="confirmed")], F),
        (F, [claim(second="refuted")], P),
        (F, [claim(second="unclear")], A),
        (F, [claim(second="refuted"), claim(2, second="confirmed")], F),
        (F, [claim(severity="warning")], P),
        (F, [claim(second="unclear"), claim(2, severity="warning")], A),
        (P, [claim(second="confirmed")], F),
        (P, [claim()], P),
        (P, [claim(second="refuted")], P),
    ],
)
def test_confirmed_errors_alone_fail_a_criterion(
    said: Said, claims: list[Claim], verdict: str
) -> None:
    assert VerifiedAnswer(said, 0.9, "", tuple(claims), len(claims)).verdict == verdict


def test_passes_are_joined_and_each_place_counts_once() -> None:
    first = {"c0": finding(F, line=1)}
    second = {"c0": finding(F, 0.5, dropped=1, line=1)}
    third = {"c0": finding(F, 0.5, line=9)}
    joined = join_passes([first, second, third])["c0"]
    assert [each.finding.line for each in joined.claims] == [1, 9]
    assert (joined.total, joined.no_quote, joined.verdict) == (4, 1, F)


rows = st.lists(st.text("pfa", min_size=3, max_size=3), min_size=1, max_size=4)


@given(rows, rows, st.floats(0.01, 1))
def test_a_sheet_more_with_failures_alone_never_helps(
    first: list[str], more: list[str], threshold: float
) -> None:
    before = opinion_of(*first)
    after = opinion_of(*first, *(row.replace("p", "a") for row in more))
    share = before.share(before.answers)
    if decide(before, PassMark(threshold)).status is Status.FAIL and share is not None:
        failed = {name for name, it in before.answers.items() if it.verdict == F}
        assert failed <= {name for name, it in after.answers.items() if it.verdict == F}
        assert (after.share(after.answers) or 0.0) <= share


@given(rows, st.randoms())
def test_the_order_of_the_chunks_does_not_matter(chunks: list[str], random: st.DataObject) -> None:
    other = list(chunks)
    random.shuffle(other)  # type: ignore[attr-defined]
    verdicts = [
        {name: it.verdict for name, it in opinion_of(*them).answers.items()}
        for them in (chunks, other)
    ]
    assert verdicts[0] == verdicts[1]
