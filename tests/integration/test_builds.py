"""Small projects, really built through the judge."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from fakes.shell import SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.config.schema import BuildOptions
from prjury.judges.build import make
from prjury.jury.judge import ask
from prjury.jury.judgment import Check, Judgment, Status
from prjury.ports import Doors
from prjury.sources.shell import ContainedShell, Limits

CARGO_TOML = '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n'
GO_MOD = "module example.com/sample\n\ngo 1.21\n"
POM = """
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>sample</groupId>
      <artifactId>sample</artifactId>
      <version>1</version>
      <properties>
        <maven.compiler.source>11</maven.compiler.source>
        <maven.compiler.target>11</maven.compiler.target>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
      </properties>
    </project>
"""
GREEN_PYTHON = {
    "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n[tool.pytest.ini_options]\n',
    "sample.py": "def twice(x):\n    return 2 * x\n",
    "test_sample.py": "from sample import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
}


@dataclass
class Project:
    """Builds trees in a place of its own."""

    place: Path

    def judge(
        self,
        merged: Mapping[str, str],
        base: Mapping[str, str] | None = None,
        *,
        executable: frozenset[str] = frozenset(),
        **options: Any,
    ) -> Judgment:
        trees = {
            "merged": {path: dedent(text) for path, text in merged.items()},
            "base": {path: dedent(text) for path, text in (base or {}).items()},
        }
        shell = ContainedShell(
            os.environ, limits=Limits(grace=0.5), own_prefix=self.place, logs=self.place
        )
        doors = Doors(TreeRepository(trees, executable), shell, SilentProgress())
        return ask(make(BuildOptions.model_validate(options), doors), pull_context())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def causes(judgment: Judgment) -> list[Check]:
    return [
        check
        for check in judgment.failed_checks
        if check.name not in {"build-executed", "tests-passed"}
    ]


def where(judgment: Judgment) -> list[str]:
    return [str(check.location) for check in causes(judgment)]


def check(judgment: Judgment, name: str) -> Check:
    return next(found for found in judgment.checks if found.name == name)


def test_python_green(project: Project) -> None:
    judgment = project.judge(GREEN_PYTHON)
    assert judgment.status is Status.PASS, judgment.reasoning
    assert judgment.metadata["subject"] == "`python3 -m pytest -q`"
    assert judgment.metadata["system"] == "pytest"
    assert check(judgment, "tests-passed").message == "1 tests in 1 reports, 0 failed"
    assert judgment.metadata["log"] is None
    assert list(project.place.iterdir()) == []


def test_python_failing_with_file_and_line(project: Project) -> None:
    broken = {**GREEN_PYTHON, "sample.py": "def twice(x):\n    return 3 * x\n"}
    judgment = project.judge(broken, GREEN_PYTHON)
    assert judgment.status is Status.FAIL
    assert where(judgment) == ["test_sample.py:5"]
    (failure,) = judgment.metadata["failures"]
    assert failure["id"] == "test:test_sample.py:test_sample#test_twice"
    assert failure["state"] == "new"
    assert check(judgment, "build-executed").evidence is not None
    assert "failed with exit code 1: test_sample.py:5: " in judgment.reasoning


def test_python_that_cannot_be_imported(project: Project) -> None:
    broken = {**GREEN_PYTHON, "sample.py": "def twice(x:\n    return 2 * x\n"}
    judgment = project.judge(broken, GREEN_PYTHON)
    assert judgment.status is Status.FAIL
    assert where(judgment) == ["sample.py:1"]
    assert judgment.metadata["failures"][0]["kind"] == "compile"


def test_a_test_that_fails_on_the_base_as_well(project: Project) -> None:
    failing = {**GREEN_PYTHON, "test_old.py": "def test_old():\n    assert False\n"}
    judgment = project.judge({**failing, "more.py": "MORE = 1\n"}, failing)
    assert judgment.status is Status.PASS
    assert [failure["state"] for failure in judgment.metadata["failures"]] == ["pre_existing"]
    assert "fails on the base as well" in judgment.reasoning
    blocked = project.judge({**failing, "more.py": "MORE = 1\n"}, failing, pre_existing="block")
    assert blocked.status is Status.FAIL


def test_an_old_failure_does_not_hide_a_new_one(project: Project) -> None:
    failing = {**GREEN_PYTHON, "test_old.py": "def test_old():\n    assert False\n"}
    worse = {**failing, "test_new.py": "def test_new():\n    assert 1 == 2\n"}
    judgment = project.judge(worse, failing)
    assert judgment.status is Status.FAIL
    assert "test_new.py:2" in judgment.reasoning
    states = {failure["path"]: failure["state"] for failure in judgment.metadata["failures"]}
    assert states == {"test_new.py": "new", "test_old.py": "pre_existing"}


def test_an_old_failure_does_not_hide_one_behind_stopping_early(project: Project) -> None:
    failing = {**GREEN_PYTHON, "test_a.py": "def test_old():\n    assert False\n"}
    failing.pop("pyproject.toml")
    ini = "[pytest]\naddopts = -x\n"
    worse = {**failing, "pytest.ini": ini, "sample.py": "def twice(x):\n    return 3 * x\n"}
    judgment = project.judge(worse, failing)
    assert judgment.status is Status.FAIL
    assert "test_sample.py:5" in judgment.reasoning


def test_tests_that_are_ended_with_exit_code_0(project: Project) -> None:
    ended = {**GREEN_PYTHON, "conftest.py": "import os\nos._exit(0)\n"}
    judgment = project.judge(ended, GREEN_PYTHON)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "report_missing")


def test_a_base_that_does_not_load_either_tells_nothing(project: Project) -> None:
    broken = {**GREEN_PYTHON, "sample.py": "def twice(x:\n"}
    judgment = project.judge({**broken, "more.py": ""}, broken)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.FAIL, "base_broken")


def test_python_without_tests_is_compiled(project: Project) -> None:
    judgment = project.judge({"setup.py": "print(\n"}, {"setup.py": ""})
    assert judgment.status is Status.FAIL
    assert where(judgment) == ["setup.py:1"]


@needs("mvn", "java")
@pytest.mark.slow
def test_maven_green(project: Project) -> None:
    judgment = project.judge({"pom.xml": POM, "src/main/java/p/A.java": "package p; class A {}\n"})
    assert judgment.status is Status.PASS, judgment.reasoning
    assert judgment.metadata["subject"] == "`mvn -q -B -ntp --fail-at-end verify`"


@needs("mvn", "java")
@pytest.mark.slow
def test_maven_compile_error_with_file_and_line(project: Project) -> None:
    java = "package p;\n\nclass A {\n    int x = nowhere;\n}\n"
    base = {"pom.xml": POM, "src/main/java/p/A.java": "package p; class A {}\n"}
    judgment = project.judge({"pom.xml": POM, "src/main/java/p/A.java": java}, base)
    assert judgment.status is Status.FAIL
    first = causes(judgment)[0]
    assert (str(first.location), first.message) == (
        "src/main/java/p/A.java:4",
        "cannot find symbol (variable nowhere)",
    )
    assert [failure["kind"] for failure in judgment.metadata["failures"]] == ["compile", "goal"]


@needs("mvn", "java", "sh")
@pytest.mark.slow
def test_a_wrapper_that_is_not_executable(project: Project) -> None:
    tree = {"pom.xml": POM, "mvnw": '#!/bin/sh\necho "wrapped: $*"\nexit 3\n'}
    judgment = project.judge(tree)
    assert judgment.status is Status.FAIL
    assert judgment.metadata["command"] == "sh mvnw -q -B -ntp --fail-at-end verify"
    assert "not executable" in judgment.metadata["recognised_by"][1]
    assert "wrapped: -q" in Path(judgment.metadata["log"]).read_text()


def test_a_wrapper_that_is_executable(project: Project) -> None:
    tree = {"pom.xml": POM, "mvnw": '#!/bin/sh\necho "wrapped: $*"\n'}
    judgment = project.judge(tree, executable=frozenset({"mvnw"}))
    assert judgment.metadata["command"] == "./mvnw -q -B -ntp --fail-at-end verify"
    assert judgment.status is Status.PASS


NODE = {
    "package.json": '{"name": "sample", "scripts": {"test": "node --test"}}',
    "sum.js": "module.exports = (a, b) => a + b;\n",
    "sum.test.js": (
        'const test = require("node:test");\n'
        'const assert = require("node:assert");\n'
        'const sum = require("./sum.js");\n'
        'test("adds", () => {\n  assert.strictEqual(sum(1, 2), 3);\n});\n'
    ),
}


@needs("npm", "node")
def test_npm_green(project: Project) -> None:
    judgment = project.judge(NODE)
    assert judgment.status is Status.PASS, judgment.reasoning
    assert judgment.metadata["command"] == "npm run test"


@needs("npm", "node")
def test_npm_failing(project: Project) -> None:
    judgment = project.judge({**NODE, "sum.js": "module.exports = (a, b) => a - b;\n"}, NODE)
    assert judgment.status is Status.FAIL
    assert where(judgment)[0] == "sum.test.js:4"


@needs("go")
@pytest.mark.slow
def test_go(project: Project) -> None:
    tree = {
        "go.mod": GO_MOD,
        "sub/a.go": "package sub\n\nfunc A() int { return 1 }\n",
        "sub/a_test.go": (
            'package sub\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 {\n'
            '\t\tt.Fatal("not one")\n\t}\n}\n'
        ),
    }
    assert project.judge(tree).status is Status.PASS
    failing = {**tree, "sub/a.go": "package sub\n\nfunc A() int { return 2 }\n"}
    judgment = project.judge(failing, tree)
    assert (judgment.status, where(judgment)) == (Status.FAIL, ["sub/a_test.go:7"])
    broken = {**tree, "sub/a.go": "package sub\n\nfunc A() int { return nowhere }\n"}
    judgment = project.judge(broken, tree)
    assert (judgment.status, where(judgment)) == (Status.FAIL, ["sub/a.go:3"])
    assert judgment.metadata["command"] == "go build ./... && go test ./..."


@needs("cargo")
@pytest.mark.slow
def test_cargo(project: Project) -> None:
    rust = (
        "pub fn one() -> i32 {\n    1\n}\n\n#[test]\nfn it_is() {\n    assert_eq!(one(), 1);\n}\n"
    )
    tree = {"Cargo.toml": CARGO_TOML, "src/lib.rs": rust}
    assert project.judge(tree).status is Status.PASS
    failing = {**tree, "src/lib.rs": rust.replace("    1\n", "    2\n")}
    judgment = project.judge(failing, tree)
    assert (judgment.status, where(judgment)) == (Status.FAIL, ["src/lib.rs:7"])
    broken = {**tree, "src/lib.rs": rust.replace("    1\n", '    "1"\n')}
    judgment = project.judge(broken, tree)
    assert (judgment.status, where(judgment)) == (Status.FAIL, ["src/lib.rs:2"])


@needs("make", "gcc")
def test_make(project: Project) -> None:
    tree = {"Makefile": "test:\n\tgcc -fsyntax-only a.c\n", "a.c": "int main(void) { return 0; }\n"}
    assert project.judge(tree).status is Status.PASS
    judgment = project.judge({**tree, "a.c": "int main(void) {\n  return x; }\n"}, tree)
    assert judgment.status is Status.FAIL
    assert where(judgment)[0] == "a.c:2"


def test_a_missing_tool(project: Project) -> None:
    judgment = project.judge({"build.gradle": ""})
    if shutil.which("gradle") is None:
        assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "tool_missing")
        assert "install Gradle" in judgment.reasoning


def test_a_command_that_does_not_exist(project: Project) -> None:
    judgment = project.judge({"a.txt": ""}, command="no-such-tool --now")
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "tool_missing")
    assert "no-such-tool --now" in judgment.reasoning


def test_a_script_of_the_tree_that_does_not_exist_is_the_change_s_own_failure(
    project: Project,
) -> None:
    judgment = project.judge({"a.txt": ""}, {"ci.sh": "#!/bin/sh\n"}, command="./ci.sh")
    assert judgment.status is Status.FAIL


def test_own_steps_stop_at_the_first_failure(project: Project) -> None:
    steps = {
        "setup": "echo setting > up",
        "build": "test -f up",
        "test": "exit 4",
        "lint": "touch l",
    }
    judgment = project.judge({"a.txt": ""}, {"a.txt": ""}, command=steps, pre_existing="block")
    assert judgment.status is Status.FAIL
    assert judgment.metadata["exit_code"] == 4
    executed = [found for found in judgment.checks if found.name == "build-executed"]
    assert [found.passed for found in executed] == [True, True, False]


def test_a_build_that_takes_too_long(project: Project) -> None:
    judgment = project.judge({"a.txt": ""}, command="echo working; sleep 60", timeout=0.5)
    assert judgment.status is Status.FAIL
    assert "did not finish within 0.5 s" in judgment.reasoning
    assert judgment.metadata["stopped"] == "timeout"


def test_a_build_that_crashes(project: Project) -> None:
    judgment = project.judge({"a.txt": ""}, command="kill -SEGV $$")
    assert judgment.status is Status.FAIL
    assert "killed by SIGSEGV" in judgment.reasoning


def test_steps_share_a_home_that_goes_away(project: Project) -> None:
    steps = {
        "setup": 'echo kept > "$HOME/file"',
        "test": 'cat "$HOME/file"; echo "$HOME" >&2; exit 1',
    }
    judgment = project.judge({"a.txt": ""}, command=steps)
    assert judgment.status is Status.FAIL
    kept, home = Path(judgment.metadata["log"]).read_text().splitlines()
    assert kept == "kept"
    assert not Path(home).exists()


REPORT = (
    '<testsuite tests="9" failures="0"><testcase classname="p.ATest" name="bad">'
    '<failure message="no">at p.ATest.bad(ATest.java:3)</failure></testcase></testsuite>'
)


def test_failing_reports_outweigh_the_exit_code(project: Project) -> None:
    script = (
        f"mkdir -p target/surefire-reports; echo '{REPORT}' > target/surefire-reports/TEST-a.xml"
    )
    tree = {"src/test/java/p/ATest.java": "", "a.txt": ""}
    judgment = project.judge(tree, tree, command=script, pre_existing="block")
    assert judgment.status is Status.FAIL
    assert "ended with exit code 0, but" in judgment.reasoning
    assert where(judgment) == ["src/test/java/p/ATest.java:3"]
