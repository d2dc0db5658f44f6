"""Which files mean which builds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.roots import package, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.planner import detect_builds
from prjury.judges.builds.source_tree import Changes, SourceTree
from prjury.judges.builds.systems import SYSTEMS
from prjury.ports.types import TreeEntry

TEST = package()
PLACEHOLDER = package(scripts={"test": 'echo "Error: no test specified" && exit 1'})
PROJECT = '[project]\nname = "p"\n'
CARGO = '[package]\nname = "p"\n'
GO = "module example.com/m\n"
GO_COMMANDS = "go build -o /dev/null ./... && go test -json ./..."
MAKE = "if make -n all >/dev/null 2>&1; then make all; fi"
CARGO_COMMANDS = "cargo test --no-run && cargo test --no-fail-fast"


def plan_of(files: Mapping[str, str]) -> BuildPlan:
    (plan,) = detect_builds(root_of(files), None).plans
    return plan


@pytest.mark.parametrize(
    ("files", "system", "command"),
    [
        ({"package.json": TEST}, "npm", "npm run test"),
        ({"uv.lock": "", "tests/test_a.py": ""}, "uv", "uv run --no-sync --with pytest pytest -q"),
        ({"tox.ini": "[tox]\n", "setup.py": ""}, "tox", "tox -e py"),
        ({"requirements.txt": "", "test/test_a.py": ""}, "pytest", "python3 -m pytest -q"),
        ({"script.py": ""}, "python", "python3 -m compileall -q ."),
        ({"Cargo.toml": CARGO}, "cargo", CARGO_COMMANDS),
        ({"go.mod": GO, "a_test.go": "package a\n"}, "go", GO_COMMANDS),
        ({"Makefile": "all: x\n\ntest: all\n"}, "make", f"{MAKE} && make -k test"),
    ],
)
def test_recognised(files: dict[str, str], system: str, command: str) -> None:
    plan = plan_of(files)
    assert (plan.system, plan.text, plan.directory) == (system, command, "")
    assert plan.reasons


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": ""},
        {"package.json": PLACEHOLDER},
        {"package.json": "not json"},
        {"package.json": "[" * 100_000},
        {"Makefile": "test := 1\n\t all:\nlatest: x\n"},
        {"docs/conf.py": ""},
        {"examples/a/package.json": TEST},
        {"a/b/c/d/go.mod": GO},
    ],
)
def test_not_recognised(files: dict[str, str]) -> None:
    assert detect_builds(root_of(files), None).plans == ()


def test_a_link_is_not_a_build_file() -> None:
    root = SourceTree([TreeEntry("pom.xml", "120000", "x")], lambda entries: {})
    assert detect_builds(root, None).plans == ()


# Several systems


def systems_of(files: Mapping[str, str], *asked: str) -> tuple[list[str], tuple[str, ...]]:
    found = detect_builds(root_of(files), None, asked or None)
    return [plan.system for plan in found.plans], found.notes


def test_different_systems_in_the_root_are_all_run() -> None:
    files = {
        "go.mod": GO,
        "Cargo.toml": CARGO,
        "test_a.py": "",
        "package.json": TEST,
        "pom.xml": "",
    }
    assert systems_of(files) == (["maven", "npm", "pytest", "cargo", "go"], ())


def test_make_runs_only_where_nothing_else_was_found() -> None:
    files = {"pom.xml": "", "package.json": TEST, "Makefile": "test:\n"}
    assert systems_of(files) == (["maven", "npm"], ("also found and not run: make",))
    assert systems_of(files, "make", "node") == (["npm", "make"], ())
    assert systems_of({"Makefile": "test:\n", "b/Makefile": "test:\n"}) == (["make"], ())
    assert systems_of({"Makefile": "test:\n", "b/go.mod": GO}) == (["make", "go"], ())
    assert systems_of({"go.mod": GO, "b/Makefile": "test:\n"}) == (
        ["go"],
        ("also found and not run: make in b",),
    )


@pytest.mark.parametrize(
    ("more", "system"),
    [
        ({}, "maven"),
        ({"gradlew": ""}, "gradle"),
        ({"mvnw": ""}, "maven"),
        ({"mvnw": "", "gradlew": ""}, "maven"),
    ],
)
def test_maven_and_gradle_are_one_choice(more: dict[str, str], system: str) -> None:
    other = {"maven": "gradle", "gradle": "maven"}[system]
    files = {"pom.xml": "", "build.gradle": "", **more}
    assert systems_of(files) == ([system], (f"also found and not run: {other}",))


def detected(files: Mapping[str, str]) -> list[str]:
    return [plan.system for plan in detect_builds(root_of(files), None).plans]


def test_make_runs_the_tests_of_what_is_built_without_any() -> None:
    files = {"CMakeLists.txt": "project(a)", "a.c": "", "Makefile": "test:\n\t./a\n"}
    assert detected(files) == ["cmake", "make"]
    assert detected({**files, "CMakeLists.txt": "project(a)\nenable_testing()"}) == ["cmake"]


def test_a_recipe_below_another_build_waits_for_a_change_there() -> None:
    files = {"Makefile": "test:\n", "a.c": "", "contrib/net/a.csproj": "", "contrib/net/a.cs": ""}
    found = detect_builds(root_of(files), touching("a.c"))
    assert [plan.system for plan in found.plans] == ["make"]
    assert "not touched by the change and not built: dotnet in contrib/net" in found.notes
    found = detect_builds(root_of(files), touching("contrib/net/a.cs"))
    assert [plan.system for plan in found.plans] == ["make", "dotnet"]


def test_a_script_that_manages_something_else_is_no_project() -> None:
    assert detected({"a.pl": "", "tools/manage.py": "print(1)\n"}) == []
    assert detected({"a.pl": "", "tools/manage.py": "import django\n"}) == ["python"]


def test_benchmarks_below_another_build_wait_for_a_change_there() -> None:
    files = {"go.mod": GO, "a.go": "", "a_test.go": "", "bench/go.mod": GO, "bench/b.go": ""}
    assert len(detect_builds(root_of(files), touching("go.mod")).plans) == 1
    found = detect_builds(root_of(files), touching("bench/b.go"))
    assert "bench" in [plan.directory for plan in found.plans]


def test_a_build_with_tests_comes_before_one_without() -> None:
    assert systems_of({"script.py": "", "Makefile": "test:\n"}) == (
        ["make"],
        ("also found and not run: python",),
    )
    assert systems_of({"script.py": "", "Makefile": "all:\n"}) == (
        ["python"],
        ("also found and not run: make",),
    )


def test_a_few_python_files_are_no_project_beside_a_real_one() -> None:
    assert systems_of({"release.py": "", "go.mod": GO}) == (
        ["go"],
        ("also found and not run: python",),
    )
    assert systems_of({"release.py": "", "b/go.mod": GO}) == (
        ["go"],
        ("also found and not run: python",),
    )


def test_a_test_in_python_among_those_of_another_language_is_no_project() -> None:
    perl = {"Makefile.PL": "", "t/a.t": "", "t/run_yaml_test.py": "def test_a(): pass\n"}
    assert systems_of(perl) == (["perl"], ())


def test_bazel_has_to_be_asked_for() -> None:
    files = {"MODULE.bazel": "", "go.mod": GO}
    told = "MODULE.bazel is there, but Bazel runs only if `systems` names it"
    assert systems_of(files) == (["go"], (told,))
    assert systems_of(files, "bazel") == (["bazel"], ())
    assert systems_of(files, "go") == (["go"], ())


# Several projects

TWO = {
    "backend/go.mod": GO,
    "backend/a/a.go": "package a\n",
    "backend/a/a_test.go": "package a\n",
    "frontend/package.json": TEST,
    "compose.yml": "",
}


def found(files: Mapping[str, str], *paths: str) -> tuple[list[str], tuple[str, ...]]:
    recognised = detect_builds(root_of(files), touching(*paths) if paths else None)
    return texts(recognised.plans), recognised.notes


def test_projects_below_the_root_are_found() -> None:
    assert found(TWO) == ([f"cd backend && {GO_COMMANDS}", "cd frontend && npm run test"], ())


def test_all_are_built_where_the_change_touches_what_belongs_to_none() -> None:
    recognised = detect_builds(root_of(TWO), touching("compose.yml", "frontend/a.js"))
    assert [plan.directory for plan in recognised.plans] == ["backend", "frontend"]
    assert recognised.notes == ()


def test_the_root_is_built_beside_a_project_of_another_system() -> None:
    files = {"test_a.py": "", "web/package.json": TEST}
    assert found(files, "web/a.js") == (["python3 -m pytest -q", "cd web && npm run test"], ())
    assert found(files, "a.py") == (
        ["python3 -m pytest -q"],
        ("not touched by the change and not built: npm in web",),
    )


def test_no_known_changes_mean_everything() -> None:
    assert detect_builds(root_of(TWO), Changes(frozenset())) == detect_builds(root_of(TWO), None)


def test_a_directory_in_a_note_hides_nothing() -> None:
    files = {"go.mod": GO, "a\u202e/Makefile": "test:\n", "b/Makefile": "test:\n"}
    assert found(files)[1] == ("also found and not run: make in b",)


def test_python_as_everyone_writes_it() -> None:
    files = {"pyproject.toml": PROJECT, "src/p/__init__.py": "", "tests/test_p.py": ""}
    assert found(files, "src/p/__init__.py") == (["python3 -m pytest -q"], ())


# Projects that are deep, oddly named, or left out


def skipped(files: Mapping[str, str], *paths: str) -> tuple[str, ...]:
    return detect_builds(root_of(files), touching(*paths)).skipped


def test_a_project_is_found_at_any_depth_where_something_changes() -> None:
    files = {**TWO, "a/b/c/d/e/package.json": TEST}
    assert found(files, "a/b/c/d/e/src/x.js")[0] == ["cd a/b/c/d/e && npm run test"]
    assert found(files, "frontend/x.js")[0] == ["cd frontend && npm run test"]
    inner = {"go.mod": GO, "a/b/c/d/Cargo.toml": CARGO}
    plans = detect_builds(root_of(inner), touching("a/b/c/d/src/lib.rs")).plans
    assert [plan.directory for plan in plans] == ["", "a/b/c/d"]


def test_what_is_known_to_change_counts_where_everything_is_built() -> None:
    files = {**TWO, "a/b/c/d/package.json": TEST, "examples/a/package.json": TEST}
    root = replace(root_of(files), changed=touching("a/b/c/d/x.js", "examples/a/x.js"))
    recognised = detect_builds(root, None)
    assert [plan.directory for plan in recognised.plans] == ["a/b/c/d", "backend", "frontend"]
    assert recognised.skipped == ("examples/a",)


@pytest.mark.parametrize(
    ("place", "manifest", "text"),
    [
        ("examples/shop", "package.json", TEST),
        ("_samples/a", "go.mod", GO),
        ("templates/x", "Cargo.toml", CARGO),
        ("docs/site", "package.json", TEST),
        ("fuzz", "Cargo.toml", CARGO + "[workspace]\n"),
        (".hidden/action", "package.json", TEST),
        ("e2e/tests", "pyproject.toml", PROJECT),
        ("examples/made", "Makefile", "test:\n"),
    ],
)
def test_projects_that_are_left_out_are_named(place: str, manifest: str, text: str) -> None:
    files = {**TWO, f"{place}/{manifest}": text, f"{place}/src/x": ""}
    recognised = detect_builds(root_of(files), touching(f"{place}/src/x"))
    assert recognised.skipped == (place,)
    assert detect_builds(root_of(files), touching("backend/a/a.go")).skipped == ()


def test_documentation_in_a_project_that_is_left_out_needs_no_build() -> None:
    files = {**TWO, "examples/a/package.json": TEST}
    assert skipped(files, "examples/a/README.md", "frontend/x.js") == ()


@pytest.mark.parametrize(
    "place",
    [
        "node_modules/x",
        "backend/vendor/x",
        "third_party/x",
        "backend/tests/x",
        "backend/a/testdata/x",
        "backend/fixtures/examples/x",
    ],
)
def test_code_of_others_and_data_of_tests_are_not_counted(place: str) -> None:
    files = {**TWO, f"{place}/package.json": TEST}
    assert skipped(files, f"{place}/x.js") == ()


def test_what_a_workspace_has_is_built_whatever_its_name() -> None:
    files = {
        "Cargo.toml": "[workspace]\nmembers = ['examples/*']\n",
        "examples/a/Cargo.toml": CARGO,
        "docs/package.json": package("root", workspaces=["examples/*"]),
        "docs/examples/b/package.json": package("b"),
    }
    assert skipped(files, "examples/a/src/lib.rs") == ()
    assert skipped(files, "docs/examples/b/x.js") == ("docs",)


def test_the_nearest_project_is_the_one_that_is_left_out() -> None:
    files = {
        "go.mod": GO,
        "examples/go.mod": GO,
        "examples/a/package.json": TEST,
        "examples/b/package.json": package(scripts={}),
        "examples/c/Makefile": "test:\n",
    }
    assert skipped(files, "examples/a/x.js", "examples/x.go") == ("examples", "examples/a")
    assert skipped(files, "examples/b/x.js") == ("examples",)
    assert skipped(files, "examples/c/x.c") == ("examples/c",)


def test_touched_crates_are_built_where_everything_is() -> None:
    files = {
        "ws/Cargo.toml": '[workspace]\nmembers = ["a", "b"]\ndefault-members = ["a"]\n',
        "ws/a/Cargo.toml": '[package]\nname = "a"\n',
        "ws/b/Cargo.toml": '[package]\nname = "b"\n',
    }
    (plan,) = detect_builds(root_of(files), touching("other.txt.x", "ws/b/src/lib.rs")).plans
    assert plan.text.endswith("cargo test --no-fail-fast -p b")


# Whatever the tree

PLACES = st.sampled_from(["", "a/", "a/b/", "c/", "tests/", "a/b/c/d/"])
MANIFESTS = {
    "go.mod": GO,
    "x.go": "package x\n",
    "Cargo.toml": "[workspace]\nmembers = ['*', 'b/*']\n",
    "package.json": package("x", workspaces=["*"]),
    "pyproject.toml": PROJECT,
    "test_x.py": "",
    "x.py": "",
    "Makefile": "test:\n",
    "pom.xml": "<project/>",
    "build.gradle": "",
    "gradlew": "",
    "MODULE.bazel": "",
    "uv.lock": "",
    "notes.md": "",
}
PATHS = st.builds(lambda place, name: f"{place}{name}", PLACES, st.sampled_from(sorted(MANIFESTS)))
TREES = st.lists(PATHS, max_size=12, unique=True).map(
    lambda paths: {path: MANIFESTS[path.rpartition("/")[2]] for path in paths}
)
ASKED = st.none() | st.lists(st.sampled_from(sorted(SYSTEMS)), min_size=1, max_size=3)


@given(TREES, st.frozensets(PATHS | st.just("z/other.c"), max_size=4), ASKED)
def test_a_change_is_never_left_unbuilt(
    files: dict[str, str], paths: frozenset[str], asked: list[str] | None
) -> None:
    root = root_of(files)
    every = detect_builds(replace(root, changed=Changes.of(paths)), None, asked)
    affected = detect_builds(root, Changes.of(paths), asked)
    places = [(plan.system, plan.directory) for plan in every.plans]
    assert bool(affected.plans) == bool(every.plans)
    assert {(plan.system, plan.directory) for plan in affected.plans} <= set(places)
    assert [place for _, place in places] == sorted(place for _, place in places)
    assert len(set(places)) == len(places)
    again = detect_builds(root_of(files), Changes.of(paths), asked)
    assert again.notes == affected.notes
    assert [(plan.text, plan.modules, plan.env) for plan in again.plans] == [
        (plan.text, plan.modules, plan.env) for plan in affected.plans
    ]
