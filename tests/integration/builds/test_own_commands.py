"""Commands that the policy names: what ends them, what they leave behind, what they get."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fakes.history import script
from integration.builds.court import Court
from integration.builds.python import PYTEST
from integration.builds.sample import Tree
from prjury.jury.gate import Gate
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
    assert judged.build.reasoning == "test: failed with exit code 4: it prints nothing"
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
    until = time.monotonic() + 30  # it is removed beside what comes next
    while Path(home).exists() and time.monotonic() < until:
        time.sleep(0.01)
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
    assert "its test reports hold failures" in judged.build.reasoning
    assert judged.places == ["src/test/java/p/ATest.java:3"]


def test_a_report_that_the_tree_brings_along_is_none(court: Court) -> None:
    tree: Tree = {"target/surefire-reports/TEST-a.xml": REPORT, **NOTHING}
    judged = court.judge(tree, CHANGE, command="true")

    assert judged.build.status is Status.PASS


def test_a_command_may_leave_out_what_comes_after_an_old_failure(court: Court) -> None:
    court.needs(PYTEST)
    base: Tree = {**PYTEST.tree, **PYTEST.failing.files, "lint.sh": "exit 0\n"}
    change: Tree = {"lint.sh": "exit 1\n"}
    judged = court.judge(base, change, command="python3 -m pytest -q && sh lint.sh")

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.build.metadata["reason"] == "base_broken"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("./build.sh", "ermission denied"),
        ("./nope.sh", "not found"),
        ("python3 -m pytset", "No module named pytset"),
        pytest.param("make tset", "No rule to make target", marks=pytest.mark.needs("make")),
        ("cd nowhere && true", "can't cd to nowhere"),
    ],
)
def test_a_command_that_works_on_neither_side_is_the_policy_s_mistake(
    court: Court, command: str, told: str
) -> None:
    tree: Tree = {**NOTHING, "build.sh": "exit 0\n", "Makefile": "all:\n\ttrue\n"}
    judged = court.judge(tree, CHANGE, command=command)

    assert judged.build.status is Status.ERROR, judged.build.reasoning
    assert judged.build.metadata["reason"] == "tool_missing"
    assert told in judged.build.reasoning
    assert "`build: {command: …}`" in judged.build.metadata["remedy"]
    assert judged.report.gate is Gate.ACTION_REQUIRED


def test_a_program_that_the_change_takes_away_is_its_own_failure(court: Court) -> None:
    base: Tree = {**NOTHING, "build.sh": script("#!/bin/sh\nexit 0\n")}
    judged = court.judge(base, {"build.sh": None}, command="./build.sh")

    assert judged.build.status is Status.FAIL, judged.build.reasoning


_TWO_SUITES: Tree = {
    "shop.py": "PRICE = 1\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "tests/test_old.py": (
        "def test_old():\n    assert False\n\n\ndef test_after():\n    assert True\n"
    ),
    "tests/test_price.py": "import shop\n\n\ndef test_price():\n    assert shop.PRICE == 1\n",
    "run.sh": (
        "set -e\npython3 -m pytest -q --junitxml=junit-old.xml tests/test_old.py\n"
        "python3 -m pytest -q --junitxml=junit-price.xml tests/test_price.py\n"
    ),
    "Makefile": "check:\n\tsh run.sh\n",
}


@pytest.mark.parametrize(
    "command", ["sh run.sh", pytest.param("make check", marks=pytest.mark.needs("make"))]
)
def test_no_report_shows_what_a_script_leaves_out(court: Court, command: str) -> None:
    court.needs(PYTEST)
    judged = court.judge(_TWO_SUITES, {"shop.py": "PRICE = 2\n"}, command=command)

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.build.metadata["reason"] == "base_broken"


@pytest.mark.parametrize(("price", "status"), [(2, Status.FAIL), ("1  # as before", Status.PASS)])
def test_a_runner_is_known_by_its_reports(court: Court, price: object, status: Status) -> None:
    court.needs(PYTEST)
    command = "env CI=1 python3 -m pytest -q --junitxml=junit.xml"
    judged = court.judge(_TWO_SUITES, {"shop.py": f"PRICE = {price}\n"}, command=command)

    assert judged.build.status is status, judged.build.reasoning


class TestJunit:
    """Commands of one's own that have to leave reports, by `build: {junit: […]}`."""

    report = '<testsuite name="s" tests="1"><testcase classname="s" name="t"/></testsuite>'

    @pytest.mark.parametrize(
        ("command", "status", "reason"),
        [
            ("mkdir out && cp report.xml out/", Status.PASS, ""),
            ("true", Status.ERROR, "report_missing"),
        ],
        ids=["it is there", "there is none"],
    )
    def test_a_report_that_is_named_has_to_be_there(
        self, court: Court, command: str, status: Status, reason: str
    ) -> None:
        tree = {**NOTHING, "report.xml": self.report}
        judged = court.judge(tree, CHANGE, command=command, junit=["out/*.xml"])
        assert (judged.build.status, judged.build.reason) == (status, reason)
