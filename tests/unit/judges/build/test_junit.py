"""Test reports, honest and hostile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prjury.judges.build.junit import read_reports
from prjury.judges.build.outcome import Reports
from prjury.judges.build.search import find_reports, untouched
from prjury.sources.shell.scratch import scratch

KNOWN = frozenset(
    {"src/test/java/p/FooTest.java", "tests/test_a.py", "tests/test_c.py", "committed.xml"}
)
SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="p.FooTest" tests="3" failures="0">
  <properties><property name="user.home" value="/home/x"/></properties>
  <testcase name="ok" classname="p.FooTest"/>
  <testcase name="skipped" classname="p.FooTest"><skipped/></testcase>
  <testcase name="bad" classname="p.FooTest">
    <failure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="X"><![CDATA[X: expected
	at org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:531)
	at p.FooTest.bad(FooTest.java:5)
	at java.base/java.lang.reflect.Method.invoke(Method.java:569)
]]></failure>
  </testcase>
  <testcase name="inner" classname="p.FooTest$In">
    <error type="java.lang.IllegalStateException">java.lang.IllegalStateException: x
	at app//p.FooTest$In.inner(FooTest.java:6)</error>
  </testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest">
<testcase classname="tests.test_a" name="test_bad" file="tests/test_a.py" line="7">
<failure message="AssertionError: not two&#10;assert 1 == 2">tests/test_a.py:9:
tests/test_a.py:4: AssertionError</failure></testcase>
<testcase classname="tests.test_a" name="test_far" file="tests/test_a.py" line="11">
<failure message="gone">nothing to see</failure></testcase>
<testcase classname="" name="tests.test_c" file="tests/test_c.py">
<error message="collection failure">E     File "{tree}/tests/test_c.py", line 3
E       def f(:
E   SyntaxError: invalid syntax</error></testcase>
</testsuite></testsuites>"""


def read(tree: Path, reports: Path | None = None) -> Reports:
    if reports is None:
        reports = tree.with_name("none")
        reports.mkdir(exist_ok=True)
    found = find_reports(tree, reports, {})
    return read_reports(found, KNOWN, lambda text: text.replace(f"{tree}/", ""))


def write(
    tree: Path, content: str | bytes, name: str = "target/surefire-reports/TEST-a.xml"
) -> Path:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_surefire(tmp_path: Path) -> None:
    write(tmp_path, SUREFIRE)
    reports = read(tmp_path)
    assert (reports.files, reports.tests, reports.problems) == (1, 4, ())
    assert [(failure.name, failure.place, failure.message) for failure in reports.failures] == [
        ("p.FooTest#bad", "src/test/java/p/FooTest.java:5", "expected: <1> but was: <2>"),
        (
            "p.FooTest$In#inner",
            "src/test/java/p/FooTest.java:6",
            "java.lang.IllegalStateException: x",
        ),
    ]


def test_pytest(tmp_path: Path) -> None:
    tree, place = tmp_path / "tree", tmp_path / "reports"
    tree.mkdir()
    write(place, PYTEST.replace("{tree}", str(tree)), "pytest.xml")
    failures = read(tree, place).failures
    assert [(failure.kind, failure.place, failure.message) for failure in failures] == [
        ("test", "tests/test_a.py:4", "AssertionError: not two"),
        ("test", "tests/test_a.py:12", "gone"),
        ("compile", "tests/test_c.py:3", "SyntaxError: invalid syntax"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "target/surefire-reports/TEST-a.xml",
        "deep/module/target/failsafe-reports/TEST-a.xml",
        "build/test-results/test/TEST-a.xml",
    ],
)
def test_where_reports_are_looked_for(tmp_path: Path, name: str) -> None:
    write(tmp_path, SUREFIRE, name)
    assert read(tmp_path).tests == 4


@pytest.mark.parametrize("name", ["a.xml", "node_modules/x/surefire-reports/a.xml"])
def test_where_they_are_not(tmp_path: Path, name: str) -> None:
    write(tmp_path, SUREFIRE, name)
    assert read(tmp_path).files == 0


def test_a_report_that_was_committed_is_nobody_s_result_until_it_is_written(tmp_path: Path) -> None:
    name = "target/surefire-reports/TEST-a.xml"
    path = write(tmp_path, SUREFIRE, name)
    (tmp_path / "reports").mkdir()
    committed = untouched(tmp_path, frozenset({name, "gone/test-results/a.xml", "a.txt"}))
    assert find_reports(tmp_path, tmp_path / "reports", committed).files == []
    time.sleep(0.02)
    write(tmp_path, SUREFIRE, name)
    assert find_reports(tmp_path, tmp_path / "reports", committed).files == [path]


BOMB = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">
<!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]>
<testsuite><testcase name="x"><failure>&lol2;</failure></testcase></testsuite>"""
OUTSIDE = """<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>
<testsuite><testcase name="x"><failure message="m">&e;</failure></testcase></testsuite>"""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (BOMB, "document type"),
        (OUTSIDE, "document type"),
        ("<a>" * 200_000, "nested deeper"),
        (b"<testsuite>\xff\xfe</testsuite>", "not XML"),
        ('<?xml version="1.0" encoding="utf-7"?><testsuite/>', "not XML"),
        ('<?xml version="1.0" encoding="utf-16"?><testsuite/>', "not XML"),
        ("<testsuite><testcase", "not XML"),
        ("", "not XML"),
        (b"<a b='" + b"x" * (21 * 1024**2) + b"'/>", "larger than 20 MiB"),
    ],
    ids=["bomb", "outside", "deep", "bytes", "utf-7", "utf-16", "cut", "empty", "large"],
)
def test_a_report_that_cannot_be_read_is_told(
    tmp_path: Path, content: str | bytes, problem: str
) -> None:
    write(tmp_path, content)
    reports = read(tmp_path)
    assert reports.failures == ()
    assert len(reports.problems) == 1
    assert problem in reports.problems[0]
    assert "target/surefire-reports/TEST-a.xml" in reports.problems[0]


@pytest.mark.parametrize("what", ["fifo", "link", "device", "directory"])
def test_what_is_no_regular_file_is_not_opened(tmp_path: Path, what: str) -> None:
    path = tmp_path / "target/surefire-reports/TEST-a.xml"
    path.parent.mkdir(parents=True)
    if what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    else:
        path.symlink_to("/etc/hostname" if what == "link" else "/dev/zero")
    reports = read(tmp_path)
    assert reports.tests == 0
    assert len(reports.problems) == (0 if what == "directory" else 1)


def test_a_directory_of_reports_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", SUREFIRE)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "target").symlink_to(tmp_path / "elsewhere" / "target")
    assert read(tree).files == 0


@pytest.mark.parametrize("replaced", ["tree", "reports"])
def test_a_place_that_the_build_replaced_by_a_link_is_not_followed(
    tmp_path: Path, replaced: str
) -> None:
    write(tmp_path / "elsewhere", SUREFIRE)
    for name in ("tree", "reports"):
        (tmp_path / name).mkdir()
    (tmp_path / replaced).rmdir()
    (tmp_path / replaced).symlink_to(tmp_path / "elsewhere")
    reports = read(tmp_path / "tree", tmp_path / "reports")
    assert reports.files == 0
    assert reports.problems == (f"the directory `{replaced}` was replaced during the build",)


def test_a_deep_tree_is_told_and_does_not_recurse() -> None:
    with scratch() as place:
        (place / "reports").mkdir()
        subprocess.run(
            [sys.executable, "-c", DIG], cwd=place, check=True, env={"PATH": os.environ["PATH"]}
        )
        found = find_reports(place / "tree", place / "reports", {})
    assert found.problems == ["not every directory was searched: too many, or too deep"]


DIG = """
import os
os.mkdir("tree"); os.chdir("tree")
for _ in range(1500):
    os.mkdir("d"); os.chdir("d")
"""


def test_too_many_reports_are_told(tmp_path: Path) -> None:
    for number in range(2001):
        write(tmp_path, "<testsuite/>", f"target/surefire-reports/TEST-{number}.xml")
    assert read(tmp_path).problems == ("only the first 2000 test reports were read",)


def test_too_much_in_all_is_told(tmp_path: Path) -> None:
    for number in range(4):
        text = b"<a>" + (b"x" * 99 + b"\n") * (19 * 10_485) + b"</a>"
        write(tmp_path, text, f"target/surefire-reports/TEST-{number}.xml")
    (problem,) = read(tmp_path).problems
    assert "exceed 64 MiB" in problem


def test_a_test_is_known_by_its_file_or_report_and_counts_where_it_ran(tmp_path: Path) -> None:
    write(tmp_path, SUREFIRE, "one/target/surefire-reports/TEST-a.xml")
    write(tmp_path, SUREFIRE, "two/target/surefire-reports/TEST-a.xml")
    reports = read(tmp_path)
    assert len(set(reports.ran)) == len(reports.ran) == 6
    assert "test:one/target/surefire-reports/TEST-a.xml:p.FooTest#ok" in reports.ran
    assert {failure.id for failure in reports.failures} < set(reports.ran)
    assert not any("skipped" in name for name in reports.ran)
