"""Commands that the policy names: what ends them, what they leave behind, what they get."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.builds.court import Court
from integration.builds.sample import Tree
from prjury.jury.judgment import Status

NOTHING: Tree = {"a.txt": "a\n"}
CHANGE: Tree = {"b.txt": "b\n"}
REPORT = (
    '<testsuite tests="9" failures="0"><testcase classname="p.ATest" name="bad">'
    '<failure message="no">at p.ATest.bad(ATest.java:3)</failure></testcase></testsuite>'
)


@pytest.fixture
def court(tmp_path: Path) -> Court:
    return Court.at(tmp_path)


def test_steps_stop_at_the_first_failure(court: Court) -> None:
    steps = {"setup": "echo 1 > up", "build": "test -f up", "test": "exit 4", "lint": "touch l"}
    judged = court.judge(NOTHING, CHANGE, command=steps, pre_existing="block")

    assert judged.build.status is Status.FAIL
    assert judged.build.metadata["exit_code"] == 4
    assert judged.build.reasoning == "test: failed with exit code 4"
    executed = [check for check in judged.build.checks if check.name == "build-executed"]
    assert [check.passed for check in executed] == [True, True, False]


def test_steps_share_a_home_that_goes_away(court: Court) -> None:
    steps = {
        "setup": 'echo kept > "$HOME/file"',
        "test": 'cat "$HOME/file"; echo "$HOME" >&2; exit 1',
    }
    judged = court.judge(NOTHING, CHANGE, command=steps, pre_existing="block")

    assert judged.build.status is Status.FAIL
    kept, home = Path(judged.build.metadata["log"]).read_text().splitlines()
    assert kept == "kept"
    assert not Path(home).exists()


def test_a_build_that_crashes(court: Court) -> None:
    judged = court.judge(NOTHING, CHANGE, command="kill -SEGV $$")

    assert judged.build.status is Status.FAIL
    assert judged.build.reasoning == "killed by SIGSEGV"


def test_a_script_that_the_change_takes_away_is_its_own_failure(court: Court) -> None:
    base: Tree = {**NOTHING, "ci.sh": "#!/bin/sh\n"}
    judged = court.judge(base, {"ci.sh": None}, command="sh ./ci.sh")

    assert judged.build.status is Status.FAIL
    assert judged.build.reasoning.startswith("failed with exit code 2")


def test_failing_reports_outweigh_the_exit_code(court: Court) -> None:
    directory = "target/surefire-reports"
    command = f"mkdir -p {directory}; echo '{REPORT}' > {directory}/TEST-a.xml"
    tree: Tree = {"src/test/java/p/ATest.java": "", **NOTHING}
    judged = court.judge(tree, CHANGE, command=command, pre_existing="block")

    assert judged.build.status is Status.FAIL
    assert "ended with exit code 0, but" in judged.build.reasoning
    assert judged.places == ["src/test/java/p/ATest.java:3"]


def test_a_report_that_the_tree_brings_along_is_none(court: Court) -> None:
    tree: Tree = {"target/surefire-reports/TEST-a.xml": REPORT, **NOTHING}
    judged = court.judge(tree, CHANGE, command="true")

    assert judged.build.status is Status.PASS


def test_a_silent_failure_on_both_sides_tells_nothing(court: Court) -> None:
    judged = court.judge(NOTHING, CHANGE, command="exit 7")

    assert (judged.build.status, judged.build.metadata["reason"]) == (
        Status.FAIL,
        "base_broken",
    )
    assert "what went wrong could not be read" in judged.build.reasoning
