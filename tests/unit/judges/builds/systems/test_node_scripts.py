from __future__ import annotations

import json

import pytest

from prjury.judges.builds.systems.node_scripts import (
    delegate_of,
    last_command,
    node_options,
    script_of,
)
from prjury.manifests.node import PackageJson, read_package_json


@pytest.mark.parametrize(
    ("text", "runner", "alone"),
    [
        ("jest", "jest", True),
        ("jest --ci --testPathPattern=a/b.c", "jest", True),
        ("tsc && jest", "jest", False),
        ("NODE_ENV=test A='b c' jest", "jest", True),
        ("cross-env A=b npx jest", "jest", True),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest", True),
        ("node --experimental-vm-modules node_modules/.bin/jest", "jest", True),
        ("./node_modules/.bin/vitest run", "vitest", True),
        ("vitest", "vitest", True),
        ("mocha --exit", "mocha", True),
        ("node --import tsx --test 'test/*.ts'", "node", True),
        ("c8 node --test", "node", True),
        ("node test.js", None, True),
        ("react-scripts test", None, True),
        ("jest -t 'a && b'", "jest", True),
    ],
)
def test_what_a_script_runs_last(text: str, runner: str | None, alone: bool) -> None:
    command = last_command(text)
    assert command is not None
    assert (command.runner, command.alone) == (runner, alone)


@pytest.mark.parametrize(
    "text",
    [
        "", "&&", "jest &&", "jest; true", "jest | tee x", "jest || true", "jest > x", "(jest)",
        "jest &", "jest # fast", "jest $ARGS", "`jest`", "jest 'x", "jest\nmocha", "A=b", "npx",
    ],
)  # fmt: skip
def test_a_script_whose_arguments_are_not_certain(text: str) -> None:
    assert last_command(text) is None


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("node --test", ("--test",)),
        ("node --test test/a.js test/*.js", ("--test",)),
        ("node --import tsx -r x --test a", ("--import", "tsx", "-r", "x", "--test")),
        (
            "node --import=tsx --test --test-timeout=9",
            ("--import=tsx", "--test", "--test-timeout=9"),
        ),
        ("node --test --import", None),
        ("node a.js", None),
    ],
)
def test_options_of_node(text: str, options: tuple[str, ...] | None) -> None:
    command = last_command(text)
    assert command is not None
    assert node_options(command.words) == options


def test_options_are_found_with_and_without_values() -> None:
    command = last_command("jest --verbose=false --json")
    assert command is not None
    assert [command.has(one) for one in ("--verbose", "--json", "--silent")] == [True, True, False]


@pytest.mark.parametrize(
    ("script", "delegate"),
    [
        ("npm run test --workspaces --if-present", "npm"),
        ("npm test -ws", "npm"),
        ("npm test", None),
        ("pnpm -r test", "pnpm"),
        ("pnpm run --recursive --parallel test", "pnpm"),
        ("pnpm recursive run test", "pnpm"),
        ("pnpm test", None),
        ("pnpm -r --filter ./packages/* test", None),
        ("pnpm -r --filter=x test", None),
        ("yarn workspaces run test", "yarn"),
        ("yarn workspaces foreach -Apt run test", "yarn"),
        ("yarn workspaces foreach --exclude x run test", None),
        ("yarn test", None),
        ("bun run --filter=* test", "bun"),
        ("bun test", None),
        ("npx lerna run test --stream", "lerna"),
        ("lerna run test --scope=x", None),
        ("turbo run test", "turbo"),
        ("turbo test", "turbo"),
        ("turbo run test --concurrency=1", None),
        ("turbo run build test", None),
        ("nx run-many -t test", None),
        ("jest", None),
        ("npm run test -ws && jest", None),
        ("npm run build -ws", None),
    ],
)
def test_scripts_that_only_go_through_the_packages(script: str, delegate: str | None) -> None:
    assert delegate_of(PackageJson(scripts={"test": script}), "test") == delegate


def test_a_script_with_others_around_it_does_more() -> None:
    scripts = {"test": "pnpm -r test"}
    assert delegate_of(PackageJson(scripts=scripts), "test") == "pnpm"
    for around in ("pretest", "posttest"):
        assert delegate_of(PackageJson(scripts={**scripts, around: "x"}), "test") is None


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ({"scripts": {"test": "jest"}}, "jest"),
        ({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}, ""),
        ({"scripts": {"test": 'echo "Error: run tests from root" && exit 1'}}, ""),
        ({"scripts": {"test": "echo first && exit 0"}}, "echo first && exit 0"),
        ({"scripts": {"test": 3}}, ""),
        ({"scripts": []}, ""),
        ({}, ""),
    ],
)
def test_the_text_of_a_script(package: dict[str, object], text: str) -> None:
    manifest = read_package_json(json.dumps(package).encode())
    assert script_of(manifest, "test") == text
