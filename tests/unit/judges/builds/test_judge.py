"""What the judge says, with a shell that answers from a script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.errors import CannotJudgeError
from prjury.judges.builds import make
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import JudgeType, ask, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import is_benign
from prjury.policy.load import parse_policy, read_options
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.report.findings import select_checks
from prjury.snapshot.model import Conflict, ConflictType

MAVEN = {"pom.xml": "", "src/main/java/A.java": ""}
COMPILE = "[ERROR] {tree}/src/main/java/A.java:[12,5] cannot find symbol\n"
OTHER = "[ERROR] {tree}/src/main/java/A.java:[3,5] ';' expected\n"
TESTS = "go: x\n--- FAIL: TestA (0s)\n    a_test.go:3: no\nFAIL\tm\t0.1s\n"


def judged(
    scripts: Sequence[Scripted] = (Scripted(),),
    files: dict[str, str] | None = None,
    context: PullRequestContext | None = None,
    shell: ScriptedShell | None = None,
    base: dict[str, str] | None = None,
    **options: Any,
) -> Judgment:
    tree = MAVEN if files is None else files
    repository = TreeRepository({"merged": tree, "base": tree if base is None else base})
    ports = Ports(repository, shell or ScriptedShell(scripts), SilentProgress())
    chosen = {"compare": "on_failure", **options}  # then the merged tree comes first
    return ask(make(read_options(chosen, BuildOptions), ports), context or pull_context())


def test_it_is_deterministic_and_called_build() -> None:
    shell = ScriptedShell()
    judge = make(BuildOptions(), Ports(TreeRepository({}), shell, SilentProgress()))
    assert (judge.name, type_of(judge)) == ("build", JudgeType.DETERMINISTIC)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (pull_context(changed=["README.md", "docs/a.rst"]), "only documentation"),
        (pull_context(changed=[]), "no file changes"),
    ],
)
def test_nothing_to_build(context: PullRequestContext, words: str) -> None:
    shell = ScriptedShell()
    judgment = judged(context=context, shell=shell)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "not_applicable")
    assert words in judgment.reasoning
    assert shell.commands == []


@pytest.mark.parametrize(
    ("context", "label", "words"),
    [
        (
            pull_context(
                tree=None,
                conflicts=[Conflict("a", ConflictType.CONTENT, mechanical=False, reason="")],
            ),
            "conflicts",
            "the merge has conflicts",
        ),
        (
            pull_context(tree=None, impossible="no common history"),
            "no_merge",
            "no common history",
        ),
    ],
)
def test_a_merge_that_is_not_there_excuses_nothing(
    context: PullRequestContext, label: str, words: str
) -> None:
    judgment = judged(context=context)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, label)
    assert words in judgment.reasoning
    assert not is_benign(judgment)


@pytest.mark.parametrize(
    ("source", "command"),
    [
        ("src/App.cs", "dotnet test"),
        ("main.lua", "busted"),
        ("a.unknown", "make test"),
        ("deep/down/main.c", "cmake -B build && cmake --build build && ctest --test-dir build"),
    ],
)
def test_no_build_system_asks_for_a_human(source: str, command: str) -> None:
    judgment = judged(files={"a.txt": "", "main.tf": "", source: ""})
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_build_system")
    assert judgment.metadata["reason"] == "no_build_system"
    assert f"in the tree for {source}" in judgment.reasoning
    assert "--no-build" in judgment.reasoning
    pasted = judgment.reasoning.split("`")[1]
    assert parse_policy(pasted, "x").config.build.options.command == command


@pytest.mark.parametrize(
    "files",
    [
        {"main.tf": "", "modules/net/main.tf": "", "README.md": ""},
        {"Chart.yaml": "", "templates/a.yaml": "", "templates/_helpers.tpl": ""},
        {"index.html": "", "style.css": "", "content/a.md": "", "docs/sample.java": ""},
        {"k8s/a.yml": "", "schema.sql": "", "bin/deploy": "", "run.sh": "", "tests/values.yml": ""},
        {"lambda/handler.py": "", "main.tf": "", "theme/menu.js": ""},
    ],
)
def test_where_nothing_is_compiled_or_tested_nothing_needs_a_build(files: dict[str, str]) -> None:
    judgment = judged(files=files, context=pull_context(changed=["main.tf"]))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "not_applicable")
    assert is_benign(judgment)


@pytest.mark.parametrize("path", ["lambda/handler.py", "theme/menu.js"])
def test_a_script_that_changes_needs_somebody_to_test_it(path: str) -> None:
    files = {"lambda/handler.py": "", "main.tf": "", "theme/menu.js": ""}
    judgment = judged(files=files, context=pull_context(changed=[path]))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_build_system")


@pytest.mark.parametrize(
    ("base", "options"),
    [(MAVEN, {}), ({"a.tf": ""}, {"systems": ["maven"]})],
    ids=["the change takes the build away", "the policy names one"],
)
def test_a_build_that_is_gone_excuses_nothing(base: dict[str, str], options: Any) -> None:
    context = pull_context(changed=["pom.xml"])
    judgment = judged(files={"a.tf": ""}, base=base, context=context, **options)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_build_system")


def test_a_missing_tool_is_an_error() -> None:
    missing = CannotJudgeError("`mvn` is not installed", reason="tool_missing", remedy="install it")
    judgment = judged([Scripted(error=missing)])
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "tool_missing")
    assert "Install it" in judgment.reasoning


@pytest.mark.parametrize(
    ("code", "said", "remedy"),
    [
        (127, "/usr/bin/env: 'bash': No such file or directory", "install `bash`"),
        (126, "python3: cannot execute: required file not found", "correct the command"),
        (127, "", "correct the command"),
    ],
)
def test_an_interpreter_that_does_not_start_on_either_side(
    code: int, said: str, remedy: str
) -> None:
    judgment = judged([Scripted(code, said)] * 4, {"test_a.py": ""})
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert remedy in judgment.metadata["remedy"]


def test_tests_that_want_a_service_which_is_not_here() -> None:
    """On the base as well; a change that alone asks for one is to blame."""
    go = {"go.mod": "module m\n", "a_test.go": "package m\n"}
    said = "dial tcp 127.0.0.1:5432: connect: connection refused"
    refused = TESTS.removeprefix("go: x\n").replace("no\n", f"{said}\n")
    judgment = judged([Scripted(1, refused)] * 8, go)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert "`services:` of the workflow's job" in judgment.metadata["remedy"]
    alone = judged([Scripted(1, refused)] + [Scripted()] * 7, go)
    assert alone.status is Status.FAIL


class WithNode20(ScriptedShell):
    def environment(self, extra: Sequence[str] = ()) -> dict[str, str]:
        place, version = self.directory / "node", ("MAJOR 20", "MINOR 1", "PATCH 0")
        for name, text in {
            "bin/node": "",
            "include/node/node_version.h": "\n".join(
                f"#define NODE_{one.replace(' ', '_VERSION ')}" for one in version
            ),
        }.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        return {"PATH": str(place / "bin")}


def test_an_older_node_than_is_wanted_is_tried_and_never_blamed_on_the_change() -> None:
    files = {"package.json": '{"scripts": {"test": "jest"}}', ".nvmrc": "24"}
    alike = judged(files=files, shell=WithNode20([Scripted(1, "SyntaxError: what")]))
    assert (alike.status, alike.metadata["reason"]) == (Status.ERROR, "environment")
    assert "this project wants Node 24 (.nvmrc); here is" in alike.metadata["remedy"]
    passes = judged(files=files, shell=WithNode20())
    assert passes.status is Status.PASS
    assert "with Node 20.1.0" in passes.reasoning
    mine = judged(files=files, shell=WithNode20([Scripted(1, "SyntaxError: what"), Scripted()]))
    assert mine.status is Status.FAIL


def test_a_new_compile_error_fails_with_its_place() -> None:
    judgment = judged([Scripted(1, COMPILE), Scripted(0)])
    assert judgment.status is Status.FAIL
    failed = {check.name: check for check in judgment.failed_checks}
    assert str(failed["compiles"].location) == "src/main/java/A.java:12"
    assert failed["build-executed"].evidence == "src/main/java/A.java:12: cannot find symbol"
    assert judgment.metadata["failures"][0] == {
        "id": "compile:src/main/java/A.java:cannot find symbol",
        "kind": "compile",
        "path": "src/main/java/A.java",
        "line": 12,
        "message": "cannot find symbol",
        "state": "new",
    }


def pytest_says(exit_code: int, *cases: str) -> Scripted:
    """What pytest leaves behind: `name`, `!name` for a failing and `?name` for a skipped test."""
    inner = {"!": '<failure message="no"/>', "?": "<skipped/>"}
    text = "".join(
        f'<testcase classname="a" name="{case.strip("!?")}" file="test_a.py">'
        f"{inner.get(case[0], '')}</testcase>"
        for case in cases
    )
    report = {"../reports/pytest.xml": f"<testsuite>{text}</testsuite>"}
    return Scripted(exit_code, files=report if cases else {})


PYTHON = {"test_a.py": ""}


def test_a_failing_test_that_the_base_has_as_well_is_let_through_and_said() -> None:
    judgment = judged([pytest_says(1, "!old", "new"), pytest_says(1, "!old")], PYTHON)
    assert judgment.status is Status.PASS
    assert judgment.reasoning.startswith("1 test failed as on the base; ")
    assert "nothing else fails: test_a.py: no" in judgment.reasoning
    assert judgment.metadata["note"] == "pre_existing"
    assert judgment.metadata["failures"][0]["state"] == "pre_existing"
    assert {check.severity for check in judgment.failed_checks if check.name == "test"} == {
        "warning"
    }


@pytest.mark.parametrize(
    ("merged", "base"),
    [
        (pytest_says(2, "!old"), pytest_says(2, "!old")),
        (
            Scripted(1, "FAILED test_a.py::old - no\n"),
            Scripted(1, "FAILED test_a.py::old - no\n"),
        ),
        (
            Scripted(1, files={**pytest_says(1, "!old").files, "../reports/b.xml": "<broken"}),
            pytest_says(1, "!old"),
        ),
        (
            pytest_says(1, "!old"),
            Scripted(1, files={**pytest_says(1, "!old").files, "../reports/b.xml": "<broken"}),
        ),
    ],
    ids=["interrupted", "no-report", "unreadable", "base-unreadable"],
)
def test_an_old_failure_that_may_hide_a_new_one(merged: Scripted, base: Scripted) -> None:
    judgment = judged([merged, base], PYTHON)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.FAIL, "base_broken")
    assert "which may hide what this change breaks. Fix the base first." in judgment.reasoning


@pytest.mark.parametrize(
    ("merged", "base"),
    [
        (pytest_says(1, "!old"), pytest_says(1, "!old", "b")),
        (pytest_says(1, "!old", "?b"), pytest_says(1, "!old", "b")),
        (pytest_says(1, "!old", "b"), pytest_says(1, "!old", "b", "b")),
    ],
    ids=["fewer", "skipped", "once"],
)
def test_a_test_that_is_missing_beside_an_old_failure_needs_a_human(
    merged: Scripted, base: Scripted
) -> None:
    judgment = judged([merged, base], PYTHON)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tests_vanished")
    assert judgment.metadata["reason"] == "tests_vanished"
    assert "1 test that ran on the base did not run here: test_a.py a b" in judgment.reasoning
    warned = judged([merged, base], PYTHON, vanished="warn")
    assert (warned.status, warned.metadata["reason"]) == (Status.FAIL, "base_broken")
    assert "tests-vanished" in {check.name for check in warned.failed_checks}


def test_all_tests_that_only_a_closing_line_counts_are_gone() -> None:
    scripts = [Scripted(0, "3 tests, 3 passed, 0 failed\n"), Scripted(0, "done\n")]
    judgment = judged(scripts, {"Makefile": "test:\n\t./t\n", "a.c": ""}, compare="always")
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ABSTAIN, "tests_vanished")
    assert (judgment.metadata["tests"]["run"], judgment.metadata["tests"]["vanished"]) == (0, 3)


@pytest.mark.parametrize(
    ("left", "status", "settings"),
    [
        (("tests/a.c", "tests/b.c"), Status.PASS, ("tests/a.c",)),
        (("tests/b.c",), Status.ABSTAIN, None),
    ],
    ids=["an edited one is named", "a human looks at a removed one"],
)
def test_files_of_tests_where_no_result_is_seen(
    left: Sequence[str], status: Status, settings: tuple[str, ...] | None
) -> None:
    base = {"Makefile": "test:\n\t./t\n", "tests/a.c": "", "tests/b.c": ""}
    merged = {path: text for path, text in base.items() if path == "Makefile" or path in left}
    context = pull_context(changed=["tests/a.c"])
    judgment = judged([Scripted(0, "ok\n")] * 2, merged, context, base=base, compare="always")
    assert (judgment.status, judgment.metadata.get("test_settings")) == (status, settings)
    assert judgment.metadata.get("reason") == (None if settings else "no_comparison")


def test_of_two_equal_failures_one_is_new_where_the_base_has_one() -> None:
    judgment = judged([pytest_says(1, "!t", "!t"), pytest_says(1, "!t", "t")], PYTHON)
    assert judgment.status is Status.FAIL
    assert [found["state"] for found in judgment.metadata["failures"]] == ["new", "pre_existing"]


NPM = {"package.json": '{"scripts": {"test": "true"}}'}


@pytest.mark.parametrize(
    ("merged", "base"),
    [
        (NPM, PYTHON),
        ({"a.py": ""}, {**PYTHON, "a.py": ""}),
        ({**MAVEN, "mvnw": "", ".mvn/wrapper/maven-wrapper.properties": ""}, MAVEN),
        ({"setup.py": ""}, {"Makefile": "test:\n"}),
    ],
    ids=["other-system", "tests-gone", "own-wrapper", "makefile-gone"],
)
def test_a_build_that_the_change_has_chosen(merged: dict[str, str], base: dict[str, str]) -> None:
    judgment = judged([Scripted(0)], merged, base=base)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "build_changed")
    assert not is_benign(judgment)
    assert "build: {command: " in judgment.reasoning
    assert judged([Scripted(1, COMPILE), Scripted(0)], merged, base=base).status is Status.FAIL
    assert judged(files=merged, base=base, command="make ci").status is Status.PASS


@pytest.mark.parametrize(
    ("merged", "base", "note"),
    [
        (PYTHON, {"a.txt": ""}, "no build was recognised on the base"),
        ({**PYTHON, "a.py": ""}, {"a.py": ""}, "has no tests"),
        ({**PYTHON, "test_b.py": ""}, PYTHON, ""),
        (
            {"package.json": '{"scripts": {"test": "jest"}, "dependencies": {"x": "1"}}'},
            {"package.json": '{"scripts": {"test": "jest"}}'},
            "",
        ),
    ],
    ids=["first-build", "first-tests", "one-more-test", "first-dependency"],
)
def test_usual_changes_of_a_build(merged: dict[str, str], base: dict[str, str], note: str) -> None:
    judgment = judged([pytest_says(0, "t")], merged, base=base)
    assert judgment.status is Status.PASS, judgment.reasoning
    assert note in judgment.reasoning


def workspace(lock: str, *names: str) -> dict[str, str]:
    """Packages that have both scripts, and a root that has none."""
    scripts = {"build": "tsc", "test": "node --test"}
    packages = {f"{name}/package.json": {"name": name, "scripts": scripts} for name in names}
    files = {"package.json": {"workspaces": list(names)}, **packages}
    return {lock: "", **{path: json.dumps(manifest) for path, manifest in files.items()}}


GO_WORK = {
    "go.work": "go 1.21\nuse ./a\n",
    "a/go.mod": "module x/a\n",
    "a/a_test.go": "package a\n",
}
ONE_MORE_MODULE = {
    **GO_WORK,
    "go.work": "go 1.21\nuse ./a\nuse ./b\n",
    "b/go.mod": "module x/b\n",
    "b/b.go": "package b\n",
}


@pytest.mark.parametrize(
    ("more", "fewer"),
    [
        pytest.param(workspace("yarn.lock", "a", "b"), workspace("yarn.lock", "a"), id="yarn"),
        pytest.param(workspace("bun.lock", "a", "b"), workspace("bun.lock", "a"), id="bun"),
        pytest.param(
            workspace("package-lock.json", "a", "b"), workspace("package-lock.json", "a"), id="npm"
        ),
        pytest.param(ONE_MORE_MODULE, GO_WORK, id="go"),
    ],
)
def test_one_more_package_is_the_same_build(more: dict[str, str], fewer: dict[str, str]) -> None:
    assert judged([Scripted(0)] * 3, more, base=fewer).status is Status.PASS
    assert judged([Scripted(0)] * 3, fewer, base=more).label == "build_changed"


def test_only_the_log_that_the_report_names_is_kept() -> None:
    shell = ScriptedShell([Scripted(0)])
    assert judged(shell=shell).metadata["log"] is None
    assert not shell.directory.exists()
    shell = ScriptedShell([Scripted(0), Scripted(1, TESTS), Scripted(0)])
    judgment = judged(shell=shell, files={"go.mod": "", "a_test.go": ""})
    assert [str(path) for path in shell.directory.iterdir()] == [judgment.metadata["log"]]


def test_pre_existing_failures_block_when_told_to() -> None:
    shell = ScriptedShell([Scripted(0), Scripted(1, TESTS)])
    judgment = judged(shell=shell, files={"go.mod": "", "a_test.go": ""}, pre_existing="block")
    assert judgment.status is Status.FAIL
    assert len(shell.commands) == 3  # what failed runs once more


def test_another_compile_error_than_the_base_has() -> None:
    mine, old = Scripted(1, COMPILE + OTHER), Scripted(1, COMPILE)
    judgment = judged([mine, old, old, mine])  # both once more, without stopping at failures
    assert judgment.status is Status.FAIL
    states = [failure["state"] for failure in judgment.metadata["failures"]]
    assert states == ["new", "pre_existing"]
    assert "';' expected" in judgment.reasoning


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Scripted(-15, stopped="timeout"), "did not finish within 30 min"),
        (Scripted(-9, stopped="output_limit"), "printed more than 200 MiB"),
        (Scripted(-9, stopped="memory_limit"), "memory"),
        (Scripted(-9, stopped="process_limit"), "processes"),
        (Scripted(-11), "killed by SIGSEGV"),
        (Scripted(0, stopped="timeout"), "did not finish"),
    ],
)
def test_limits_and_signals_fail_without_asking_the_base(script: Scripted, words: str) -> None:
    shell = ScriptedShell([script])
    judgment = judged(shell=shell, context=pull_context(seconds=4000))
    assert judgment.status is Status.FAIL
    assert words in judgment.reasoning
    assert len(shell.commands) == 1


REPORT = '<testsuite><testcase classname="p.T" name="t">{}</testcase></testsuite>'


def test_a_failing_report_outweighs_exit_code_0() -> None:
    files = {"target/surefire-reports/TEST-a.xml": REPORT.format('<failure message="no"/>')}
    failing = Scripted(0, files=files)
    judgment = judged([failing, Scripted(0), failing])
    assert judgment.status is Status.FAIL
    tests = next(check for check in judgment.checks if check.name == "tests-passed")
    assert (tests.passed, tests.message) == (False, "1 test in 1 report, 1 failed")


def test_a_green_report_does_not_outweigh_an_exit_code() -> None:
    files = {"target/surefire-reports/TEST-a.xml": REPORT.format("")}
    judgment = judged([Scripted(1, files=files), Scripted(0)])
    assert judgment.status is Status.FAIL
    tests = next(check for check in judgment.checks if check.name == "tests-passed")
    assert not tests.passed


def test_each_compile_error_is_a_finding_and_the_exit_code_is_none_beside_them() -> None:
    output = "".join(f"a{n}.c:1: error: bad {'x' * n}\n" for n in range(14))
    judgment = judged([Scripted(1, output), Scripted(0)], {"Makefile": "test:\n"})
    assert [check.name for check in select_checks(judgment)] == ["compiles"] * 14
    assert len(judgment.metadata["failures"]) == 14


GO = {"go.mod": "", "a_test.go": ""}
GONE = Scripted(error=CannotJudgeError("`mvn` is gone", reason="tool_missing"))
UNREADABLE = Scripted(0, files={"target/surefire-reports/TEST-a.xml": "<broken"})
NO_PYTHON = Scripted(127, "/usr/bin/env: 'pythn': No such file or directory")
CMAKE = {"CMakeLists.txt": "project(a)\nenable_testing()"}
CTEST = [Scripted(0), Scripted(0), Scripted(8, "No tests were found!!!\n")]
DENO = {"deno.json": "{}", "a_test.ts": ""}


@pytest.mark.parametrize(
    ("scripts", "files", "status", "reason", "words"),
    [
        ([Scripted(127, "pyenv: tox: command not found")], {"tox.ini": "[tox]"}, "error",
         "tool_missing", "`tox`"),
        ([Scripted(127, "sh: 1: deno: not found")], DENO, "error", "tool_missing",
         "`deno` is not installed here"),
        ([*CTEST, *CTEST], CMAKE, "error", "environment", "turn its tests on by the project's"),
        ([NO_PYTHON, Scripted()], PYTHON, "fail", None, ""),
        ([Scripted(127, "sh: 1: jest: not found"), Scripted(0)], NPM, "fail", None, ""),
        ([Scripted(1, COMPILE)], MAVEN, "error", "base_broken", ""),
        ([Scripted(1, "gibberish")], MAVEN, "error", "environment", ""),
        ([Scripted(1, "gibberish"), Scripted(0)], MAVEN, "fail", None, ""),
        ([Scripted(0), Scripted(2, TESTS), Scripted(0), Scripted(1, TESTS)], GO, "fail", None, ""),
        ([Scripted(0), Scripted(1, TESTS), Scripted(0), Scripted(1, TESTS)], GO, "fail",
         "base_broken", ""),
        ([Scripted(1, COMPILE), GONE], MAVEN, "fail", None, "`mvn` is gone"),
        ([UNREADABLE], MAVEN, "error", "report_invalid", "TEST-a.xml is not XML"),
        ([pytest_says(0)], PYTHON, "error", "report_missing", ""),
        ([pytest_says(0, "t")], PYTHON, "pass", None, ""),
    ],
    ids=[
        "a stand-in that finds no tool", "a recipe's tool is missing", "no tests of CTest",
        "an interpreter of the change", "a script of npm's", "a broken base", "gibberish on both",
        "gibberish", "another exit code", "a tool that may stop early", "no base", "no XML",
        "no report", "a report",
    ],
)  # fmt: skip
def test_how_runs_are_judged(
    scripts: list[Scripted], files: dict[str, str], status: str, reason: str | None, words: str
) -> None:
    judgment = judged(scripts, files)
    assert judgment.status is Status(status), judgment.reasoning
    assert (judgment.metadata.get("reason"), words in judgment.reasoning) == (reason, True)


def test_named_steps_in_their_order() -> None:
    shell = ScriptedShell()
    judged(shell=shell, command={"lint": "l", "test": "t", "setup": "s"}, compare="on_failure")
    assert [command.argv for command in shell.commands] == ["s", "t", "l"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "a command is needed"),
        (" \t", "a command is needed"),
        ({}, "at least one of `build` and `test`"),
        ({"setup": "s", "lint": "l"}, "at least one of `build` and `test`"),
        ({"test": " "}, "a command is needed"),
    ],
)
def test_a_command_that_judges_nothing(command: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_options({"command": command}, BuildOptions)


def junit(text: str, exit_code: int = 0) -> Scripted:
    return Scripted(exit_code, files={"junit.xml": text})


@pytest.mark.parametrize(
    "text",
    [
        '<testsuite tests="5" failures="3"><testcase name="a"/></testsuite>',
        '<testsuite tests="0"/>',
        "<testsuites/>",
    ],
)
def test_a_report_that_is_not_to_be_believed_is_an_error(text: str) -> None:
    judgment = judged([junit(text)], {"a.c": ""}, command="make check")
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "report_invalid")


def test_an_empty_report_of_a_project_without_tests_is_no_error() -> None:
    judgment = judged([junit('<testsuite tests="0"/>'), junit("")], {"pom.xml": "<project/>"})
    assert judgment.status is Status.PASS
