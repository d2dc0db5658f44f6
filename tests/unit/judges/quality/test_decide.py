from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import FOUR, SMALL, answer, document, quote, reply
from prjury.judges.quality.evidence import Lines, Opinion, read_answers, verify
from prjury.judges.quality.prompt_input import pieces_of
from prjury.judges.quality.votes import PassMark, decide, prose
from prjury.jury.judgment import Status
from prjury.jury.score import NumericalScore

LINES = Lines(pieces_of([SMALL], str)[0])
OLD = {**quote(text="return a - b"), "side": "old"}


def opinion(*verdicts: str, confidence: float = 0.9) -> Opinion:
    answers = {
        name: answer(verdict, [quote()] if verdict == "fail" else [], confidence)
        for name, verdict in zip(FOUR, verdicts, strict=True)
    }
    return Opinion([verify(read_answers(reply(FOUR, **answers), FOUR), LINES)], LINES)


P, F, A = "pass", "fail", "abstain"


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
    judgment = decide(Opinion([verify(answers, LINES)], LINES), MARK)
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
