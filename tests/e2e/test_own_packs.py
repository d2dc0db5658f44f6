"""`prjury review` with packs that the policy names: they are the base's, as the policy is."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury
from fakes.history import History

PACK = """id: house
title: House
gate: always
rules:
  - id: no-connect
    title: acme.connect is gone
    why: Removed in 2.0.
    match:
      - languages: [python]
        uses: [acme.connect]
    message: use acme.Client
    severity: error
    confidence: high
    references: ['https://acme.example/changes']
"""
CASES = """pack: house
tests:
  no-connect:
    code:
      python: {valid: ['connect()'], invalid: ["import acme\\nacme.connect()"]}
"""
POLICY = "tiers: [{name: all, policy: final_tier, judges: [{patterns: {paths: [%s]}}]}]\n"
CODE = "import acme\n\nacme.connect()\n"


@pytest.fixture
def project(tmp_path: Path) -> History:
    """Checked out is a change that uses what the pack forbids, and lowers the rule."""
    history = History(tmp_path / "shop")
    packs = {"rules/own.yml": PACK, "rules/own.cases.yml": CASES}
    history.commit({".github/prjury.yml": POLICY % "rules/own.yml", **packs}, "start")
    history.switch("change", create=True)
    lowered = PACK.replace("severity: error", "severity: hint")
    history.commit({"shop.py": CODE, "rules/own.yml": lowered}, "Connect")
    return history


def test_a_change_that_lowers_a_rule_is_judged_by_the_rule_as_it_was(
    project: History, prjury: Prjury, tmp_path: Path
) -> None:
    for place in (project.path, tmp_path):
        run = prjury("review", "--repo", project.path, "--format", "json", cwd=place)
        assert run.code == 1, run.err
        judgment = run.judgment("patterns")
        assert judgment["status"] == "fail"
        assert "use acme.Client (shop.py:3)" in judgment["reasoning"]
        assert "this change touches rules/own.yml" in judgment["reasoning"]


def test_a_pack_that_the_base_lacks_is_an_error_of_the_configuration(
    project: History, prjury: Prjury
) -> None:
    project.switch("main")
    project.commit({".github/prjury.yml": POLICY % "rules/more.yml"}, "Name another")
    project.switch("more", create=True)
    project.commit({"rules/more.yml": PACK, "shop.py": CODE}, "Add it")
    run = prjury("review", "--repo", project.path, cwd=project.path)
    assert run.code == 2
    assert "there is no pack rules/more.yml (in the base commit " in run.complaint
