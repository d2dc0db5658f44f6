"""Workflows as projects have them: which job a build here stands for, and what of it is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.roots import root_of
from prjury.judges.builds.calls import find_purpose, read_calls
from prjury.judges.builds.ci import BaseCi, CiJob, choose_base_ci_jobs
from prjury.judges.builds.toolchains import Toolchains

HEAD = "on: {pull_request: {}, push: {branches: [main]}}\n"


@pytest.fixture
def here(tmp_path: Path) -> Toolchains:
    """JDK 17, which is the current one, and nothing else."""
    home = tmp_path / "usr/lib/jvm/17.0.9"
    home.mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="17.0.9"')
    return Toolchains({"JAVA_HOME": str(home), "PATH": "/none"}, tmp_path)


def read(here: Toolchains, files: dict[str, str] | None = None, **workflows: str) -> CiJob:
    """The main job of the workflows, in a tree with more files."""
    return read_all(here, files, **workflows).jobs[0]


def read_all(here: Toolchains, files: dict[str, str] | None = None, **workflows: str) -> BaseCi:
    named = {f".github/workflows/{name}.yml": text for name, text in workflows.items()}
    ci = choose_base_ci_jobs(root_of({**named, **(files or {})}), here)
    assert ci
    return ci


def job(*steps: str, more: str = "", name: str = "test") -> str:
    """A workflow of one job; each step is a line of YAML."""
    listed = "".join(f"      - {step}\n" for step in steps)
    return f"{HEAD}jobs:\n  {name}:\n    runs-on: ubuntu-latest\n{more}    steps:\n{listed}"


def scripts(ci: CiJob) -> list[tuple[str, str]]:
    return [(one.kind, one.script) for one in ci.steps]


#: Commands by what they are for.
COMMANDS = {
    "test": """
        python3 ./scripts/run-tests.py | make check | npm run check-all
        cd build && ./json_test | PATH=./bats/bin:$PATH test/run
        $GITHUB_WORKSPACE/build/json_test | ./test_runner --all | ./run test
        busted -o plain | uv run --locked --group dev tox run
        uv run --with x python -X dev -m pytest | coverage run -m pytest
        coverage run --source=shop test.py | coverage run -p manage.py test
        coverage run --parallel-mode --source shop runtests.py | bundle exec thor spec
        bash run_tests.sh -e prod | python runtests.py -c x | c8 -c .c8rc npm test
        sbt clean coverage test | rake db:create spec | ant clean test | gulp build test
        php -d memory_limit=-1 vendor/bin/phpunit | bin/rails db:test:prepare test
        script -q -c 'pytest -x' /dev/null | ./gradlew runUnitTestsWithCoverage
        pnpm -w test | npm -w a test
        npx grunt test | ant -q test | opam exec -- dune runtest | dune runtest --force
        xvfb-run -a npm test | bundle exec rake | bundle exec rake spec
        hatch run +py=3.11 test:default | pipx run nox -s tests
        cargo hack test --each-feature | mvn -B verify | mvn -B | ./gradlew jvmTest
        ./gradlew :a:integrationTest | ./gradlew testDemoDebug
        go run gotest.tools/gotestsum@latest ./... | go tool gotestsum --junitfile x
        go run github.com/onsi/ginkgo/v2/ginkgo -r | go run build.go test
        go run mage.go -v test | tox -e py311,docs | cmake --build build --target test
        ./Build test
        python -Wd -m pytest | poetry run pytest | pdm test | pdm run test | rye test | rye run test
        hatch test | hatch -e x run test | uv run -m pytest | uvx nox | tox -p | mise run test
        mise r test | mise exec -- pytest | devbox run test | nix develop -c make test
        nix develop --command cargo test | nix-shell --run 'make test' | bazel test //...
        pants test :: | buck2 test //... | php vendor/bin/phpunit | composer run test
        composer exec phpunit -- --exclude-group Elastica | composer exec -- phpunit | mvn -o test
        npm exec -- jest | php -d x artisan test | ruby bin/rake | make -s test | deno task test
        sbt "Test / test" | sbt "clean; core/testOnly *A" | lein with-profile dev test
        php artisan test | bin/rails test | bundle exec rails test | rake | melos run test
        mix test
        sbt test | sbt +test | sbt "+test" | ./mill __.test | scala-cli test .
        opam exec -- dune runtest | dune test | zig build test
        julia --project=. -e 'using Pkg; Pkg.test()' | Rscript -e 'testthat::test_local()'
        luarocks test | perl Build test | dzil test | cargo make test | wasm-pack test --node
        yarn workspaces foreach -A run test | npm test -ws | pnpm -r test | pnpm --filter x test
        pnpm -F x run test | npm --workspace a test | ng test | npx ng test --watch=false
        react-scripts test | web-test-runner | npx wtr | python -m django test | django-admin test
        python -m tests | green | zope-testrunner --test-path=src | pixi r test | behave
        bundle exec appraisal rspec | appraisal rake test | bundle exec toys test | npx tsx --test
        tsx --test src | cargo careful test | cargo insta test | anchor test | elm-test | spago test
        shellspec | coverage3 run -m pytest | script -q -c "pytest" /dev/null | chronic make test
        ts-node test/index.ts | luajit test.lua | symfony php bin/phpunit | php bin/phpunit
        castor test | robo test | npx nx affected --target=test | moon ci | rush test | rushx test
        lage test | sbt "+ test" | sbt "++2.12 test" | sbt "++ 3.3.1 core/test" | sbt '+ a / test'
        npx -p jest-cli jest | npm exec --no -- jest | lerna exec -- npm test | ./gradlew testing
        python compiler_tests.py | bash -e test.sh
    """,
    "build": """
        make verify-dependencies | npx tsc -p . | mvn clean package -D maven.test.skip=true
        mvn compile | mvn surefire-report:report-only | ./gradlew assemble
        ./gradlew detektTest compileTestKotlin testClasses | ./gradlew buildHealth
        go run build.go assets | go run ./cmd/test-server | cargo test --workspace --no-run
        cmake -S test -B build | perl Makefile.PL | ./Build | pixi run build | mise run build
    """,
    "other": """
        npm run check-links | coverage run example.py | npm run with:env -- npm run generate
        pnpm turbo run lint typecheck build --affected | pytest --collect-only
        mkdir -p test/build | mkdir .test-install | cp fixtures/a test/files
        cp run-test away | ./ci/setup-test.sh | # pytest
    """,
    "lint": """
        hatch run types:check | bunx editorconfig-checker -format github-actions
        hatch run docs:build | tsc --noEmit | npm run test:types | npm run lint
        tox -e mypy,docs | pdm run lint | pixi run lint | rye run lint | mise run lint | poe docs
    """,
    "setup": """
        npm ci
    """,
}


def split_commands(text: str) -> list[str]:
    return [line.strip() for line in text.strip().replace("\n", " | ").split(" | ")]


@pytest.mark.parametrize(
    "line",
    [
        "rake db:create RAILS_ENV=test", "rails db:migrate -e test", "rake -T", "ruby bin/rake -T",
        "sbt Test/compile", "sbt 'Test / compile'", "ant compile-tests", "make test-setup",
        "lein with-profile dev,test check", "./gradlew publishLatest", "make -f a.test x",
        "./gradlew processTestResources", "./gradlew -I init-test.gradle assemble", "mix format",
        "go run ./gen testdata/a", "go run ./gen test.json", "./gradlew assembleAndroidTest",
        "pdm run lint", "pdm install", "nix build", "nix develop -c make docs", "zig build",
        "pnpm --filter test build", "php artisan migrate", "node -e 'test()'", "sbt +publishLocal",
        "nx affected --target=build", "cargo make docs", "go run ./cmd/test-server",
        "bin/rails db:test:prepare", "go run . check", "npm run build --target=test",
        "npm exec -- eslint test", "composer exec phpcs tests", "composer run -d tests phpstan",
        "./gradlew openApiSpec", "./gradlew cleanTest", "./gradlew x --configuration testRuntime",
        "./gradlew test --dry-run", "go test -c", "make -n test", "phpunit --list-tests",
        "./test-setup.sh", "bash -e ./test-setup.sh", "sbt '+ Test / compile'", "ctest -N",
        "poetry run ''", "timeout 5 ''", "nix-shell --run ''", "./gradlew detektTest",
    ],
)  # fmt: skip
def test_calls_behind_other_programs_that_test_nothing(line: str) -> None:
    assert find_purpose(read_calls(line)) != "test"


class TestJob:
    @pytest.mark.parametrize(
        "aside", ["lint", "docs", "windows-tests", "benchmark", "release", "test-redistribute"]
    )
    def test_what_stands_beside_the_tests_comes_after_them(
        self, here: Toolchains, aside: str
    ) -> None:
        other = job("run: make test-other").replace("  test:", f"  {aside}:")
        assert read(here, a=other, b=job("run: make test")).job == "test"

    def test_a_job_by_its_own_name_before_one_by_its_title_or_one_that_wants_artifacts(
        self, here: Toolchains
    ) -> None:
        download = "uses: actions/download-artifact@v4"
        colors = job("run: tox -e color", more="    name: Color tests\n", name="colors")
        assert read(here, ci=colors, a=job(download, "run: tox")).job == "test"
        assert read(here, ci=colors, a=job(download, "run: tox", name="py")).job == "colors"

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

    def test_of_jobs_the_one_for_the_version_that_is_here(self, here: Toolchains) -> None:
        setup = "{{uses: actions/setup-java@v4, with: {{java-version: {}}}}}"
        jobs = {f"j{n}": job(setup.format(n), "run: mvn test") for n in (8, 17, 21)}
        assert read(here, None, **jobs).path == ".github/workflows/j17.yml"

    @pytest.mark.parametrize(
        ("matrix", "step", "row", "others"),
        [  # the row that covers most comes first, and those that test otherwise are named
            (
                "flags: ['', '--all-features', '--no-default-features']", "run: cargo test {}",
                "--all-features", 2,
            ),
            ("flags: ['', '--features a', '--features a,b']", "run: cargo test {}",
             "--features a,b", 2),
            ("flags: ['-tags x', '-tags x,y']", "run: go test {}", "-tags x,y", 1),
            ("flags: ['-short', '']", "run: go test {}", "", 1),
            ("flags: ['-k slow', '']", "run: pytest {}", "", 1),
            ("mode: [fast, safe]", "{{run: pytest, env: {{MODE: '{}'}}}}", "fast", 1),
            ("group: [1, 2, 3]", "run: pytest --splits 3 --group {}", "1", 2),
            ("shardIndex: [1, 2, 3]", "run: pytest --splits 3 --group {}", "1", 2),
            ("Split: [1, 2, 3]", "run: pytest --splits 3 --group {}", "1", 2),
            ('flag: "${{ fromJSON(\'[\\"a\\", \\"b\\",]\') }}"', "run: pytest --{}", "a", 1),
            # a version that only the tests use; those that differ by a version alone are not named
            ("java-version: [8, 17, 21]", "run: ./gradlew build -Dtest.java={}", "17", 0),
            ("python: ['3.11', '3.12', '3.10']", "run: tox run -e py{}", "3.11", 0),
            # instrumented and unusual ones come last
            ("check: [valgrind, none]", "run: make test", "none", None),
            ("san: [asan, none]", "run: make test", "none", None),
            ("rust: [nightly, stable]", "run: make test", "stable", None),
            ("deps: [lowest, highest]", "run: make test", "highest", None),
            ("compiler: [clang, gcc]", "run: make test", "gcc", None),
        ],
    )  # fmt: skip
    def test_the_row_of_a_matrix(
        self, here: Toolchains, matrix: str, step: str, row: str, others: int | None
    ) -> None:
        axis = matrix.partition(":")[0]
        line = step.format(f"${{{{ matrix.{axis} }}}}")
        ci = read(here, ci=job(line, more=f"    strategy: {{matrix: {{{matrix}}}}}\n"))
        assert ci.row == {axis: row}
        assert others is None or len(ci.other_rows) == others
        assert all(other.startswith(f"{axis}: ") for other in ci.other_rows)

    def test_rows_that_test_otherwise_by_a_variable_of_the_job(self, here: Toolchains) -> None:
        more = "    strategy: {matrix: {mode: [fast, safe]}}\n"
        more += "    env: {MODE: '${{ matrix.mode }}'}\n"
        assert read(here, ci=job("run: pytest", more=more)).other_rows == ("mode: safe",)
        configure = "run: cmake -B b -DCMAKE_CXX_FLAGS=-${{ matrix.mode }}"
        more = more.partition("    env")[0]
        assert read(here, ci=job(configure, "run: ctest", more=more)).other_rows == ("mode: safe",)

    def test_a_job_with_tools_that_are_missing_comes_last(self, here: Toolchains) -> None:
        other = job("run: sbt test").replace("  test:", "  build:")
        assert read(here, a=other, b=job("run: ./run test")).path == ".github/workflows/b.yml"

    def test_a_row_that_leaves_the_tests_out_is_not_taken(self, here: Toolchains) -> None:
        matrix = "    strategy: {matrix: {build: [pinned, stable]}}\n"
        tests = "{run: make test, if: matrix.build != 'pinned'}"
        ci = read(here, a=job("run: make miri test").replace("  test:", "  miri:"),
                  ci=job("run: make", tests, more=matrix))  # fmt: skip
        assert (ci.job, ci.row) == ("test", {"build": "stable"})

    def test_of_equal_rows_the_one_with_most_tests_is_taken(self, here: Toolchains) -> None:
        matrix = "    strategy: {matrix: {tool: [a, b]}}\n"
        more = "{run: go test ./tools, if: matrix.tool == 'b'}"
        assert read(here, ci=job("run: go test .", more, more=matrix)).row == {"tool": "b"}

    @pytest.mark.parametrize(
        ("title", "first"),
        [("unit and integration tests", "a"), ("Integration tests", "b")],
    )
    def test_units_and_integration_in_one_job_are_the_tests(
        self, here: Toolchains, title: str, first: str
    ) -> None:
        named = job("run: jest", more=f"    name: {title}\n")
        ci = read(here, a=named, b=job("run: jest --built", name="build"))
        assert ci.path == f".github/workflows/{first}.yml"

    @pytest.mark.parametrize("aside", ["failpoint", "robustness"])
    def test_provoked_failures_are_no_main_tests(self, here: Toolchains, aside: str) -> None:
        provoked = job("run: go test ./tests", name=aside)
        ci = read(here, a=provoked, unit=job("run: go test ."))
        assert ci.path == ".github/workflows/unit.yml"

    def test_all_features_of_one_package_are_less_than_the_workspace(
        self, here: Toolchains
    ) -> None:
        one = job("run: cargo test --all-features -p log", name="test-log")
        ci = read(here, a=one, b=job("run: cargo test"))
        assert ci.job == "test"

    def test_a_version_that_is_in_a_file(self, here: Toolchains) -> None:
        setup = "{uses: actions/setup-java@v5, with: {java-version-file: ./ci/.java-version}}"
        ci = read(here, ci=job(setup, "run: ./gradlew build"))
        assert (ci.versions, ci.version_files) == ({}, {"java": "ci/.java-version"})

    @pytest.mark.parametrize("text", [job("run: mkdocs build"), "on: [\n", "[]"])
    def test_no_job_that_tests(self, here: Toolchains, text: str) -> None:
        assert choose_base_ci_jobs(root_of({".github/workflows/docs.yml": text}), here) is None

    def test_a_workflow_that_github_refuses_is_passed_over(self, here: Toolchains) -> None:
        assert read(here, a="on: [\n", b=job("run: pytest")).job == "test"

    def test_other_code_and_other_places_are_builds_of_their_own(self, here: Toolchains) -> None:
        web = job("{run: jest, working-directory: web}")
        again = job("run: pytest --slow").replace("  test:", "  integration:")
        ci = read_all(here, {"web/a.js": ""}, api=job("run: pytest"), web=web, slow=again)
        assert [sorted(one.places) for one in ci.jobs] == [[("python", "")], [("node", "web")]]
        assert [one.job for one in ci.others] == ["integration"]


REUSABLE = """on: {workflow_call: {inputs: {python: {default: '3.9'}, mode: {type: string}}}}
jobs:
  run:
    runs-on: ubuntu-latest
    steps:
      - {uses: actions/setup-python@v5, with: {python-version: '${{ inputs.python }}'}}
      - run: pytest --${{ inputs.mode }}
"""
ACTION = """inputs: {extra: {default: none}, mode: {required: true}}
runs:
  using: composite
  steps:
    - {uses: actions/setup-python@v5, with: {python-version: '3.12'}}
    - run: |
        pip install .[${{ inputs.extra }}]
        pytest --${{ inputs.mode }}
      shell: bash
"""


class TestFollowing:
    def test_a_workflow_that_a_job_calls(self, here: Toolchains) -> None:
        caller = (
            f"{HEAD}jobs:\n  all: {{uses: ./.github/workflows/tests.yml, with: {{mode: fast}}}}\n"
        )
        ci = read(here, ci=caller, tests=REUSABLE)
        assert (ci.name, ci.versions) == (
            ".github/workflows/tests.yml, job all / run", {"python": "3.9"},
        )  # fmt: skip
        assert [(one.script, one.origin) for one in ci.steps] == [
            ("pytest --fast", ".github/workflows/tests.yml:7"),
        ]

    @pytest.mark.parametrize("place", [".github/actions/test", "ci"])
    def test_an_action_of_the_tree(self, here: Toolchains, place: str) -> None:
        step = f"{{uses: ./{place}, with: {{mode: fast}}}}"
        ci = read(here, {f"{place}/action.yml": ACTION}, ci=job("run: cp a test/files", step))
        assert ci.versions == {"python": "3.12"}
        assert [(one.kind, one.script, one.origin) for one in ci.steps] == [
            ("setup", "cp a test/files", ".github/workflows/ci.yml:6"),
            ("setup", "pip install .[none]", f"{place}/action.yml:7"),
            ("test", "pytest --fast", f"{place}/action.yml:8"),
        ]

    @pytest.mark.parametrize("action", ["runs: {using: node20, main: a.js}", "- a\n", "runs: [\n"])
    def test_a_program_of_the_tree_is_no_list_of_steps(self, here: Toolchains, action: str) -> None:
        ci = read(
            here, {"a/action.yml": action}, ci=job("uses: ./a", "uses: ./gone", "run: pytest")
        )
        assert scripts(ci) == [("test", "pytest")]

    def test_an_action_that_uses_itself_ends(self, here: Toolchains) -> None:
        text = "runs: {using: composite, steps: [{uses: ./a}, {run: pytest, shell: bash}]}"
        assert scripts(read(here, {"a/action.yml": text}, ci=job("uses: ./a")))

    @pytest.mark.parametrize(
        ("text", "runs"),
        [
            ("\"${{ needs.changes.outputs.src == 'true' }}\"", True), ("false", False),
            ("'${{ vars.TESTS }}'", True), ("'${{ matrix.tests }}'", True), ("true", True),
            ("\"${{ github.event_name == 'push' }}\"", False),
        ],
    )  # fmt: skip
    def test_an_input_of_a_called_workflow_is_a_truth_or_unknown(
        self, here: Toolchains, text: str, runs: bool
    ) -> None:
        caller = f"{HEAD}jobs:\n  all:\n    uses: ./.github/workflows/tests.yml\n"
        caller += f"    with: {{tests: {text}}}\n    strategy: {{matrix: {{tests: [true]}}}}\n"
        called = "on: {workflow_call: {inputs: {tests: {type: boolean}}}}\njobs:\n  run:\n"
        called += "    if: inputs.tests\n    runs-on: ubuntu-latest\n    steps: [{run: pytest}]\n"
        workflows = {".github/workflows/a.yml": caller, ".github/workflows/tests.yml": called}
        assert (choose_base_ci_jobs(root_of(workflows), here) is not None) == runs

    @pytest.mark.parametrize(
        ("text", "run"), [("false", ["pytest false"]), ("'${{ vars.X }}'", [])]
    )
    def test_an_input_of_an_action_is_a_text_or_unknown(
        self, here: Toolchains, text: str, run: list[str]
    ) -> None:
        action = (
            "runs:\n  using: composite\n  steps:\n    - {if: inputs.x, run: pytest a, shell: sh}\n"
        )
        action += "    - {run: 'pytest ${{ inputs.x }}', shell: sh}\n"
        ci = read(here, {"a/action.yml": action}, ci=job(f"{{uses: ./a, with: {{x: {text}}}}}"))
        assert [one.script for one in ci.steps] == ["pytest a", *run]

    def test_a_workflow_of_another_repository_is_named(self, here: Toolchains) -> None:
        caller = f"{HEAD}jobs:\n  all: {{uses: o/r/.github/workflows/t.yml@v1}}\n"
        ci = read_all(here, ci=caller)
        assert (ci.jobs, ci.external) == ((), ("o/r/.github/workflows/t.yml@v1",))


class TestSteps:
    def test_installs_builds_and_tests_until_the_last_test(self, here: Toolchains) -> None:
        ci = read(
            here,
            ci=job(
                "uses: actions/checkout@v4",
                "run: pip install -e .[test]",
                "run: ruff check .",
                "run: python setup.py build",
                "run: ./make-texts",
                "run: pytest -q",
                "run: python -m build",
            ),
        )
        assert [(one.kind, one.script, one.may_fail) for one in ci.steps] == [
            ("setup", "pip install -e .[test]", False),
            ("build", "python setup.py build", False),
            ("setup", "./make-texts", True),
            ("test", "pytest -q", False),
        ]
        assert ci.linters == ("ruff check .", "python -m build")

    @pytest.mark.parametrize(
        ("step", "kind"),
        [
            ("run: sudo make test-install", "packages"),
            ("run: docker compose run test", "services"),
            ("run: apt-get install -y tests", "packages"),
            ("run: systemctl start postgresql", "services"),
            ("uses: supercharge/redis-github-action@v1", "services"),
            ("run: rustup default nightly", "other"),
            ("run: corepack enable", "other"),
            ("run: npm publish", "other"),
            ("run: git push", "other"),
            ("{run: 'curl -d ${{ secrets.KEY }} x'}", "elsewhere"),
            ("{run: Invoke-Test test, shell: pwsh}", "elsewhere"),
            ("run: pytest ${{ github.event.label.name }}", "other"),
            ("run: sh ci/db.sh", "packages"),
            ("run: ./ci/db.sh", "packages"),
        ],
    )
    def test_what_cannot_run_here_is_left_out_and_named(
        self, here: Toolchains, step: str, kind: str
    ) -> None:
        ci = read(here, {"ci/db.sh": "set -e\nsudo apt-get install postgresql\n"},
                  ci=job(step, "run: pytest"))  # fmt: skip
        assert scripts(ci) == [("test", "pytest")]
        (left,) = ci.left_out
        assert (left.kind, bool(left.why)) == (kind, True)
        assert left.origin.startswith(".github/workflows/ci.yml")

    @pytest.mark.parametrize(
        ("steps", "lines"),
        [
            # actions that test
            (
                ["{uses: actions-rs/cargo@v1, with: {command: test, args: --all}}"],
                ["test: cargo test --all"],
            ),
            (
                ["{uses: gradle/gradle-build-action@v2, with: {arguments: check}}"],
                ["test: ./gradlew check"],
            ),
            (
                ["{uses: coactions/setup-xvfb@v1, with: {run: npm test, options: -ac}}"],
                ["test: npm test"],
            ),
            (["run: make -C build distcheck"], ["test: make -C build distcheck"]),
            # scripts by what they call, those of another repository are no tests
            (["run: sh ci/all.sh"], ["test: sh ci/all.sh"]),
            (["run: sh -e ci/all.sh"], ["test: sh -e ci/all.sh"]),
            (["run: sh -eux ci/all.sh"], ["test: sh -eux ci/all.sh"]),
            (
                ["{uses: actions/checkout@v4, with: {repository: o/r, path: r}}",
                 "run: r/test/run-tests.sh", "run: pytest"],
                ["setup, may fail: r/test/run-tests.sh", "test: pytest"],
            ),
            # what a job sets up for itself runs
            *(
                ([f"run: {line}", "run: pytest"], [f"{kind}: {line}", "test: pytest"])
                for line, kind in {
                    "npm install -g c8": "setup", "pip install tox": "setup",
                    "git config --global user.name a": "setup",
                    "echo A=1 >> $GITHUB_ENV": "setup, may fail",
                    "curl -sfo data.bin https://example.org/data.bin": "setup, may fail",
                }.items()
            ),
            # conditions: on an order, on what other steps say, on the event
            (["{run: npm test, if: 20 < 18}", "{run: c8 npm test, if: 20 >= 18}"],
             ["test: c8 npm test"]),
            (["{run: npm test, if: \"steps.a.outputs.only_modified == 'false'\"}"],
             ["test: npm test"]),
            (["{run: pytest --all, if: \"github.event_name == 'push'\"}", "run: pytest"],
             ["test: pytest"]),
            # a program in the background stays with what follows
            (["run: node tests/server.js &", "run: ./vendor/bin/phpunit"],
             ["test: node tests/server.js &\n./vendor/bin/phpunit"]),
            (["{run: pytest slow, continue-on-error: true}", "run: pytest"],
             ["test, may fail: pytest slow", "test: pytest"]),
        ],
    )  # fmt: skip
    def test_the_steps_that_run(self, here: Toolchains, steps: list[str], lines: list[str]) -> None:
        ci = read(here, {"ci/all.sh": "pytest\n"}, ci=job(*steps))
        ends = {True: ", may fail", False: ""}
        assert lines == [f"{one.kind}{ends[one.may_fail]}: {one.script}" for one in ci.steps]

    @pytest.mark.parametrize(
        ("script", "kind"),
        [
            *((line, kind) for kind in COMMANDS for line in split_commands(COMMANDS[kind])),
            ("go test $(go list ./... | grep -v vendor)", "test"),
            ("cat <<END\npytest\nEND", "other"),
        ],
    )
    def test_what_a_command_is_for(self, script: str, kind: str) -> None:
        assert find_purpose(read_calls(script)) == kind

    @pytest.mark.parametrize(
        "line",
        [
            "make -C web test", "make -Cweb -j4 test", "make --directory=web check",
            "make -j2 -C ./web test", "npm --prefix web test", "npm --prefix=web run test",
            "npm -C web t", "pnpm -C web test", "pnpm --dir web run test", "yarn --cwd web test",
            "yarn --cwd web jest", "bun --cwd web test",
            "cargo test --manifest-path web/Cargo.toml",
            "cargo --manifest-path=web/Cargo.toml test", "go -C web test ./...",
            "mvn -f web/pom.xml verify", "mvn --file web -B test", "gradle -p web build",
            "./gradlew --project-dir=web check", "ctest --test-dir web", "meson test -C web",
            "uv run --directory web pytest", "uv --directory web run pytest -q",
            "poetry -C web run pytest", "composer -d web test", "dotnet test web/Web.Tests.csproj",
            "dotnet test --no-build web/Web.csproj", "dotnet test --filter A/B web/T.csproj",
            "swift test --package-path web", "tox -c web/tox.ini", "cd web && pytest",
            "(cd web && npm test)",
            "pushd web; rspec; popd", "cd other && make -C ../web test",
            "cd other/.. && cd web && go test ./...", "cd web\npytest",
            "uv run make -C web test", "(cd other); cd web; pytest",
        ],
    )  # fmt: skip
    def test_the_place_of_a_call(self, here: Toolchains, line: str) -> None:
        (call,) = (call for call in read_calls(line) if call.purpose == "test")
        assert call.place == "web"
        step = json.dumps({"run": line})
        ci = read(here, {"web/x": "", "other/x": ""}, ci=job(step))
        assert ci.places == {(call.family, "web")}

    @pytest.mark.parametrize(
        ("lines", "place"),
        [
            (["cmake -S web -B out", "cmake --build out", "ctest --test-dir out"], "web"),
            (["cmake -B out web", "cmake --build out --target test"], "web"),
            (["cd web", "cmake .", "make test"], "web"),
            (["mkdir out && cd out", "cmake -G Ninja ../web", "ctest"], "web"),
            (["cmake -DX=1 $GITHUB_WORKSPACE/web", "ctest"], "web"),
            (["./configure", "make -C out check"], ""),  # what a build makes lies in the root
            (["cmake -S . -B web/out -G Ninja", "ctest --test-dir web/out"], ""),
        ],
    )
    def test_a_directory_that_a_build_makes_is_no_place(
        self, here: Toolchains, lines: list[str], place: str
    ) -> None:
        ci = read(here, {"web/x": ""}, ci=job(json.dumps({"run": "\n".join(lines)})))
        assert {where for _, where in ci.places} == {place}

    @pytest.mark.parametrize(
        "line", ["pdm run pytest -p xdist", "pytest -- -C web", "mvn -fae test"]
    )
    def test_options_of_other_programs_name_no_place(self, line: str) -> None:
        assert {call.place for call in read_calls(line)} == {""}

    def test_a_script_is_looked_for_where_its_manager_works(self, here: Toolchains) -> None:
        package = json.dumps({"scripts": {"ci": "jest --ci"}})
        ci = read(here, {"web/package.json": package}, ci=job("run: npm --prefix web run ci"))
        assert [(one.runner, one.place) for one in ci.calls] == [("jest", "web")]

    def test_a_call_in_another_repository_tests_nothing_of_this_one(self, here: Toolchains) -> None:
        checkout = "{uses: actions/checkout@v4, with: {repository: a/b, path: base}}"
        ci = read(here, ci=job(checkout, "run: make -C base test", "run: make test"))
        assert [step.kind for step in ci.steps] == ["setup", "test"]

    def test_a_step_of_a_ci_without_known_tests_is_named(self, here: Toolchains) -> None:
        workflows = {"a": job("run: bundle exec rubocop"), "b": job("run: ls", "run: ./quality x")}
        workflows["toc"] = job("run: npx toc", name="toc")
        (left,) = read_all(here, None, **workflows).left_out
        assert (left.text, left.kind, left.origin) == (
            "./quality x",
            "unknown",
            ".github/workflows/b.yml:7",
        )
        shell = read_all(here, None, a=job("{run: ./build.ps1, shell: pwsh}")).left_out[0]
        assert (shell.text, shell.kind) == ("./build.ps1", "unknown")
        known = read_all(here, None, a=job("{run: dotnet test, shell: pwsh}")).left_out
        assert [one.kind for one in known] == ["elsewhere"]
        alone = root_of({".github/workflows/a.yml": job("run: ruff check")})
        assert choose_base_ci_jobs(alone, here) is None

    def test_versions_behind_the_last_test_are_not_those_of_the_tests(
        self, here: Toolchains
    ) -> None:
        uses = "{{uses: actions/setup-python@v6, with: {{python-version: '{}'}}}}"
        steps = uses.format("3.8"), uses.format("3.11"), "run: pytest", uses.format("3.9")
        assert read(here, ci=job(*steps, "run: coverage xml")).versions == {"python": "3.11"}

    def test_a_tox_that_tests_nothing_is_no_test(self, here: Toolchains) -> None:
        files = {"tox.ini": "[testenv:pins]\ncommands = pip-compile\n"}
        steps = read(here, files, ci=job("run: tox", "run: pytest")).steps
        assert [step.kind for step in steps] == ["setup", "test"]
        alone = {**files, ".github/workflows/a.yml": job("run: tox")}
        ci = choose_base_ci_jobs(root_of(alone), here)
        assert ci
        assert not ci.jobs

    def test_a_place_that_the_tree_does_not_have_is_no_build_of_it(self, here: Toolchains) -> None:
        other = job("{run: jest, working-directory: other}", name="hyper")
        ci = read_all(here, None, a=job("run: cargo test"), b=other)
        assert [one.job for one in ci.jobs] == ["test"]

    def test_other_code_has_its_job_even_if_that_wants_services(self, here: Toolchains) -> None:
        services = "    services: {db: {image: postgres}}\n"
        front = job("{run: npm test, working-directory: web}")
        files = {"web/package.json": "{}", "web/a.js": "", "setup.py": ""}
        for ci in (
            read_all(here, files, a=front, b=job("run: pytest", more=services)),
            read_all(here, files, a=front, b=job("uses: actions/download-artifact@v4", "run: tox")),
        ):
            places = {place for one in ci.jobs for place in one.places}
            assert places == {("node", "web"), ("python", "")}
        ci = read_all(here, files, a=job("run: npm test"), b=job("run: pytest", more=services))
        assert [sorted(one.places) for one in ci.jobs] == [[("node", "")]]

    def test_a_job_that_tests_in_containers_is_another_job(self, here: Toolchains) -> None:
        compose = "run: docker compose -p redash run --name tests redash tests --junitxml=junit.xml"
        backend = job("run: docker compose up -d", compose, name="backend-unit-tests")
        push = "run: docker run app:latest", "run: docker push example/app:latest"
        image = job("run: docker build -t testimage .", *push, name="test-image")
        ci = read_all(here, None, a=job("run: npm test"), b=backend, c=image)
        assert [one.job for one in ci.others] == ["backend-unit-tests"]

    def test_a_runner_of_another_architecture_runs_the_same_tests(self, here: Toolchains) -> None:
        arm = job("run: pytest").replace("ubuntu-latest", "ubuntu-26.04-arm")
        assert read(here, a=arm, b=job("run: pytest -k x", name="test-windows")).job == "test"

    def test_scripts_are_known_by_what_they_run(self, here: Toolchains) -> None:
        package = '{"scripts": {"test": "vitest run", "check": "eslint . && prettier -c .", '
        package += '"lint-all": "npm run check"}}'
        files = {
            "package.json": package,
            "scripts/check": "ruff check .\nmypy",
            "scripts/test": "pytest",
        }
        steps = ("run: npm run check", "run: npm run lint-all", "run: scripts/check", "run: npm t",
                 "run: scripts/test")  # fmt: skip
        ci = read(here, files, ci=job(*steps))
        assert scripts(ci) == [("test", "npm t"), ("test", "scripts/test")]
        assert [(call.family, call.runner) for step in ci.steps for call in step.calls] == [
            ("node", "vitest"), ("python", "pytest"),
        ]  # fmt: skip
        assert len(ci.linters) == 3

    def test_a_secret_in_a_variable_leaves_only_the_variable_out(self, here: Toolchains) -> None:
        env = "    env: {MODE: strict, KEY: '${{ secrets.KEY }}', OS: '${{ runner.os }}'}\n"
        step = "{run: pytest, env: {A: b, TOKEN: '${{ github.token }}'}}"
        ci = read(here, ci=job(step, more=env))
        assert (ci.env, ci.steps[0].env) == ({"MODE": "strict", "OS": "Linux"}, {"A": "b"})

    @pytest.mark.parametrize(
        ("line", "tests"),
        [
            ("sudo make test", True), ("docker compose run app pytest -q", True),
            ("docker run -v pytest:/x app ls", False), ("docker exec -it db ./run-tests.sh", True),
            ("docker run a sh -c 'npm ci && npm test'", True), ("docker run org/a-tests", True),
            ("docker run --rm a/${{ github.repository }}:x pytest", True),
            ("docker run --entrypoint=pytest app", True), ("docker run --entrypoint ls a", False),
            ("docker compose up --exit-code-from tests tests", True), ("docker pull test", False),
            ("docker compose up --exit-code-from=tests", True), ("docker exec test ls", False),
            ("docker compose -f test.yml run --name test web ls", False),
            ("sudo apt-get install -y tox", False), ("docker pull postgres", False),
            ("TOKEN=${{ secrets.A }} npm test", True), ("curl ${{ secrets.A }}", False),
        ],
    )  # fmt: skip
    def test_a_line_that_is_left_out_may_be_one_of_tests(
        self, here: Toolchains, line: str, tests: bool
    ) -> None:
        assert [
            one.tests for one in read(here, ci=job(f"run: {line}", "run: pytest")).left_out
        ] == [tests]

    @pytest.mark.parametrize(
        ("action", "count"),
        [
            ("shogo82148/actions-setup-perl@v1", 1), ("leafo/gh-actions-lua@v11", 1),
            ("actions/cache@v4", 0), ("actions/setup-python@v5", 0), ("actions/checkout@v4", 0),
            ("github/codeql-action/init@v3", 0),
        ],
    )  # fmt: skip
    def test_an_action_that_is_not_known_is_named(
        self, here: Toolchains, action: str, count: int
    ) -> None:
        assert len(read(here, ci=job(f"uses: {action}", "run: prove t")).left_out) == count

    def test_what_an_unknown_action_would_test_is_named(self, here: Toolchains) -> None:
        step = "{uses: vmactions/freebsd-vm@v1, with: {usesh: true, run: make test}}"
        (left,) = read(here, ci=job(step, "run: prove t")).left_out
        assert (left.text, left.tests) == ("make test", True)
        assert left.why == "vmactions/freebsd-vm is not run here"

    @pytest.mark.parametrize(
        ("listed", "version"),
        [("pypy3.10\n 3.8\n 3.12", "3.8"), ("  ", None), ("3.12", "3.12")],
    )
    def test_of_several_versions_the_nearest_counts(
        self, here: Toolchains, listed: str, version: str | None
    ) -> None:
        step = f"{{uses: actions/setup-python@v5, with: {{python-version: {json.dumps(listed)}}}}}"
        ci = read(here, ci=job(step, "run: pytest"))
        assert ci.versions.get("python") == version

    @pytest.mark.parametrize(
        "line",
        [
            "uv run --project web pytest", "poetry -P web run pytest",
            "pdm run --project web pytest",
            "bundle exec --gemfile=web/Gemfile rspec", "bundle --gemfile web/Gemfile exec rspec",
            "dotnet test --filter web/B", "dotnet test /p:X=web/y", "dotnet test -- web/x",
        ],
    )  # fmt: skip
    def test_a_project_or_a_filter_is_no_place_to_work_in(self, line: str) -> None:
        (call,) = read_calls(line)
        assert call.place == ""

    @pytest.mark.parametrize(
        "first", [") <<EOF", "FOO=1 <<EOF", ">out <<EOF", "cd x <<EOF", "popd <<EOF"]
    )
    def test_a_script_that_hands_text_over_stays_whole(self, here: Toolchains, first: str) -> None:
        script = "".join(f"          {line}\n" for line in (first, "one", "EOF", "pytest a"))
        ci = read(here, ci=job(f"run: |\n{script}"))
        assert [text.splitlines()[-1] for _, text in scripts(ci)] == ["pytest a"]
        assert [len(text.splitlines()) for _, text in scripts(ci)] == [4]

    @pytest.mark.parametrize(
        "script",
        [
            "x=$((1 << 2))",
            "(( a << b ))",
            "cat <<EOF\n          pytest no\n          EOF",
            "cat << ''",
        ],
    )
    def test_a_shift_hands_no_text_over(self, here: Toolchains, script: str) -> None:
        ci = read(here, ci=job(f"run: |\n          {script}\n          pytest a"))
        assert [call.words for call in ci.calls if call.runner] == [("pytest", "a")]

    def test_a_program_that_a_variable_of_the_job_names(self, here: Toolchains) -> None:
        ci = read(here, ci=job("run: $BUILD test --locked", more="    env: {BUILD: cross}\n"))
        assert ci.places == {("cargo", "")}

    def test_a_script_that_is_more_than_a_list_stays_whole_without_what_cannot_run(
        self, here: Toolchains
    ) -> None:
        lines = "cd sub\\nfor one in a b; do pytest $one; done\\nsudo apt-get install \\\\\\n  x"
        step = f'{{run: "{lines}"}}'
        ci = read(here, ci=job(step))
        ((_, script),) = scripts(ci)
        assert script.splitlines() == ["for one in a b; do pytest $one; done", ":"]
        assert (ci.steps[0].directory, ci.left_out[0].origin) == (
            "sub",
            ".github/workflows/ci.yml:9",
        )

    def test_the_directory_is_that_of_the_step_or_the_default(self, here: Toolchains) -> None:
        defaults = "    defaults: {run: {working-directory: ./core, shell: '${{ matrix.s }}'}}\n"
        defaults += "    strategy: {matrix: {s: [bash]}}\n"
        places = ("extra", ".ci", "/tmp", "../x")
        steps = ("run: pytest", *(f"{{run: pytest, working-directory: {at}}}" for at in places))
        ci = read(here, ci=job(*steps, "run: pytest", more=defaults))
        assert [one.directory for one in ci.steps] == ["core", "extra", ".ci", "core"]
        assert len(ci.left_out) == 2

    def test_an_action_installs_where_its_input_says_or_at_the_root(self, here: Toolchains) -> None:
        bundle = "{uses: ruby/setup-ruby@v1, with: {bundler-cache: true, working-directory: gem}}"
        defaults = "    defaults: {run: {working-directory: core}}\n"
        packages = "{uses: ramsey/composer-install@v4, with: {composer-options: --no-dev}}"
        highest = packages.replace("composer-options: --no-dev", "dependency-versions: highest")
        npm = "{uses: bahmutov/npm-install@v1, with: {working-directory: web}}"
        action = "gradle/gradle-build-action@v2"
        gradle = f"{{uses: {action}, with: {{arguments: x, build-root-directory: a}}}}"
        steps = (bundle, packages, highest, npm, npm.replace("web", "."), gradle, "run: rspec")
        locks = {"web/yarn.lock": "", "package-lock.json": ""}
        ci = read(here, locks, ci=job(*steps, more=defaults))
        assert [(one.script, one.directory) for one in ci.steps] == [
            ("bundle install", "gem"),
            ("composer install --no-dev", ""),
            ("composer update", ""),
            ("yarn install --frozen-lockfile", "web"),
            ("npm ci", ""),
            ("./gradlew x", "a"),
            ("rspec", "core"),
        ]
        assert ci.left_out == ()

    def test_a_checkout_into_a_directory_is_the_tree(self, here: Toolchains) -> None:
        checkout = "{uses: actions/checkout@v4, with: {path: 'src/${{ github.repository }}'}}"
        tests = "{run: go test ./..., working-directory: 'src/${{ github.repository }}/sub'}"
        assert read(here, ci=job(checkout, tests)).steps[0].directory == "sub"
