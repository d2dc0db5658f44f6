from __future__ import annotations

from pathlib import Path

import pytest

from fakes.roots import failing, root_of
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.junit import read_reports
from prjury.judges.builds.results.report_files import find_reports
from prjury.judges.builds.results.tree import TemporaryPaths, TreeFiles
from prjury.judges.builds.systems.gradle import GradleRerun
from prjury.judges.builds.systems.jvm import JavaTest, Script, Wrapper, java_tests, wrapper_of
from prjury.judges.builds.systems.maven import MavenRerun

SCRIPT = Script("toolw", "tool", "wrap/settings", needs=("wrap/tool.jar",))
BESIDE = {"wrap/settings": "version=1\n", "wrap/tool.jar": ""}


def test_an_executable_script() -> None:
    root = root_of({"toolw": "#!/bin/sh\n", **BESIDE}, executable="toolw")
    assert wrapper_of(root, "", SCRIPT) == Wrapper(("./toolw",), "toolw is there", "version=1\n")


def test_a_script_that_is_not_executable() -> None:
    root = root_of({"toolw": "#!/bin/sh\n", **BESIDE})
    reason = "toolw is there but not executable, so `sh` runs it"
    assert wrapper_of(root, "", SCRIPT) == Wrapper(("sh", "toolw"), reason, "version=1\n")


def test_no_script() -> None:
    reason = "no toolw, so the installed `tool` is used"
    assert wrapper_of(root_of(BESIDE), "a/b", SCRIPT) == Wrapper(("tool",), reason)


@pytest.mark.parametrize("missing", ["wrap/settings", "wrap/tool.jar"])
def test_a_script_that_lacks_something(missing: str) -> None:
    files = {path: "" for path in (*BESIDE, "toolw") if path != missing}
    reason = f"toolw is there without {missing}, so the installed `tool` is used"
    assert wrapper_of(root_of(files), "", SCRIPT) == Wrapper(("tool",), reason)


def test_a_script_with_windows_line_ends() -> None:
    root = root_of({"toolw": "#!/bin/sh\r\nexit 1\r\n", **BESIDE}, executable="toolw")
    reason = "toolw has Windows line ends, so the installed `tool` is used"
    assert wrapper_of(root, "", SCRIPT) == Wrapper(("tool",), reason)


def test_the_nearest_script_upwards() -> None:
    files = {"toolw": "", "a/toolw": "", **BESIDE, **{f"a/{path}": "" for path in BESIDE}}
    root = root_of(files, executable="toolw")
    assert wrapper_of(root, "b/c", SCRIPT) == Wrapper(
        ("../../toolw",), "../../toolw is there", "version=1\n"
    )
    assert wrapper_of(root, "a/c", SCRIPT).argv == ("sh", "../toolw")
    assert wrapper_of(root, "a", SCRIPT).argv == ("sh", "toolw")


def test_each_method_once_and_in_order() -> None:
    failures = [
        failing("p.B#b(int)[2]", suite="r"),
        failing("p.A#a", suite="r"),
        failing("p.B#b(int)[1]", suite="r"),
        failing("p.A#a", suite="q"),
    ]
    assert java_tests(failures) == (
        JavaTest("q", "p.A", "a"), JavaTest("r", "p.A", "a"), JavaTest("r", "p.B", "b"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "owner", "method", "many"),
    [
        ("A#a", "A", "a", False),
        ("p.q.A$In_1#a_1", "p.q.A$In_1", "a_1", False),
        ("A#a()", "A", "a", False),
        ("A#a()[1]", "A", "a", False),
        ("A#a(int, String)[2] x, y", None, "", False),
        ("A#a(int, String)[2]", "A", "a", False),
        ("A#a{int}[2]", "A", "a", False),
        ("A#a[0]", "A", "a", True),
        ("A#a[x = 1]", "A", "a", True),
        ("A#a[[1, 2]]", "A", "a", True),
    ],
)
def test_names_as_junit_gives_them(
    name: str, owner: str | None, method: str, *, many: bool
) -> None:
    expected = (JavaTest("r", owner, method, many),) if owner else None
    assert java_tests([failing(name, suite="r")]) == expected


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "a",
        "A#",
        "#a",
        "A#a b",
        "A#add two numbers",
        "A#[1] x",
        "A#a+b",
        "A#a,B",
        "A#*",
        "A#-x",
        "A#a\n",
        "A#a#b",
        "A-B#a",
        "A.#a",
        ".A#a",
        "p..A#a",
        "A,B#a",
        "!A#a",
        "-Dx=y#a",
        "Ä#a",
        "A#ä",
        "A#" + "a" * 500,
    ],
)
def test_names_that_cannot_be_passed_on_exactly(name: str | None) -> None:
    assert java_tests([failing("A#a", suite="r"), failing(name, suite="r")]) is None


def test_no_report_and_no_failures() -> None:
    assert java_tests([failing("A#a")]) is None
    assert java_tests([]) is None


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
