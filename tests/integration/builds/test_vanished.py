"""Tests that ran on the base and do not run with the change, in builds that pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.builds.court import Court, Judged
from integration.builds.golang import GO
from integration.builds.node import NPM
from integration.builds.python import PYTEST
from integration.builds.sample import Tree, text
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status

BASE: Tree = {
    "shop.py": text("def price() -> int:\n    return 1\n"),
    "tests/test_shop.py": text(
        "from shop import price\n\n\ndef test_price() -> None:\n    assert price() == 1\n\n\n"
        "def test_kind() -> None:\n    assert type(price()) is int\n"
    ),
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
BROKEN = text("def price() -> int:\n    return 2\n")
ALIVE = "from shop import price\n\n\ndef test_kind() -> None:\n    assert price()\n"


def judged(tmp_path: Path, change: Tree, **options: str) -> Judged:
    court = Court.at(tmp_path)
    court.needs(PYTEST)
    return court.judge(BASE, change, compare="always", **options)


SKIP = text(
    "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef _skip():\n    pytest.skip('later')\n"
)
MARK = f"{ALIVE}\n\n@pytest.mark.skip\ndef test_price() -> None:\n    assert price() == 1\n"
DESELECT = "def pytest_collection_modifyitems(items):\n    items[:] = items[1:]\n"


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({"tests/test_shop.py": text(ALIVE)}, 1),
        ({"tests/test_shop.py": text(f"import pytest\n\n{MARK}")}, 1),
        ({"tests/conftest.py": DESELECT}, 1),
        ({"tests/conftest.py": SKIP}, 2),
    ],
    ids=["deleted", "skipped", "deselected", "all-skipped"],
)
def test_a_test_that_is_silenced_needs_a_human(tmp_path: Path, change: Tree, count: int) -> None:
    told = judged(tmp_path, {"shop.py": BROKEN, **change})
    assert (told.build.status, told.build.label) == (Status.ABSTAIN, "tests_vanished"), told.build
    assert told.build.metadata["tests"]["vanished"] == count
    assert told.build.metadata["tests"]["base"] == {"run": 2, "failed": 0, "skipped": 0}
    (check,) = [check for check in told.build.failed_checks if check.name == "tests-vanished"]
    assert "tests/test_shop.py test_price" in (check.evidence or "")
    assert told.report.gate is Gate.ACTION_REQUIRED
    assert told.report.coverage.files_judged == len(told.report.pull.files)
    lost = "1 test" if count == 1 else f"{count} tests"
    assert f"Needs a human: build lost {lost} that ran on the base" in told.report.headline


def test_the_policy_says_what_follows(tmp_path: Path) -> None:
    change: Tree = {"tests/test_shop.py": text(ALIVE)}
    failed = judged(tmp_path / "fail", change, vanished="fail")
    assert (failed.build.status, failed.report.gate) == (Status.FAIL, Gate.FAILURE)
    assert "1 test that ran on the base did not run here" in failed.report.headline
    warned = judged(tmp_path / "warn", change, vanished="warn")
    assert (warned.build.status, warned.report.gate) == (Status.PASS, Gate.SUCCESS)
    assert "build lost 1 test that ran on the base" in warned.report.headline


def test_tests_that_were_moved_are_not_lost(tmp_path: Path) -> None:
    content = BASE["tests/test_shop.py"]
    told = judged(tmp_path, {"tests/test_shop.py": None, "tests/unit/test_prices.py": content})
    assert told.build.status is Status.PASS, told.build.reasoning
    assert told.build.metadata["tests"] == {
        "run": 2, "failed": 0, "skipped": 0, "vanished": 0,
        "base": {"run": 2, "failed": 0, "skipped": 0},
    }  # fmt: skip


def test_a_go_test_that_is_skipped(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(GO)
    path = next(path for path in GO.tree if path.endswith("_test.go"))
    content = str(GO.tree[path])
    skipped = content.replace("(t *testing.T) {\n", '(t *testing.T) {\n\tt.Skip("later")\n')
    told = court.judge(GO.tree, {path: skipped}, compare="always")
    assert (told.build.status, told.build.label) == (Status.ABSTAIN, "tests_vanished"), told.build
    tests = told.build.metadata["tests"]
    assert tests["vanished"] == tests["skipped"] == content.count("(t *testing.T) {\n")


def test_a_node_test_that_is_skipped(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(NPM)
    path = next(path for path in NPM.tree if path.endswith(".test.js"))
    skipped = str(NPM.tree[path]).replace("test(", "test.skip(")
    assert skipped != NPM.tree[path]
    told = court.judge(NPM.tree, {path: skipped}, compare="always")
    assert (told.build.status, told.build.label) == (Status.ABSTAIN, "tests_vanished"), told.build


def test_tests_that_leave_no_results_are_no_plain_green(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    told = court.judge(BASE, {"shop.py": BROKEN}, command="true")
    assert told.build.metadata["tests"] is None
    assert told.build.metadata["test_files"] == 1
    assert told.report.headline.startswith(
        "✅ Nothing found against it (build shows no test results, though the tree has 1 test file"
    )


#: Writes one report, and needs something that lies outside of the tree.
CHECK = """
set -e
test -e FLAG
for name in TESTS; do cases="$cases<testcase classname='a' name='$name'/>"; done
printf "<testsuite>$cases</testsuite>" > tests.xml
"""


def check(flag: Path, tests: str, *, first: str = "") -> Tree:
    return {"check.sh": first + CHECK.replace("FLAG", str(flag)).replace("TESTS", tests)}


def test_a_base_that_fails_by_chance_hides_no_lost_test(tmp_path: Path) -> None:
    """Neither in the review in which it fails nor in a later one."""
    flag = tmp_path / "flag"
    court = Court.at(tmp_path / "court")
    court.level = "L1"  # the flag lies outside
    court.environ["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    options = {"command": "sh check.sh", "junit": ["tests.xml"]}
    history = court.history(check(flag, "one two"), {"note.txt": "a\n"}, **options)
    assert court.review(history.path).report.gate is Gate.ACTION_REQUIRED  # the flag is not there
    flag.touch()
    history.switch("main")
    history.switch("later", create=True)
    history.commit(check(flag, "one"), "lose a test")
    told = court.review(history.path, head="later")
    assert (told.build.status, told.build.label) == (Status.ABSTAIN, "tests_vanished")


def test_a_change_that_takes_away_what_the_base_needs_hides_no_lost_test(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    change = check(tmp_path, "one", first=f"rm -f {flag}\n")
    court = Court.at(tmp_path / "court")
    court.level = "L1"  # the flag lies outside
    told = court.judge(check(flag, "one two"), change, command="sh check.sh", junit=["tests.xml"])
    assert (told.build.status, told.build.label) == (Status.ABSTAIN, "tests_vanished")


def test_a_base_that_fails_where_the_change_passes_is_no_comparison(tmp_path: Path) -> None:
    court = Court.at(tmp_path / "court")
    court.level = "L1"  # the flag lies outside
    gone, there = tmp_path / "gone", tmp_path
    told = court.judge(
        check(gone, "one two"), check(there, "one"), command="sh check.sh", junit=["tests.xml"]
    )
    assert (told.build.status, told.build.label) == (Status.ABSTAIN, "no_comparison")
    assert told.report.gate is Gate.ACTION_REQUIRED
    assert "no comparison" in told.report.headline


INNER = "def test_inner() -> None:\n    assert False\n"
CALLING = text(f"""
    import subprocess
    import sys


    def test_one() -> None:
        pass


    def test_caller(tmp_path) -> None:
        (tmp_path / "test_inner.py").write_text({INNER!r})
        called = subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)], check=False)
        assert called.returncode == 1
""")
TWICE: Tree = {
    "Makefile": "test:\n\tpython3 -m pytest a\n\tpython3 -m pytest b\n",
    "a/test_a.py": CALLING,
    "b/test_b.py": "def test_two() -> None:\n    pass\n",
}


def test_runners_of_one_step_keep_their_reports(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(PYTEST)
    change: Tree = {"a/test_a.py": CALLING.replace("test_one", "some_one")}
    told = court.judge(TWICE, change, compare="always", command="make test")

    assert told.build.label == "tests_vanished", told.build
    assert told.build.metadata["tests"] == {
        "run": 2, "failed": 0, "skipped": 0, "vanished": 1,
        "base": {"run": 3, "failed": 0, "skipped": 0},
    }  # fmt: skip
    (check,) = [check for check in told.build.failed_checks if check.name == "tests-vanished"]
    assert check.evidence == "a/test_a.py test_one"


def test_suites_of_node_in_one_script_keep_their_reports(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(NPM)
    test = "const test = require('node:test');\ntest('one', () => {});\n"
    tree: Tree = {
        "package.json": '{"name": "x", "scripts": {"test": "node --test a && node --test b"}}\n',
        "a/one.test.js": f"{test}test('two', () => {{}});\n",
        "b/one.test.js": test,
    }
    told = court.judge(tree, {"a/one.test.js": test}, compare="always")

    assert told.build.metadata["tests"]["base"]["run"] == 3, told.build
    (check,) = [check for check in told.build.failed_checks if check.name == "tests-vanished"]
    assert check.evidence == "two"
