"""Plans that the base's CI gives: its own lines, or a recipe with its options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes.roots import root_of, touching
from prjury.judges.builds.ci import choose_base_ci_jobs
from prjury.judges.builds.plan import BuildPlan, DetectedBuilds, list_plan_lines, make_plan_document
from prjury.judges.builds.planner import BuildPlanner
from prjury.judges.builds.toolchains import Toolchains
from prjury.policy.tiers import BuildOptions

HEAD = "on: {pull_request: {}, push: {branches: [main]}}\n"


@pytest.fixture
def here(tmp_path: Path) -> Toolchains:
    """JDK 17 and some programs that jobs need."""
    home = tmp_path / "usr/lib/jvm/17.0.9"
    home.mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="17.0.9"')
    for name in ("cmake", "cargo", "go", "mvn", "npm", "node", "make", "prove", "rake", "gcc"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).touch(0o755)
    return Toolchains({"JAVA_HOME": str(home), "PATH": str(tmp_path / "bin")}, tmp_path)


def job(*steps: str, more: str = "", name: str = "test") -> str:
    """A workflow of one job; each step is a line of YAML."""
    listed = "".join(f"      - {step}\n" for step in steps)
    return f"{HEAD}jobs:\n  {name}:\n    runs-on: ubuntu-latest\n{more}    steps:\n{listed}"


def plans(
    here: Toolchains,
    workflow: str,
    files: dict[str, str],
    changes: frozenset[str] | None = None,
    more: str = "",
) -> DetectedBuilds:
    """The builds of a tree whose CI is one workflow, perhaps two."""
    workflows = {".github/workflows/ci.yml": workflow}
    root = root_of({**files, **workflows, **({".github/workflows/more.yml": more} if more else {})})
    root = replace(root, changed=changes)
    return BuildPlanner(BuildOptions(), here, choose_base_ci_jobs(root, here)).plan_builds(root)


def only(builds: DetectedBuilds) -> BuildPlan:
    (plan,) = builds.plans
    return plan


def steps_of(plan: BuildPlan) -> list[str]:
    """Its steps without the repository around the tree."""
    return [step.text for step in plan.steps if not step.text.startswith("[ -e .git ]")]


GO = {"go.mod": "module a\n", "a.go": "package a\n", "a_test.go": "package a\n"}


class TestLines:
    def test_a_nested_module_that_no_job_builds_is_not_built(self, here: Toolchains) -> None:
        files = {**GO, "remote/go.mod": "module r\n", "remote/r.go": "package r\n"}
        builds = plans(here, job("run: go build .", "run: go test -v ./..."), files)
        assert steps_of(only(builds)) == ["go build .", "go test -json -v ./..."]
        assert any("go in remote" in note for note in builds.notes)
        assert only(builds).steps[-1].origin == ".github/workflows/ci.yml:7"

    def test_options_of_an_install_are_the_ones_of_the_ci(self, here: Toolchains) -> None:
        files = {
            "package.json": json.dumps({"scripts": {"test": "mocha"}, "dependencies": {"a": "1"}})
        }
        plan = only(plans(here, job("run: npm install --legacy-peer-deps", "run: npm test"), files))
        install, test = steps_of(plan)
        assert install == "npm install --legacy-peer-deps"
        assert test.startswith("npm test -- --reporter=xunit --reporter-options output=")
        assert plan.otherwise
        assert "npm install --no-audit" in plan.otherwise.text

    def test_extras_and_groups_are_the_ones_of_the_ci(self, here: Toolchains) -> None:
        files = {
            "uv.lock": "", "pyproject.toml": "[dependency-groups]\ndev = ['pytest']\n"
            "[tool.uv.workspace]\nmembers = ['pkgs/*']\n", "test_a.py": "",
            "pkgs/a/pyproject.toml": "[project]\nname = 'a'\n", "pkgs/a/tests/test_b.py": "",
        }  # fmt: skip
        lines = ("uv sync --all-packages --extra http", "uv run pytest")
        plan = only(plans(here, job(*(f"run: {line}" for line in lines)), files))
        assert steps_of(plan) == list(lines)
        assert "pytest-1" in plan.steps[-1].env["PYTEST_ADDOPTS"]

    def test_a_local_action_comes_before_a_tox_that_tests_nothing(self, here: Toolchains) -> None:
        files = {
            "tox.ini": "[testenv:pins]\ncommands = pip-compile\n", "python/test/test_a.py": "",
            ".github/actions/test/action.yml": "runs:\n  using: composite\n  steps:\n"
            "    - {run: python -m pytest, shell: bash, working-directory: python}\n",
        }  # fmt: skip
        plan = only(plans(here, job("run: cp a test/files", "uses: ./.github/actions/test"), files))
        assert steps_of(plan)[-1] == "cd python && python -m pytest"
        assert plan.steps[-1].origin == ".github/actions/test/action.yml:4"

    def test_an_old_build_file_that_no_job_calls_is_not_built(self, here: Toolchains) -> None:
        files = {"CMakeLists.txt": "project(x)\nenable_testing()\n", "support/build.gradle": ""}
        builds = plans(here, job("run: cmake -B b", "run: ctest --test-dir b"), files)
        assert [plan.system for plan in builds.plans] == ["cmake"]

    @pytest.mark.parametrize(
        ("line", "call", "skipped"),
        [
            ('includeBuild("logic")', "./gradlew test", ()),
            ("  includeBuild  ( './logic')", "./gradlew test", ()),
            ("", "./gradlew test", ("logic",)),
            ("// includeBuild 'logic'", "./gradlew test", ("logic",)),
            ("/*\nincludeBuild 'logic'\n*/", "./gradlew test", ("logic",)),
            ("includeBuild 'logic'", "go test ./...", ("logic",)),
        ],
    )
    def test_a_build_that_the_one_of_the_root_includes_is_built(
        self, here: Toolchains, line: str, call: str, skipped: tuple[str, ...]
    ) -> None:
        files = {"settings.gradle": line, "logic/settings.gradle": "", "a.java": "", **GO}
        builds = plans(here, job(f"run: {call}"), {**files, "gradlew": ""})
        assert [plan.directory for plan in builds.plans] == [""]
        assert builds.skipped == skipped

    def test_another_job_of_the_same_name_is_named_by_its_workflow(self, here: Toolchains) -> None:
        slow = job("run: go test ./slow", name="slow")
        both = plans(here, job("run: go test .") + slow.partition("jobs:\n")[2], GO, more=slow)
        for builds in (
            plans(here, job("run: go test ."), GO, more=job("run: go test ./slow")),
            both,
        ):
            assert ".github/workflows/more.yml, job " in builds.notes[0]

    def test_pip_gets_an_environment(self, here: Toolchains) -> None:
        plan = only(plans(here, job("run: pip install nose", "run: nosetests test"), {"a.txt": ""}))
        assert steps_of(plan) == [
            'python3 -m venv "$HOME/venv"', "pip install nose", "nosetests test",
        ]  # fmt: skip
        assert plan.env["PATH"].startswith("{home}/venv/bin:")
        assert (plan.env["GITHUB_ACTIONS"], plan.env["npm_config_prefix"]) == ("true", "{home}/npm")

    @pytest.mark.parametrize("line", ["uv pip install nose", "uv pip install --system nose"])
    def test_uv_installs_into_an_environment_too(self, here: Toolchains, line: str) -> None:
        plan = only(plans(here, job(f"run: {line}", "run: uvx coverage run -m unittest"), {}))
        assert steps_of(plan)[:2] == ['python3 -m venv "$HOME/venv"', "uv pip install nose"]

    @pytest.mark.parametrize(
        ("steps", "listed", "run"),
        [
            (("run: tox",), "py{310,311,312}-{old,new}, lint", "py-new"),
            (("run: python -m tox",), "py310, py311", "py"),
            (("run: tox -e py311",), "py310, py311", ""),
            (("run: pip install tox-gh", "run: tox"), "py310, py311", ""),
            (("run: tox",), "py, lint", ""),
            (("{run: tox, env: {TOX_ENV: py3.11}}",), "py310, py311", ""),
        ],
        ids=["of several", "as a module", "named", "by a plugin", "of one", "by a variable"],
    )
    def test_of_several_interpreters_tox_takes_the_one_that_is_here(
        self, here: Toolchains, steps: tuple[str, ...], listed: str, run: str
    ) -> None:
        files = {"tox.ini": f"[tox]\nenv_list = {listed}\n[testenv]\ncommands = pytest\n"}
        assert only(plans(here, job(*steps), files)).env.get("TOXENV", "") == run

    def test_a_change_that_brings_tox_replaces_no_build_of_the_ci(self, here: Toolchains) -> None:
        base = only(plans(here, job("run: coverage run test.py"), {}))
        tox = {"tox.ini": "[tox]\nenv_list = py\n[testenv]\ncommands = pytest\n"}
        assert only(plans(here, job("run: coverage run test.py"), tox)).covers(base)

    @pytest.mark.parametrize(
        ("call", "run"),
        [
            ("tox -e py39", "tox -e py"), ("tox -e py3.9-unit -- -x", "tox -e py-unit -- -x"),
            ("tox -e lint,py39", "tox -e lint,py39"), ("tox -e py311", "tox -e py311"),
        ],
    )  # fmt: skip
    def test_tox_takes_the_python_that_is_here(self, here: Toolchains, call: str, run: str) -> None:
        python = here.root / "bin/python3.11"
        python.touch(0o755)
        (here.root / "bin/python3").symlink_to(python)
        plan = only(plans(here, job(f"run: {call}"), {"tox.ini": "[testenv]\n"}))
        assert steps_of(plan)[-1] == run

    def test_members_of_a_uv_workspace_are_tested_by_its_root(self, here: Toolchains) -> None:
        files = {
            "uv.lock": "", "pyproject.toml": "[tool.uv.workspace]\nmembers = ['pkgs/*']\n",
            "pkgs/a/pyproject.toml": "[project]\nname = 'a'\n", "pkgs/a/test_b.py": "",
        }  # fmt: skip
        builds = plans(here, job("run: uv run pytest"), files, touching("pkgs/a/b.py"))
        assert (len(builds.plans), builds.notes, builds.skipped) == (1, (), ())

    def test_a_runner_that_is_not_here_leads_to_the_recipe(self, here: Toolchains) -> None:
        files = {"pytest.ini": "", "test_a.py": ""}
        plan = only(plans(here, job("run: pixi run -e test test-default"), files))
        assert plan.source == "recipe"
        assert any("`pixi`" in note for note in plan.notes)

    def test_a_ci_whose_tests_cannot_run_here_leads_to_the_recipe_and_is_named(
        self, here: Toolchains
    ) -> None:
        line = "sudo -E make localunittest"
        builds = plans(here, job(f"run: {line}"), GO)
        plan = only(builds)
        assert (plan.source, [one.text for one in plan.left_out]) == ("recipe", [line])
        assert builds.notes[0].endswith("not run here: test")

    def test_what_is_left_out_is_data_and_the_rest_is_told(self, here: Toolchains) -> None:
        workflow = job("run: sudo apt-get install x", "run: ruff check", "run: ./run test",
                       more="    services: {postgres: {image: postgres}}\n")  # fmt: skip
        windows = job("run: ./run test-all", name="windows")
        builds = plans(here, workflow, {"shop.c": ""}, more=windows)
        plan = only(builds)
        assert [(one.kind, one.text) for one in plan.left_out] == [
            ("services", "services: postgres"), ("packages", "sudo apt-get install x"),
        ]  # fmt: skip
        assert any("ruff check" in note for note in plan.notes)
        assert any("windows" in note for note in builds.notes)

    def test_services_and_artifacts_lead_to_the_recipe(self, here: Toolchains) -> None:
        services = "    services: {postgres: {image: postgres}}\n"
        artifact = "uses: actions/download-artifact@v4"
        for workflow in (job("run: go test ./...", more=services),
                         job(artifact, "run: go test ./...")):  # fmt: skip
            plan = only(plans(here, workflow, GO))
            assert (plan.source, bool(plan.left_out)) == ("recipe", True)
            assert any("needs" in note for note in plan.notes)

    def test_a_workflow_elsewhere_leads_to_the_recipe(self, here: Toolchains) -> None:
        caller = f"{HEAD}jobs: {{all: {{uses: o/r/.github/workflows/t.yml@v1}}}}\n"
        builds = plans(here, caller, GO)
        assert only(builds).source == "recipe"
        assert any("o/r/.github/workflows/t.yml@v1" in note for note in builds.notes)

    def test_a_place_that_the_change_does_not_touch_is_not_built(self, here: Toolchains) -> None:
        web = job("{run: npm test, working-directory: web}", name="web")
        files = {"test_a.py": "", "web/package.json": '{"scripts": {"test": "jest"}}', **GO}
        builds = plans(here, job("run: go test ./..."), files, touching("a.go"), web)
        assert [plan.system for plan in builds.plans] == ["go"]
        assert any("web" in note for note in builds.notes)
        both = plans(here, job("run: go test ./..."), files, touching("a.go", "web/a.js"), web)
        assert [plan.system for plan in both.plans] == ["go", "npm"]

    @pytest.mark.parametrize(
        ("line", "step"),
        [
            ("cd sub && cargo test", "cd sub && cargo test"),
            ("(cd sub && cargo test)", "(cd sub && cargo test)"),
            ("./test", "./test"),
            ("sh test --all", "sh test --all"),
            ("sh all", "sh all"),
        ],
    )
    def test_a_place_or_a_script_within_a_line_is_not_the_root_s_recipe(
        self, here: Toolchains, line: str, step: str
    ) -> None:
        files = {"Cargo.toml": "[workspace]\n", "test": "cargo test\ncargo test --all-features\n",
                 "all": "cargo test\npytest\n",
                 "sub/Cargo.toml": "[package]\nname = 'sub'\n"}  # fmt: skip
        plan = only(plans(here, job(f"run: {line}"), files))
        assert (plan.source, steps_of(plan)[-1]) == ("ci", step)

    def test_a_directory_in_which_a_line_of_the_ci_works_is_built(self, here: Toolchains) -> None:
        files = {"tests/Makefile": "test:\n\t./do\n", "tests/a.c": "", "src/a.h": ""}
        builds = plans(here, job("run: make -C tests"), files, touching("tests/a.c", "src/a.h"))
        assert (steps_of(only(builds)), builds.skipped) == (["make -C tests"], ())

    def test_another_directory_is_not(self, here: Toolchains) -> None:
        files = {"web/go.mod": "module m/w\n", "cli/go.mod": "module m/c\n", "cli/a_test.go": ""}
        builds = plans(here, job("run: go -C web test ./..."), files)
        assert builds.skipped == ("cli",)

    @pytest.mark.parametrize("line", ["sh t/a.sh; echo $?; sh t/b.sh", "sh t/a.sh | tee log"])
    def test_a_line_of_several_commands_fails_where_any_of_them_does(
        self, here: Toolchains, line: str
    ) -> None:
        plan = only(plans(here, job(f"run: {line}"), {"t/a.sh": "", "t/b.sh": ""}))
        assert plan.steps[-1].command == ("bash", "-e", "-o", "pipefail", "-c", line)

    @pytest.mark.parametrize("word", ['""', '"-Dmessage=it\'s here"'])
    def test_odd_words_are_taken_as_they_are(self, here: Toolchains, word: str) -> None:
        builds = plans(here, job(f"run: mvn verify {word}"), {"pom.xml": "<project/>"})
        assert [plan.system for plan in builds.plans] == ["maven"]


class TestAdapters:
    @pytest.mark.parametrize(
        ("line", "script", "text", "variable"),
        [
            ("npm test", "node --test", "npm test", "NODE_OPTIONS"),
            ("npm test", "jest", "npm test -- --verbose --bail=0", ""),
            ("yarn test", "jest", "yarn test --verbose --bail=0", ""),
            ("pnpm run test", "vitest run", "vitest-1.xml", "PRJURY_REPORTS"),
            ("npm test", "jest && eslint .", "npm test", ""),
            ("npm test", "jest --silent", "npm test", ""),
            ("npm test", "mocha -R dot", "npm test", ""),
            ("yarn vitest run", "", "yarn vitest --reporter=default", "PRJURY_REPORTS"),
            ("npx vitest run", "", "npx vitest --reporter=default", "PRJURY_REPORTS"),
            ("go test ./... | tee log", "", "go test ./... | tee log", "GOFLAGS"),
            ("go test -C a ./...", "", "go test -C a ./...", "GOFLAGS"),
            ("(npx jest); echo", "", "(npx jest); echo", ""),
            ("gotestsum", "", "gotestsum", "GOTESTSUM_JUNITFILE"),
            ("make test", "", "make test", "GOFLAGS"),
            ("make test", "", "make test", "PYTEST_ADDOPTS"),
            ("tox -e py", "", "tox -e py", "TOX_OVERRIDE"),
            ("nox -s tests", "", "nox -s tests", "PYTEST_ADDOPTS"),
            ("python -m unittest discover", "", "python -m unittest discover -v", ""),
            ("vendor/bin/phpunit -c a", "", "vendor/bin/phpunit --log-junit", "PRJURY_REPORTS"),
            ("prove -l t", "", "prove -l t", "HARNESS_VERBOSE"),
            ("bundle exec rake", "", "bundle exec rake", "TESTOPTS"),
        ],
    )
    def test_each_runner_is_told_in_its_own_way(
        self, here: Toolchains, line: str, script: str, text: str, variable: str
    ) -> None:
        package = {"package.json": json.dumps({"scripts": {"test": script}})} if script else {}
        files = {"go.mod": "module a\n", "tox.ini": "[testenv]\n", **package}
        job_of = plans(here, job(f"run: {line}"), files).plans
        (step,) = [one for plan in job_of for one in plan.steps if one.name == "test"]
        assert text in step.text
        assert not variable or variable in step.env

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("pytest a & pytest b; wait", ["pytest --junitxml=", "/pytest-1-2.xml b"]),
            ("echo vitest && vitest run", ["echo vitest &&", "vitest --reporter="]),
            ("echo vitest && vitest", ["echo vitest &&", "vitest --reporter="]),
            ("vitest run a & vitest run b", ["/vitest-1.xml run a", "/vitest-1-2.xml run b"]),
            ("echo go test; go test ./...", ["echo go test;", "go test -json ./..."]),
            ("bun run test", ["bun run test"]),
            ("ctest  --test-dir 'a b'", ["ctest --output-on-failure", "--test-dir 'a b'"]),
        ],
    )
    def test_each_call_is_told_at_its_own_place(
        self, here: Toolchains, line: str, words: list[str]
    ) -> None:
        steps = plans(here, job(f"run: {line}"), GO).plans[0].steps
        text = "\n".join(step.shown for step in steps)
        assert [word for word in words if word not in text.replace('"', "")] == []

    @pytest.mark.parametrize(
        ("lines", "code"),
        [
            (("pytest -q",), 1), (("go test ./...",), 1), (("make test",), None),
            (("pytest -q | tee log",), None), (("npx jest",), 1), (("tox -e py",), 1),
            (("pytest a", "pytest b"), 1),
        ],
    )  # fmt: skip
    def test_an_exit_code_means_that_all_ran_where_the_runner_is_alone(
        self, here: Toolchains, lines: tuple[str, ...], code: int | None
    ) -> None:
        assert (
            only(plans(here, job(*(f"run: {one}" for one in lines)), GO)).steps[-1].all_ran == code
        )

    def test_a_task_of_deno_is_told_no_options_before_its_name(self, here: Toolchains) -> None:
        lines = ("deno task test", "deno test shop")
        plan = only(plans(here, job(*(f"run: {line}" for line in lines)), {"deno.json": "{}"}))
        task, test = steps_of(plan)
        assert task == lines[0]
        assert test.startswith("deno test --junit-path=")


class TestOptions:
    def test_other_tests_of_the_same_tool_are_named(self, here: Toolchains) -> None:
        script = "set -e\n          cargo test --features a\n          cargo test --doc"
        workflow = job(f"run: |\n          {script}")
        plan = only(plans(here, workflow, {"Cargo.toml": '[package]\nname = "a"\n'}))
        assert plan.notes == ("its CI also runs, not run here: `cargo test --doc`",)
        nextest = job("run: cargo nextest run")
        plan = only(plans(here, nextest, {"Cargo.toml": '[package]\nname = "a"\n'}))
        assert "documentation" in plan.notes[0]
        nextest += " --all-targets"
        assert not only(plans(here, nextest, {"Cargo.toml": '[package]\nname = "a"\n'})).notes

    @pytest.mark.parametrize(
        ("lines", "options"),
        [
            (("cargo test", "cargo test --all-features"), "--all-features "),
            (
                (
                    "cargo test --no-default-features",
                    "cargo test",
                    "cargo test --no-default-features --features kv",
                    "cargo test --features kv,odd",
                ),
                "--features kv,odd ",
            ),
            (('cargo test --features "${{ env.MODE }}"',), "--features kv "),
            (("cargo ${VERB:?} --features ${MODE:-std}",), "--features kv "),
            (("cargo ${NOT_SET:-test} --features kv",), "--features kv "),
            (
                ("cargo test --workspace --no-run", "cargo hack test --each-feature"),
                "--all-features ",
            ),
            (("cargo hack test --feature-powerset --skip=fast,odd",), ""),
            (("cargo hack test --each-feature --exclude-features fast",), ""),
            (("cargo hack --workspace test",), ""),
            (("cargo llvm-cov --all-features --lcov --output-path x",), "--all-features "),
            (("cargo nextest run --locked --profile ci",), "--locked "),
        ],
    )
    def test_features_of_cargo_are_those_of_which_the_ci_tests_most_at_once(
        self, here: Toolchains, lines: tuple[str, ...], options: str
    ) -> None:
        manifest = '[package]\nname = "a"\n[features]\ndefault = ["std"]\n'
        manifest += "std = []\nkv = []\nodd = []\nfast = []\n"
        workflow = job(
            *(f"run: {line}" for line in lines), more="    env: {MODE: kv, VERB: test}\n"
        )
        plan = only(plans(here, workflow, {"Cargo.toml": manifest, "src/lib.rs": ""}))
        assert steps_of(plan)[-1] == f"cargo test --no-fail-fast {options}".strip()

    @pytest.mark.parametrize(
        ("line", "end"),
        [
            ("build -x test -x javadoc", "build -x javadoc"),
            ("build --exclude-task :app:test", "build test"),
            ("build -x testFixtures", "build -x testFixtures"),
        ],
    )
    def test_a_recipe_of_gradle_leaves_no_tests_out(
        self, here: Toolchains, line: str, end: str
    ) -> None:
        workflow = job(f"run: ./gradlew {line}", "run: ./gradlew test")
        plan = only(plans(here, workflow, {"build.gradle": ""}))
        assert steps_of(plan)[-1].endswith(f"--rerun-tasks {end}")

    @pytest.mark.parametrize(
        ("line", "end"),
        [
            ("./mvnw verify -Pci -Dx=1", "verify -Pci -Dx=1"),
            ("mvn -P ci test -D a.release=11 -DfailIfNoTests=false",
             "test -P ci -D a.release=11 -DfailIfNoTests=false"),
            ("mvn -B", "verify"),
        ],
    )  # fmt: skip
    def test_properties_profiles_and_the_goal_of_maven(
        self, here: Toolchains, line: str, end: str
    ) -> None:
        plan = only(plans(here, job(f"run: {line}"), {"pom.xml": "<project/>"}))
        assert plan.source == "recipe"
        assert plan.steps[-1].text.endswith(end)

    def test_tasks_and_properties_of_gradle(self, here: Toolchains) -> None:
        files = {"build.gradle": "", "gradlew": "", "gradle/wrapper/gradle-wrapper.jar": ""}
        line = "./gradlew -Dkjs=false clean build check -x lint --stacktrace -PtestMode=a"
        plan = only(plans(here, job(f"run: {line}"), files))
        assert plan.steps[-1].text.endswith("build check -Dkjs=false -x lint -PtestMode=a")

    def test_the_options_of_a_project_are_those_of_its_own_call(self, here: Toolchains) -> None:
        lines = "run: cargo test --manifest-path web/Cargo.toml --all-features", "run: cargo test"
        package = '[package]\nname = "a"\n'
        files = {"Cargo.toml": package, "web/Cargo.toml": package.replace("a", "b")}
        root, web = plans(here, job(*lines), files).plans
        assert "--all-features" in web.text
        assert "--all-features" not in root.text

    def test_calls_in_places_without_a_recipe_of_their_own_are_run_as_they_stand(
        self, here: Toolchains
    ) -> None:
        lines = "run: mvn verify -f build-pom.xml", "run: mvn verify -f service/pom.xml"
        files = {"build-pom.xml": "<project/>", "service/pom.xml": "<project/>"}
        recipe, plan = plans(here, job(*lines), files).plans
        assert (recipe.source, recipe.directory) == ("recipe", "service")
        assert steps_of(plan) == ["mvn verify -f build-pom.xml"]

    def test_those_beside_the_root_s_recipe_follow_it(self, here: Toolchains) -> None:
        lines = "run: cargo test", "run: cargo test --manifest-path tests/no-std/Cargo.toml"
        package = '[package]\nname = "a"\n'
        files = {"Cargo.toml": package, "tests/no-std/Cargo.toml": package}
        *_, last = steps_of(only(plans(here, job(*lines), files)))
        assert last == "cargo test --manifest-path tests/no-std/Cargo.toml"

    def test_tasks_of_several_calls_of_gradle_are_asked_for_at_once(self, here: Toolchains) -> None:
        lines = ("run: ./gradlew :rules:check", "run: ./gradlew testDemo :lint:test",
                 "run: ./gradlew test -Pmode=odd")  # fmt: skip
        plan = only(plans(here, job(*lines), {"build.gradle": "", "gradlew": ""}))
        assert steps_of(plan)[-1].endswith("--rerun-tasks :rules:check testDemo :lint:test")
        assert plan.notes == ("its CI also runs, not run here: `./gradlew test -Pmode=odd`",)

    def test_the_directory_of_gradle_is_no_task(self, here: Toolchains) -> None:
        builds = plans(here, job("run: gradle -p web check"), {"web/build.gradle": ""})
        assert only(builds).steps[-1].text.endswith("--rerun-tasks check")

    def test_what_cmake_is_configured_with(self, here: Toolchains) -> None:
        files = {"CMakeLists.txt": "project(x)\nenable_testing()\n"}
        line = "cmake -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=gcc-9 -D X_TESTS=ON "
        line += "-DX_WERROR=ON ."
        plan = only(plans(here, job(f"run: {line}", "run: make", "run: ctest -C Release"), files))
        assert steps_of(plan)[0].endswith("-DCMAKE_BUILD_TYPE=Release -D X_TESTS=ON")

    def test_words_for_a_container_are_no_lines_of_their_own(self, here: Toolchains) -> None:
        line = "docker run a sh -c 'npm ci && npm test'"
        plan = only(plans(here, job(f"run: {line}", "run: pytest"), {"test_a.py": ""}))
        assert (steps_of(plan)[1:], [one.text for one in plan.left_out]) == (["pytest"], [line])

    def test_flags_of_compilers_are_for_the_lines_beside_a_recipe(self, here: Toolchains) -> None:
        files = {"Cargo.toml": "[package]\nname = 'a'\n", "src/lib.rs": "#[test]", "test_a.py": ""}
        more = "    env: {RUSTFLAGS: -D warnings, MY: a}\n"
        plan = only(plans(here, job("run: cargo test", "run: pytest", more=more), files))
        assert (plan.env.get("RUSTFLAGS"), plan.env["MY"]) == (None, "a")
        assert plan.steps[-1].env["RUSTFLAGS"] == "-D warnings"

    def test_the_ci_s_other_tests_follow_the_recipe(self, here: Toolchains) -> None:
        files = {"pom.xml": "<project/>", "package.json": "{}"}
        steps = ("run: npm ci", "run: mvn verify", "run: npm run test:unit")
        plan = only(plans(here, job(*steps), files))
        assert steps_of(plan)[1:] == ["npm ci", "npm run test:unit"]

    @pytest.mark.parametrize(
        ("cargo", "changed", "tested"),
        [
            ("{run: cargo test, working-directory: rust}", None, ["cargo", "pytest"]),
            ("run: cargo test --manifest-path rust/Cargo.toml", None, ["cargo", "pytest"]),
            ("run: cd rust && cargo test", "tests/test_a.py", ["pytest"]),
            ("run: cd rust && cargo test", "rust/src/lib.rs", ["cargo", "pytest"]),
        ],
    )
    def test_the_ci_s_other_tests_run_in_their_own_directory(
        self, here: Toolchains, cargo: str, changed: str | None, tested: list[str]
    ) -> None:
        files = {"rust/Cargo.toml": '[package]\nname = "a"\n', "rust/src/lib.rs": "",
                 "pyproject.toml": "", "tests/test_a.py": ""}  # fmt: skip
        workflow = job(cargo, "run: pip install -e .", "run: python -m pytest")
        builds = plans(here, workflow, files, touching(changed) if changed else None)
        assert [plan.system for plan in builds.plans] == tested
        last = builds.plans[-1]
        assert (last.directory, last.steps[-1].text) == ("", "python -m pytest")
        assert "cargo" not in last.text

    def test_a_workspace_that_only_a_program_of_it_tests_has_no_recipe(
        self, here: Toolchains
    ) -> None:
        files = {"Cargo.toml": '[package]\nname = "a"\n', "src/lib.rs": ""}
        lines = ["cargo --version", "cargo xtask run-tests sqlite"]
        builds = plans(here, job(*(f"run: {line}" for line in lines)), files)
        assert steps_of(only(builds)) == lines

    @pytest.mark.parametrize(
        ("line", "last"),
        [
            ("cargo test && pytest", "pytest"),
            ("cargo build; cargo test; python3 -m pytest tests", "python3 -m pytest tests"),
            ("sudo apt-get install -y x && cargo test && npm test", "npm test"),
            ("cargo +stable test && ./test.sh", "./test.sh"),
            ("cargo test && make check", "make check"),
            ("cargo test && python tools/test.py", "python tools/test.py"),
            ("cargo test && cargo run --manifest-path test_max/Cargo.toml",
             "cargo run --manifest-path test_max/Cargo.toml"),
            ("cargo test && cargo xtask test", "cargo xtask test"),
        ],
    )  # fmt: skip
    def test_each_call_of_a_line_counts_on_its_own(
        self, here: Toolchains, line: str, last: str
    ) -> None:
        files = {"Cargo.toml": '[package]\nname = "a"\n', "test_a.py": ""}
        plan = only(plans(here, job(f"run: {line}"), files))
        assert (plan.system, steps_of(plan)[-1]) == ("cargo", last)
        assert "cargo +stable" not in plan.text
        whole = line.replace(" && ", "\n").replace("; ", "\n").replace("\n", "\n          ")
        plan = only(plans(here, job(f"run: |\n          set -e\n          {whole}"), files))
        *_, shown = plan.steps[-1].shown.split("\n")
        assert (plan.system, shown) == ("cargo", last)

    @pytest.mark.parametrize(
        "lines",
        [
            ("set -e; pytest a",),
            ("set -eu && pytest a",),
            ("set -euo pipefail", "make all | tee log"),
            ("cd a", "pytest", "cd -", "pytest b"),
            ("cd a", "pytest", "cd", "pytest b"),
            ("A=$(cat a)", "pytest $A"),
            ('A="a b"', "for a in $A; do pytest $a; done"),
            ("t() { pytest $1; }", "for a in a b; do t $a; done"),
            ("pytest a || rc=1", "exit $rc"),
            ("pip install x && export A=a", "pytest $A"),
            ("nvm use 18", "if true; then pytest a; fi"),
            ("(make all && pytest a)",),
            ("pytest a # then; make all",),
        ],
    )
    def test_lines_whose_words_hold_for_others_stay_together(
        self, here: Toolchains, lines: tuple[str, ...]
    ) -> None:
        files = {"test_a.py": "", "a/test_a.py": "", "Makefile": "all:\n"}
        script = "".join(f"\n          {line}" for line in lines)
        plan = only(plans(here, job(f"run: |{script}", "run: pytest"), files))
        words = {word for line in lines for word in line.split()}
        assert any(all(word in step.text for word in words) for step in plan.steps)

    def test_words_around_a_call_of_the_recipe_are_no_other_tests(self, here: Toolchains) -> None:
        files = {"Cargo.toml": '[package]\nname = "a"\n'}
        plan = only(plans(here, job("run: if true; then cargo test; else echo no; fi"), files))
        assert steps_of(plan)[-1] == "cargo test --no-fail-fast"

    @pytest.mark.parametrize(
        ("recipe", "line", "more", "why"),
        [
            ("cargo test", "dotnet test", "", "`dotnet` is not here"),
            ("cargo test", "./test.sh", "    services: {db: {image: postgres}}\n",
             "its job needs services"),
            ("cmake -B b", "./test.sh b",  "",
             "it may want what CMake has built in another directory"),
        ],
    )  # fmt: skip
    def test_tests_beside_a_recipe_that_cannot_run_here_are_named(
        self, here: Toolchains, recipe: str, line: str, more: str, why: str
    ) -> None:
        files = {"Cargo.toml": '[package]\nname = "a"\n'}
        if "cmake" in recipe:
            files = {"CMakeLists.txt": "project(x)\nenable_testing()\n"}
        plan = only(plans(here, job(f"run: {recipe} && {line}", more=more), files))
        assert (plan.source, line in plan.text) == ("recipe", False)
        assert (line, why, True) in [(one.text, one.why, one.tests) for one in plan.left_out]

    def test_the_ci_s_other_tests_run_once(self, here: Toolchains) -> None:
        files = {"Cargo.toml": '[package]\nname = "a"\n', "pom.xml": "<project/>"}
        steps = ("run: cargo test", "run: mvn verify", "run: python -m pytest")
        texts = [step.text for plan in plans(here, job(*steps), files).plans for step in plan.steps]
        assert texts.count("python -m pytest") == 1
        assert "mvn verify" not in texts

    @pytest.mark.parametrize(
        "line", ["cargo test --manifest-path crates/cli/Cargo.toml", "tox -c crates/cli/tox.ini"]
    )
    def test_what_an_option_names_is_not_all_that_a_job_tests(
        self, here: Toolchains, line: str
    ) -> None:
        package = '[package]\nname = "a"\n'
        files = {f"crates/{name}/Cargo.toml": package for name in ("cli", "core")}
        files |= {"crates/core/lib.rs": "", "crates/cli/tox.ini": "[tox]\n", **GO}
        second = job(f"run: {line}", name="second")
        changes = touching("crates/core/lib.rs")
        builds = plans(here, job("run: go test ./..."), files, changes, second)
        assert not any("second" in note for note in builds.notes)

    def test_a_directory_that_the_build_makes_is_part_of_the_one_it_lies_in(
        self, here: Toolchains
    ) -> None:
        step = "{run: ctest, working-directory: core/out}"
        files = {"core/CMakeLists.txt": "enable_testing()\n", "core/a.c": "", **GO}
        first = job("run: go test ./...")
        builds = plans(here, first, files, touching("core/a.c"), job(step, name="core"))
        assert not any("core in" in note for note in builds.notes)

    def test_a_part_that_is_not_affected_is_not_built(self, here: Toolchains) -> None:
        files = {"core/Cargo.toml": '[package]\nname = "a"\n', "core/src/lib.rs": "", **GO}
        core = job("{run: cargo test, working-directory: core}", name="core")
        builds = plans(here, job("run: go test ./..."), files, touching("a.go"), core)
        assert [plan.system for plan in builds.plans] == ["go"]


def test_without_a_ci_a_header_alone_is_built_by_its_tests(here: Toolchains) -> None:
    files = {"test/Makefile": "test:\n", "docs/Makefile": "test:\n", "a.h": ""}
    planner = BuildPlanner(BuildOptions(), here, None)
    assert only(planner.plan_builds(root_of(files))).directory == "test"


def test_a_version_of_the_ci_alone_refuses_nothing(here: Toolchains) -> None:
    java = "{uses: actions/setup-java@v4, with: {java-version: 25}}"
    plan = only(plans(here, job(java, "run: ./mvnw verify"), {"pom.xml": "<project/>"}))
    assert (plan.missing, plan.versions["JDK"]) == ("", "17.0.9")


def test_a_version_in_a_file_that_the_ci_names_is_wanted(here: Toolchains) -> None:
    node = "{uses: actions/setup-node@v4, with: {node-version-file: ci/.nvmrc}}"
    plan = only(plans(here, job(node, "run: ./run test"), {"ci/.nvmrc": "22"}))
    assert plan.tools == ("Node: ci/.nvmrc: 22",)
    other = "{uses: actions/setup-node@v4, with: {node-version: 22}}"
    plan = only(plans(here, job(other, node, "run: ./run test"), {"ci/.nvmrc": "22"}))
    assert len(plan.tools) == 1


def test_a_plan_is_read_line_by_line_and_as_json(here: Toolchains) -> None:
    builds = plans(here, job("run: sudo make install test", "run: ./run test"), {"shop.c": ""})
    lines = list(list_plan_lines(builds))
    assert "  test    ./run test  # .github/workflows/ci.yml:7" in lines
    assert any(line.startswith("  not run sudo make install test") for line in lines)
    (build,) = make_plan_document(builds)["builds"]
    assert build["steps"][-1] == {
        "name": "test", "command": "./run test", "origin": ".github/workflows/ci.yml:7",
    }  # fmt: skip
    assert build["left_out"][0]["origin"] == ".github/workflows/ci.yml:6"
    assert next(iter(list_plan_lines(DetectedBuilds(())))).startswith("nothing, no build is known")
