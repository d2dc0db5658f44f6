from __future__ import annotations

import pytest

from prjury.app.registry import JUDGES
from prjury.cli.lookup import require_explanation
from prjury.errors import UsageError
from prjury.judges.workspace.catalog import KINDS


@pytest.mark.parametrize("name", sorted({*JUDGES, *KINDS}))
def test_every_judge_has_a_page(name: str) -> None:
    page = require_explanation(name)
    assert page.startswith("# ")
    assert len(page.splitlines()) > 2


@pytest.mark.slow
def test_checks_rules_and_packs_are_found() -> None:
    check = require_explanation("tests-passed")
    assert check.startswith("The build judge: Outcomes (prjury explain build)")
    assert "`tests-passed`" in check
    assert "Pack `jakarta` for projects" in require_explanation("jakarta")
    assert "prjury-ignore[jakarta/persistence]" in require_explanation("jakarta/persistence")
    assert require_explanation("persistence") == require_explanation("jakarta/persistence")


def test_a_reason_is_explained_as_on_the_page_about_the_gate() -> None:
    assert "coverage: {exempt:" in require_explanation("coverage_floor")
    assert "limits: {usd: 2.0}" in require_explanation("budget")


def test_other_names_are_refused_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="Did you mean merge"):
        require_explanation("mergee")
