"""Every rendering reads the view, so that all of them say the same."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import prjury
from fakes.reports import ballot, file, pull, report, tier
from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.annotations import Reviewer, annotate, list_added_lines
from prjury.report.model import Dismissal
from prjury.report.render import Renderer
from prjury.report.view import page

SOURCE = Path(prjury.__file__).parent
RENDERINGS = ("render", "annotations")
#: What the view is made of.
MATERIAL = {f"prjury.report.{name}" for name in ("headline", "judge_facts", "assemble")} | {
    "prjury.jury.cascade",
    "prjury.jury.voting",
    "prjury.jury.jury",
}
#: They show judgments that no report holds yet.
WITHOUT_A_REPORT = {"judgment.py"}
#: Shows ballots as well, while a run goes on.
LIVE = {"terminal"}


@pytest.mark.parametrize(
    "path",
    [
        *(SOURCE / "report" / f"{name}.py" for name in RENDERINGS),
        *sorted((SOURCE / "publishers").glob("*.py")),
    ],
    ids=lambda path: path.stem,
)
def test_nobody_renders_from_the_report_itself(path: Path) -> None:
    if path.name in WITHOUT_A_REPORT:
        return
    tree = ast.parse(path.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    material = MATERIAL - ({"prjury.jury.voting"} if path.stem in LIVE else set())
    assert not {node.module for node in imports} & material
    names = {alias.name for node in imports for alias in node.names}
    assert not names & {"findings", "seat_outcomes", "list_seats_against_pass", "TierReport"}
    read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not read & {"tiers", "coverage", "judgments", "ballots"}


def test_a_dismissed_finding_is_nothing_to_fix_anywhere() -> None:
    checks = [Check("rule", False, f"wrong {n}", Location("a.py", n)) for n in (1, 2)]
    judge = ballot("patterns", Judgment.failed("no", checks=checks))
    made = report(
        tier("t", judge),
        pull_request=pull([file("a.py")]),
    )
    dismissal = Dismissal(checks[0].fingerprint, "octocat", "wanted")
    made = replace(made, dismissals=(dismissal,))
    view = page(made)
    assert (view.must_fix_count, view.should_look_count) == (1, 1)
    text = Renderer().comment(made)
    head, _, folded = text.partition("<summary>Should look at (1)")
    assert "### Must fix (1)" in head
    assert "wrong 1" not in head.partition("### Must fix")[2]
    assert "dismissed by octocat: wanted" in folded
    assert [one["annotation_level"] for one in annotate(made).entries] == ["failure", "warning"]
    assert Reviewer(made, list_added_lines(made.pull)).remarks() == []
