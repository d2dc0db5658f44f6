from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import quote
from prjury.judges.quality.evidence import (
    Claim,
    Lines,
    Opinion,
    ReportedFinding,
    VerifiedAnswer,
    join_passes,
)
from prjury.judges.quality.votes import PassMark, decide
from prjury.jury.judgment import Status


def claim(line: int = 1, severity: str = "error", second: Any = None) -> Claim:
    finding = quote("a.py", line, "x", severity=severity)
    return Claim(msgspec.convert(finding, ReportedFinding), second)


Said: TypeAlias = Literal["pass", "fail", "abstain"]
P: Said = "pass"
F: Said = "fail"
A: Said = "abstain"


def finding(said: Said, confidence: float = 0.9, dropped: int = 0, line: int = 1) -> VerifiedAnswer:
    claims = (claim(line),) if said == F else ()
    return VerifiedAnswer(
        said, confidence, f"{said} {confidence}", claims, len(claims) + dropped, no_quote=dropped
    )


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
    assert opinion(*chunks).answers["c0"].verdict == merged


def test_a_failure_without_evidence_leaves_the_question_open() -> None:
    unfounded = VerifiedAnswer(F, 0.9, "so I feel")
    assert opinion((unfounded,), (finding(P),)).answers["c0"].verdict == A


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
    before = opinion(*first)
    after = opinion(*first, *(row.replace("p", "a") for row in more))
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
        {name: it.verdict for name, it in opinion(*them).answers.items()}
        for them in (chunks, other)
    ]
    assert verdicts[0] == verdicts[1]
