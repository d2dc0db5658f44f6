from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.roots import plans_of, root_of, texts
from prjury.judges.builds.plan import BuildPlan

MANAGE = "import django.core.management\n"
CASE = "import unittest\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        {}\n"
PASSES, FAILS = CASE.format("pass"), CASE.format("self.fail()")
PYTEST = "python3 -m pytest -q -o 'python_files=test*.py *_tests.py'"


def plan_of(files: Mapping[str, str]) -> BuildPlan:
    (plan,) = plans_of("python", root_of(files))
    return plan


# Django


def test_django_below_the_root() -> None:
    files = {
        "web/manage.py": MANAGE,
        "web/app/__init__.py": "",
        "web/app/tests.py": "",
        "compose.yml": "",
    }
    assert texts(plans_of("python", root_of(files))) == ["cd web && python3 manage.py test"]


@pytest.mark.parametrize(
    ("changed", "system"),
    [
        ({"manage.py": "print()\n"}, "python"),
        ({"app/tests.py": None}, "python"),
        ({"app/test_x.py": ""}, "pytest"),
        ({"pytest.ini": ""}, "pytest"),
        ({"tox.ini": "[tox]\n"}, "tox"),
        ({"uv.lock": ""}, "uv"),
    ],
)
def test_where_django_is_not_asked(changed: dict[str, str | None], system: str) -> None:
    files: dict[str, str | None] = {"manage.py": MANAGE, "app/__init__.py": "", "app/tests.py": ""}
    plan = plan_of({path: text for path, text in {**files, **changed}.items() if text is not None})
    assert plan.system == system
    assert plan.tests is (system != "python")


def test_a_django_project_of_uv_runs_in_its_environment() -> None:
    files = {"uv.lock": "", "manage.py": MANAGE, "a/__init__.py": "", "a/tests.py": ""}
    assert plan_of(files).text == "uv run --no-sync python manage.py test"


# Tests of Python's own runner, which pytest runs as well


@pytest.mark.parametrize(
    "files",
    [
        {"tests.py": PASSES},
        {"a.py": "", "app/__init__.py": "", "app/tests.py": PASSES},
        {"a.py": "", "src/p/__init__.py": "", "src/p/core_tests.py": PASSES},
    ],
)
def test_names_of_tests_that_pytest_does_not_know(files: dict[str, str]) -> None:
    plan = plan_of(files)
    assert (plan.system, plan.text, plan.steps[-1].all_ran) == ("pytest", PYTEST, 1)
    assert plan.tests


@pytest.mark.parametrize(
    "files",
    [
        {"app/tests.py": "x = 1\n"},
        {"testing.py": "from unittest import mock\n"},
        {"tests/fixtures/tests.py": PASSES},
        {"node_modules/a/tests.py": PASSES},
        {".hidden/tests.py": PASSES},
        {"my-tests.py": PASSES},
        {"sub/setup.py": "", "sub/other.py": PASSES},
    ],
)
def test_what_holds_no_tests_is_compiled(files: dict[str, str]) -> None:
    plan = plans_of("python", root_of({"a.py": "", **files}))[0]
    assert (plan.system, plan.tests) == ("python", False)


def test_tests_of_a_project_below_are_its_own() -> None:
    files = {"a.py": "", "sub/setup.py": "", "sub/tests.py": PASSES}
    assert [plan.system for plan in plans_of("python", root_of(files))] == ["python", "pytest"]


@pytest.mark.parametrize(
    ("changed", "system"),
    [
        ({"test_a.py": ""}, "pytest"),
        ({"pytest.ini": "[pytest]\npython_files = tests.py\n"}, "pytest"),
        ({"setup.cfg": "[tool:pytest]\n"}, "pytest"),
        ({"tox.ini": "[tox]\n"}, "tox"),
    ],
)
def test_others_come_first(changed: dict[str, str], system: str) -> None:
    assert plan_of({"tests.py": PASSES, **changed}).system == system


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
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        for step in plan.steps
    ]
    assert f"{2 if failing else 3} passed" in done[0].stdout
    assert max(one.returncode for one in done) == (1 if failing else 0)
