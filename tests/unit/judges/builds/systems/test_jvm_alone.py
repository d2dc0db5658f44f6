"""From what a report tells of a failing test to the command that runs it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.roots import root_of
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.junit import find_reports, read_reports
from prjury.judges.builds.reading import TemporaryPaths
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.builds.systems.gradle import GradleRerun
from prjury.judges.builds.systems.maven import MavenRerun

REPORT = (
    '<testsuite name="p.ATest"><testcase classname="p.ATest" name="a">'
    '<failure message="no"/></testcase></testsuite>'
)
NO_MATTER = (
    "-DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false "
    "-Dfailsafe.failIfNoSpecifiedTests=false -Dit.failIfNoSpecifiedTests=false"
)


def failures(tmp_path: Path, path: str) -> tuple[Failure, ...]:
    file = tmp_path / "tree" / path
    file.parent.mkdir(parents=True)
    file.write_text(REPORT)
    (tmp_path / "reports").mkdir()
    found = find_reports(tmp_path / "tree", tmp_path / "reports", {})
    places = TemporaryPaths(tmp_path / "tree", tmp_path)
    return read_reports(found, TreeFiles(frozenset()), places.relative).failures


@pytest.mark.parametrize(
    ("plugin", "which"),
    [
        ("surefire", "-Dtest=p.ATest#a -Dit.test=prjury.NoSuchTest -DskipITs"),
        ("failsafe", "-Dtest=prjury.NoSuchTest -Dit.test=p.ATest#a"),
    ],
)
def test_maven(tmp_path: Path, plugin: str, which: str) -> None:
    told = failures(tmp_path, f"core/target/{plugin}-reports/TEST-p.ATest.xml")
    steps = MavenRerun(("mvn",), lambda: {"": ".", "core": "core"})(told)
    assert [step.text.replace("'", "") for step in steps or ()] == [
        f"mvn {which} {NO_MATTER} -pl core -am verify"
    ]


def test_gradle(tmp_path: Path) -> None:
    told = failures(tmp_path, "core/build/test-results/test/TEST-p.ATest.xml")
    steps = GradleRerun(("gradle",), root_of({"core/build.gradle": ""}))(told)
    assert [step.text for step in steps or ()] == [
        "gradle --no-build-cache -p core test --tests p.ATest.a"
    ]
