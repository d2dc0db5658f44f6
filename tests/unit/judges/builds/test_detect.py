"""Which files mean which builds."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.roots import package, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.planner import detect_builds
from prjury.judges.builds.source_tree import SourceTree
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


ALSO = "also found and not run"
MAVEN_AND_GRADLE = {"pom.xml": "", "build.gradle": ""}
CMAKE = {"CMakeLists.txt": "project(a)", "a.c": "", "Makefile": "test:\n\t./a\n"}


@pytest.mark.parametrize(
    ("files", "systems", "also"),
    [
        # different systems in the root are all run
        (
            {"go.mod": GO, "Cargo.toml": CARGO, "test_a.py": "", "package.json": TEST,
             "pom.xml": ""},
            "maven npm pytest cargo go", "",
        ),
        # make runs only where nothing else is found, and the tests of what is built without any
        ({"pom.xml": "", "package.json": TEST, "Makefile": "test:\n"}, "maven npm", "make"),
        ({"Makefile": "test:\n", "b/Makefile": "test:\n"}, "make", ""),
        ({"Makefile": "test:\n", "b/go.mod": GO}, "make go", ""),
        ({"go.mod": GO, "b/Makefile": "test:\n"}, "go", "make in b"),
        (CMAKE, "cmake make", ""),
        ({**CMAKE, "CMakeLists.txt": "project(a)\nenable_testing()"}, "cmake", "make"),
        # Maven and Gradle are one choice, and the wrapper decides
        (MAVEN_AND_GRADLE, "maven", "gradle"),
        ({**MAVEN_AND_GRADLE, "gradlew": ""}, "gradle", "maven"),
        ({**MAVEN_AND_GRADLE, "mvnw": ""}, "maven", "gradle"),
        ({**MAVEN_AND_GRADLE, "mvnw": "", "gradlew": ""}, "maven", "gradle"),
        # a script that manages something else is no project
        ({"a.pl": "", "tools/manage.py": "print(1)\n"}, "", ""),
        ({"a.pl": "", "tools/manage.py": "import django\n"}, "python", ""),
        # a build with tests comes before one without
        ({"script.py": "", "Makefile": "test:\n"}, "make", "python"),
        ({"script.py": "", "Makefile": "all:\n"}, "python", "make"),
        # a few files in Python are no project beside a real one
        ({"release.py": "", "go.mod": GO}, "go", "python"),
        ({"release.py": "", "b/go.mod": GO}, "go", "python"),
        ({"Makefile.PL": "", "t/a.t": "", "t/run_test.py": "def test_a(): pass\n"}, "perl", ""),
        # a directory in a note hides nothing
        ({"go.mod": GO, "a\u202e/Makefile": "test:\n", "b/Makefile": "test:\n"}, "go", "make in b"),
    ],
)  # fmt: skip
def test_the_systems_of_a_tree(files: dict[str, str], systems: str, also: str) -> None:
    assert systems_of(files) == (systems.split(), (f"{ALSO}: {also}",) if also else ())


def test_systems_that_have_to_be_asked_for() -> None:
    files = {"pom.xml": "", "package.json": TEST, "Makefile": "test:\n"}
    assert systems_of(files, "make", "node") == (["npm", "make"], ())
    files = {"MODULE.bazel": "", "go.mod": GO}
    note = "MODULE.bazel is there, but Bazel runs only if `systems` names it"
    assert systems_of(files) == (["go"], (note,))
    assert systems_of(files, "bazel") == (["bazel"], ())
    assert systems_of(files, "go") == (["go"], ())


def test_a_recipe_or_a_benchmark_below_another_build_waits_for_a_change_there() -> None:
    files = {"Makefile": "test:\n", "a.c": "", "contrib/net/a.csproj": "", "contrib/net/a.cs": ""}
    builds = detect_builds(root_of(files), touching("a.c"))
    assert [plan.system for plan in builds.plans] == ["make"]
    assert "not touched by the change and not built: dotnet in contrib/net" in builds.notes
    builds = detect_builds(root_of(files), touching("contrib/net/a.cs"))
    assert [plan.system for plan in builds.plans] == ["make", "dotnet"]
    files = {"go.mod": GO, "a.go": "", "a_test.go": "", "bench/go.mod": GO, "bench/b.go": ""}
    assert len(detect_builds(root_of(files), touching("go.mod")).plans) == 1
    builds = detect_builds(root_of(files), touching("bench/b.go"))
    assert "bench" in [plan.directory for plan in builds.plans]


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
    assert detect_builds(root_of(TWO), frozenset()) == detect_builds(root_of(TWO), None)


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


@pytest.mark.parametrize(
    "place",
    [
        "node_modules/x", "backend/vendor/x", "third_party/x", "backend/tests/x",
        "backend/a/testdata/x", "backend/fixtures/examples/x",
    ],
)  # fmt: skip
def test_code_of_others_and_data_of_tests_are_not_counted(place: str) -> None:
    files = {**TWO, f"{place}/package.json": TEST}
    assert skipped(files, f"{place}/x.js") == ()
    files = {**TWO, "examples/a/package.json": TEST}  # nor is documentation
    assert skipped(files, "examples/a/README.md", "frontend/x.js") == ()


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
    every = detect_builds(replace(root, changed=paths), None, asked)
    affected = detect_builds(root, paths, asked)
    places = [(plan.system, plan.directory) for plan in every.plans]
    assert bool(affected.plans) == bool(every.plans)
    assert {(plan.system, plan.directory) for plan in affected.plans} <= set(places)
    assert [place for _, place in places] == sorted(place for _, place in places)
    assert len(set(places)) == len(places)
    again = detect_builds(root_of(files), paths, asked)
    assert again.notes == affected.notes
    assert [(plan.text, plan.modules, plan.env) for plan in again.plans] == [
        (plan.text, plan.modules, plan.env) for plan in affected.plans
    ]
