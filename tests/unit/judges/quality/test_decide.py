from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import FOUR, SMALL, answer, document, quote, reply
from prjury.judges.quality.evidence import Lines, Opinion, verify
from prjury.judges.quality.prompt_input import pieces_of
from prjury.judges.quality.question import read
from prjury.judges.quality.votes import PassMark, decide, list_failures, prose
from prjury.jury.judgment import Status
from prjury.jury.score import NumericalScore

LINES = Lines(pieces_of([SMALL], str)[0])
OLD = {**quote(text="return a - b"), "side": "old"}


def opinion(*verdicts: str, confidence: float = 0.9) -> Opinion:
    answers = {
        name: answer(verdict, [quote()] if verdict == "fail" else [], confidence)
        for name, verdict in zip(FOUR, verdicts, strict=True)
    }
    return Opinion([verify(read(reply(FOUR, **answers), FOUR), LINES)], LINES)


P, F, A = "pass", "fail", "abstain"


def test_one_pass_among_silence_is_no_approval() -> None:
    judgment = decide(opinion(P, A, A, A), PassMark(0.7))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_opinion")
    assert "no founded answer" in judgment.reasoning


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


def test_the_share_stands_beside_the_score_of_a_broken_must() -> None:
    metadata = decide(opinion(F, F, P, P), MARK).metadata
    assert (metadata["share"], metadata["must_failed"]) == (0.5, ("correctness",))


def test_only_what_the_judge_fails_for_is_an_error() -> None:
    broken = decide(opinion(F, F, P, P), PassMark(0.5, MARK.must))
    assert [(c.name, c.severity) for c in broken.failed_checks] == [
        ("correctness", "error"),
        ("tests", "warning"),
    ]


def test_every_true_quote_of_a_failure_is_a_check_of_its_own() -> None:
    first = quote(line=1, text="def add(a, b):")
    answers = read(reply(risk=answer(F, [quote(), first, quote(), quote(text="gone()")])), FOUR)
    judgment = decide(Opinion([verify(answers, LINES)], LINES), MARK)
    assert [(str(c.location), c.evidence) for c in judgment.failed_checks] == [
        ("src/app.py:2", "return a + b"),
        ("src/app.py:1", "def add(a, b):"),
    ]
    assert len({c.fingerprint for c in judgment.failed_checks}) == 2
    assert [c.name for c in judgment.checks if c.passed] == ["correctness", "tests", "conventions"]


def test_a_share_that_equals_the_threshold_passes() -> None:
    assert decide(opinion(P, P, F, A), PassMark(round(2 / 3, 12))).status is Status.PASS


def test_no_opinion_is_no_vote() -> None:
    judgment = decide(opinion(A, A, A, A), PassMark(0.0))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_opinion")
    assert judgment.metadata["reason"] == "no_opinion"
    assert judgment.metadata["criteria"]["risk"]["verdict"] == A


def test_a_failed_criterion_is_an_error_only_where_the_judge_fails() -> None:
    assert decide(opinion(P, P, P, F), PassMark(0.7)).failed_checks[0].severity == "warning"
    assert decide(opinion(P, P, P, F), PassMark(0.8)).failed_checks[0].severity == "error"


def test_a_check_stands_where_its_evidence_is() -> None:
    (check,) = decide(opinion(P, P, P, F), PassMark(0.7)).failed_checks
    assert (check.name, check.evidence) == ("risk", "return a + b")
    assert str(check.location) == "src/app.py:2"


def test_evidence_of_the_old_side_names_the_file_alone() -> None:
    answers = read(reply(risk=answer(F, [OLD])), FOUR)
    (check,) = decide(Opinion([verify(answers, LINES)], LINES), PassMark(0.7)).failed_checks
    assert str(check.location) == "src/app.py"
    assert check.evidence == "return a - b"


def test_the_sentence_names_what_failed_and_what_was_not_judged() -> None:
    assert decide(opinion(P, F, A, P), PassMark(0.7)).reasoning == (
        "2 of 3 criteria passed, the threshold is 0.70; failed: tests; not judged: conventions"
    )


def test_the_prose_of_the_model_is_tame() -> None:
    assert prose("a\n\nb\t c\u202e\ud800\x1b[0m") == "a b c\\u{202e}\\u{d800}\\u{1b}[0m"
    assert prose("x" * 3000) == "x" * 2000 + "… (+1000 chars)"


def test_what_fails_in_a_part_is_a_warning_and_nothing_else_is_told() -> None:
    (check,) = list_failures(opinion(P, F, A, P))
    assert (check.name, check.passed, check.severity) == ("tests", False, "warning")


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
