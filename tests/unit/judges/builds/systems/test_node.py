from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from fakes.roots import package, plans_of, root_of, texts, touching
from prjury.judges.builds.calls import find_last_call
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.node import script_of
from prjury.manifests.node import read_package_json

INSTALL = "npm install --no-audit --no-fund"


def plan_of(files: Mapping[str, str]) -> BuildPlan:
    (plan,) = plans_of("node", root_of(files))
    return plan


def test_a_package_without_a_lock_file() -> None:
    plan = plan_of({"package.json": package("a")})
    assert (plan.text, plan.reasons[1]) == ("npm run test", "no lock file, so it is npm")


@pytest.mark.parametrize(
    ("files", "install", "test"),
    [
        ({"yarn.lock": ""}, "yarn install --frozen-lockfile", "yarn run test"),
        ({"yarn.lock": "# x\n\n__metadata:\n"}, "yarn install --immutable", "yarn run test"),
        ({"yarn.lock": "", ".yarnrc.yml": ""}, "yarn install --immutable", "yarn run test"),
        (
            {"npm-shrinkwrap.json": "", "yarn.lock": ""},
            "npm ci --no-audit --no-fund",
            "npm run test",
        ),
        ({"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile", "pnpm run test"),
        ({"bun.lockb": ""}, "bun install --frozen-lockfile", "bun run test"),
    ],
)
def test_the_lock_file_decides(files: dict[str, str], install: str, test: str) -> None:
    plan = plan_of({"package.json": package("a"), **files})
    assert plan.text == f"{install} && {test}"


@pytest.mark.parametrize(
    ("manager", "locks", "install"),
    [
        ("pnpm@9.1.0", (), "pnpm install --frozen-lockfile"),
        ("yarn@4.1.0", (), "yarn install --immutable"),
        ("yarn@1.22.0", (), "yarn install --frozen-lockfile"),
        ("pnpm@9.1.0", ("yarn.lock", "pnpm-lock.yaml"), "pnpm install --frozen-lockfile"),
        ("pnpm@9.1.0", ("yarn.lock",), "yarn install --frozen-lockfile"),
    ],
)
def test_the_manager_may_be_named(manager: str, locks: tuple[str, ...], install: str) -> None:
    manifest = {"package.json": package("a", packageManager=manager)}
    plan = plan_of(manifest | dict.fromkeys(locks, ""))
    assert plan.steps[0] == BuildStep("setup", tuple(install.split()))


MEMBERS = {
    "package.json": package("root", workspaces=["packages/*", "!packages/out"], scripts={}),
    "packages/a/package.json": package("@s/a"),
    "packages/b/package.json": package("b", scripts={"test": "jest", "build": "tsc"}),
    "packages/c/package.json": package("c", scripts={}),
    "packages/out/package.json": package("out"),
    "pnpm-workspace.yaml": "packages: ['packages/*', '!packages/out']\n",
}
PLACEHOLDER = package("c", scripts={"test": 'echo "Error: no test specified" && exit 1'})


@pytest.mark.parametrize(
    ("lock", "command"),
    [
        ("package-lock.json", "npm run test --workspaces --if-present"),
        ("pnpm-lock.yaml", "pnpm -r --no-bail run --if-present test"),
        (".yarnrc.yml", "yarn workspaces foreach --all run test"),
        ("yarn.lock", "yarn workspaces run test"),
        ("bun.lock", "bun run --filter '*' test"),
    ],
)
def test_all_packages_of_a_workspace(lock: str, command: str) -> None:
    files = {**MEMBERS, lock: "", **({"yarn.lock": ""} if "yarn" in lock else {})}
    found = plans_of("node", root_of(files), touching("packages/a/x.js"))
    assert (found[0].steps[-1].text, found[1:]) == (command, ())
    placeholder = plans_of("node", root_of({**files, "packages/c/package.json": PLACEHOLDER}))
    assert [step.name for step in placeholder[0].steps] == ["setup", "build"]


def test_packages_beside_each_other() -> None:
    files = {
        "app/package.json": package("app", dependencies={"l": "link:../lib"}),
        "lib/package.json": package("lib"),
        "empty/package.json": package("empty", scripts={}),
        "broken/package.json": "{",
    }
    assert texts(plans_of("node", root_of(files))) == [
        f"cd app && {INSTALL} && npm run test",
        "cd lib && npm run test",
    ]


# Scripts


@pytest.mark.parametrize(
    ("text", "runner", "alone"),
    [
        ("jest --ci --testPathPattern=a/b.c", "jest", True),
        ("NODE_ENV=test A='b c' jest", "jest", True),
        ("cross-env A=b npx jest", "jest", True),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest", True),
        ("node --experimental-vm-modules node_modules/.bin/jest", "jest", True),
        ("./node_modules/.bin/vitest run", "vitest", True),
        ("tsc && mocha --exit", "mocha", False),
        ("node --import tsx --test 'test/*.ts'", "node", True),
        ("c8 node --test", "node", True),
        ("node test.js", "script", True),
        ("react-scripts test", "react-scripts", True),
        ("yarn jest", "jest", True),
        ("pnpm exec vitest run", "vitest", True),
        ("c8 --99 --check-coverage mocha test", "mocha", True),
        ("c8 -r lcov mocha test", None, True),
        ("pnpm -r exec vitest run", "pnpm", True),
    ],
)
def test_what_a_script_runs_last(text: str, runner: str | None, alone: bool) -> None:
    command, is_alone = find_last_call(text)
    assert command
    assert (command.runner or None, is_alone) == (runner, alone)


@pytest.mark.parametrize(
    "text",
    [
        "", "&&", "jest &&", "jest; true", "jest | tee x", "jest || true", "jest > x", "(jest)",
        "jest &", "jest # fast", "jest $ARGS", "`jest`", "jest 'x", "jest\nmocha", "A=b",
    ],
)  # fmt: skip
def test_a_script_whose_arguments_are_not_certain(text: str) -> None:
    assert find_last_call(text) == (None, False)


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ({"scripts": {"test": "jest"}}, "jest"),
        ({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}, ""),
        ({"scripts": {"test": "echo first && exit 0"}}, "echo first && exit 0"),
        ({"scripts": {"test": "echo a && jest && exit 1"}}, "echo a && jest && exit 1"),
        ({"scripts": {"test": 3}}, ""),
        ({"scripts": []}, ""),
    ],
)
def test_the_text_of_a_script(manifest: dict[str, object], text: str) -> None:
    assert script_of(read_package_json(json.dumps(manifest).encode()), "test") == text
