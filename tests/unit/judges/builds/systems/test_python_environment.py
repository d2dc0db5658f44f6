from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.roots import root_of
from prjury.judges.builds.lent_tools import lend_tools, version_of
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.python import plans
from prjury.judges.builds.systems.python_environment import (
    PythonEnvironment,
    tox_environment,
    with_environment,
)

PROJECT = '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "p"\n'
UV = "uv pip install --quiet"
EXPORTED = '>"$HOME/requirements.txt" && uv pip install --quiet -r "$HOME/requirements.txt"'
POETRY = "uv tool run --quiet --with poetry-plugin-export poetry export --without-hashes"
HERE = """$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"""
OWN = " && uv pip install --quiet --no-deps -e ."


def prepared(files: Mapping[str, str]) -> BuildPlan:
    root = root_of({**files, "test_a.py": ""})
    (plan,) = plans(root, None)
    return with_environment(plan, root, "/bin")


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"pyproject.toml": "[tool.ruff]\n"}, ""),
        ({"pyproject.toml": PROJECT}, f"{UV} -e . pytest"),
        ({"setup.py": ""}, f"{UV} -e . pytest"),
        (
            {
                "pyproject.toml": "[project]\nname = 'p'\n"
                "[project.optional-dependencies]\ntest = ['x']\n"
            },
            f"{UV} -r pyproject.toml --extra test pytest",
        ),
        (
            {"setup.py": "", "setup.cfg": "[options.extras_require]\ntests =\n  pytest\n[x]\n"},
            f"{UV} -e '.[tests]' pytest",
        ),
        (
            {
                "pyproject.toml": PROJECT
                + '[project.optional-dependencies]\ntest = ["pytest"]\ndev = ["x"]\ndocs = ["y"]\n'
            },
            f"{UV} -e '.[test]' pytest",
        ),
        (
            {"pyproject.toml": PROJECT + '[dependency-groups]\ndev = ["pytest"]\ndocs = ["y"]\n'},
            f"{UV} -e . --group dev pytest",
        ),
        (
            {"requirements-dev.txt": "pytest\n", "requirements/tests.txt": "", "docs/r.txt": ""},
            f"{UV} -r requirements-dev.txt -r requirements/tests.txt pytest",
        ),
        (
            {
                "pyproject.toml": PROJECT
                + '[tool.hatch.envs.hatch-test]\nextra-dependencies = ["trio", "-e x"]\n'
            },
            f"{UV} -e . trio pytest-mock pytest",
        ),
        (
            {
                "poetry.lock": "",
                "pyproject.toml": '[build-system]\nrequires = ["x"]\n[tool.poetry]\nname = "p"\n'
                "[tool.poetry.group.test.dependencies]\npytest = '*'\n"
                "[tool.poetry.group.docs]\noptional = true\n",
            },
            f"{POETRY} --with test {EXPORTED}{OWN}",
        ),
        (
            {"setup.py": "setup(extras_require={'docs': ['x'], 'test': ['y']})"},
            f"{UV} -e '.[test]' pytest",
        ),
        (
            {"setup.py": "setup(\n tests_require=['mock', \"six>=1\", 'z @ https://z.dev'])"},
            f"{UV} -e . mock 'six>=1' pytest",
        ),
        (
            {
                "setup.py": "",
                "t.txt": "",
                "noxfile.py": "@nox.session\ndef docs(session):\n    session.install('sphinx')\n"
                "def unit_tests(session):\n    session.install('-r', 't.txt', 'mock', 'ruff')\n"
                "    session.install('.[x]', '--find-links', 'y')\n",
            },
            f"{UV} -e . -r t.txt mock -e '.[x]' pytest",
        ),
        (
            {"pdm.lock": "", "pyproject.toml": PROJECT},
            f"uv tool run --quiet pdm export --format requirements --no-hashes {EXPORTED}{OWN}",
        ),
        (
            {"Pipfile": "", "Pipfile.lock": ""},
            f"uv tool run --quiet pipenv requirements --dev {EXPORTED}",
        ),
    ],
)
def test_what_a_project_declares_is_installed(files: Mapping[str, str], command: str) -> None:
    assert PythonEnvironment(root_of(files), with_pytest=True).command == command


def test_tests_run_with_the_python_of_their_own_environment() -> None:
    plan = prepared({"pyproject.toml": PROJECT})
    assert [step.name for step in plan.steps] == ["setup", "setup", "test"]
    assert plan.env["PATH"] == "{home}/venv/bin:/bin"
    assert plan.env["VIRTUAL_ENV"] == "{home}/venv"
    assert plan.reasons[-1] == "pyproject.toml says what is installed"
    assert plan.notes == ("the project declares no pytest, so the newest one is installed",)
    assert plan.programs == ("uv",)


@pytest.mark.parametrize(
    ("line", "installed"),
    [
        ("cd x && python -m pip install -U pip setuptools pytest 'mock>=2'", "pytest 'mock>=2' "),
        ("pip install -e .[dev] -r ci.txt -r none.txt -c x.txt flake8", "-e '.[dev]' -r ci.txt "),
        ("pip install git+https://x.dev/y $Z; rm -r x", ""),
        ("pip install 'unclosed", ""),
        ("pip install pytest", ""),
    ],
)
def test_what_the_ci_installs_counts_where_nothing_is_declared(line: str, installed: str) -> None:
    root = root_of({"test_a.py": "", "setup.py": "", "ci.txt": ""})
    (plan,) = plans(root, None)
    found = with_environment(plan, root, "/bin", [line])
    assert found.steps[1].text == f"{UV} -e . {installed}pytest"
    if installed:
        assert found.notes[-1].startswith("installed for the tests as its scripts or its CI do: ")
    declared = root_of({"test_a.py": "", "setup.py": "", "requirements-dev.txt": ""})
    kept = with_environment(plan, declared, "/bin", [line])
    assert kept.steps[1].text == f"{UV} -e . -r requirements-dev.txt pytest"


def test_without_a_declaration_the_plan_stays_as_it_is() -> None:
    (plan,) = plans(root_of({"test_a.py": ""}), None)
    assert with_environment(plan, root_of({"test_a.py": ""}), "/bin") == plan
    other = replace(plan, system="cargo")
    assert with_environment(other, root_of({"setup.py": ""}), "/bin") == other


def test_a_version_from_git_is_told_to_the_installation_alone() -> None:
    plan = prepared({"pyproject.toml": PROJECT + "[tool.hatch-vcs]\n"})
    start = 'export SETUPTOOLS_SCM_PRETEND_VERSION="$PRJURY_VERSION" && '
    assert plan.steps[1].text.startswith(start)
    assert plan.env["PRJURY_VERSION"] == "{version}"
    assert "SETUPTOOLS_SCM_PRETEND_VERSION" not in plan.env
    locked = prepared({"uv.lock": "", "setup.cfg": "setuptools_scm", "pyproject.toml": PROJECT})
    assert locked.env["SETUPTOOLS_SCM_PRETEND_VERSION"] == "{version}"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"tox.ini": "[tox]\n"}, ""),
        ({"tox.ini": "[tox]\nenvlist = lint, docs\n"}, ""),
        ({"tox.ini": "[tox]\nenvlist = lint, tests, docs, build\n"}, "tests"),
        ({"tox.ini": "[tox]\nenvlist = py310,py311\n"}, "py"),
        ({"tox.ini": "[tox]\nenv_list =\n    lint\n    py3{10,11}-tests\n    docs\n"}, "py-tests"),
        ({"tox.ini": "[tox]\nenvlist = py{310,311}-{default,chardet}\n"}, "py-default"),
        ({"tox.ini": "[tox]\nenvlist = py{310,311}-dj{4.2,5.0}\n"}, "py-dj5.0"),
        ({"tox.ini": "[tox]\nenvlist =\n  py311-a\n  py311{,-a}-mypy\n"}, "py-a"),
        ({"tox.ini": "[tox]\nenvlist = py{310,311}-{unit,mypy,lint}\n"}, "py-unit"),
        (
            {"pyproject.toml": "[tool.tox]\nlegacy_tox_ini = '''\n  [tox]\n  envlist = py39\n'''"},
            "py",
        ),
        (
            {
                "tox.ini": "[tox]\nenvlist = py311-{a,b}\n[testenv]\ncommands =\n"
                "    a: pytest tests {posargs}\n    b: sphinx-build docs out\n"
            },
            "py-a",
        ),
        (
            {
                "tox.ini": "[tox]\nenvlist = py311-x3,py311-xdev\n[testenv]\ndeps =\n"
                "    pytest\n    xdev: https://x.dev/main.zip\n"
            },
            "py-x3",
        ),
        ({"tox.toml": 'env_list = ["fix", "3.12", "py312"]\n'}, "py"),
        ({"pyproject.toml": '[tool.tox]\nenv_list = ["py39-a", "py39"]\n'}, "py"),
        ({"tox.ini": "[tox]\nenvlist = py,pypy3\n"}, "py"),
        (
            {"tox.ini": "[tox]\nenvlist = lint, 3.1{0-5}-{tests,mypy}, docs-{a,b}\n"},
            HERE + "-tests",
        ),
        (
            {"tox.toml": 'env_list = ["fix", {product = [{prefix = "3.", start = 9, stop = 15}]}]'},
            HERE,
        ),
        (
            {"tox.toml": 'env_list = [{product = [{prefix = "py3", start = 9}, ["a", "b"]]}]'},
            "py-b",
        ),
        ({"tox.toml": 'env_list = ["3.9-$(id)"]\n'}, ""),
    ],
)
def test_one_environment_of_tox_is_run(files: Mapping[str, str], name: str) -> None:
    root = root_of(files)
    assert tox_environment(root) == name
    if name and "tox.ini" in files:
        (plan,) = plans(root, None)
        narrowed = with_environment(plan, root, "/bin")
        shown = f'"{name}"' if "$" in name else name
        assert narrowed.text == f"tox --skip-missing-interpreters true -e {shown}"
        assert narrowed.keep_going
        assert narrowed.keep_going.text == narrowed.text


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v1.2.3", "1.2.3"),
        ("release-2.0rc1", "2.0rc1"),
        ("", "0.1"),
        ("x{home}", "0.1"),
        ("26", "26"),
    ],
)
def test_the_version_in_a_tag(tag: str, version: str) -> None:
    assert version_of(tag) == version


def test_tools_are_lent_at_the_end_of_the_path(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    assert lend_tools(frozenset({"pytest"}), tmp_path / "lent", env) == env
    lent = lend_tools(frozenset({"tox"}), tmp_path / "lent", env)
    assert lent["PATH"] == os.pathsep.join([env["PATH"], str(tmp_path / "lent")])
    own = tmp_path / "own-uv"
    own.write_text("#!/bin/sh\necho lent uv: $@\n")
    own.chmod(0o755)
    script = tmp_path / "lent" / "uv"

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [script, "sync"], env={**lent, **more}, capture_output=True, text=True, check=False
        )

    assert run(PRJURY_UV=str(own)).stdout == "lent uv: sync\n"
    without = run()
    assert (without.returncode, without.stderr) == (127, "uv: command not found\n")


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"tox.ini": "[tox]\nenvlist =\n  py3{10-12}-dj{42,52}\n  py312-dj60\n"}, "py-dj52"),
        ({"tox.ini": "[tox]\nenvlist = py{39,311,312,313,314}-{a,b}\n"}, "py-b"),
        ({"tox.ini": "[tox]\nenvlist = py313-x,py314-y\n"}, "py-y"),
        ({"tox.ini": "[tox]\nenvlist = py{310,311,py310}-{x,nox}\n"}, "py-x"),
        (
            {"tox.toml": 'env_list = [{product = [{prefix = "3.", start = 9, stop = 15}, ["a"]]}]'},
            f"{HERE}-a",
        ),
    ],
)
def test_the_environment_of_the_interpreter_that_is_here_counts(
    files: Mapping[str, str], name: str
) -> None:
    assert tox_environment(root_of(files), "3.11") == name


def test_very_many_choices_are_not_followed() -> None:
    root = root_of({"tox.ini": f"[tox]\nenvlist = py311{'{a}' * 5_000}, py311\n"})
    assert tox_environment(root) == "py"


@pytest.mark.parametrize(
    ("path", "found"), [('["src"]', ("src",)), ('["."]', ("",)), ('["..", 1]', ()), ("1", ())]
)
def test_a_project_that_builds_itself_runs_its_code_in_set_up(
    path: str, found: tuple[str, ...]
) -> None:
    manifest = f'[build-system]\nrequires = []\nbackend-path = {path}\n[project]\nname = "a"\n'
    plan = prepared({"pyproject.toml": manifest})
    assert plan.set_up_code == found
