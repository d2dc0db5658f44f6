from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from fakes.roots import plans_of, root_of
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.python import add_environment_and_install, make_install_command

PROJECT = '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "p"\n'
EXTRAS = "[project.optional-dependencies]\n"
UV = "uv pip install --quiet"
EXPORTED = '>"$HOME/requirements.txt" && uv pip install --quiet -r "$HOME/requirements.txt"'
POETRY = "uv tool run --quiet --with poetry-plugin-export poetry export --without-hashes"
OWN = " && uv pip install --quiet --no-deps -e ."


def prepared(files: Mapping[str, str]) -> BuildPlan:
    root = root_of({**files, "test_a.py": ""})
    (plan,) = plans_of("python", root)
    return add_environment_and_install(plan, root, "/bin")


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"pyproject.toml": "[tool.ruff]\n"}, ""),
        ({"pyproject.toml": PROJECT}, f"{UV} -e . pytest"),
        ({"setup.py": ""}, f"{UV} -e . pytest"),
        (
            {"pyproject.toml": f"[project]\nname = 'p'\n{EXTRAS}test = ['x']\n"},
            f"{UV} -r pyproject.toml --extra test pytest",
        ),
        (
            {"setup.py": "", "setup.cfg": "[options.extras_require]\ntests =\n  pytest\n[x]\n"},
            f"{UV} -e '.[tests]' pytest",
        ),
        (
            {"pyproject.toml": f'{PROJECT}{EXTRAS}test = ["pytest"]\ndev = ["x"]\ndocs = ["y"]\n'},
            f"{UV} -e '.[test]' pytest",
        ),
        (
            {"pyproject.toml": f'{PROJECT}[dependency-groups]\ndev = ["pytest"]\ndocs = ["y"]\n'},
            f"{UV} -e . --group dev pytest",
        ),
        (
            {"requirements-dev.txt": "pytest\n", "requirements/tests.txt": "", "docs/r.txt": ""},
            f"{UV} -r requirements-dev.txt -r requirements/tests.txt pytest",
        ),
        (
            {
                "poetry.lock": "",
                "pyproject.toml": '[build-system]\nrequires = ["x"]\n[tool.poetry]\nname = "p"\n'
                "[tool.poetry.group.test.dependencies]\npytest = '*'\n"
                "[tool.poetry.group.docs]\noptional = true\n",
            },
            f"{POETRY} --all-groups {EXPORTED}{OWN}",
        ),
        (
            {"setup.py": "setup(extras_require={'docs': ['x'], 'test': ['y']})"},
            f"{UV} -e '.[test]' pytest",
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
    assert make_install_command(root_of(files)) == command


def test_without_a_declaration_the_plan_stays_as_it_is() -> None:
    (plan,) = plans_of("python", root_of({"test_a.py": ""}))
    assert add_environment_and_install(plan, root_of({"test_a.py": ""}), "/bin") == plan
    other = replace(plan, system="cargo")
    assert add_environment_and_install(other, root_of({"setup.py": ""}), "/bin") == other


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ("", ""),
        ('[dependency-groups]\ndev = ["pytest"]\n', ""),
        ('[dependency-groups]\ncheck = ["pytest>=8"]\n', " --group check"),
        (f'{EXTRAS}test = ["idna"]\n', " --extra test"),
        (
            f'{EXTRAS}test = ["idna"]\nhttp = ["x"]\n',
            " --all-extras || uv sync --frozen --extra test",
        ),
        (f'{EXTRAS}all = ["PyTest [x]"]\n', " --all-extras || uv sync --frozen"),
        ('[tool.uv.workspace]\nmembers = ["x"]\n[tool.pytest]\n', " --all-packages"),
    ],
)
def test_uv_is_told_what_to_install(more: str, options: str) -> None:
    lock = '[[package]]\nname = "pytest"\n'
    plan = prepared({"uv.lock": lock, "pyproject.toml": f"[project]\nname = 'p'\n{more}"})
    assert plan.text == f"uv sync --frozen{options} && uv run --no-sync pytest -q"
