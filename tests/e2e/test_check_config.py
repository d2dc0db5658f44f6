"""``prjury check-config``: one line for each problem, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury, Run

TIER = "tiers: [{name: t, policy: final_tier, judges: [%s]}]"


@pytest.fixture
def check(tmp_path: Path, prjury: Prjury) -> Prjury:
    def call(text: str) -> Run:
        (tmp_path / "p.yml").write_text(text)
        return prjury("check-config", "p.yml")

    return call


def test_each_problem_is_a_line_in_the_order_of_the_file(check: Prjury) -> None:
    run = check(
        "version: 1\n"
        "tiers:\n"
        "  - name: a\n"
        "    policy: final_tier\n"
        "    judges: [merge, {quality: {criteria: [5]}}]\n"
        "limits:\n"
        "  wall: 45\n"
        "fix: {enabled: true}\n"
        "gate: {coverage_flor: 0.9}\n"
    )
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines() == [
        "p.yml:5:43: tiers[0].judges[1].quality.criteria[0]: a text is expected here, not 5",
        "p.yml:7:3: limits.wall: 45 has no unit; write 45s or 45m",
        "p.yml:8:1: fix: `enabled: true` needs a `command`",
        "p.yml:9:8: gate.coverage_flor is not a known key; did you mean coverage_floor?",
        "prjury: p.yml has 4 problems. Correct what the lines above name.",
    ]


@pytest.mark.parametrize(
    ("judges", "told"),
    [
        (
            "biuld",
            "1:48: tiers[0].judges[0]: there is no judge called 'biuld'. Did you mean",
        ),
        (
            "{patterns: {packs: [numpy-2, numpi]}}",
            (
                "1:77: tiers[0].judges[0].patterns.packs[1]: there is no pack 'numpi'. "
                "Did you mean numpy-2?"
            ),
        ),
        (
            "{patterns: {paths: [rules/nope.yml]}}",
            "1:68: tiers[0].judges[0].patterns.paths[0]: the pack",
        ),
        (
            "{file-content: {path: a, regex: '('}}",
            "1:49: tiers[0].judges[0].file-content: file-content: RE2 refuses '('",
        ),
        ("file-exists", "1:48: tiers[0].judges[0].file-exists.path: this key is needed"),
        (
            "{findings: {sarif: a.sarif}}",
            "1:1: tiers: findings in the tier t reads a report, and no tier before it has",
        ),
        ("{quality: {criteria: [nope]}}", "1:9: tiers[0]: quality.criteria names 'nope'"),
        (None, "1:10: ignore[0]: there is no rule or pack 'dockr'. Did you mean docker?"),
    ],
)
def test_names_of_nothing(check: Prjury, judges: str | None, told: str) -> None:
    run = check(TIER % judges if judges else "ignore: [dockr]")
    assert run.code == 2
    problem, last = run.err.splitlines()
    assert problem.startswith(f"p.yml:{told}")
    assert last == "prjury: p.yml has 1 problem. Correct what the lines above name."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gate: {block_on: []}", "1:8: gate.block_on: no verdict closes the gate"),
        ("gate: {block_on: [fail]}", "1:8: gate.block_on: the verdict error or abstain does not"),
        ("gate: {coverage_floor: 0}", "1:8: gate.coverage_floor: the gate opens for changes"),
        (TIER % "merge", "1:1: tiers: no tier has `patterns`"),
        (
            "tiers: [{name: t, policy: final_tier, advisory: true, judges: [patterns, quality]}]",
            "1:1: tiers: every tier is advisory",
        ),
        (
            "tiers: [{name: t, policy: final_tier, advisory: true, judges: [merge, patterns]}]",
            "1:1: tiers: every tier is advisory",
        ),
    ],
)
def test_a_doubtful_policy_is_warned_of_and_valid(check: Prjury, text: str, told: str) -> None:
    run = check(text)
    assert run.code == 0, run.err
    (warning,) = run.err.splitlines()
    assert warning.startswith(f"warning: p.yml:{told}")
    assert run.out.startswith("p.yml is valid")


def test_it_shows_what_is_in_force_and_where_it_comes_from(check: Prjury) -> None:
    run = check(
        "version: 1\nextend: [{command: {run: make lint}}, {file-content: {path: a, exact: b}}]\n"
        "limits: {usd: 2.0}\n"
    )
    assert (run.code, run.err) == (0, "")
    lines = [line.strip() for line in run.out.splitlines()]
    assert "build: merge, build (reject_on_any_fail, from the default)" in lines
    assert (
        "rules: command (extend), file-content (extend) (reject_on_any_fail, from extend)" in lines
    )
    assert 'limits: {"usd": 2.0} (from this file)' in lines
