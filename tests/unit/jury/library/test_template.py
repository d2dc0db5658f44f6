from __future__ import annotations

import string
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.errors import CannotJudgeError
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.library.template import Template, fill

FULL = JudgmentContext(
    "fix {error}",
    Path("/w"),
    "done {goal}",
    ExecutionStatus.FAILED,
    datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    timedelta(minutes=1, milliseconds=250),
    "it {broke}",
    {"env": "prod", "a-b": {"c_d": [1, "é"]}, "n": 1.5, "on": True, "none": None, "g": "{goal}"},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{goal}", "fix {error}"),
        ("{goal}{goal}", "fix {error}fix {error}"),
        ("in {workspace}: {agent_output}", "in /w: done {goal}"),
        ("{execution_status} {started_at}", "failed 2026-01-02 03:04:05+00:00"),
        ("after {execution_time} s: {error}", "after 60.2 s: it {broke}"),
        ("{metadata.env}, {metadata.n}, {metadata.on}", "prod, 1.5, true"),
        ("{metadata.a-b}", '{"c_d": [1, "é"]}'),
        ("{metadata.a-b.c_d}", '[1, "é"]'),
        ("[{metadata.none}]", "[]"),
        ("{metadata.g}", "{goal}"),
        ('{"goal": "{goal}"}', '{"goal": "fix {error}"}'),
        ('{"a": {"b": {}}} { goal } {0} {} {goal', '{"a": {"b": {}}} { goal } {0} {} {goal'),
        ("{goal!r} {goal:>9} {a b}", "{goal!r} {goal:>9} {a b}"),
        ("{{goal}} {{unknown}}", "{goal} {unknown}"),
        ("{{goal} {goal}}", "{fix {error} fix {error}}"),
        ("{{{goal}}}", "{{goal}}"),
        ("{größe}", "{größe}"),
        ("", ""),
    ],
)
def test_filling(text: str, expected: str) -> None:
    assert Template(text)(FULL) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (MappingProxyType({"a": MappingProxyType({})}), '{"a": {}}'),
        ({"when": datetime(2026, 1, 2, tzinfo=UTC)}, '{"when": "2026-01-02 00:00:00+00:00"}'),
        (("a", 1), '["a", 1]'),
        (7, "7"),
        (timedelta(seconds=90), "90.0"),
        (Path("a/b"), "a/b"),
    ],
)
def test_metadata_that_is_not_text(value: Any, expected: str) -> None:
    assert Template("{metadata.it}")(JudgmentContext("g", metadata={"it": value})) == expected


@pytest.mark.parametrize("text", ["{unknown}", "{goal} {Goal}", "{metadata}", "{goal.x}", "{a.b}"])
def test_unknown_placeholders_are_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="the placeholder"):
        Template(text)


@pytest.mark.parametrize("name", ["metadata.other", "metadata.env.inner", "metadata.a-b.x"])
def test_missing_metadata_is_an_error_of_its_own(name: str) -> None:
    with pytest.raises(CannotJudgeError) as missing:
        Template(f"{{{name}}}")(FULL)
    path = name.removeprefix("metadata.")
    told = f"The context's metadata has no {path!r}. The template asks for it."
    assert (str(missing.value), missing.value.reason) == (told, "prompt_incomplete")


names = st.text(string.ascii_lowercase, min_size=1, max_size=3)
literals = st.text().filter(lambda text: "{" not in text and "}" not in text)


@given(st.lists(st.tuples(literals, names)), literals, st.dictionaries(names, st.text()))
def test_values_are_never_looked_at_again(
    pieces: list[tuple[str, str]], end: str, values: dict[str, str]
) -> None:
    text = "".join(f"{literal}{{{name}}}" for literal, name in pieces) + end
    expected = "".join(literal + values.get(name, "{goal}") for literal, name in pieces) + end
    assert fill(text, lambda name: values.get(name, "{goal}")) == expected
