from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.quality.evidence import Lines, Opinion, VerifiedAnswer
from prjury.judges.quality.question import Quote
from prjury.judges.quality.votes import PassMark, decide
from prjury.jury.judgment import Status

TRUE = Quote(path="a.py", side="new", line=1, end_line=1, quote="x")
P, F, A = "pass", "fail", "abstain"


def finding(said: str, confidence: float = 0.9, dropped: int = 0) -> VerifiedAnswer:
    return VerifiedAnswer(said, confidence, f"{said} {confidence}", (TRUE,) * (said == F), dropped)


def opinion(*chunks: str | tuple[VerifiedAnswer, ...]) -> Opinion:
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
    assert opinion(*chunks).findings["c0"].verdict == merged


def test_the_surest_failure_speaks_with_the_evidence_of_all() -> None:
    said = opinion((finding(F, 0.6),), (finding(F, 0.8, 2),), (finding(P, 1.0, 1),))
    merged = said.findings["c0"]
    assert (merged.reasoning, merged.confidence) == ("fail 0.8", 0.8)
    assert (len(merged.quotes), merged.dropped) == (2, 2)


def test_approval_is_as_sure_as_its_weakest_part() -> None:
    merged = opinion((finding(P, 0.95),), (finding(P, 0.6),)).findings["c0"]
    assert (merged.verdict, merged.confidence) == (P, 0.6)


def test_a_failure_nobody_believes_and_one_without_evidence_merge_to_nothing() -> None:
    unfounded = VerifiedAnswer(F, 0.9, "so I feel")
    assert opinion((finding(F, 0.3),), (unfounded,)).findings["c0"].verdict == A
    assert opinion((unfounded,), (finding(P),)).findings["c0"].verdict == A


def test_no_evidence_of_another_chunk_makes_a_pass_an_invention() -> None:
    merged = opinion((finding(P),), (finding(A, 0.9, 3),)).findings["c0"]
    assert (merged.verdict, merged.dropped) == (P, 0)


def test_a_pass_needs_something_that_counts_on_half_of_the_chunks() -> None:
    assert opinion("p", "a").has_quorum
    assert not opinion("p", "a", "a").has_quorum


def test_every_failure_is_told_where_it_is() -> None:
    said = opinion((finding(F, 0.6),), (finding(F, 0.8),), (finding(P),))
    assert [it.reasoning for it in said.answers_to("c0")] == ["fail 0.6", "fail 0.8"]
    assert [it.reasoning for it in opinion("p", "p").answers_to("c0")] == ["pass 0.9"]


def test_evidence_is_counted_over_all_chunks() -> None:
    said = opinion((finding(F, 0.9, 1), finding(P)), (finding(F), finding(P, 0.9, 2)))
    assert said.evidence == {"verified": 2, "relocated": 0, "dropped": 3}


def test_half_of_the_criteria_are_a_quorum() -> None:
    assert opinion("pfaa").has_quorum
    assert not opinion("paaa").has_quorum


rows = st.lists(st.text("pfa", min_size=3, max_size=3), min_size=1, max_size=4)


@given(rows, rows, st.floats(0.01, 1))
def test_a_sheet_more_with_failures_alone_never_helps(
    first: list[str], more: list[str], threshold: float
) -> None:
    before = opinion(*first)
    after = opinion(*first, *(row.replace("p", "a") for row in more))
    share = before.share(before.findings)
    if decide(before, PassMark(threshold)).status is Status.FAIL and share is not None:
        failed = {name for name, it in before.findings.items() if it.verdict == F}
        assert failed <= {name for name, it in after.findings.items() if it.verdict == F}
        assert (after.share(after.findings) or 0.0) <= share


@given(rows, st.randoms())
def test_the_order_of_the_chunks_does_not_matter(chunks: list[str], random: st.DataObject) -> None:
    other = list(chunks)
    random.shuffle(other)  # type: ignore[attr-defined]
    verdicts = [
        {name: it.verdict for name, it in opinion(*them).findings.items()}
        for them in (chunks, other)
    ]
    assert verdicts[0] == verdicts[1]
