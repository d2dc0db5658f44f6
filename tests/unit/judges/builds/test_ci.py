"""Workflows as projects have them: which job a build here stands for, and what of it is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.roots import root_of
from prjury.judges.builds.ci import BaseCi, kind_of_command
from prjury.judges.builds.detect import DetectedBuilds
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.plan_view import plan_document, plan_lines
from prjury.judges.builds.planner import BuildPlanner, base_ci
from prjury.judges.builds.toolchains import Toolchains
from prjury.policy.schema import BuildOptions

HEAD = "on: {pull_request: {}, push: {branches: [main]}}\n"


@pytest.fixture
def here(tmp_path: Path) -> Toolchains:
    """JDK 17, which is the current one, and nothing else."""
    home = tmp_path / "usr/lib/jvm/17.0.9"
    home.mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="17.0.9"')
    return Toolchains({"JAVA_HOME": str(home), "PATH": "/none"}, tmp_path)


def read(here: Toolchains, **workflows: str) -> BaseCi:
    files = {f".github/workflows/{name}.yml": text for name, text in workflows.items()}
    ci = base_ci(root_of(files), here)
    assert ci
    return ci


def job(*steps: str, more: str = "") -> str:
    """A workflow of one job; each step is a line of YAML."""
    listed = "".join(f"      - {step}\n" for step in steps)
    return f"{HEAD}jobs:\n  test:\n    runs-on: ubuntu-latest\n{more}    steps:\n{listed}"


def scripts(ci: BaseCi) -> list[tuple[str, str]]:
    return [(one.kind, one.script) for one in ci.commands]


def plans(here: Toolchains, workflow: str = "", **files: str) -> DetectedBuilds:
    """The builds of a tree; names of files have underscores for slashes and dots."""
    named = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    root = root_of({**named, **({".github/workflows/ci.yml": workflow} if workflow else {})})
    return BuildPlanner(BuildOptions(), here, base_ci(root, here)).plans(root, None)


def only(found: DetectedBuilds) -> BuildPlan:
    (plan,) = found.plans
    return plan


class TestJob:
    def test_the_job_on_pull_requests_comes_before_one_by_night(self, here: Toolchains) -> None:
        nightly = job("run: pytest --runslow").replace("pull_request: {}", "schedule: []")
        assert read(here, a=nightly, b=job("run: pytest")).path == ".github/workflows/b.yml"

    @pytest.mark.parametrize("aside", ["lint", "docs", "windows-tests", "benchmark", "release"])
    def test_what_stands_beside_the_tests_comes_after_them(
        self, here: Toolchains, aside: str
    ) -> None:
        other = job("run: make test-other").replace("  test:", f"  {aside}:")
        assert read(here, a=other, b=job("run: make test")).job == "test"

    def test_a_row_that_this_machine_can_run(self, here: Toolchains) -> None:
        matrix = (
            "    strategy: {matrix: {java: [21, 17, 11], os: [windows-latest, ubuntu-latest]}}\n"
        )
        ci = read(
            here,
            ci=job(
                "{uses: actions/setup-java@v4, with: {java-version: '${{ matrix.java }}'}}",
                "run: ./mvnw verify",
                more=matrix,
            ).replace("ubuntu-latest\n", "${{ matrix.os }}\n", 1),
        )
        assert (ci.row, ci.versions) == ({"java": "17", "os": "ubuntu-latest"}, {"java": "17"})

    def test_a_row_that_leaves_the_tests_out_is_not_taken(self, here: Toolchains) -> None:
        matrix = "    strategy: {matrix: {build: [pinned, stable]}}\n"
        tests = "{run: make test, if: matrix.build != 'pinned'}"
        ci = read(here, a=job("run: make miri test").replace("  test:", "  miri:"),
                  ci=job("run: make", tests, more=matrix))  # fmt: skip
        assert (ci.job, ci.row) == ("test", {"build": "stable"})

    def test_a_version_that_is_in_a_file(self, here: Toolchains) -> None:
        setup = "{uses: actions/setup-java@v5, with: {java-version-file: ./ci/.java-version}}"
        ci = read(here, ci=job(setup, "run: ./gradlew build"))
        assert (ci.versions, ci.version_files) == ({}, {"java": "ci/.java-version"})

    def test_no_job_that_tests(self, here: Toolchains) -> None:
        files = {".github/workflows/docs.yml": job("run: mkdocs build")}
        assert base_ci(root_of(files), here) is None

    def test_a_workflow_that_github_refuses_is_passed_over(self, here: Toolchains) -> None:
        assert read(here, a="on: [\n", b=job("run: pytest")).job == "test"


class TestCommands:
    def test_installs_builds_and_tests_until_the_last_test(self, here: Toolchains) -> None:
        ci = read(
            here,
            ci=job(
                "uses: actions/checkout@v4",
                "run: pip install -e .[test]",
                "run: ruff check .",
                "run: python setup.py build",
                "run: pytest -q",
                "run: python -m build",
            ),
        )
        assert scripts(ci) == [
            ("setup", "pip install -e .[test]"),
            ("build", "python setup.py build"),
            ("test", "pytest -q"),
        ]

    @pytest.mark.parametrize(
        ("step", "why"),
        [
            ("run: sudo make test-install", "sudo"),
            ("run: docker compose run test", "containers"),
            ("run: apt-get install -y tests", "system packages"),
            ("run: npm install -g test-runner", "the machine's own tools and settings"),
            ("run: curl -sf https://example.org/test | sh", "downloads of programs, and uploads"),
            ("run: git clone https://example.org/bats", "downloads of programs, and uploads"),
            ("{run: npm test, env: {KEY: '${{ secrets.KEY }}'}}", "a secret"),
            ("{run: Invoke-Test test, shell: pwsh}", "the shell pwsh"),
            ("run: pytest ${{ github.event.label.name }}", "the run itself"),
        ],
    )
    def test_what_is_not_taken_is_told(self, here: Toolchains, step: str, why: str) -> None:
        ci = read(here, ci=job(step, "run: pytest"))
        assert scripts(ci) == [("test", "pytest")]
        (told,) = ci.left_out
        assert told.endswith(why)

    @pytest.mark.parametrize(
        ("script", "kind"),
        [
            ("python3 ./scripts/run-tests.py", "test"),
            ("cd build && ./json_test", "test"),
            ("PATH=./bats/bin:$PATH test/run", "test"),
            ("$GITHUB_WORKSPACE/build/json_test", "test"),
            ("./test_runner --all", "test"),
            ("busted -o plain", "test"),
            ("cmake -S test -B build", "build"),
            ("cmake --build build --target test", "test"),
            ("mkdir -p test/build", "build"),
            ("perl Makefile.PL", "build"),
            ("./Build", "build"),
            ("./Build test", "test"),
            ("cp run-test away", None),
            ("./ci/setup-test.sh", None),
        ],
    )
    def test_what_a_command_is_for(self, script: str, kind: str | None) -> None:
        assert kind_of_command(script) == kind

    def test_the_workspace_is_the_tree_where_a_step_has_a_directory(self, here: Toolchains) -> None:
        step = (
            "{run: 'cmake ${{ github.workspace }}', working-directory: '${{github.workspace}}/b'}"
        )
        plan = only(plans(here, job(step, "run: b/tests"), a_c=""))
        assert plan.steps[0].text == "cd b && cmake $GITHUB_WORKSPACE"
        assert plan.env["GITHUB_WORKSPACE"] == "{tree}"

    def test_a_row_of_the_usual_compiler(self, here: Toolchains) -> None:
        matrix = "    strategy: {matrix: {compiler: [clang, gcc]}}\n"
        assert read(here, ci=job("run: make test", more=matrix)).row == {"compiler": "gcc"}

    def test_a_step_that_is_not_for_pull_requests_is_left_out(self, here: Toolchains) -> None:
        step = "{run: pytest --all, if: \"github.event_name == 'push'\"}"
        assert scripts(read(here, ci=job(step, "run: pytest"))) == [("test", "pytest")]

    def test_variables_are_known_but_secrets(self, here: Toolchains) -> None:
        env = "    env: {MODE: strict, KEY: '${{ secrets.KEY }}', OS: '${{ runner.os }}'}\n"
        assert read(here, ci=job("run: pytest", more=env)).env == {"MODE": "strict", "OS": "Linux"}

    def test_a_script_that_is_more_than_a_list_stays_whole(self, here: Toolchains) -> None:
        step = '{run: "cd sub\\nfor one in a b; do pytest $one; done"}'
        ((_, script),) = scripts(read(here, ci=job(step)))
        assert script.splitlines() == ["cd sub", "for one in a b; do pytest $one; done"]

    def test_the_directory_is_that_of_the_step_or_the_default(self, here: Toolchains) -> None:
        defaults = "    defaults: {run: {working-directory: ./core}}\n"
        steps = ("run: pytest", "{run: pytest, working-directory: extra}")
        ci = read(here, ci=job(*steps, more=defaults))
        assert [one.directory for one in ci.commands] == ["core", "extra"]


class TestPlan:
    def test_a_recipe_comes_before_the_ci_and_takes_its_options(self, here: Toolchains) -> None:
        plan = only(plans(here, job("run: ./mvnw verify -Pci -DskipTests"), pom_xml="<project/>"))
        assert plan.source == "recipe"
        assert any("-Pci" in step.text for step in plan.steps)
        assert not any("skipTests" in step.text for step in plan.steps)
        assert "options as in .github/workflows/ci.yml" in plan.reasons

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
            (("cargo hack test --feature-powerset --skip=fast,odd",), "--features std,kv "),
            (
                ("cargo hack test --feature-powerset --exclude-features fast",),
                "--features std,kv,odd ",
            ),
            (("cargo hack test --each-feature",), "--all-features "),
            (("cargo hack test --each-feature --exclude-features fast",), ""),
            (("cargo hack --workspace test",), ""),
        ],
    )
    def test_features_of_cargo_are_those_of_which_the_ci_tests_most_at_once(
        self, here: Toolchains, lines: tuple[str, ...], options: str
    ) -> None:
        manifest = '[package]\nname = "a"\n[features]\ndefault = ["std"]\n'
        manifest += "std = []\nkv = []\nodd = []\nfast = []\n"
        ci = job(*(f"run: {line}" for line in lines))
        plan = only(plans(here, ci, Cargo_toml=manifest, src__lib_rs=""))
        assert plan.steps[-1].text == f"cargo test {options}--no-fail-fast"

    @pytest.mark.parametrize(("compiler", "options"), [("gcc", "-race -short "), ("", "-short ")])
    def test_go_looks_for_races_as_the_ci_does_where_there_is_a_c_compiler(
        self, here: Toolchains, tmp_path: Path, compiler: str, options: str
    ) -> None:
        if compiler:
            (tmp_path / compiler).touch(0o755)
        here = Toolchains({**here.environ, "PATH": str(tmp_path)}, tmp_path)
        ci = job("run: go test -v -race -short ./...")
        root = root_of({".github/workflows/ci.yml": ci, "go.mod": "module a\n", "a_test.go": ""})
        plan = only(BuildPlanner(BuildOptions(), here, base_ci(root, here)).plans(root, None))
        build, test = (step.text for step in plan.steps)
        assert (build, test) == ("go build -o /dev/null ./...", f"go test {options}-json ./...")
        assert bool(plan.notes) == (not compiler)

    def test_no_call_of_go_counts_that_leaves_tests_out_where_another_does_not(
        self, here: Toolchains
    ) -> None:
        ci = job("run: go test -race -short ./...", "run: go test ./...")
        root = root_of({".github/workflows/ci.yml": ci, "go.mod": "module a\n", "a_test.go": ""})
        plan = only(BuildPlanner(BuildOptions(), here, base_ci(root, here)).plans(root, None))
        assert plan.steps[-1].text == "go test -json ./..."

    def test_what_the_ci_does_besides_is_told(self, here: Toolchains) -> None:
        script = "run: scripts/make-texts.sh"
        more = ("run: bash ./odd.sh", "run: scripts/lint.sh", "run: echo a/b", "run: pytest")
        files = {"scripts/make-texts.sh": "", "scripts/lint.sh": "", "odd.sh": "", "a/b": ""}
        root = root_of({**files, ".github/workflows/ci.yml": job(script, *more), "test_a.py": ""})
        plan = only(BuildPlanner(BuildOptions(), here, base_ci(root, here)).plans(root, None))
        assert plan.notes == ("its CI also runs `scripts/make-texts.sh`, which is not done here",)

    def test_the_goal_and_the_properties_are_those_of_the_tests(self, here: Toolchains) -> None:
        steps = ("run: mvn clean compile -D skipTests=true", "run: mvn test -D x.release=11")
        plan = only(plans(here, job(*steps), pom_xml="<project/>", build_gradle="", gradlew=""))
        assert plan.steps[-1].text.endswith("--fail-at-end test -Dx.release=11")

    def test_where_no_recipe_fits_the_ci_says_how(self, here: Toolchains) -> None:
        row = "    strategy: {matrix: {mode: [fast]}}\n"
        found = plans(here, job("run: ./build.sh", "run: ./run-tests test", more=row), shop_c="")
        plan = only(found)
        assert (plan.source, plan.steps[-1].text) == ("ci", "./run-tests test")
        assert plan.reasons == (".github/workflows/ci.yml, job test", "its row mode: fast")

    def test_a_recipe_without_tests_gives_way_to_a_ci_with_some(self, here: Toolchains) -> None:
        (prove,) = only(plans(here, job("run: prove --formatter TAP::Other -l t"), a_h="")).steps
        assert prove.text == "prove -l t"
        steps = ("{run: cmake -DCMAKE_C_COMPILER=gcc-10 -B b, env: {CC: gcc-10}}", "run: b/tests")
        plan = only(plans(here, job(*steps), CMakeLists_txt="project(x)", test__a_c=""))
        assert [step.text for step in plan.steps] == ["cmake -B b", "b/tests"]
        assert only(plans(here, job("run: make"), CMakeLists_txt="project(x)")).system == "cmake"

    def test_a_header_alone_is_built_by_its_tests(self, here: Toolchains) -> None:
        files = {"test__Makefile": "test:\n", "docs__Makefile": "test:\n", "a_h": ""}
        assert only(plans(here, **files)).directory == "test"
        assert len(plans(here, **files, Makefile="test:\n").plans) == 1

    def test_what_pip_installs_goes_into_an_environment_of_this_run(self, here: Toolchains) -> None:
        plan = only(plans(here, job("run: pip install nose", "run: nosetests test"), a_txt=""))
        assert plan.steps[0].text == 'python3 -m venv "$HOME/venv"'
        assert plan.env["PATH"].startswith("{home}/venv/bin:")

    def test_services_are_told(self, here: Toolchains) -> None:
        services = "    services: {postgres: {image: postgres}}\n"
        plan = only(plans(here, job("run: ./run test", more=services), shop_c=""))
        assert plan.notes == ("its CI starts postgres beside the tests, which is not started here",)

    def test_a_version_of_the_ci_alone_is_a_note_where_another_one_is_here(
        self, here: Toolchains
    ) -> None:
        java = "{uses: actions/setup-java@v4, with: {java-version: 25}}"
        plan = only(plans(here, job(java, "run: ./mvnw verify"), pom_xml="<project/>"))
        named = ".github/workflows/ci.yml, job test names JDK 25; 17.0.9 is used"
        assert (plan.missing, plan.notes) == ("", (named,))

    def test_a_plan_is_read_line_by_line_and_as_json(self, here: Toolchains) -> None:
        found = plans(here, job("run: sudo make install test", "run: ./run test"), shop_c="")
        assert list(plan_lines(found)) == [
            "command, by the base's own CI",
            "  test    ./run test",
            "  why     .github/workflows/ci.yml, job test",
            "  not run `sudo make install test` wants sudo",
        ]
        (build,) = plan_document(found)["builds"]
        assert build["steps"] == [{"name": "test", "command": "./run test"}]
        assert build["not_taken"] == ["`sudo make install test` wants sudo"]

    def test_nothing_is_known(self, here: Toolchains) -> None:
        (line,) = plan_lines(plans(here, a_txt=""))
        assert line.startswith("nothing, no build is known; add `build: {command: …}`")
