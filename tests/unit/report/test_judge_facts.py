from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.judge_facts import (
    BuildFacts,
    GeneralFacts,
    LeftOut,
    MergeFacts,
    PanelFacts,
    PatternFacts,
    RuleFacts,
    RunFacts,
    ScopeFacts,
    TestFacts,
)


def judgment(metadata: dict[str, Any]) -> Judgment:
    """A judgment as it comes out of a JSON report."""
    return judgment_from_json(judgment_to_json(Judgment.passed("ok", metadata=metadata)))


@pytest.mark.parametrize(
    "facts",
    [
        BuildFacts(),
        BuildFacts(origin="checks"),
        BuildFacts(
            note="flaky",
            compared=True,
            tests=TestFacts(9, 3, 1, vanished=2, base=TestFacts(11)),
            failures={"new": {"test": 3}},
            unbuilt=(),
        ),
        BuildFacts(test_files=4, failures={}, unbuilt=(LeftOut("a.rb", "no", counts=False),)),
    ],
)
def test_facts_of_a_build_survive_json(facts: BuildFacts) -> None:
    assert BuildFacts.parse(judgment(facts.to_metadata())) == facts


@pytest.mark.parametrize(
    "facts",
    [ScopeFacts(), ScopeFacts(("a.py",), (LeftOut("b.py", "too large"),), (LeftOut("c", "no"),))],
)
def test_facts_of_what_was_read_survive_json(facts: ScopeFacts) -> None:
    assert ScopeFacts.parse(judgment(facts.to_metadata())) == facts


def test_facts_of_a_command_survive_json() -> None:
    facts = RunFacts("make", 2, ("/tmp/log",))
    assert RunFacts.parse(judgment(facts.to_metadata())) == facts


def test_facts_of_a_finding_survive_json() -> None:
    facts = RuleFacts("p/r", "a.py", 3, "because", ("docs",), "prjury-ignore[p/r]", "certain")
    plain = RuleFacts("p/s", line=None, why="so")
    said = judgment({"findings": [facts.to_metadata(), plain.to_metadata() | {"more": 1}]})
    assert PatternFacts.parse(said).findings == (facts, plain)


def test_what_has_another_form_takes_nothing_else_with_it() -> None:
    scope = {"read": ["a.py", 3], "unread": [{"path": "b.py"}, {"path": "c.py", "reason": "r"}]}
    facts = ScopeFacts.parse(judgment({"scope": scope}))
    assert facts == ScopeFacts(("a.py",), (LeftOut("b.py"), LeftOut("c.py", "r")))
    build = {**BuildFacts(failures={}).to_metadata(), "note": 7, "test_files": "many"}
    assert BuildFacts.parse(judgment(build)) == BuildFacts(failures={})


def test_a_judge_is_what_its_facts_say() -> None:
    build, merge = judgment(BuildFacts().to_metadata()), judgment(MergeFacts().to_metadata())
    assert (BuildFacts.parse(merge), MergeFacts.parse(build)) == (None, None)
    assert (BuildFacts.parse(judgment({})), MergeFacts.parse(judgment({}))) == (None, None)


def test_logs_of_a_recorded_build_are_not_here() -> None:
    builds = [{"log": "/1"}, {"log": None}, {"log": "/2"}, "odd"]
    assert RunFacts.parse(judgment({"log": "/1", "builds": builds})).logs == ("/1", "/2")
    assert RunFacts.parse(judgment({"log": "/1", "from": "evidence"})).logs == ()


def test_a_suppressed_finding_names_what_suppresses_it() -> None:
    facts = PatternFacts(suppressions=("p/r (a.py:3), by noqa", "p/r (a.py:4)"))
    for line, by in ((3, "by noqa"), (4, "suppressed"), (5, None)):
        check = Check("p/r", passed=False, location=Location("a.py", line))
        assert facts.find_what_suppressed(check) == by
    assert facts.find_what_suppressed(Check("p/r", passed=False)) is None


KEYS = (
    "facts scope read unread outside subject summaries repeated command exit_code log from builds "
    "note compared tests test_files failure_counts unbuilt stopped_at findings suppressions "
    "silencing panel model agreement iterations flipped evidence usage"
).split()
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["build", "merge"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(KEYS), ODD))
def test_metadata_of_any_form_is_read(metadata: dict[str, Any]) -> None:
    said = Judgment.passed("ok", metadata=metadata)
    for kind in (BuildFacts, GeneralFacts, MergeFacts, PanelFacts, PatternFacts, RunFacts):
        kind.parse(said)
    ScopeFacts.parse(said)


@pytest.mark.parametrize("metadata", [{}, {"panel": []}, {"panel": "x"}, {"panel": [1, None]}])
def test_where_there_are_no_seats_there_is_no_table(metadata: dict[str, Any]) -> None:
    assert PanelFacts.parse(judgment(metadata)).seats == ()
