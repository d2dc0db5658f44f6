from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.roots import failing, package, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.node import plans

BECAUSE = "packages that the change touches, and those that depend on them"
INSTALL = "npm install --no-audit --no-fund"


TOLD = 'echo "The command failed in workspace $name with exit code $?"; '


def through(run: str, *names: str, heading: str = "", told: str = TOLD) -> str:
    return (
        f"(failed=0; for name in {' '.join(names)}; do {heading}{run} || "
        f"{{ {told}failed=1; }}; done; exit $failed)"
    )


NPM = 'npm run test --workspace "$name"'
HEADING = 'echo "> ${name##*/} test"; '


def plan_of(files: Mapping[str, str], *paths: str) -> BuildPlan:
    (plan,) = plans(root_of(files), touching(*paths) if paths else None)
    return plan


def scope_of(files: Mapping[str, str], *paths: str) -> BuildScope:
    return plan_of(files, *paths).scope


def commands_of(files: Mapping[str, str], *paths: str) -> list[str]:
    return [step.text for step in plan_of(files, *paths).steps if step.name != "setup"]


MEMBERS = {
    "package.json": package("root", workspaces=["packages/*", "!packages/out"], scripts={}),
    "packages/a/package.json": package("@s/a"),
    "packages/b/package.json": package("b", "@s/a"),
    "packages/c/package.json": package("c", devDependencies={"x": "file:../b"}, scripts={}),
    "packages/d/package.json": package("d", peerDependencies={"c": "workspace:*"}),
}


# A single package


@pytest.mark.parametrize(
    ("script", "command", "all_ran"),
    [
        ("node --test", "npm run test", 1),
        ("jest", "npm run test -- --verbose --bail=0", 1),
        ("tsc && jest", "npm run test -- --verbose --bail=0", None),
        ("jest --silent", "npm run test", 1),
        ("vitest run", "npm run test -- --reporter=default --reporter=tap-flat", 1),
        ("vitest run --reporter=dot", "npm run test", 1),
        ("mocha", "npm run test -- --reporter=tap", None),
        ("mocha -R dot", "npm run test", None),
        ("ava", "npm run test", None),
        ("yarn jest", "npm run test -- --verbose --bail=0", 1),
        ("pnpm exec vitest run", "npm run test -- --reporter=default --reporter=tap-flat", 1),
        ("pnpm -r exec vitest run", "npm run test", None),
        ("c8 --99 --check-coverage mocha test", "npm run test -- --reporter=tap", None),
        ("c8 -r lcov mocha test", "npm run test", None),
        ("jest; true", "npm run test", None),
    ],
)
def test_runners_are_told_to_name_their_tests(
    script: str, command: str, all_ran: int | None
) -> None:
    plan = plan_of({"package.json": package("a", scripts={"test": script})})
    assert (plan.text, plan.all_ran, plan.scope) == (command, all_ran, BuildScope())
    assert plan.reasons == ("package.json is there", "no lock file, so it is npm")


def test_what_comes_after_the_tests_may_fail_as_well() -> None:
    files = {"package.json": package("a", scripts={"test": "jest", "posttest": "eslint ."})}
    assert plan_of(files).all_ran is None


@pytest.mark.parametrize(("lock", "name"), [("pnpm-lock.yaml", "pnpm"), ("bun.lock", "bun")])
def test_other_managers_hand_arguments_on_by_themselves(lock: str, name: str) -> None:
    files = {"package.json": package("a", scripts={"test": "jest"}), lock: ""}
    assert commands_of(files) == [f"{name} run test --verbose --bail=0"]


@pytest.mark.parametrize(
    ("files", "install"),
    [
        ({"yarn.lock": ""}, "yarn install --frozen-lockfile"),
        ({"yarn.lock": "# x\n\n__metadata:\n  version: 8\n"}, "yarn install --immutable"),
        ({"yarn.lock": "", ".yarnrc.yml": ""}, "yarn install --immutable"),
        ({"npm-shrinkwrap.json": "", "yarn.lock": ""}, "npm ci --no-audit --no-fund"),
        ({"pnpm-lock.yaml": "", "yarn.lock": ""}, "pnpm install --frozen-lockfile"),
        ({"bun.lockb": ""}, "bun install --frozen-lockfile"),
    ],
)
def test_the_lock_file_decides(files: dict[str, str], install: str) -> None:
    assert plan_of({"package.json": package("a"), **files}).steps[0] == BuildStep(
        "setup", tuple(install.split())
    )


def test_the_named_manager_s_lock_file_comes_first() -> None:
    locks = {"package-lock.json": "", "yarn.lock": "", "pnpm-lock.yaml": ""}
    manifest = package("a", packageManager="pnpm@10.2.0")
    plan = plan_of({"package.json": manifest, **locks})
    assert plan.steps[0].text == "pnpm install --frozen-lockfile"
    assert plan.notes == ("package-lock.json is not used", "yarn.lock is not used")
    del locks["pnpm-lock.yaml"]
    assert plan_of({"package.json": manifest, **locks}).steps[0].text.startswith("npm ci")


def test_other_lock_files_are_named() -> None:
    files = {"package.json": package("a"), "yarn.lock": "", "package-lock.json": "", "bun.lock": ""}
    assert plan_of(files).notes == ("yarn.lock is not used", "bun.lock is not used")
    assert plan_of({"package.json": package("a"), "package-lock.json": ""}).notes == ()


@pytest.mark.parametrize(
    ("manager", "install"),
    [
        ("pnpm@9.1.0", "pnpm install --frozen-lockfile"),
        ("yarn@4.1.0", "yarn install --immutable"),
        ("yarn@1.22.0", "yarn install --frozen-lockfile"),
    ],
)
def test_the_manager_may_be_named(manager: str, install: str) -> None:
    plan = plan_of({"package.json": package("a", packageManager=manager)})
    assert plan.steps[0].text == install


def test_the_thorough_form_of_vitest_does_not_bail_out() -> None:
    plan = plan_of({"package.json": package("a", scripts={"test": "vitest", "build": "tsc"})})
    assert plan.keep_going is not None
    assert (
        plan.keep_going.text
        == "npm run build && npm run test -- --reporter=default --reporter=tap-flat --bail=0"
    )
    assert plan_of({"package.json": package("a", scripts={"test": "jest"})}).keep_going is None


# Workspaces


def test_the_members_that_a_change_affects() -> None:
    plan = plan_of(MEMBERS, "packages/b/index.js")
    assert plan.scope == BuildScope(("b", "c", "d"), BECAUSE)
    assert plan.text == f"{INSTALL} && {through(NPM, 'b', 'd')}"
    assert (plan.all_ran, plan.keep_going) == (1, None)
    assert commands_of(MEMBERS, "packages/d/x.js") == ["npm run test --workspace d"]
    assert scope_of(MEMBERS, "packages/a/x.js").modules == ("@s/a", "b", "c", "d")


def test_everything_without_a_script_in_the_root() -> None:
    plan = plan_of(MEMBERS)
    assert plan.steps[-1].text == "npm run test --workspaces --if-present"
    assert plan.keep_going is not None
    assert plan.keep_going.steps[-1].text == through(NPM, "@s/a", "b", "d")
    assert commands_of(MEMBERS, "package-lock.json") == ["npm run test --workspaces --if-present"]


def test_everything_in_the_words_of_other_managers() -> None:
    pnpm = {**MEMBERS, "pnpm-workspace.yaml": "packages: ['packages/*']\n", "pnpm-lock.yaml": ""}
    assert commands_of(pnpm) == ["pnpm -r --no-bail run --if-present test"]
    yarn = plan_of({**MEMBERS, "yarn.lock": ""})
    run = 'yarn workspace "$name" run test'
    assert yarn.steps[-1].text == through(run, "@s/a", "b", "d", heading=HEADING, told="")
    assert yarn.keep_going is None


@pytest.mark.parametrize(
    ("path", "because"),
    [
        ("package.json", "package.json belongs to no single package"),
        ("package-lock.json", "package-lock.json belongs to no single package"),
        ("tsconfig.json", "tsconfig.json belongs to no single package"),
        (
            "packages/d/package.json",
            "packages/d/package.json changes, and with it the dependencies between packages",
        ),
    ],
)
def test_everything(path: str, because: str) -> None:
    assert scope_of(MEMBERS, "packages/a/x.js", path) == BuildScope(because=because)


def test_everything_where_nothing_affected_has_tests() -> None:
    files = {**MEMBERS, "packages/d/package.json": package("d", scripts={})}
    assert scope_of(files, "packages/c/x.js").because == (
        "none of the packages that the change affects has tests"
    )


def test_placeholders_are_no_tests() -> None:
    empty = package("d", scripts={"test": 'echo "Error: no test specified" && exit 1'})
    assert commands_of({**MEMBERS, "packages/d/package.json": empty}) == [through(NPM, "@s/a", "b")]


def test_a_package_that_is_no_member_is_for_itself() -> None:
    files = {**MEMBERS, "packages/out/package.json": package("out")}
    assert [plan.directory for plan in plans(root_of(files), None)] == ["", "packages/out"]
    found = plans(root_of(files), touching("packages/out/x.js"))
    assert [(plan.directory, plan.scope.because) for plan in found] == [
        ("", "packages/out/x.js belongs to no single package"),
        ("packages/out", ""),
    ]


@pytest.mark.parametrize(
    ("lock", "text", "run", "heading", "told", "names"),
    [
        ("package-lock.json", "", NPM, "", TOLD, "@s/a b"),
        ("pnpm-lock.yaml", "", 'pnpm --filter "$name" run test', HEADING, TOLD, "@s/a b"),
        ("yarn.lock", "", 'yarn workspace "$name" run test', HEADING, "", "@s/a b"),
        (
            "yarn.lock",
            "\n__metadata:\n",
            'yarn workspace "$name" run test',
            HEADING,
            TOLD,
            "@s/a b",
        ),
        ("bun.lock", "", 'bun run --cwd "$name" test', HEADING, TOLD, "./packages/a ./packages/b"),
    ],
)
def test_every_manager_in_its_own_words(
    lock: str, text: str, run: str, heading: str, told: str, names: str
) -> None:
    files = {
        "package.json": package("root", workspaces={"packages": ["packages/*"]}, scripts={}),
        "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
        "packages/a/package.json": package("@s/a"),
        "packages/b/package.json": package("b", "@s/a"),
        lock: text,
    }
    expected = through(run, names, heading=heading, told=told)
    assert commands_of(files, "packages/a/x.js") == [expected]


def test_members_with_one_runner_are_told_to_name_their_tests() -> None:
    jest, vitest = {"test": "jest"}, {"test": "vitest run"}
    files = {
        "package.json": package("root", workspaces=["*"], scripts={}),
        "a/package.json": package("a", scripts=jest),
        "b/package.json": package("b", scripts=jest),
    }
    named = 'npm run test --workspace "$name" -- --verbose --bail=0'
    assert commands_of(files) == ["npm run test --workspaces --if-present -- --verbose --bail=0"]
    assert commands_of(files, "a/x.js", "b/x.js") == [through(named, "a", "b")]
    mixed = {**files, "b/package.json": package("b", scripts=vitest)}
    assert commands_of(mixed) == ["npm run test --workspaces --if-present"]
    assert commands_of(mixed, "b/x.js") == [
        "npm run test --workspace b -- --reporter=default --reporter=tap-flat"
    ]


def test_what_is_needed_is_built_first() -> None:
    both = {"test": "node --test", "build": "tsc"}
    files = {
        "package.json": package("root", workspaces=["*"], scripts={}),
        "a/package.json": package("a", "z", scripts=both),
        "b/package.json": package("b", "a", scripts=both),
        "y/package.json": package("y", scripts=both),
        "z/package.json": package("z", scripts=both),
    }
    build = '(for name in {}; do npm run build --workspace "$name" || exit; done)'
    assert commands_of(files, "b/x.js") == [build.format("z a b"), "npm run test --workspace b"]
    assert commands_of(files)[0] == build.format("z a b y")
    assert commands_of(files, "z/x.js") == [build.format("z a b"), through(NPM, "a", "b", "z")]


@pytest.mark.parametrize(
    ("script", "whole"),
    [("npm test --workspaces", "npm run test"), ("lerna run test", "npm run test")],
)
def test_a_root_script_that_only_goes_through_the_packages(script: str, whole: str) -> None:
    root = package("root", workspaces=["packages/*"], scripts={"test": script})
    files = {**MEMBERS, "package.json": root}
    assert commands_of(files, "packages/b/x.js") == [through(NPM, "b", "d")]
    plan = plan_of(files, "package.json")
    assert plan.steps[-1].text == whole
    assert plan.all_ran is None
    assert plan.keep_going is not None
    assert plan.keep_going.steps[-1].text == through(NPM, "@s/a", "b", "d")
    assert plan.keep_going.all_ran == 1


OWN = "the root's own `test` script does not select packages"


def with_root(scripts: dict[str, str]) -> dict[str, str]:
    root = package("root", workspaces=["packages/*", "!packages/out"], scripts=scripts)
    return {**MEMBERS, "package.json": root}


def test_a_root_script_of_its_own_is_run_beside_those_of_the_members() -> None:
    files = with_root({"test": "jest --projects packages/*"})
    plan = plan_of(files, "packages/b/x.js")
    assert [step.text for step in plan.steps[1:]] == [
        "npm run test -- --verbose --bail=0",
        through(NPM, "b", "d"),
    ]
    assert plan.scope == BuildScope(("b", "c", "d"), f"{BECAUSE}; and {OWN}")
    assert plan.tests


def test_all_members_are_tested_beside_the_root() -> None:
    files = with_root({"test": "echo lint ok"})
    whole = ["npm run test", "npm run test --workspaces --if-present"]
    assert commands_of(files) == whole
    assert commands_of(files, "package.json") == whole
    assert commands_of(files, "packages/d/x.js") == ["npm run test", "npm run test --workspace d"]
    yarn = {**files, "yarn.lock": ""}
    run = 'yarn workspace "$name" run test'
    assert commands_of(yarn)[1] == through(run, "@s/a", "b", "d", heading=HEADING, told="")


def test_a_root_script_that_also_goes_through_the_packages_runs_them_once() -> None:
    files = with_root({"test": "tsc -b && npm test --workspaces"})
    assert commands_of(files, "packages/d/x.js") == ["npm run test"]
    assert scope_of(files, "packages/d/x.js") == BuildScope(because=OWN)
    away = with_root({"test": "cd elsewhere && npm test --workspaces"})
    assert commands_of(away, "packages/d/x.js") == ["npm run test", "npm run test --workspace d"]


def test_a_root_script_is_run_by_itself_where_no_affected_member_has_one() -> None:
    files = with_root({"test": "node --test"})
    files["packages/d/package.json"] = package("d", scripts={})
    plan = plan_of(files, "packages/d/x.js")
    assert (plan.steps[-1].text, plan.all_ran, plan.keep_going) == ("npm run test", 1, None)


def test_of_two_test_steps_the_first_may_hide_the_second() -> None:
    plan = plan_of(with_root({"test": "vitest"}), "packages/d/x.js")
    assert plan.all_ran is None
    assert plan.keep_going is not None
    assert plan.keep_going.all_ran == 1
    assert plan.keep_going.steps[-1].text == (
        "(failed=0; npm run test -- --reporter=default --reporter=tap-flat --bail=0 || failed=1; "
        "npm run test --workspace d || failed=1; exit $failed)"
    )
    mixed = plan_of(with_root({"test": "echo lint ok"})).keep_going
    assert mixed is not None
    assert mixed.all_ran is None
    assert through(NPM, "@s/a", "b", "d") in mixed.steps[-1].text


@pytest.mark.parametrize(
    ("failing_calls", "code", "calls"),
    [
        ("none", 0, ["run test", "run test --workspace b", "run test --workspace d"]),
        ("run test", 1, ["run test", "run test --workspace b", "run test --workspace d"]),
        ("run test --workspace b", 1, ["run test", *(f"run test --workspace {n}" for n in "bd")]),
    ],
)
def test_the_thorough_form_runs_both_and_fails_for_either(
    tmp_path: Path, failing_calls: str, code: int, calls: list[str]
) -> None:
    npm = tmp_path / "npm"
    npm.write_text(f'#!/bin/sh\necho "called $*"\n[ "$*" != "{failing_calls}" ]\n')
    npm.chmod(0o755)
    plan = plan_of(with_root({"test": "echo lint ok"}), "packages/b/x.js")
    assert plan.keep_going is not None
    done = subprocess.run(
        ["/bin/sh", "-c", plan.keep_going.steps[-1].text],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("called ")]
    assert (done.returncode, told) == (code, [f"called {call}" for call in calls])


def test_members_that_come_along_do_not_replace_the_build() -> None:
    alone = {path: text for path, text in with_root({"test": "ava"}).items() if "/" not in path}
    assert plan_of(with_root({"test": "ava"})).covers(plan_of(alone))


def test_a_root_script_beside_the_members_is_run_again_by_itself() -> None:
    files = {**with_root({"test": "node --test"}), "packages/b/y.js": "", "top.js": ""}
    assert steps_of(files, ("t", "packages/b/y.js"), ("u", "top.js")) == [
        "node --test '--test-name-pattern=^u$' ./top.js",
        "echo '> b test'; cd packages/b && node --test '--test-name-pattern=^t$' ./y.js",
    ]
    unknown = {**with_root({"test": "ava"}), "top.js": ""}
    assert steps_of(unknown, ("u", "top.js")) is None


def test_a_root_build_of_its_own_is_run_whole() -> None:
    files = with_root({"build": "tsc -b"})
    assert commands_of(files, "packages/d/x.js") == ["npm run build", "npm run test --workspace d"]


def test_a_root_build_of_its_own_is_run_before_those_of_the_members() -> None:
    files = with_root({"build": "node generate.js"})
    both = {"test": "node --test", "build": "tsc"}
    files["packages/a/package.json"] = package("@s/a", scripts=both)
    files["packages/b/package.json"] = package("b", "@s/a", scripts=both)
    names = "@s/a b"
    each = f'(for name in {names}; do npm run build --workspace "$name" || exit; done)'
    assert commands_of(files, "packages/b/x.js")[:2] == ["npm run build", each]
    assert commands_of(files)[:2] == ["npm run build", each]
    through_all = with_root({"build": "npm run build --workspaces --if-present && echo done"})
    through_all["packages/a/package.json"] = package("@s/a", scripts=both)
    assert commands_of(through_all)[0] == "npm run build"
    assert len(commands_of(through_all)) == 2


def test_turbo_chooses_by_itself() -> None:
    scripts = {"test": "turbo run test", "build": "turbo run build"}
    files = {
        **MEMBERS, "package.json": package("root", workspaces=["packages/*"], scripts=scripts)
    }  # fmt: skip
    plan = plan_of(files, "packages/d/x.js")
    assert [step.text for step in plan.steps[1:]] == [
        "npm run build -- --filter=d",
        "npm run test -- --filter=d",
    ]
    assert plan.all_ran is None
    assert plan.keep_going is not None
    assert plan.keep_going.steps[-1].text == (
        "npm run test -- --filter=d --continue --log-order=grouped --log-prefix=none"
    )


@pytest.mark.parametrize(
    ("changed", "because"),
    [
        (
            {"packages/a/package.json": "{"},
            "packages/a/package.json cannot be read, or gives no proper name",
        ),
        (
            {"packages/a/package.json": package("--workspaces")},
            "packages/a/package.json cannot be read, or gives no proper name",
        ),
        (
            {"packages/a/package.json": package("a;b")},
            "packages/a/package.json cannot be read, or gives no proper name",
        ),
        (
            {"package.json": package("r", workspaces=[3])},
            "the workspaces in package.json cannot be read",
        ),
        ({"package.json": package("r", workspaces=["+(a)"])}, "its patterns are not understood"),
    ],
)
def test_a_workspace_that_cannot_be_read_is_everything(
    changed: dict[str, str], because: str
) -> None:
    root = package("root", workspaces=["packages/*"])
    files = {**MEMBERS, "package.json": root, **changed}
    plan = plans(root_of(files), touching("packages/d/x.js"))[0]
    assert (plan.steps[-1].text, plan.scope) == ("npm run test", BuildScope(because=because))


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("packages: [", "pnpm-workspace.yaml cannot be read"),
        ("packages: 3\n", "pnpm-workspace.yaml cannot be read"),
        ("x: &a 1\ny: *a\n", "pnpm-workspace.yaml cannot be read"),
        ("catalog:\n  x: 1\n", ""),
    ],
)
def test_the_file_of_pnpm(text: str, because: str) -> None:
    files = {
        "package.json": package("r"),
        "pnpm-lock.yaml": "",
        "pnpm-workspace.yaml": text,
        "x/a.js": "",
    }
    assert scope_of(files, "x/a.js") == BuildScope(because=because)


# Packages below the root


def test_packages_beside_each_other() -> None:
    files = {
        "app/package.json": package("app", lib="link:../lib", dependencies={"l": "link:../lib"}),
        "lib/package.json": package("lib"),
        "empty/package.json": package("empty", scripts={}),
        "web/packages/x/package.json": package("x"),
        "web/package.json": package("web", workspaces=["packages/*"], scripts={}),
    }
    assert texts(plans(root_of(files), None)) == [
        f"cd app && {INSTALL} && npm run test",
        "cd lib && npm run test",
        f"cd web && {INSTALL} && npm run test --workspaces --if-present",
    ]
    found = plans(root_of(files), touching("lib/x.js"))
    assert [(plan.directory, plan.scope.because) for plan in found] == [
        ("app", "lib changes, on which it depends"),
        ("lib", ""),
    ]


def test_the_root_is_built_with_a_package_below_it() -> None:
    files = {"package.json": package("root"), "web/package.json": package("web")}
    found = plans(root_of(files), touching("web/x.js"))
    assert [plan.directory for plan in found] == ["", "web"]
    assert [plan.directory for plan in plans(root_of(files), touching("x.js"))] == [""]


@pytest.mark.parametrize("name", ["website", "benchmarks", "browser"])
def test_what_is_beside_the_root_is_built_only_where_it_changes(name: str) -> None:
    own = package(name, scripts={"build": "docusaurus build", "test": "karma start"})
    files = {
        "package.json": package("root"),
        f"{name}/package.json": own,
        f"{name}/x.js": "require('../lib')",
        "extra/package.json": package("extra"),
        "extra/x.js": "require('../lib')",
    }
    found = plans(root_of(files), touching("lib/x.js"))
    assert [plan.directory for plan in found] == ["", "extra"]
    found = plans(root_of(files), touching(f"{name}/x.js"))
    assert name in [plan.directory for plan in found]


def test_a_site_in_a_workspace_is_built_beside_the_root_only_where_it_changes() -> None:
    scripts = {"build": "node build.js", "test": "vitest"}
    files = {
        "package.json": package("root", workspaces=["packages/*", "docs"], scripts=scripts),
        "docs/package.json": package("pages", scripts={"build": "astro build"}),
        "packages/a/package.json": package("a", scripts={"build": "tsc"}),
    }
    beside = "npm run build --workspace a"
    assert commands_of(files)[:-1] == ["npm run build", beside]
    changed = replace(root_of(files), changed=touching("docs/x.js"))
    (plan,) = plans(changed, touching("docs/x.js"))
    assert any("in a pages;" in step.text for step in plan.steps)


# Running tests again


def steps_of(files: Mapping[str, str], *tests: tuple[str, str | None]) -> list[str] | None:
    plan = plans(root_of(files), None)[-1]
    assert plan.rerun_failed is not None
    steps = plan.rerun_failed([failing(name, path) for name, path in tests])
    return None if steps is None else [step.text for step in steps]


def test_node_runs_its_failing_tests_again() -> None:
    scripts = {"test": "node --import tsx --test 'test/*.ts'"}
    files = {"package.json": package("a", scripts=scripts), "test/x.ts": "", "test/y.ts": ""}
    assert steps_of(files, ("outer > a (b)", "test/x.ts"), ("c", "test/y.ts")) == [
        (
            "node --import tsx --test '--test-name-pattern=^a \\(b\\)$' '--test-name-pattern=^c$' "
            "./test/x.ts ./test/y.ts"
        )
    ]
    assert steps_of(files, ("c", None)) is None
    assert steps_of(files, ("c", "gone.ts")) is None
    chained = {**files, "package.json": package("a", scripts={"test": "tsc && node --test"})}
    assert steps_of(chained, ("c", "test/x.ts")) is None


def test_below_the_root_paths_are_seen_from_the_package() -> None:
    files = {"web/package.json": package("web"), "web/test/x.js": ""}
    assert steps_of(files, ("c", "web/test/x.js")) == [
        "node --test '--test-name-pattern=^c$' ./test/x.js"
    ]


@pytest.mark.parametrize(
    ("script", "name", "command"),
    [
        ("jest", "g › a (b)", "npm run test -- --verbose --bail=0 -t '^(?:g a \\(b\\))$'"),
        ("mocha", "g > a", "npm run test -- --reporter=tap --grep '^(?:g a)$'"),
        (
            "vitest",
            "g > a.b",
            "npm run test -- --reporter=default --reporter=tap-flat -t '^(?:g a\\.b)$'",
        ),
    ],
)
def test_jest_and_vitest_run_failing_tests_again(script: str, name: str, command: str) -> None:
    files = {"package.json": package("a", scripts={"test": script})}
    assert steps_of(files, (name, None)) == [command]


def test_several_tests_are_one_pattern() -> None:
    files = {"package.json": package("a", scripts={"test": "jest"})}
    assert steps_of(files, ("b", None), ("a", None), ("b", None)) == [
        "npm run test -- --verbose --bail=0 -t '^(?:a|b)$'"
    ]


def test_members_run_their_own_failing_tests_again() -> None:
    files = {**MEMBERS, "packages/a/x.js": "", "packages/b/y.js": ""}
    assert steps_of(files, ("t", "packages/b/y.js"), ("u", "packages/a/x.js")) == [
        "echo '> a test'; cd packages/a && node --test '--test-name-pattern=^u$' ./x.js",
        "echo '> b test'; cd packages/b && node --test '--test-name-pattern=^t$' ./y.js",
    ]
    assert steps_of(files, ("t", "package.json")) is None


def test_a_test_is_where_its_own_file_is() -> None:
    jest = {"test": "jest"}
    files = {
        **MEMBERS,
        "packages/a/package.json": package("@s/a", scripts=jest),
        "packages/a/x.js": "",
        "packages/b/y.js": "",
    }
    plan = plan_of(files)
    assert plan.rerun_failed is not None
    failure = failing("t", path="packages/b/y.js", suite="packages/a/x.js")
    assert plan.rerun_failed([failure]) == (
        BuildStep(
            "test",
            (
                *("npm", "run", "test", "--workspace", "@s/a", "--"),
                *("--verbose", "--bail=0", "-t", "^(?:t)$"),
            ),
        ),
    )


@pytest.mark.parametrize(
    "name", ["", "a'b", 'a"b', "a$b", "a`b", "a\\b", "a\nb", "a!", "%a%", "a\u202eb"]
)
def test_what_cannot_be_handed_on_is_not_run_again(name: str) -> None:
    files = {"package.json": package("a", scripts={"test": "jest"})}
    assert steps_of(files, ("a", None), (name, None)) is None
    assert steps_of(files) is None


@pytest.mark.parametrize("script", ["ava", "jest; true", "jest -t x", "mocha -g x"])
def test_other_runners_are_not_asked_again(script: str) -> None:
    assert steps_of({"package.json": package("a", scripts={"test": script})}, ("a", None)) is None
