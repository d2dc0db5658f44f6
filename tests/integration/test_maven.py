"""A small Maven project with JaCoCo: really tested, counted, and judged by its coverage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakes.maven import pom_with_tests
from prjury.judges.workspace.coverage import CoverageImprovementJudge
from prjury.judges.workspace.coverage_readers import CoverageCounter, parse_jacoco
from prjury.judges.workspace.program_judges import BuildJudge, MavenTests, run_maven_tests
from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.verdicts import TierPolicy
from prjury.jury.voting import ConsensusVoting

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not shutil.which("mvn"), reason="Maven is not installed"),
]

#: The plugin that counts which lines run.
JACOCO = (
    "<groupId>org.jacoco</groupId><artifactId>jacoco-maven-plugin</artifactId>"
    "<version>0.8.12</version><executions>"
    "<execution><goals><goal>prepare-agent</goal></goals></execution><execution><id>report</id>"
    "<phase>test</phase><goals><goal>report</goal></goals></execution></executions>"
)
TILL = """package shop;

public class Till {
    public int total(int a, int b) {
        return a + b;
    }

    public int discount(int price) {
        if (price > 100) {
            return price - 10;
        }
        return price;
    }
}
"""
TEST = """package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

class TillTest {
    @Test
    void totals() {
        assertEquals(3, new Till().total(1, 2));
    }

    @Test
    void small() {
        assertEquals(50, new Till().discount(50));
    }

    @Test
    @Disabled("later")
    void large() {
    }
}
"""


DISCOUNTS = """
    @Test
    void discounts() {
        assertEquals(110, new Till().discount(120));
    }
"""


def with_another(test: str) -> str:
    return TEST.rstrip().removesuffix("}") + test + "}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, text in {
        "pom.xml": pom_with_tests(JACOCO),
        "src/main/java/shop/Till.java": TILL,
        "src/test/java/shop/TillTest.java": TEST,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def run(project: Path) -> MavenTests:
    """The run, unless what it needs is neither cached nor to be downloaded."""
    found = run_maven_tests(project, 300)
    if "Could not transfer" in found.log.read_text("utf-8", "replace"):
        pytest.skip("Maven's registry cannot be reached")
    return found


def test_tests_and_coverage(project: Path) -> None:
    found = run(project)
    assert found.passed, found.log.read_text()
    assert (found.exit_code, found.stopped) == (0, None)
    assert (found.tests, found.failed, found.errored, found.skipped) == (3, 0, 0, 1)
    assert found.command[0] == "mvn"
    assert found.seconds > 0
    metrics = parse_jacoco(project)
    assert metrics == parse_jacoco(project / "target/site/jacoco/jacoco.xml")
    assert metrics.counters["line"] == CoverageCounter(4, 1)
    assert metrics.counters["branch"] == CoverageCounter(1, 1)
    assert (metrics.line, metrics.branch, metrics.method) == (80.0, 50.0, 100.0)


def test_a_failing_test_and_a_crashing_one(project: Path) -> None:
    test = project / "src/test/java/shop/TillTest.java"
    broken = (
        "    @Test\n    void breaks() {\n        throw new IllegalStateException();\n    }\n}\n"
    )
    test.write_text(TEST.replace("assertEquals(3", "assertEquals(4").rstrip("}\n") + "}\n" + broken)
    found = run(project)
    assert not found.passed
    assert found.exit_code == 1
    assert (found.tests, found.failed, found.errored, found.skipped) == (4, 1, 1, 1)
    assert "expected: <4> but was: <3>" in found.log.read_text()


def test_code_that_does_not_compile(project: Path) -> None:
    (project / "src/main/java/shop/Till.java").write_text("class Till { Item item; }\n")
    found = run(project)
    assert (found.passed, found.exit_code, found.tests) == (False, 1, 0)
    assert "cannot find symbol" in found.log.read_text()


def test_a_cascade_from_build_to_coverage(project: Path) -> None:
    tiers = [
        Tier(
            "build",
            Jury.of(ConsensusVoting(), BuildJudge.maven("clean", "test")),
            TierPolicy.REJECT_ON_ANY_FAIL,
        ),
        Tier(
            "coverage",
            Jury.of(ConsensusVoting(), CoverageImprovementJudge(baseline=50, target=85)),
            TierPolicy.FINAL_TIER,
        ),
    ]
    context = JudgmentContext("test the till", workspace=project)
    verdict = CascadedJury(tiers).vote(context)
    if "Could not transfer" in str(verdict.attempts[0]):
        pytest.skip("Maven's registry cannot be reached")
    assert (verdict.status, verdict.decided_by) == (Status.FAIL, "coverage")
    (judgment,) = verdict.attempts[1].verdict.individual if verdict.attempts[1].verdict else ()
    assert judgment.reasoning == "line coverage is 80 %, at least 85 % is asked for"
    test = project / "src/test/java/shop/TillTest.java"
    test.write_text(with_another(DISCOUNTS))
    verdict = CascadedJury(tiers).vote(context)
    assert (verdict.status, verdict.decided_by) == (Status.PASS, "coverage")
