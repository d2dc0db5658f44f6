from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.manifests.matrix import UNKNOWN, ExpressionContext, list_matrix_rows

CONTEXT = ExpressionContext(
    {
        "matrix": {"os": "ubuntu-latest", "python": 3.11, "cover": True, "tags": ["a", "B"]},
        "env": {"NAME": "x"},
        "steps": {},
        "github": {"sha": UNKNOWN},
    }
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("matrix.os", "ubuntu-latest"),
        ("matrix['os']", "ubuntu-latest"),
        ("matrix.none", ""),
        ("matrix.none || 'else'", "else"),
        ("matrix.os == 'UBUNTU-latest'", True),
        ("matrix.os != 'windows' && env.NAME == 'x'", True),
        ("!startsWith(matrix.os, 'ubuntu')", False),
        ("contains(matrix.tags, 'b')", True),
        ("contains(matrix.os, 'ubuntu')", True),
        ("endsWith(matrix.os, 'latest')", True),
        ("format('py{0}-{1}', matrix.python, 'it''s')", "py3.11-it's"),
        ("(matrix.cover && 'yes') || 'no'", "yes"),
        ("steps.cache.outputs.hit != 'true'", True),
        ("always() && !cancelled()", True),
        ("failure()", False),
        ("1.5", 1.5),
        ("null", None),
        ("github.sha", UNKNOWN),
        ("github.sha == 'x'", UNKNOWN),
        ("github.sha || 'x'", "x"),
        ("github.sha && false", False),
        ("!github.sha", UNKNOWN),
        ("secrets.TOKEN", UNKNOWN),
        ("hashFiles('**/x')", UNKNOWN),
        ("1 < 2", True),
        ("'20' >= 18", True),
        ("16 >= 18", False),
        ("'b' > 'A'", True),
        ("'x' < 1", False),
        ("github.sha < 1", UNKNOWN),
        ("fromJSON('[1, 2]')", [1, 2]),
        ("fromJSON('[')", UNKNOWN),
        ("format('{3}')", UNKNOWN),
        ("matrix.os ==", UNKNOWN),
        ("a b", UNKNOWN),
        ("(" * 1_500, UNKNOWN),
    ],
)
def test_the_value_of_an_expression(expression: str, value: object) -> None:
    assert CONTEXT.value(expression) == value


@given(st.text(alphabet="ab.()'|&!=, 1<>[]", max_size=30))
def test_any_text_has_a_value(text: str) -> None:
    CONTEXT.value(text)


def test_a_text_with_expressions() -> None:
    assert CONTEXT.fill("py${{ matrix.python }} ${{env.NAME}}") == "py3.11 x"
    assert CONTEXT.fill("${{ matrix.cover }}") == "true"
    assert CONTEXT.fill("at ${{ github.sha }}") is None
    assert CONTEXT.fill("${{ matrix.tags }}") is None


@pytest.mark.parametrize(
    ("condition", "holds"),
    [("", True), ("${{ matrix.cover }}", True), ("! matrix.cover", False), ("github.sha", None)],
)
def test_whether_a_condition_holds(condition: str, holds: bool | None) -> None:
    assert CONTEXT.holds(condition) is holds


def rows(matrix: object) -> list[dict[str, Any]]:
    return [dict(row) for row in list_matrix_rows(matrix, CONTEXT)]


def test_the_rows_of_a_matrix() -> None:
    assert rows(None) == [{}]
    assert rows({"os": ["u", "w"], "v": [1, 2], "exclude": [{"os": "w", "v": 2}]}) == [
        {"os": "u", "v": 1},
        {"os": "u", "v": 2},
        {"os": "w", "v": 1},
    ]
    more = {"v": [1], "include": [{"v": 1, "name": "one"}, {"v": 3, "name": "three"}]}
    assert rows(more) == [{"v": 1, "name": "one"}, {"v": 3, "name": "three"}]
    assert rows({"include": [{"v": 1}, {"v": 2}]}) == [{"v": 1}, {"v": 2}]
    assert rows({"v": ["${{ env.NAME }}"], "include": [{"all": "yes"}]}) == [
        {"v": "x", "all": "yes"}
    ]
    assert rows({"v": "${{ fromJson(needs.x.outputs.y) }}"}) == [{"v": UNKNOWN}]


def test_a_matrix_has_at_most_256_rows() -> None:
    assert len(rows({"a": list(range(100)), "b": list(range(100))})) == 256
