from __future__ import annotations

from collections.abc import Mapping

import pytest

from fakes.roots import root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope
from prjury.judges.builds.systems.python import plans

BECAUSE = "packages that the change touches, and those that depend on them"
PYTEST = "python3 -m pytest -q"
UV = "uv run --frozen pytest -q"
LOCK = '[[package]]\nname = "pytest"\n'


def project(name: str, *needs: str, more: str = "") -> str:
    listed = ", ".join(f'"{one}"' for one in needs)
    return f'[project]\nname = "{name}"\ndependencies = [{listed}]\n{more}'


def plan_of(files: Mapping[str, str], *paths: str) -> BuildPlan:
    (plan,) = plans(root_of(files), touching(*paths) if paths else None)
    return plan


@pytest.mark.parametrize(
    ("more", "command"),
    [
        ("", UV),
        ('[dependency-groups]\ndev = ["pytest"]\n', UV),
        (
            '[dependency-groups]\nTest_1 = ["pytest>=8"]\n',
            "uv run --frozen --group Test_1 pytest -q",
        ),
        ('[dependency-groups]\nt = ["pytest"]\n[tool.uv]\ndefault-groups = ["t"]\n', UV),
        ('[dependency-groups]\nt = ["pytest"]\n[tool.uv]\ndefault-groups = "all"\n', UV),
        ('[dependency-groups]\nt = [{include-group = "x"}]\n', UV),
        (
            "[project.optional-dependencies]\ntest = [\"PyTest [x] ; python_version>'3'\"]\n",
            "uv run --frozen --extra test pytest -q",
        ),
        ('[project.optional-dependencies]\n"--x" = ["pytest"]\n', UV),
        ('[tool.uv]\ndev-dependencies = ["pytest"]\n[dependency-groups]\nt = ["pytest"]\n', UV),
    ],
)
def test_uv_is_told_where_pytest_comes_from(more: str, command: str) -> None:
    files = {"uv.lock": LOCK, "pyproject.toml": project("p", more=more), "test_a.py": ""}
    plan = plan_of(files)
    assert plan.text == command
    assert (plan.reported, plan.all_ran, plan.scope) == (True, 1, BuildScope())


def test_uv_comes_before_tox_which_is_named() -> None:
    files = {"uv.lock": LOCK, "tox.ini": "[tox]\n", "test_a.py": ""}
    plan = plan_of(files)
    assert (plan.system, plan.notes) == ("uv", ("tox.ini configures tox, which is not run",))


def test_an_environment_from_a_lock_file_comes_before_tox_too() -> None:
    files = {"poetry.lock": "", "tox.ini": "[tox]\n", "test_a.py": ""}
    plan = plan_of(files)
    assert (plan.system, plan.notes) == ("pytest", ("tox.ini configures tox, which is not run",))
    assert plan_of({"poetry.lock": "", "tox.ini": "[tox]\n"}).system == "tox"


def test_tox_comes_before_a_mere_compilation() -> None:
    assert plan_of({"uv.lock": LOCK, "tox.ini": "[tox]\n"}).system == "tox"
    plan = plan_of({"uv.lock": LOCK, "pyproject.toml": project("p")})
    assert plan.text == "uv sync --frozen && python3 -m compileall -q -x '/\\.venv/' ."
    assert plan.reasons == ("uv.lock is there", "no tests were found")


def test_a_single_project_is_one_module() -> None:
    files = {"pyproject.toml": project("p"), "tests/test_a.py": ""}
    assert plan_of(files, "p/a.py").scope == BuildScope()


# Projects below the root


def test_projects_below_the_root() -> None:
    files = {
        "app/pyproject.toml": project("app", more='[tool.uv.sources]\nlib = { path = "../lib" }\n'),
        "app/test_app.py": "",
        "lib/setup.py": "",
        "lib/tests/test_lib.py": "",
        "poet/pyproject.toml": '[tool.poetry.group.dev.dependencies]\nlib = { path = "../lib" }\n',
        "poet/test_poet.py": "",
        "other/tox.ini": "[tox]\n",
        "tooling/pyproject.toml": "[tool.ruff]\n",
        "tooling/test_x.py": "",
    }
    assert texts(plans(root_of(files), None)) == [
        f"cd app && {PYTEST}",
        f"cd lib && {PYTEST}",
        "cd other && tox --skip-missing-interpreters true",
        f"cd poet && {PYTEST}",
    ]
    found = plans(root_of(files), touching("lib/x.py"))
    assert [(plan.directory, plan.scope.because) for plan in found] == [
        ("app", "lib changes, on which it depends"),
        ("lib", ""),
        ("poet", "lib changes, on which it depends"),
    ]
    assert [plan.directory for plan in plans(root_of(files), touching("app/x.py"))] == ["app"]


def test_the_root_is_built_as_well_because_it_says_little_of_what_it_needs() -> None:
    files = {
        "pyproject.toml": project("p"),
        "tests/test_a.py": "",
        "sub/pyproject.toml": project("s"),
        "sub/test_b.py": "",
    }
    assert texts(plans(root_of(files), touching("sub/x.py"))) == [PYTEST, f"cd sub && {PYTEST}"]
    assert texts(plans(root_of(files), touching("x.py"))) == [PYTEST]


def test_tests_of_a_project_below_are_not_the_roots() -> None:
    files = {"pyproject.toml": "[tool.ruff]\n", "p/pyproject.toml": project("p"), "p/test_b.py": ""}
    assert [plan.system for plan in plans(root_of(files), None)] == ["python", "pytest"]


def test_below_a_project_of_uv_a_lock_is_not_asked_for() -> None:
    extra = '[project.optional-dependencies]\ndev = ["pytest"]\n'
    files = {
        "uv.lock": LOCK,
        "pyproject.toml": project("p"),
        "test_a.py": "",
        "x/pyproject.toml": project("x", more=extra + '[tool.uv.sources]\np = { path = ".." }\n'),
        "x/test_x.py": "",
        "y/pyproject.toml": project("y", "pytest"),
        "y/test_y.py": "",
        "z/setup.py": "",
        "z/test_z.py": "",
    }
    found = plans(root_of(files), None)
    assert texts(found) == [
        UV,
        "cd x && uv run --extra dev pytest -q",
        "cd y && uv run pytest -q",
        f"cd z && {PYTEST}",
    ]
    assert found[1].reasons == ("uv.lock is in the root", "test_x.py is a test")
    (root, x) = plans(root_of(files), touching("p.py"))
    assert (root.scope.because, x.scope.because) == ("", "the root changes, on which it depends")
    assert [plan.directory for plan in plans(root_of(files), touching("y/y.py"))] == ["", "y"]


def test_a_flat_package_belongs_to_the_root_of_a_workspace() -> None:
    files = {**MEMBERS, "pyproject.toml": ROOT.replace("root", "My.Root"), "test_top.py": ""}
    scopes = [plan.scope.modules for plan in plans(root_of(files), touching("my_root/x.py"))]
    assert scopes == [("my-root",)]


# Workspaces of uv

ROOT = project("root", more='[tool.uv.workspace]\nmembers = ["libs/*"]\nexclude = ["libs/out"]\n')
MEMBERS = {
    "uv.lock": LOCK,
    "pyproject.toml": ROOT,
    "libs/a/pyproject.toml": project("A_lib"),
    "libs/a/tests/test_x.py": "",
    "libs/b/pyproject.toml": project("b", "a-lib[extra]>=1"),
    "libs/b/tests/test_x.py": "",
    "libs/c/pyproject.toml": project("c", more='[dependency-groups]\ndev = ["b"]\n'),
    "libs/c/src/c.py": "",
    "libs/d/pyproject.toml": project("d", "B", "c"),
    "libs/d/test_d.py": "",
    "libs/out/pyproject.toml": project("out"),
    "libs/out/test_out.py": "",
}


def test_each_member_is_tested_where_it_is() -> None:
    found = plans(root_of(MEMBERS), None)
    assert texts(found) == [
        f"cd libs/a && {UV}",
        f"cd libs/b && {UV}",
        f"cd libs/d && {UV}",
        "cd libs/out && uv run --with pytest pytest -q",
    ]
    assert {plan.scope for plan in found} == {BuildScope()}


def test_the_members_that_a_change_affects() -> None:
    found = plans(root_of(MEMBERS), touching("libs/b/src/b.py"))
    assert [(plan.directory, plan.scope) for plan in found] == [
        ("libs/b", BuildScope(("b",), BECAUSE)),
        ("libs/d", BuildScope(("d",), BECAUSE)),
    ]
    every = plans(root_of(MEMBERS), touching("libs/a/src/a.py"))
    assert [plan.scope.modules for plan in every] == [("a-lib",), ("b",), ("d",)]


@pytest.mark.parametrize(
    ("path", "because"),
    [
        ("uv.lock", "uv.lock belongs to no single package"),
        ("ruff.toml", "ruff.toml belongs to no single package"),
        ("pyproject.toml", "pyproject.toml changes, and with it the dependencies between packages"),
        (
            "libs/a/pyproject.toml",
            "libs/a/pyproject.toml changes, and with it the dependencies between packages",
        ),
    ],
)
def test_everything(path: str, because: str) -> None:
    found = plans(root_of(MEMBERS), touching(path, "libs/d/x.py"))
    assert [plan.directory for plan in found] == ["libs/a", "libs/b", "libs/d"]
    assert {plan.scope for plan in found} == {BuildScope(because=because)}


def test_everything_where_nothing_affected_has_tests() -> None:
    files = {path: text for path, text in MEMBERS.items() if path != "libs/d/test_d.py"}
    found = plans(root_of(files), touching("libs/c/src/c.py"))
    assert [plan.directory for plan in found] == ["libs/a", "libs/b"]
    assert {plan.scope.because for plan in found} == {
        "the change affects no package that has tests"
    }


def test_the_roots_own_tests_leave_the_members_out() -> None:
    files = {**MEMBERS, "tests/test_all.py": "", "test_top.py": "", "src/root.py": ""}
    (root, *_) = plans(root_of(files), None)
    assert (root.directory, root.text) == ("", f"{UV} test_top.py tests")
    assert plans(root_of(files), touching("src/root.py"))[0].scope == BuildScope(("root",), BECAUSE)
    between = plans(root_of({**files, "libs/test_libs.py": ""}), None)[0]
    ignored = " ".join(f"--ignore=libs/{name}" for name in ["a", "b", "c", "d", "out"])
    assert between.text == f"{UV} {ignored}"


@pytest.mark.parametrize(
    ("changed", "because"),
    [
        ({"libs/a/pyproject.toml": "["}, "libs/a/pyproject.toml cannot be read"),
        ({"libs/a/pyproject.toml": "[tool.x]\n"}, "libs/a/pyproject.toml cannot be read"),
        (
            {"libs/a/pyproject.toml": '[project]\nname = "a"\ndynamic = ["dependencies"]\n'},
            "libs/a/pyproject.toml computes its dependencies",
        ),
        (
            {"pyproject.toml": "[tool.uv.workspace]\nmembers = 3\n"},
            "the workspace in pyproject.toml cannot be read",
        ),
        (
            {"pyproject.toml": '[tool.uv.workspace]\nmembers = ["+(a)"]\n'},
            "the patterns in pyproject.toml are not understood",
        ),
    ],
)
def test_a_workspace_that_cannot_be_read_is_one_build(
    changed: dict[str, str], because: str
) -> None:
    files = {**MEMBERS, **changed, "pytest.ini": ""}
    plan = plans(root_of(files), touching("libs/d/x.py"))[0]
    assert (plan.directory, plan.text, plan.scope) == ("", UV, BuildScope(because=because))


# Workspaces whose root configures pytest

TOGETHER = {**MEMBERS, "pytest.ini": "[pytest]\n"}
ALL = "uv run --frozen --all-packages pytest -q -c pytest.ini"


def test_pytest_runs_once_where_the_root_configures_it() -> None:
    found = plans(root_of(TOGETHER), None)
    assert texts(found) == [ALL, "cd libs/out && uv run --with pytest pytest -q"]
    plan = plans(root_of(TOGETHER), touching("libs/b/src/b.py"))[0]
    assert plan.text == f"{ALL} libs/b libs/d"
    assert plan.scope == BuildScope(("b", "c", "d"), BECAUSE)


def test_tests_of_no_member_are_always_run() -> None:
    files = {**TOGETHER, "tests/test_all.py": "", "test_top.py": "", "scripts/x.py": ""}
    plan = plans(root_of(files), touching("libs/d/x.py"))[0]
    assert plan.text == f"{ALL} libs/d test_top.py tests"


def test_a_directory_is_no_option() -> None:
    files = {**TOGETHER, "-kx/test_all.py": "", "-k_test.py": ""}
    plan = plans(root_of(files), touching("libs/d/x.py"))[0]
    assert plan.text == f"{ALL} ./-k_test.py ./-kx libs/d"


def test_the_paths_that_the_configuration_names() -> None:
    paths = "[pytest]\ntestpaths = libs/*/tests\n    integration\n"
    files = {**TOGETHER, "pytest.ini": paths, "integration/test_i.py": ""}
    plan = plans(root_of(files), touching("libs/b/x.py"))[0]
    assert plan.text == f"{ALL} integration libs/b/tests"
    above = {**TOGETHER, "pytest.ini": "[pytest]\ntestpaths = libs\n"}
    assert plans(root_of(above), touching("libs/b/x.py"))[0].text == f"{ALL} libs/b libs/d"


def test_the_names_of_tests_are_as_the_configuration_has_them() -> None:
    ini = "[pytest]\npython_files = tests.py\n"
    files = {**TOGETHER, "pytest.ini": ini, "libs/d/tests.py": "", "tests.py": ""}
    plan = plans(root_of(files), touching("libs/b/x.py"))[0]
    assert plan.text == f"{ALL} libs/d tests.py"


def test_everything_where_no_affected_place_has_tests() -> None:
    files = {path: text for path, text in TOGETHER.items() if path != "libs/d/test_d.py"}
    plan = plans(root_of(files), touching("libs/c/src/c.py"))[0]
    assert plan.text == ALL
    assert plan.scope.because == "the change affects no package that has tests"


@pytest.mark.parametrize(
    ("files", "system"),
    [
        ({"calc/core.py": "", "tests/test_core.py": "import unittest\n"}, "pytest"),
        ({"calc/core.py": "", "calc/tests.py": "import unittest\n"}, "unittest"),
        ({"calc/core.py": "", "tests/core.py": "class T(unittest.TestCase): ...\n"}, "unittest"),
    ],
)
def test_tests_alone_make_a_project(files: Mapping[str, str], system: str) -> None:
    assert plan_of(files, "calc/core.py").system == system


@pytest.mark.parametrize("other", ["Makefile", "package.json", "CMakeLists.txt", "go.mod"])
def test_python_that_only_helps_another_project_is_none(other: str) -> None:
    files = {other: "", "tests/test_core.py": "import unittest\n"}
    assert plans(root_of(files), None) == ()
