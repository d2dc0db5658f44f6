from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prjury.doctor.workflows import Level, Setup, examine_setup
from prjury.errors import ConfigError
from prjury.manifests.matrix import UNKNOWN, ExpressionContext, list_matrix_rows
from prjury.manifests.workflow import ALL, LARGEST, Trigger, read_workflow


@pytest.mark.parametrize(
    ("text", "triggers"),
    [
        ("on: push", {"push": Trigger()}),
        ("on: [push, pull_request]", {"push": Trigger(), "pull_request": Trigger()}),
        ("on: {pull_request: }", {"pull_request": Trigger()}),
        ("'on': {pull_request: {types: opened}}", {"pull_request": Trigger(types=("opened",))}),
        (
            "on: {pull_request: {types: [], paths: [a], branches-ignore: [b]}}",
            {"pull_request": Trigger(types=(), filters=("paths", "branches-ignore"))},
        ),
        (
            "on: {workflow_run: {workflows: [A, B]}}",
            {"workflow_run": Trigger(workflows=("A", "B"))},
        ),
        ("name: nothing", {}),
    ],
)
def test_the_triggers_are_read_in_every_form(text: str, triggers: dict[str, Trigger]) -> None:
    assert read_workflow(text, "w.yml").triggers == triggers


@pytest.mark.parametrize(
    ("text", "permissions"),
    [
        ("permissions: {}", {}),
        ("permissions: {contents: read}", {"contents": "read"}),
        ("permissions: write-all", {ALL: "write"}),
        ("permissions: read-all", {ALL: "read"}),
        ("name: none", None),
    ],
)
def test_permissions_are_read_in_every_form(text: str, permissions: object) -> None:
    assert read_workflow(text, "w.yml").permissions == permissions


def test_a_workflow_without_a_name_is_known_by_its_path() -> None:
    assert read_workflow("on: push", ".github/workflows/w.yml").name == ".github/workflows/w.yml"


def test_a_job_is_read() -> None:
    text = """
jobs:
  a:
    name: All
    if: always()
    needs: b
    runs-on: [self-hosted, linux]
    continue-on-error: ${{ matrix.x }}
    strategy: {matrix: {x: [true]}}
    secrets: inherit
    env: {N: 1}
    steps:
      - uses: octo/act@v1
        with: {flag: true, text: x}
      - run: make
  b: {uses: ./.github/workflows/x.yml}
"""
    job, other = read_workflow(text, "w.yml").jobs
    assert (job.name, job.condition, job.needs) == ("All", "always()", ("b",))
    assert (job.continues, job.has_matrix, job.inherits_secrets) == (True,) * 3
    assert job.env == {"N": "1"}
    assert job.steps[0].action == "octo/act"
    assert job.steps[0].inputs == {"flag": "true", "text": "x"}
    assert other.uses == "./.github/workflows/x.yml"
    assert other.name == "b"


def test_anchors_are_read_as_github_reads_them() -> None:
    text = """
on: {pull_request: {types: &types [opened, synchronize]}, pull_request_target: {types: *types}}
jobs:
  a: {timeout-minutes: 5, continue-on-error: false, if: &if always(), steps: []}
  b: {if: *if, steps: []}
"""
    workflow = read_workflow(text, "w.yml")
    assert workflow.triggers["pull_request_target"].types == ("opened", "synchronize")
    assert [job.condition for job in workflow.jobs] == ["always()"] * 2
    assert not workflow.jobs[0].continues


def test_a_file_that_expands_without_end_is_read_at_once() -> None:
    levels = "\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 15))
    text = f"x0: &x0 a\n{levels}\non: *x14\njobs: {{a: {{steps: *x14, needs: *x14}}}}\n"
    workflow = read_workflow(text, "w.yml")
    assert workflow.triggers == {}
    assert workflow.jobs[0].needs == ()


@pytest.mark.parametrize(
    "text",
    [
        "- a",
        "",
        "jobs: [",
        "a: !x b",
        "a: 1\na: 2",
        "x: " + "y" * LARGEST,
        "a: &a b\nc: *a\nd: @",
        "a: &a [*a]",
        "a: &a b\nc: *a\nd: " + "[" * 5_000 + "]" * 5_000,
    ],
    ids=[
        "a list",
        "empty",
        "broken",
        "a tag",
        "a key twice",
        "too large",
        "broken after an alias",
        "in itself",
        "deep",
    ],
)
def test_what_is_no_workflow_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError):
        read_workflow(text, "w.yml")


@pytest.mark.parametrize(
    "text",
    [
        "jobs: 5",
        "jobs: {a: 5, b: {steps: 5}, c: {steps: [5, {with: 5, env: [1]}]}}",
        "on: 5\npermissions: 5\nenv: 5",
        "on: {pull_request: [types]}",
    ],
)
def test_odd_values_are_as_good_as_none(text: str) -> None:
    assert yaml.safe_load(text)
    read_workflow(text, "w.yml")


WORDS = st.sampled_from(
    "pull_request merge_group workflow_run workflow_call types paths workflows completed contents "
    "read write-all always() true never prjury build decide publish x/pr-jury@v1 octo/y "
    "actions/checkout@v4 head windows-latest".split()
)
KEYS = st.sampled_from(
    "name on permissions concurrency env jobs if needs runs-on steps uses with mode fail-on run "
    "strategy matrix secrets continue-on-error timeout-minutes ref pull_request a b".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


@given(
    st.dictionaries(KEYS, VALUES),
    st.lists(st.fixed_dictionaries({"uses": WORDS, "with": VALUES, "if": VALUES}), max_size=3),
    VALUES,
)
def test_no_workflow_is_too_odd_to_be_examined(
    top: dict[str, object], steps: list[object], on: object
) -> None:
    job = {"steps": steps, "permissions": on, "needs": on}
    for given_jobs in (top.get("jobs"), {"a": job, "prjury": job}):
        text = json.dumps({**top, "on": on, "jobs": given_jobs})
        with suppress(ConfigError):
            workflow = read_workflow(text, "w.yml")
            findings = list(examine_setup(Setup((workflow,))))
            assert all(one.text and "\n" not in one.text for one in findings)
            assert any(one.level is not Level.FINE for one in findings) or workflow.jobs


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
        ("true == 'true' || false == 'false'", False),
        ("true == 1 && null == false && '1.0' == 1 && true != 'true'", True),
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
