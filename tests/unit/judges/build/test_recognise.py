"""Which files mean which build."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fakes.trees import TreeRepository
from prjury.judges.build.plan import BuildPlan
from prjury.judges.build.recognise import Root, recognise
from prjury.ports import TreeEntry


def plan_of(files: Mapping[str, str], executable: str = "") -> BuildPlan | None:
    repository = TreeRepository({"t": files}, frozenset(executable.split()))
    texts = {entry.path: entry for entry in repository.files("t")}

    def read(entry: TreeEntry) -> str:
        assert texts[entry.path] == entry
        return files[entry.path]

    return recognise(Root(repository.files("t"), read))


def package(scripts: str, more: str = "") -> str:
    return f'{{"scripts": {{{scripts}}}{more}}}'


TEST = package('"test": "node --test"')
BOTH = package('"test": "jest", "build": "tsc"')
PLACEHOLDER = package('"test": "echo \\"Error: no test specified\\" && exit 1"')


@pytest.mark.parametrize(
    ("files", "system", "command"),
    [
        ({"pom.xml": ""}, "maven", "mvn -q -B -ntp --fail-at-end verify"),
        ({"pom.xml": "", "mvnw": ""}, "maven", "sh mvnw -q -B -ntp --fail-at-end verify"),
        ({"build.gradle.kts": ""}, "gradle", "gradle --no-daemon -q --continue build"),
        (
            {"settings.gradle": "", "gradlew": ""},
            "gradle",
            "sh gradlew --no-daemon -q --continue build",
        ),
        (
            {"package.json": BOTH, "package-lock.json": ""},
            "npm",
            "npm ci --no-audit --no-fund && npm run build && npm run test",
        ),
        ({"package.json": TEST}, "npm", "npm run test"),
        (
            {"package.json": package('"test": "x"', ', "devDependencies": {"x": "1"}')},
            "npm",
            "npm install --no-audit --no-fund && npm run test",
        ),
        (
            {"package.json": TEST, "pnpm-lock.yaml": ""},
            "pnpm",
            "pnpm install --frozen-lockfile && pnpm run test",
        ),
        (
            {"package.json": TEST, "yarn.lock": ""},
            "yarn",
            "yarn install --frozen-lockfile && yarn run test",
        ),
        (
            {"package.json": TEST, "yarn.lock": "", ".yarnrc.yml": ""},
            "yarn",
            "yarn install --immutable && yarn run test",
        ),
        (
            {"package.json": TEST, "bun.lock": ""},
            "bun",
            "bun install --frozen-lockfile && bun run test",
        ),
        ({"uv.lock": "", "tests/test_a.py": ""}, "uv", "uv run --frozen --with pytest pytest -q"),
        (
            {"uv.lock": 'name = "pytest"\n', "tests/test_a.py": ""},
            "uv",
            "uv run --frozen pytest -q",
        ),
        ({"tox.ini": "[tox]\n", "setup.py": ""}, "tox", "tox"),
        ({"tox.ini": "[pytest]\n", "a_test.py": ""}, "pytest", "python3 -m pytest -q"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest", "python3 -m pytest -q"),
        ({"setup.cfg": "[tool:pytest]\n"}, "pytest", "python3 -m pytest -q"),
        ({"pytest.ini": ""}, "pytest", "python3 -m pytest -q"),
        ({"requirements.txt": "", "test/test_a.py": ""}, "pytest", "python3 -m pytest -q"),
        ({"pyproject.toml": "", "p/a.py": ""}, "python", "python3 -m compileall -q ."),
        ({"script.py": ""}, "python", "python3 -m compileall -q ."),
        ({"Cargo.toml": ""}, "cargo", "cargo test -q --no-fail-fast"),
        ({"go.mod": ""}, "go", "go build ./... && go test ./..."),
        ({"Makefile": "all: x\n\ntest: all\n"}, "make", "make test"),
        ({"GNUmakefile": "check:\n\ttrue\n"}, "make", "make check"),
        ({"makefile": "all:\n"}, "make", "make all"),
    ],
)
def test_recognised(files: dict[str, str], system: str, command: str) -> None:
    plan = plan_of(files)
    assert plan is not None
    assert (plan.system, plan.text) == (system, command)
    assert plan.reasons


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": ""},
        {"sub/pom.xml": ""},
        {"package.json": PLACEHOLDER},
        {"package.json": "not json"},
        {"package.json": "[" * 100_000},
        {"Makefile": "test := 1\n\t all:\nlatest: x\n"},
        {"docs/conf.py": ""},
    ],
)
def test_not_recognised(files: dict[str, str]) -> None:
    assert plan_of(files) is None


def test_an_executable_wrapper_is_used() -> None:
    plan = plan_of({"pom.xml": "", "mvnw": ""}, executable="mvnw")
    assert plan is not None
    assert plan.text == "./mvnw -q -B -ntp --fail-at-end verify"
    assert plan.reasons == ("pom.xml is there", "mvnw is there")


def test_a_wrapper_that_is_not_executable_is_said() -> None:
    plan = plan_of({"pom.xml": "", "mvnw": ""})
    assert plan is not None
    assert "not executable" in plan.reasons[1]


def test_several_systems_become_a_note() -> None:
    plan = plan_of({"pom.xml": "", "package.json": TEST, "Makefile": "test:\n"})
    assert plan is not None
    assert plan.system == "maven"
    assert plan.notes == ("also found and not run: npm, make",)


def test_a_system_with_tests_comes_before_one_without() -> None:
    plan = plan_of({"script.py": "", "Makefile": "test:\n"})
    assert plan is not None
    assert (plan.system, plan.notes) == ("make", ("also found and not run: python",))


def test_pytest_is_told_to_go_on_and_to_report() -> None:
    plan = plan_of({"test_a.py": "", "pytest.ini": "[pytest]\naddopts = -x\n"})
    assert plan is not None
    assert plan.env["PYTEST_ADDOPTS"].endswith("--maxfail=0")
    assert (plan.reported, plan.all_ran) == (True, 1)


@pytest.mark.parametrize("name", ["pom.xml", "build.gradle", "Cargo.toml", "go.mod"])
def test_other_tools_do_not_tell_whether_everything_ran(name: str) -> None:
    plan = plan_of({name: ""})
    assert plan is not None
    assert (plan.reported, plan.all_ran) == (False, None)


def test_a_link_is_not_a_build_file() -> None:
    root = Root([TreeEntry("pom.xml", "120000", "x")], lambda entry: "")
    assert recognise(root) is None
