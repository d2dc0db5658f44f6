"""Evidence and opinions go to a file and come back the same, or are refused in one way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

import strategies as own
from fakes.bare_report import PULL, report
from prjury.app.evidence import (
    LARGEST,
    Files,
    NoEvidence,
    Opinions,
    SeatRecord,
    StageEvidence,
    dump_evidence_or_part,
    evidence_from_text,
    opinions_from_text,
    verdict_to_text,
)
from prjury.app.registry import SeatPosition, Unwanted
from prjury.errors import CannotJudgeError, SourceError
from prjury.jury.judge import JudgeType
from prjury.policy.load import Policy, default_policy, parse_policy
from prjury.ports.types import TreeEntry
from prjury.report.model import Backport, Cost
from prjury.snapshot.model import (
    Conflict,
    ConflictRegion,
    ConflictType,
    FileChange,
    FileKind,
    FileStatus,
    Hunk,
    Line,
    LineSpan,
    MergeTrial,
)

#: Paths as git has them: any bytes but NUL, decoded as they are in the program.
paths = st.binary(min_size=1, max_size=8).map(
    lambda raw: raw.replace(b"\0", b"0").decode("utf-8", "surrogateescape")
)
texts = st.text(max_size=8)
blobs = st.text("0123456789abcdef", min_size=40, max_size=40)
places = st.builds(SeatPosition, own.words, st.integers(0, 9), own.words)
records = st.builds(
    SeatRecord,
    own.words,
    st.sampled_from(JudgeType),
    st.booleans(),
    st.none() | own.judgments(),
    st.integers(0, 10**6),
)
lines = st.builds(
    Line,
    st.sampled_from("+- "),
    st.none() | st.integers(1, 99),
    st.none() | st.integers(1, 99),
    texts,
    st.sampled_from(["\n", "\r\n", ""]),
)
hunks = st.builds(
    Hunk,
    *[st.integers(0, 99)] * 4,
    texts,
    st.lists(lines, max_size=3).map(tuple),
)
files = st.builds(
    FileChange,
    paths,
    st.sampled_from(FileStatus),
    st.sampled_from(FileKind),
    st.integers(0, 99),
    st.integers(0, 99),
    st.none() | paths,
    st.none() | blobs,
    st.none() | blobs,
    st.none() | st.just("100644"),
    st.none() | st.just("100755"),
    st.lists(hunks, max_size=2).map(tuple),
    st.none() | own.sentences,
)
conflicts = st.builds(
    Conflict,
    paths,
    st.sampled_from(ConflictType),
    st.booleans(),
    texts,
    st.none() | st.just((1, 2)),
    st.just((ConflictRegion(LineSpan(1, 2), LineSpan(3, 0)),)),
)
pulls = st.builds(
    lambda changed, trial, title: structs.replace(
        PULL, files=changed, merge=trial, title=title, labels=(title, "bug")
    ),
    st.lists(files, max_size=2).map(tuple),
    st.builds(MergeTrial, st.none() | blobs, st.lists(conflicts, max_size=1).map(tuple)),
    texts,
)
evidence = st.builds(
    StageEvidence,
    pull=pulls,
    policy=st.just(default_policy()),
    records=st.dictionaries(places, records, max_size=3),
    files=st.builds(
        Files,
        blobs,
        st.lists(st.builds(TreeEntry, paths, st.just("100644"), blobs), max_size=2).map(tuple),
        st.dictionaries(blobs, st.none() | st.binary(max_size=8), max_size=2),
    ),
    version=own.words,
    unwanted=st.builds(
        Unwanted, st.dictionaries(own.words, own.words, max_size=1), st.none() | own.words
    ),
    backports=st.lists(
        st.builds(
            Backport,
            own.words,
            st.just("needs_human"),
            st.none() | st.booleans(),
            conflicts=st.lists(conflicts, max_size=1).map(tuple),
            commands=st.just(("git cherry-pick x",)),
        ),
        max_size=1,
    ).map(tuple),
    notes=st.lists(own.sentences, max_size=1).map(tuple),
    spares=st.none() | st.tuples(own.words, own.words),
    seconds=st.floats(0, 1e6),
    elapsed_ms=st.integers(0, 10**6),
)


@given(evidence)
def test_evidence_comes_back_the_same(given_evidence: StageEvidence) -> None:
    text = dump_evidence_or_part(given_evidence)
    assert text.isascii()
    assert evidence_from_text(text.encode()) == given_evidence


@given(
    st.dictionaries(places, records, max_size=3),
    st.none() | own.judgments(),
    st.none() | st.floats(0, 9),
)
def test_opinions_come_back_the_same(
    said: dict[SeatPosition, SeatRecord], opinion: Any, usd: float | None
) -> None:
    opinions = Opinions("a" * 64, said, Cost(1, 2, 3, 4, usd), opinion, 5)
    assert opinions_from_text(verdict_to_text(report(), opinions).encode()) == opinions


def test_nothing_to_judge_comes_back_the_same() -> None:
    nothing = NoEvidence("no commit that main lacks", "octo/shop", 7, "b" * 40, "main")
    assert evidence_from_text(dump_evidence_or_part(nothing).encode()) == nothing


PROMPT = """\
tiers:
  - name: a
    policy: final_tier
    judges: [{prompt: {name: kind, file: .github/prjury/kind.md, criteria: {kind: Is it kind?}}}]
"""
POLICIES = [
    "version: 1\n",
    "limits: {wall: 90s, usd: 0.5}\n",
    "tiers: [{name: a, policy: final_tier, judges: [{build: {command: make, timeout: 5m}}]}]\n",
    "tiers: [{name: a, policy: final_tier, voting: {majority: {tie: pass}}, judges: [merge]}]\n",
    PROMPT,
    "publish: {labels: {fail: 'prjury:fail'}}\ngate: {block_on: [fail]}\n",
]


@pytest.mark.parametrize("text", POLICIES)
def test_a_policy_comes_back_with_its_hash(text: str) -> None:
    policy = parse_policy(text, f"base:{PULL.base.sha}:x", commit=PULL.base.sha)
    found = evidence_from_text(dump_evidence_or_part(some(policy=policy)).encode())
    assert isinstance(found, StageEvidence)
    assert found.policy.hash == policy.hash
    assert found.policy.config == policy.config


def some(policy: Policy | None = None, **more: Any) -> StageEvidence:
    files = Files("a" * 40)
    return StageEvidence(PULL, policy or default_policy(), {}, files, "0.1.0", **more)


def changed(**keys: Any) -> bytes:
    value = json.loads(dump_evidence_or_part(some()))
    return json.dumps(value | keys).encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is not JSON"),
        (b"[]", "it is no prjury/evidence/v1"),
        (b"\xff\xfe", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b'{"schema": "prjury/evidence/v2"}', "it is of another version"),
        (b'{"schema": "prjury/evidence/v1", "schema": "x"}', "a key stands twice"),
        (changed(seconds=1e999), "is not JSON"),
        (changed(seconds="soon"), "seconds"),
        (changed(records=[{"tier": "a"}]), "records"),
        (changed(records=[[{"tier": "a", "number": 0, "name": "b"},
                           {"title": "b", "type": "llm_powered",
                            "judgment": {"status": "maybe", "reasoning": "x"}}]]), "maybe"),
        (changed(files={"commit": "a", "entries": [], "blobs": {"b": "!"}}), "base64"),
        (changed(pull={}), "pull"),
        (changed(elapsed_ms=-1), "elapsed_ms"),
    ],
)  # fmt: skip
def test_other_files_are_refused_in_one_line(content: bytes, words: str) -> None:
    with pytest.raises(SourceError) as refused:
        evidence_from_text(content)
    assert words in str(refused.value)
    assert refused.value.reason == "evidence_invalid"
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("judgment", [{}, "", 0, [], False])
def test_an_empty_judgment_is_not_one_that_was_never_asked(judgment: object) -> None:
    place = {"tier": "a", "number": 0, "name": "b"}
    record = {"title": "b", "type": "llm_powered", "judgment": judgment}
    with pytest.raises(SourceError) as refused:
        evidence_from_text(changed(records=[[place, record]]))
    assert refused.value.reason == "evidence_invalid"


@given(st.binary(max_size=64))
def test_no_bytes_crash_it(content: bytes) -> None:
    for read in (evidence_from_text, opinions_from_text):
        with pytest.raises(SourceError):
            read(content)


def test_a_report_alone_cannot_be_published() -> None:
    text = verdict_to_text(report(), Opinions("a" * 64, {}))
    value = json.loads(text)
    del value["opinions"]
    with pytest.raises(SourceError, match="a report alone cannot be published"):
        opinions_from_text(json.dumps(value).encode())


def test_a_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(SourceError, match="larger than 32 MiB"):
        evidence_from_text(b" " * (LARGEST + 1))


def test_of_too_much_what_models_read_is_left_behind() -> None:
    entry = TreeEntry("a.py", "100644", "c" * 40)
    files = Files("a" * 40, (entry,), {"c" * 40: b"x" * (LARGEST + 1)})
    found = evidence_from_text(dump_evidence_or_part(structs.replace(some(), files=files)).encode())
    assert isinstance(found, StageEvidence)
    assert (found.files.entries, found.files.blobs) == ((), {})


def test_a_change_that_is_too_large_is_told() -> None:
    body = "x" * (LARGEST + 1)
    with pytest.raises(CannotJudgeError, match="takes more than 32 MiB to hand over"):
        dump_evidence_or_part(structs.replace(some(), pull=structs.replace(PULL, body=body)))
