"""Test reports, honest and hostile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prjury.judges.builds.failure import Results
from prjury.judges.builds.results.junit import read_reports
from prjury.judges.builds.results.report_files import (
    Listing,
    find_reports,
    keep_every_report,
    stamps,
)
from prjury.judges.builds.results.tree import TreeFiles
from prjury.scratch import scratch

KNOWN = frozenset(
    "src/test/java/p/FooTest.java committed.xml a.py a_test.go sub/b_test.go a/src/lib.rs "
    "a/tests/it.rs a.test.js b.test.js c.test.js d.test.js helper.js a.test.mjs b.test.mjs "
    "c.test.mjs d.test.mjs helper.mjs test/a.js test/a.test.js test/b.test.js test/c.test.js "
    "test/d.test.js one/src/test/java/p/ATest.java two/src/test/java/p/ATest.java "
    "one/src/test/java/p/SetupTest.java tests/test_a.py tests/test_b.py tests/test_c.py "
    "tests/test_u.py test_doc.txt".split()
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


def read(tree: Path, reports: Path | None = None) -> Results:
    if reports is None:
        reports = tree.with_name("none")
        reports.mkdir(exist_ok=True)
    found = find_reports(tree, reports, {})
    return read_reports(found, TreeFiles(KNOWN), lambda text: text.replace(f"{tree}/", ""))


def write(
    tree: Path, content: str | bytes, name: str = "target/surefire-reports/TEST-a.xml"
) -> Path:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_what_several_test_modules_import_is_broken_once(tmp_path: Path) -> None:
    case = PYTEST[PYTEST.index('<testcase classname="" ') :].partition("</testcase>")[0]
    case = f"{case.replace('{tree}/tests/test_c.py', '{tree}/a.py')}</testcase>"
    both = f"<testsuite name='pytest'>{case}{case.replace('test_c', 'test_b')}</testsuite>"
    write(tmp_path, both.replace("{tree}", str(tmp_path)))
    ids = {failure.id for failure in read(tmp_path).failures}
    assert ids == {"compile:a.py:SyntaxError: invalid syntax"}


@pytest.mark.parametrize(
    ("runner", "stated", "line"),
    [
        ("bun test", "12", 12), ("", "1", 1), ("pytest", "11", 12), ("pytest", "0", 1),
        ("", "0", None), ("", "x", None), ("pytest", "-1", None), ("pytest", "9" * 5000, None),
    ],
)  # fmt: skip
def test_a_line_that_only_the_attribute_names(
    tmp_path: Path, runner: str, stated: str, line: int | None
) -> None:
    case = f"<testcase name='t' file='a.test.js' line='{stated}'><failure type='AssertionError'/>"
    write(tmp_path, f"<testsuite name='{runner}'>{case}</testcase></testsuite>")
    (failure,) = read(tmp_path).failures
    assert (failure.path, failure.line) == ("a.test.js", line)


@pytest.mark.parametrize(
    ("text", "count"), [("9 Tests 0 Failures 0 Ignored", 9), ("[ OK ] a\n[ OK ] b", 2)]
)
def test_a_test_that_is_a_program_counts_its_own_tests(
    tmp_path: Path, text: str, count: int
) -> None:
    case = f"<testcase name='a' classname='a'><system-out>{text}</system-out>"
    write(tmp_path, f"<testsuite>{case}</testcase></testsuite>", "TEST-meson.junit.xml")
    reports = read(tmp_path)
    assert (list(reports.within.values()), reports.counted) == ([count], 0)


def test_a_test_that_is_a_program_names_what_failed_in_it(tmp_path: Path) -> None:
    out = "src/a.c:3:sums:FAIL: Expected 1\nsrc/a.c:9:ends:PASS\n2 Tests 1 Failures 0 Ignored"
    case = f"<testcase name='a' classname='a'><failure/><system-out>{out}</system-out></testcase>"
    write(tmp_path, f"<testsuite>{case}</testsuite>", "reports/ctest.xml")
    reports = read(tmp_path, tmp_path / "reports")
    assert [one.name for one in reports.failures] == ["a#a", "a#a: sums"]


REPORTS = [
    "target/surefire-reports/TEST-a.xml", "deep/module/target/failsafe-reports/TEST-a.xml",
    "build/test-results/test/TEST-a.xml", "build/test-results/integration/a.xml", "junit.xml",
    "target/test-reports/a.xml", "target/nextest/ci/junit.xml", "packages/a/junit.xml",
    "reports/junit-unit.xml", "out/web-junit.xml", "TEST-a.xml",
]  # fmt: skip
OTHERS = [
    "a.xml", "junit.txt", "pom.xml", "target/surefire-reports/testng-failed.xml",
    "target/surefire-reports/testng-results.xml", "target/surefire-reports/junitreports/TEST-a.xml",
    "target/surefire-reports/Surefire suite/Surefire test.xml", ".tox/one/junit.xml",
    "build/test-results/test/binary/results.bin", "node_modules/x/surefire-reports/TEST-a.xml",
]  # fmt: skip


@pytest.mark.parametrize("path", [*REPORTS, *OTHERS])
def test_where_reports_are_looked_for(tmp_path: Path, path: str) -> None:
    write(tmp_path, SUREFIRE, path)
    assert read(tmp_path).tests == (4 if path in REPORTS else 0)


def test_everything_in_the_place_for_reports_is_one_but_bazel_s_failed_attempts(
    tmp_path: Path,
) -> None:
    tree, place = tmp_path / "tree", tmp_path / "reports"
    tree.mkdir()
    write(place, BAZEL, "pkg/sums/test.xml")
    write(place, SUREFIRE, "pkg/sums/test_attempts/attempt_1.xml")
    reports = read(tree, place)
    assert (reports.files, reports.tests) == (1, 1)
    assert [(f.message, f.name) for f in reports.failures] == [
        ("exited with error code 1", "pkg/sums")
    ]


BAZEL = """<testsuites><testsuite name="pkg/sums" tests="1" failures="0" errors="1">
<testcase name="pkg/sums" status="run" duration="1" time="1">
<error message="exited with error code 1"></error></testcase>
<system-out>a log</system-out></testsuite></testsuites>"""


def test_a_report_that_was_there_is_nobody_s_result_until_it_is_written(tmp_path: Path) -> None:
    name = "target/surefire-reports/TEST-a.xml"
    path = write(tmp_path, SUREFIRE, name)
    (tmp_path / "reports").mkdir()
    earlier = stamps(tmp_path, tmp_path / "reports")
    assert find_reports(tmp_path, tmp_path / "reports", earlier).files == []
    time.sleep(0.02)
    write(tmp_path, SUREFIRE, name)
    assert find_reports(tmp_path, tmp_path / "reports", earlier).files == [path]


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
        ("<testsuite>" * 200_000, "nested deeper"),
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


@pytest.mark.slow
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


def test_what_tests_print_may_be_no_xml(tmp_path: Path) -> None:
    """As Meson copies it."""
    case = b'<testcase classname="a" name="b"><failure>odd \x01\x1b[0m &#27;</failure></testcase>'
    report = tmp_path / "TEST-meson.junit.xml"
    report.write_bytes(
        b'<?xml version="1.0" encoding="utf-8"?><testsuite>' + case + b"</testsuite>"
    )
    found = read(tmp_path)
    assert (found.problems, found.tests) == ((), 1)
    assert [one.name for one in found.failures] == ["a#b"]


@pytest.mark.slow
def test_too_many_reports_are_told(tmp_path: Path) -> None:
    for number in range(2001):
        write(tmp_path, "<testsuite/>", f"target/surefire-reports/TEST-{number}.xml")
    assert read(tmp_path).problems == ("only the first 2000 test reports were read",)


@pytest.mark.slow
def test_too_much_in_all_is_told(tmp_path: Path) -> None:
    for number in range(4):
        text = b"<a>" + (b"x" * 99 + b"\n") * (19 * 10_485) + b"</a>"
        write(tmp_path, text, f"target/surefire-reports/TEST-{number}.xml")
    (problem,) = read(tmp_path).problems
    assert "exceed 64 MiB" in problem


def test_a_test_is_known_by_its_module_and_counts_where_it_ran(tmp_path: Path) -> None:
    write(tmp_path, SUREFIRE, "one/target/surefire-reports/TEST-a.xml")
    write(tmp_path, SUREFIRE, "two/target/surefire-reports/TEST-a.xml")
    reports = read(tmp_path)
    assert len(set(reports.ran)) == len(reports.ran) == 6
    assert "test:one/target/surefire-reports:p.FooTest#ok" in reports.ran
    assert {failure.id for failure in reports.failures} < set(reports.ran)
    assert not any("skipped" in name for name in reports.ran)


GRADLE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="p.ATest" tests="3" skipped="1" failures="1" errors="0" time="0.02">
  <properties/>
  <testcase name="ok()" classname="p.ATest" time="0.0"/>
  <testcase name="[1] a" classname="p.ATest" time="0.0">
    <failure message="org.opentest4j.AssertionFailedError: expected: &lt;1&gt;"
      type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: expected
	at app//p.ATest.param(ATest.java:9)
</failure>
  </testcase>
  <testcase name="off()" classname="p.ATest" time="0.0"><skipped/></testcase>
  <system-out><![CDATA[<testcase name="forged"/>]]></system-out>
</testsuite>"""


def test_gradle(tmp_path: Path) -> None:
    write(tmp_path, GRADLE, "two/build/test-results/test/TEST-p.ATest.xml")
    write(tmp_path, GRADLE, "two/build/test-results/slowTest/TEST-p.ATest.xml")
    reports = read(tmp_path)
    assert sorted((f.place, f.message, f.id) for f in reports.failures) == [
        (
            "two/src/test/java/p/ATest.java:9",
            "org.opentest4j.AssertionFailedError: expected: <1>",
            f"test:two/build/test-results/{task}:p.ATest#[1] a",
        )
        for task in ("slowTest", "test")
    ]
    assert reports.by_runner == {"jvm": 4}


def test_namespaces_and_cases_within_cases_do_not_confuse(tmp_path: Path) -> None:
    text = (
        '<testsuite xmlns="urn:x"><testcase name="a" classname="b"><system-out><testcase name="x"/>'
        '</system-out><failure message="no"/></testcase></testsuite>'
    )
    write(tmp_path, text, "junit.xml")
    reports = read(tmp_path)
    assert (reports.tests, [failure.name for failure in reports.failures]) == (1, ["b#a"])


@pytest.mark.slow
def test_very_many_tests_are_read_in_time_and_in_little_memory(tmp_path: Path) -> None:
    case = '<testcase classname="tests.test_a" name="test_{}" time="0.001"/>'
    text = "".join(case.format(number) for number in range(100_000))
    path = write(tmp_path, f'<testsuite name="pytest">{text}</testsuite>', "junit.xml")
    start = time.process_time()
    reports = read_reports(Listing([path]), TreeFiles(KNOWN), str)
    assert time.process_time() - start < 15
    assert (reports.tests, len(set(reports.ran)), reports.problems) == (100_000, 100_000, ())


@pytest.mark.slow
def test_more_failing_tests_than_can_be_compared_are_told(tmp_path: Path) -> None:
    text = "".join(f'<testcase name="{n}"><failure/></testcase>' for n in range(20_002))
    write(tmp_path, f"<testsuite>{text}</testsuite>", "junit.xml")
    assert read(tmp_path).problems == (
        "the report junit.xml was not read to its end: more than 20000 tests failed",
    )


@pytest.mark.slow
def test_names_of_any_length_cost_little(tmp_path: Path) -> None:
    owner, name = "a." * 100_000, "x" * 1_000_000
    case = f'<testcase classname="{owner}" name="{name}"><failure message="{name}"/></testcase>'
    write(tmp_path, f"<testsuite>{case * 5}</testsuite>", "junit.xml")
    reports = read(tmp_path)
    assert len(reports.failures) == 5
    assert {failure.id for failure in reports.failures} == set(reports.ran)
    assert all(len(identity) < 700 for identity in reports.ran)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "failure", "error", "skipped", "flakyFailure", "x"]),
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20),
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20),
        ),
        max_size=10,
    ),
    st.sampled_from(
        ["pytest", "jest tests", "vitest tests", "Mocha Tests", "nextest-run", "x", ""]
    ),
)
def test_any_report_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[str, str, str]], runner: str
) -> None:
    inner = "".join(
        f"<testcase classname={quoteattr(owner)} name={quoteattr(name)} file={quoteattr(owner)}>"
        + (f"<{child} message={quoteattr(name)}>{escape(owner)}</{child}>" if child else "")
        + "</testcase>"
        for child, owner, name in cases
    )
    path = tmp_path_factory.getbasetemp() / "junit.xml"
    path.write_text(f"<testsuites name={quoteattr(runner)}>{inner}</testsuites>")
    reports = read_reports(Listing([path]), TreeFiles(KNOWN), str)
    assert reports.tests <= len(cases)
    assert reports.problems == ()
    tests = {failure.id for failure in reports.failures if failure.kind == "test" and failure.name}
    assert tests <= set(reports.ran)
    assert all(not (f.path or "").startswith(("/", "../")) for f in reports.failures)


def wait_until_gone(path: Path) -> None:
    until = time.monotonic() + 30
    while path.exists() and time.monotonic() < until:
        time.sleep(0.01)


class TestReportsOfOneName:
    def test_each_is_kept_in_order(self, tmp_path: Path) -> None:
        report = tmp_path / "pytest-1.xml"
        for first in (1, 3):
            with keep_every_report(tmp_path):
                report.write_text(f"<testsuite>{first}</testsuite>\n")
                wait_until_gone(report)
                report.write_text(f"<testsuite>{first + 1}</testsuite>\n")
        names = [f"pytest-1~{number}.xml" for number in (1, 2, 3, 4)]
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
        for number, name in enumerate(names, 1):
            assert f">{number}<" in (tmp_path / name).read_text()

    def test_the_first_has_the_names_of_a_run_without_others(self, tmp_path: Path) -> None:
        case = "<testcase classname='t' file='tests/test_a.py' name='test_a'>"
        bad = f"<testsuite>{case}<failure message='no'/></testcase></testsuite>"
        good = f"<testsuite>{case}</testcase></testsuite>"
        for name, content in {"~1": bad, "~2": good, "~3": good}.items():
            (tmp_path / f"pytest-1-$TOX_ENV_NAME{name}.xml").write_text(content)
        several = read(tmp_path.with_name("tree"), tmp_path)
        plain, *others = (f"test:tests/test_a.py{n}:t#test_a" for n in ("", " (2)", " (3)"))
        assert {*several.ran} == {plain, *others}
        assert [failure.id for failure in several.failures] == [plain]
        assert not several.resolve_retries(passed=True).failures  # as in `pytest || pytest --lf`
        assert several.resolve_retries(passed=False).failures

    def test_what_fails_again_is_no_attempt_that_passed(self, tmp_path: Path) -> None:
        case = "<testcase classname='t' name='test_a'>"
        for name, end in {"~1": "<failure/>", "~2": "", "~10": "<failure/>"}.items():
            report = f"<testsuite>{case}{end}</testcase></testsuite>"
            (tmp_path / f"pytest{name}.xml").write_text(report)
        several = read(tmp_path.with_name("tree"), tmp_path)
        assert len(several.resolve_retries(passed=True).failures) == 2

    def test_what_is_no_finished_report_stays(self, tmp_path: Path) -> None:
        beside = tmp_path / "beside.xml"
        beside.write_text("<testsuite/></testsuite>")
        reports = tmp_path / "reports"
        reports.mkdir()
        with keep_every_report(reports):
            (reports / "half.xml").write_text("<testsuite>")
            (reports / "link.xml").symlink_to(beside)
            os.mkfifo(reports / "pipe.xml")
            (reports / "a.py::test_a (call).xml").write_text("<testsuite></testsuite>")
            (reports / "last.xml").write_text("<testsuite></testsuite>")
            wait_until_gone(reports / "last.xml")
        assert len([*reports.iterdir()]) == 5
        assert (reports / "link.xml").is_symlink()
        found = find_reports(tmp_path, reports, {})
        assert {path.name for path in found.files if path.parent == reports} == {
            "half.xml", "link.xml", "pipe.xml", "last~1.xml",
        }  # fmt: skip

    def test_a_directory_that_leads_elsewhere_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "a.xml").write_text("<testsuite></testsuite>")
        (tmp_path / "reports").symlink_to(tmp_path / "elsewhere")
        with keep_every_report(tmp_path / "reports"):
            time.sleep(0.2)
            assert (tmp_path / "elsewhere" / "a.xml").exists()
