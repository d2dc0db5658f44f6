from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.roots import plans_of, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.python import explain_pytest, read_tox

PYTEST = "python3 -m pytest -q"
UV = "uv run --no-sync pytest -q"
LOCK = '[[package]]\nname = "pytest"\n'
PROJECT = '[project]\nname = "p"\n'
ODD = "python3 -m pytest -q -o 'python_files=test*.py *_tests.py'"
PASSES = "import unittest\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"
DJANGO = {"manage.py": "import django\n", "app/__init__.py": "", "app/tests.py": ""}


def plan_of(files: Mapping[str, str]) -> BuildPlan:
    (plan,) = plans_of("python", root_of(files))
    return plan


@pytest.mark.parametrize(
    ("files", "system", "text"),
    [
        ({"test_a.py": ""}, "pytest", PYTEST),
        ({"uv.lock": LOCK, "test_a.py": "", "tox.ini": "[tox]\n"}, "uv", UV),
        ({"uv.lock": "", "test_a.py": ""}, "uv", "uv run --no-sync --with pytest pytest -q"),
        ({"uv.lock": LOCK, "tox.ini": "[tox]\n"}, "tox", "tox -e py"),
        ({"uv.lock": LOCK, "pyproject.toml": PROJECT}, "uv", None),
        ({"poetry.lock": "", "tox.ini": "[tox]\n", "test_a.py": ""}, "pytest", PYTEST),
        ({"poetry.lock": "", "tox.ini": "[tox]\n"}, "tox", "tox -e py"),
        ({"tox.ini": "[testenv]\ncommands = pip-compile x\n", "test_a.py": ""}, "pytest", PYTEST),
        ({"tox.ini": "[testenv]\ncommands = trial p\n", "test_a.py": ""}, "tox", "tox -e py"),
        ({"noxfile.py": "def tests(session):\n    ...\n", "test_a.py": ""}, "pytest", PYTEST),
        ({"calc/core.py": "", "tests/test_core.py": "import unittest\n"}, "pytest", PYTEST),
        ({"a.py": ""}, "python", None),
        # Django's own runner, where nothing else is asked
        (DJANGO, "django", "python3 manage.py test"),
        ({**DJANGO, "uv.lock": ""}, "uv", "uv run --no-sync python manage.py test"),
        ({**DJANGO, "manage.py": "print()\n"}, "python", None),
        ({"manage.py": "import django\n", "app/__init__.py": ""}, "python", None),
        ({**DJANGO, "app/test_x.py": ""}, "pytest", PYTEST),
        ({**DJANGO, "pytest.ini": ""}, "pytest", PYTEST),
        ({**DJANGO, "tox.ini": "[tox]\n"}, "tox", "tox -e py"),
        # names of tests that pytest does not know, where no others are there
        ({"tests.py": PASSES}, "pytest", ODD),
        ({"a.py": "", "app/__init__.py": "", "app/tests.py": PASSES}, "pytest", ODD),
        ({"a.py": "", "src/p/__init__.py": "", "src/p/core_tests.py": PASSES}, "pytest", ODD),
        ({"tests.py": PASSES, "test_a.py": ""}, "pytest", PYTEST),
        ({"tests.py": PASSES, "pytest.ini": "[pytest]\n"}, "pytest", PYTEST),
        ({"tests.py": PASSES, "setup.cfg": "[tool:pytest]\n"}, "pytest", PYTEST),
        ({"tests.py": PASSES, "tox.ini": "[tox]\n"}, "tox", "tox -e py"),
        # what holds no tests is compiled
        ({"a.py": "", "app/tests.py": "x = 1\n"}, "python", None),
        ({"a.py": "", "testing.py": "from unittest import mock\n"}, "python", None),
        ({"a.py": "", "tests/fixtures/tests.py": PASSES}, "python", None),
        ({"a.py": "", "node_modules/a/tests.py": PASSES}, "python", None),
        ({"a.py": "", ".hidden/tests.py": PASSES}, "python", None),
        ({"a.py": "", "my-tests.py": PASSES}, "python", None),
    ],
)
def test_what_runs_the_tests(files: Mapping[str, str], system: str, text: str | None) -> None:
    plan = plan_of(files)
    assert (plan.system, plan.tests) == (system, text is not None)
    assert plan.text == text if text else "compileall" in plan.text
    assert plan.steps[-1].all_ran == (1 if text and system != "tox" else None)


def test_tests_of_a_project_below_are_its_own() -> None:
    for name, system in {"tests.py": "pytest", "other.py": "python"}.items():
        files = {"a.py": "", "sub/setup.py": "", f"sub/{name}": PASSES}
        assert [plan.system for plan in plans_of("python", root_of(files))] == ["python", system]
    django = {f"web/{path}": text for path, text in DJANGO.items()}
    assert texts(plans_of("python", root_of(django))) == ["cd web && python3 manage.py test"]


def test_projects_below_the_root() -> None:
    files = {
        "app/pyproject.toml": PROJECT,
        "app/test_app.py": "",
        "lib/setup.py": "",
        "lib/tests/test_lib.py": "",
        "other/tox.ini": "[tox]\n",
        "tooling/pyproject.toml": "[tool.ruff]\n",
        "tooling/test_x.py": "",
    }
    assert texts(plans_of("python", root_of(files))) == [
        f"cd app && {PYTEST}",
        f"cd lib && {PYTEST}",
        "cd other && tox -e py",
    ]
    rooted = {**files, "pyproject.toml": PROJECT, "test_root.py": ""}
    found = plans_of("python", root_of(rooted), touching("app/x.py"))
    assert [plan.directory for plan in found] == ["", "app"]


WORKSPACE = {
    "uv.lock": LOCK,
    "pyproject.toml": '[dependency-groups]\ndev = ["pytest"]\n'
    '[tool.uv.workspace]\nmembers = ["libs/*"]\nexclude = ["libs/out"]\n',
    "libs/a/pyproject.toml": PROJECT,
    "libs/a/tests/test_x.py": "",
    "libs/b/pyproject.toml": PROJECT,
    "libs/b/x.py": "",
    "libs/d/pyproject.toml": PROJECT,
    "libs/d/test_d.py": "",
}


def test_each_member_of_a_workspace_is_tested_where_it_is() -> None:
    assert texts(plans_of("python", root_of(WORKSPACE))) == [
        f"cd libs/a && {UV}",
        f"cd libs/d && {UV}",
    ]
    own = {**WORKSPACE, "tests/test_all.py": "", "libs/out/pyproject.toml": PROJECT}
    ignored = " ".join(f"--ignore=libs/{name}" for name in "abd")
    commands = texts(plans_of("python", root_of(own), touching("tests/x")))
    assert commands == [f"{UV} {ignored}", f"cd libs/a && {UV}", f"cd libs/d && {UV}"]


def test_pytest_runs_once_where_the_root_of_a_workspace_configures_it() -> None:
    together = plan_of({**WORKSPACE, "pytest.ini": "[pytest]\n"})
    assert (together.directory, together.text) == ("", UV)


@pytest.mark.parametrize("other", ["Makefile", "package.json", "CMakeLists.txt", "go.mod"])
def test_python_that_only_helps_another_project_is_none(other: str) -> None:
    files = {other: "", "tests/test_core.py": "import unittest\n"}
    assert plans_of("python", root_of(files)) == ()


# Names of tests that only Python's own runner knows, really run

TREE = {
    "core.py": "VALUE = 1\n",
    "app/__init__.py": "",
    "app/tests.py": "import core\n" + PASSES,
    "src/lib/__init__.py": "",
    "src/lib/x_tests.py": "import lib, core\n" + PASSES,
    "tests/__init__.py": "",
    "tests/deep/__init__.py": "",
    "tests/deep/tests.py": "import core, app\n" + PASSES,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "failing", [None, "app/tests.py", "src/lib/x_tests.py", "tests/deep/tests.py"]
)
def test_every_test_is_really_found(tmp_path: Path, failing: str | None) -> None:
    files = {**TREE, failing: TREE[failing].replace("pass\n", "self.fail()\n")} if failing else TREE
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    plan = plan_of(files)
    done = [
        subprocess.run(
            ["/bin/sh", "-c", step.text.replace("python3", sys.executable)],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )
        for step in plan.steps
    ]  # fmt: skip
    assert f"{2 if failing else 3} passed" in done[0].stdout
    assert max(one.returncode for one in done) == (1 if failing else 0)


# pytest's settings


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"pytest.ini": ""}, "pytest.ini configures pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pyproject.toml configures pytest"),
        ({"setup.cfg": "[tool:pytest]\n"}, "setup.cfg configures pytest"),
        ({"tox.ini": "[pytest]\r\n"}, "tox.ini configures pytest"),
        ({"a/test_x.py": ""}, "a/test_x.py is a test"),
        ({"a/x_test.py": ""}, "a/x_test.py is a test"),
        ({"a/test_x.txt": "", "a/tests.py": "", "attest_x.py": "", "tox.ini": "[tox]\n"}, None),
        ({"other/test_x.py": ""}, None),
    ],
)
def test_signs_of_tests(files: dict[str, str], reason: str | None) -> None:
    assert explain_pytest(root_of(files), frozenset({"other"})) == reason


# tox


@pytest.mark.parametrize(
    ("listed", "name"),
    [
        ("", "py"),
        ("envlist = lint, docs", "py"),
        ("envlist = lint, tests, docs, build", "tests"),
        ("envlist = py310,py311", "py"),
        ("env_list =\n    lint\n    py3{10,11}-tests  # x\n    docs", "py-tests"),
        ("envlist = py{310, 311}-{default,chardet}", "py-chardet"),
        ("envlist = py{310,311}-dj{4.2,5.0}", "py-dj5.0"),
        ("envlist =\n  py311-a\n  py311{,-a}-mypy", "py-a"),
        ("envlist = 3.11-tests", "py-tests"),
    ],
)
def test_one_environment_of_tox_is_run(listed: str, name: str) -> None:
    plan = plan_of({"tox.ini": f"[tox]\n{listed}\n"})
    assert plan.text == f"tox -e {name}"
    assert plan.notes == (f"of tox's environments, `{name}` is run, with the Python that is here",)
    assert plan.env["TOX_OVERRIDE"].endswith(";testenv.ignore_errors=true")


@pytest.mark.parametrize(
    ("files", "base", "own", "listed"),
    [
        (
            {"tox.ini": "[tox]\nenvlist=a\n[testenv:x]\npassenv=A\n[testenv:y]\n"},
            "testenv", ("testenv:x",), ("a",),
        ),
        ({"setup.cfg": "[tox:tox]\nenvlist = a,b\n"}, "testenv", (), ("a", "b")),
        (
            {"pyproject.toml": "[tool.tox]\nlegacy_tox_ini = '''\n  [tox]\n  envlist = py39\n'''"},
            "testenv", (), ("py39",),
        ),
        (
            {"pyproject.toml": '[tool.tox]\nenv_list = ["a"]\n[tool.tox.env.x]\npass_env = []\n'},
            "tool.tox.env_run_base", ("tool.tox.env.x",), ("a",),
        ),
        ({"tox.toml": 'env_list = ["3.12", {}]\n'}, "env_run_base", (), ("3.12",)),
        ({"tox.toml": "["}, "env_run_base", (), ()),
    ],
)  # fmt: skip
def test_the_settings_of_tox(
    files: dict[str, str], base: str, own: tuple[str, ...], listed: tuple[str, ...]
) -> None:
    settings = read_tox(root_of(files))
    assert settings
    assert (settings.base, settings.environments, settings.listed) == (base, own, listed)
    overridden = settings.overrides.split(";")
    assert overridden[: len(own) + 1] == [f"{one}.pass_env+=PYTEST_ADDOPTS" for one in (base, *own)]
    assert overridden[-1] == f"{base}.ignore_errors=true"


@pytest.mark.parametrize(
    ("commands", "tests"),
    [
        ("pytest {posargs}", True),
        ("py: {envpython} -m unittest", True),
        ("python run/tests.py", True),
        ("make check", True),
        ("pip-compile --upgrade\n  git diff", False),
        ("sphinx-build docs out", False),
    ],
)
def test_an_environment_that_tests_nothing_is_no_test(commands: str, tests: bool) -> None:
    settings = read_tox(root_of({"tox.ini": f"[testenv]\ncommands =\n  {commands}\n"}))
    assert settings
    assert settings.tests is tests
    listed = ", ".join(f'"{word}"' for word in commands.split())
    settings = read_tox(root_of({"tox.toml": f"[env.a]\ncommands = [[{listed}]]\n"}))
    assert settings
    assert settings.tests is tests
