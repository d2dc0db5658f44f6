"""Recover on Maven: the base has renamed a method that the change's tests still call."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.maven import pom_with_tests
from integration.agents.places import commit, git, review
from prjury.jury.judgment import Status
from prjury.report.model import RefusedEdit
from prjury.report.render import Renderer

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not shutil.which("mvn"), reason="Maven is not installed"),
]

MAIN, TESTS = "src/main/java/shop", "src/test/java/shop"
TILL = """package shop;

public class Till {
    public int total(int a, int b) {
        return a + b;
    }
}
"""
TEST = """package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TillTest {
    @Test
    void adds() {
        assertEquals(3, new Till().total(1, 2));
    }
}
"""
VAT = """package shop;

public class Vat {
    public int of(int price) {
        return price / 5;
    }
}
"""
VAT_TEST = """package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class VatTest {
    private final Till till = new Till();
    private final Vat vat = new Vat();

    @Test
    void isAFifth() {
        assertEquals(2, vat.of(till.total(4, 6)));
        assertEquals(3, vat.of(till.total(5, 10)));
    }

    @Test
    void isNothingOfNothing() {
        assertEquals(0, vat.of(till.total(0, 0)));
        assertEquals(0, vat.of(till.total(2, 2)));
    }
}
"""
#: Repairs two of four places and the production code; once that was undone, the other two.
AGENT = f"""
import pathlib, sys
goal = sys.stdin.read()
for line in (13, 14, 19, 20) if "was undone" not in goal else (19, 20):
    assert f"VatTest.java:{{line}}" in goal, goal
test = pathlib.Path("{TESTS}/VatTest.java")
till = pathlib.Path("{MAIN}/Till.java")
assert "total" not in till.read_text()
again = "was undone:\\n- {MAIN}/Till.java: it is outside" in goal
test.write_text(test.read_text().replace("till.total", "till.sum", 4 if again else 2))
if not again:
    till.write_text(till.read_text().replace("int sum", "int total"))
print('{{"type": "result", "result": "done", "total_cost_usd": 0.5}}')
"""


def repository(place: Path) -> Path:
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    sources = {f"{MAIN}/Till.java": TILL, f"{TESTS}/TillTest.java": TEST}
    commit(place, {"pom.xml": pom_with_tests(), **sources})
    git(place, "switch", "-qc", "topic")
    commit(place, {f"{MAIN}/Vat.java": VAT, f"{TESTS}/VatTest.java": VAT_TEST})
    git(place, "switch", "-q", "main")
    commit(place, {path: text.replace("total(", "sum(") for path, text in sources.items()})
    return place


def test_four_compile_errors_after_a_rebase_are_repaired_in_the_second_round(
    tmp_path: Path,
) -> None:
    place = repository(tmp_path / "till")
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    tier = {"name": "build", "policy": "final_tier", "judges": ["merge", "build"]}
    fix = {"enabled": True, "command": f"{sys.executable} {agent}"}
    home = str(Path.home())  # it has what Maven has downloaded already
    report = review(place, {"tiers": [tier], "fix": fix}, HOME=home)

    assert report.verdict.status is Status.FAIL  # whatever the agent does
    recovery = report.recovery
    assert recovery, report.headline
    assert recovery.outcome == "recovered", recovery.reason
    first, second = recovery.rounds
    assert first.edited == second.edited == (f"{TESTS}/VatTest.java",)
    why = "it is outside of the paths that may change"
    assert first.refused == (RefusedEdit(f"{MAIN}/Till.java", why),)
    assert (second.refused, recovery.usd) == ((), 1.0)
    page = Renderer().comment(report)
    said = "recovered in round 2 (1 file, $1.00); the verdict on this pull request stays"
    assert said in page.replace("\\", "")
    assert f"refused and undone: `{MAIN}/Till.java`" in page
    git(place, "checkout", "-q", "--detach", "main")
    git(place, "merge", "-q", "topic")
    subprocess.run(["git", "apply"], cwd=place, input=recovery.patch.encode(), check=True)
    repaired = (place / TESTS / "VatTest.java").read_text()
    assert repaired == VAT_TEST.replace("total(", "sum(")
    assert git(place, "diff", "--name-only") == f"{TESTS}/VatTest.java\n"
