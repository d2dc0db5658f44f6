"""Findings that a baseline knows: counted, and no reason to fail."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.repository import BASE, HEAD, FakeRepository, Files, pull_between
from prjury.errors import ConfigError
from prjury.judges.patterns.baseline import MAX_BYTES, baseline_text, parse_baseline
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import read_options
from prjury.policy.options import PatternsOptions
from prjury.snapshot.model import printable, visible
from unit.judges.patterns.bench import JAVA, found, judged, pom

FILE = ".github/prjury-baseline.json"
IMPORT = "import javax.persistence.Entity;"
OLD = f"package x;\n{IMPORT}\nclass A {{}}\n"
ENTRY = '{"rule": "p/r", "path": "a", "fingerprint": "1"}'


def entries(code: str, path: str = JAVA) -> str:
    """The baseline of a project with this file alone."""
    judgment = judged({"pom.xml": pom()}, {"pom.xml": pom(), path: code})
    details: Any = judgment.metadata["findings"]
    return baseline_text((d["rule"], d["path"], d["fingerprint"]) for d in details)


def changing(before: str, after: Files | str, known: str | None = None, **more: Any) -> Judgment:
    """The judgment on a change of one file, with the baseline of what was there before."""
    base: Files = {
        "pom.xml": pom(),
        JAVA: before,
        FILE: entries(before) if known is None else known,
    }
    left = {path: text for path, text in base.items() if path != JAVA}
    head = {**left, JAVA: after} if isinstance(after, str) else {**left, **after}
    return judged(base, head, options={"baseline": FILE}, **more)


@pytest.mark.parametrize(
    "after",
    [
        f"{IMPORT}\npackage x;\n\nclass A {{}}\n",
        "package x;\nimport java.util.List;\n  import  javax.persistence.Entity ;\nclass A {}\n",
        f"package x;\n\t{IMPORT} \r\nclass A {{}}\n",
        f"\ufeff{IMPORT}\nclass A {{}}\n",
    ],
)
def test_a_line_that_was_moved_or_reformatted_is_known(after: str) -> None:
    base: Files = {"pom.xml": pom(), JAVA: OLD}
    assert judged(base, {**base, JAVA: after}).status is Status.FAIL
    judgment = changing(OLD, after)
    assert judgment.status is Status.PASS
    assert found(judgment) == []
    assert judgment.reasoning.endswith("nothing else found; 1 known from the baseline")
    assert judgment.metadata["known"][0].startswith(f"jakarta/persistence ({JAVA}:")
    assert judgment.metadata["baseline"] == FILE
    assert "jakarta" not in [check.name for check in judgment.checks]


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        (f"package x;\n{IMPORT}\n{IMPORT}\nclass A {{}}\n", 1),
        (f"{IMPORT}\npackage x;\n{IMPORT}\nclass A {{}}\n", 1),
        (f"{IMPORT}\n{IMPORT}\nclass B {{}}\n", 1),
        (f"{IMPORT}\n{IMPORT}\n{IMPORT}\nclass B {{}}\n", 2),
    ],
)
def test_a_further_copy_is_new_wherever_it_stands(after: str, lines: int) -> None:
    judgment = changing(OLD, after)
    assert judgment.status is Status.FAIL
    assert [severity for _, severity, _ in found(judgment)] == ["error"] * lines


def test_another_file_or_another_text_is_new() -> None:
    other = changing(OLD, {JAVA: OLD, "src/main/java/x/B.java": OLD})
    assert [str(check.location) for check in other.failed_checks] == ["src/main/java/x/B.java:2"]
    assert changing(OLD, OLD.replace("Entity", "Id")).status is Status.FAIL


def test_a_renamed_file_is_known_by_its_old_path() -> None:
    new = "src/main/java/y/A.java"
    moved = {new: f"package y;\n  {IMPORT}\nclass A {{}}\n"}
    base: Files = {"pom.xml": pom(), JAVA: OLD, FILE: entries(OLD)}
    head = {"pom.xml": pom(), FILE: base[FILE], **moved}
    pull = pull_between(base, head, renamed={new: JAVA})
    judgment = judged(base, head, pull=pull, options={"baseline": FILE})
    assert judgment.status is Status.PASS
    assert len(judgment.metadata["known"]) == 1


def test_a_pull_request_adds_nothing_to_the_baseline() -> None:
    base: Files = {"pom.xml": pom(), FILE: "[]"}
    head: Files = {"pom.xml": pom(), JAVA: OLD, FILE: entries(OLD)}
    judgment = judged(base, head, options={"baseline": FILE})
    assert judgment.status is Status.FAIL
    assert judgment.metadata["known"] == ()


def test_an_entry_that_matches_nothing_is_no_business_of_a_pull_request() -> None:
    known = baseline_text([("jakarta/servlet", "gone.java", "0" * 16)])
    assert found(changing(OLD, {JAVA: OLD + "// end\n"}, known)) == []


def test_a_baseline_that_is_missing_at_the_base_is_an_error() -> None:
    base: Files = {"pom.xml": pom()}
    head: Files = {**base, JAVA: OLD, FILE: "[]"}
    with pytest.raises(ConfigError, match=r"there is no file \.github/prjury-baseline\.json") as no:
        judged(base, head, options={"baseline": FILE})
    assert no.value.reason == "baseline_invalid"
    linked = FakeRepository({BASE: {**base, FILE: "[]"}, HEAD: head}, modes={FILE: "120000"})
    with pytest.raises(ConfigError, match="there is no file"):
        judged(base, head, options={"baseline": FILE}, repository=linked)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "line 1 is not a baseline: Expecting value"),
        (b"{}", "line 1 is not a baseline: it is no list"),
        (b"[\n\n{]", "line 3 is not a baseline: Expecting property name"),
        (b"\n[\n{}]", "line 3 is not an entry: Object missing required field `rule`"),
        (f"[\n{ENTRY}\n,\n\n1]".encode(), "line 5 is not an entry: Expected `object`, got `int`"),
        (f"[{ENTRY}]\n[]".encode(), "line 2 is not a baseline: Extra data"),
        (f"[{ENTRY.replace('p/r', '')}]".encode(), "line 1 is not an entry: Expected `str` of"),
        (b"[" + b"1" * 5000 + b"]", "is not a baseline: "),
        (ENTRY.encode().join([b"[\n", b"\xff]"]), "line 2 is not UTF-8"),
        (b"[" * 100_000, "is not a baseline: "),
        (b" " * (MAX_BYTES + 1), "is larger than 16 MiB"),
    ],
)
def test_what_is_malformed_is_told_with_its_place(text: bytes, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_baseline(text, "b.json")
    assert refused.value.what.startswith(f"b.json {told}")
    assert refused.value.reason == "baseline_invalid"
    assert "write_baseline=FILE" in str(refused.value)


def test_lines_of_entries_are_those_of_the_file() -> None:
    text = baseline_text([("p/b", "b", "2"), ("p/a", "a", "1"), ("p/a", "a", "1")])
    assert text == (
        '[\n  {"rule":"p/a","path":"a","fingerprint":"1"},'
        '\n  {"rule":"p/b","path":"b","fingerprint":"2"}\n]\n'
    )
    stale = parse_baseline(text.encode(), "b").list_stale_entries_and_lines((), ("p",), ())
    assert [line for _, line in stale] == [2, 3]


def test_half_a_character_may_stand_in_a_path() -> None:
    text = ENTRY.replace('"a"', r'"\ud800"')
    [entry] = parse_baseline(f"[{text}]".encode(), "b.json").entries
    assert (entry.path, visible(entry.path)) == ("\ud800", r"\ud800")


@given(st.lists(st.tuples(*[st.text(min_size=1).map(printable)] * 3), max_size=20))
def test_what_is_written_can_be_read(found: list[tuple[str, str, str]]) -> None:
    baseline = parse_baseline(baseline_text(found).encode(), "b.json")
    assert {(k.rule, k.path, k.fingerprint) for k in baseline.entries} == set(found)
    assert json.loads(baseline_text(found)) is not None


@given(st.binary(max_size=200))
def test_any_other_content_is_refused_clearly(content: bytes) -> None:
    with contextlib.suppress(ConfigError):
        assert parse_baseline(b"[" + content, "b.json").entries == ()


@pytest.mark.parametrize("path", ["/etc/passwd", "../b.json", "a/../../b", "a//b", "", "."])
def test_a_baseline_is_inside_the_repository(path: str) -> None:
    with pytest.raises(ValueError, match="a path inside the repository"):
        read_options({"baseline": path}, PatternsOptions)
