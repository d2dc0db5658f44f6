from __future__ import annotations

import pytest

from fakes.roots import failing
from prjury.judges.builds.systems.jvm import JavaTest, java_tests


def test_each_method_once_and_in_order() -> None:
    failures = [
        failing("p.B#b(int)[2]", suite="r"),
        failing("p.A#a", suite="r"),
        failing("p.B#b(int)[1]", suite="r"),
        failing("p.A#a", suite="q"),
    ]
    assert java_tests(failures) == (
        JavaTest("q", "p.A", "a"), JavaTest("r", "p.A", "a"), JavaTest("r", "p.B", "b"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "owner", "method", "many"),
    [
        ("A#a", "A", "a", False),
        ("p.q.A$In_1#a_1", "p.q.A$In_1", "a_1", False),
        ("A#a()", "A", "a", False),
        ("A#a()[1]", "A", "a", False),
        ("A#a(int, String)[2] x, y", None, "", False),
        ("A#a(int, String)[2]", "A", "a", False),
        ("A#a{int}[2]", "A", "a", False),
        ("A#a[0]", "A", "a", True),
        ("A#a[x = 1]", "A", "a", True),
        ("A#a[[1, 2]]", "A", "a", True),
    ],
)
def test_names_as_junit_gives_them(
    name: str, owner: str | None, method: str, *, many: bool
) -> None:
    expected = (JavaTest("r", owner, method, many),) if owner else None
    assert java_tests([failing(name, suite="r")]) == expected


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "a",
        "A#",
        "#a",
        "A#a b",
        "A#add two numbers",
        "A#[1] x",
        "A#a+b",
        "A#a,B",
        "A#*",
        "A#-x",
        "A#a\n",
        "A#a#b",
        "A-B#a",
        "A.#a",
        ".A#a",
        "p..A#a",
        "A,B#a",
        "!A#a",
        "-Dx=y#a",
        "Ä#a",
        "A#ä",
        "A#" + "a" * 500,
    ],
)
def test_names_that_cannot_be_said_exactly(name: str | None) -> None:
    assert java_tests([failing("A#a", suite="r"), failing(name, suite="r")]) is None


def test_no_report_and_no_failures() -> None:
    assert java_tests([failing("A#a")]) is None
    assert java_tests([]) is None
