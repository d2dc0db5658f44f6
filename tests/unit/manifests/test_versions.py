"""Versions, spans and requirements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.manifests.module import Requirement, Truth
from prjury.manifests.spans import VersionSpan, numbers, read_span

FOUR = Requirement.parse("maven:org.springframework.boot >=4.0")


@pytest.mark.parametrize(
    ("version", "truth"),
    [
        ("4.0.0", Truth.YES),
        ("4", Truth.YES),
        ("4.0", Truth.YES),
        ("4.1.0-SNAPSHOT", Truth.YES),
        ("4.0.0-M1", Truth.YES),
        ("10.0", Truth.YES),
        ("3.9.9", Truth.NO),
        ("2.7.18.RELEASE", Truth.NO),
        ("[4.0,5.0)", Truth.YES),
        ("[4.0]", Truth.YES),
        ("[4.0,)", Truth.YES),
        ("(,4.0)", Truth.NO),
        ("[3.0,4.0)", Truth.NO),
        ("[3.0,4.0]", Truth.SOME),
        ("[3.0,4.1)", Truth.SOME),
        ("(,3.0],[3.5,3.9]", Truth.NO),
        ("4.+", Truth.YES),
        ("3.+", Truth.NO),
        ("+", Truth.UNKNOWN),
        ("latest.release", Truth.UNKNOWN),
        ("", Truth.UNKNOWN),
        ("${x}", Truth.UNKNOWN),
        ("[,]", Truth.UNKNOWN),
    ],
)
def test_what_a_declared_version_says(version: str, truth: Truth) -> None:
    assert FOUR.compare(version) is truth


@pytest.mark.parametrize(
    ("version", "truth"),
    [
        ("4.0.0-M2", Truth.SOME),
        ("4.0.0-SNAPSHOT", Truth.SOME),
        ("4.0.0-RC1", Truth.YES),
        ("4.0.0", Truth.YES),
        ("4.1.0-M1", Truth.YES),
        ("3.5.0", Truth.NO),
    ],
)
def test_a_milestone_is_not_sure_where_the_release_candidate_decides(
    version: str, truth: Truth
) -> None:
    assert Requirement.parse("maven:g >=4.0-RC1").compare(version) is truth


def test_an_upper_bound() -> None:
    between = Requirement.parse("maven:a:b >=2.0 <3.0")
    assert [between.compare(v) for v in ("2.9", "3.0", "1.9")] == [Truth.YES, Truth.NO, Truth.NO]


def test_without_a_span_any_version_will_do() -> None:
    assert Requirement.parse("maven:tools.jackson.*").compare(None) is Truth.YES


@pytest.mark.parametrize(
    "text", ["", "maven", "maven:a ==4", "npm:react:x", "cobol:x", "maven:a >=x"]
)
def test_what_is_no_requirement(text: str) -> None:
    with pytest.raises(ValueError, match="is not a requirement"):
        Requirement.parse(text)


VERSIONS = st.lists(st.integers(0, 20), min_size=1, max_size=4)


@given(VERSIONS, VERSIONS)
def test_a_version_is_inside_or_apart_never_both_and_never_neither(
    declared: list[int], bound: list[int]
) -> None:
    told = ".".join(map(str, declared))
    span = read_span(told, "maven")
    low = numbers(".".join(map(str, bound)))
    assert span is not None
    assert low is not None
    required = VersionSpan(low)
    assert span.within(required) != span.excludes(required)
    assert span.within(required) == ((numbers(told) or ()) >= low)
