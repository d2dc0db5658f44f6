"""What is particular to pytest: settings that stop early, modules that do not load, no tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.builds.court import Court
from integration.builds.python import PYTEST
from integration.builds.sample import Tree
from prjury.jury.judgment import Status

OLD: Tree = {"tests/test_a_old.py": "def test_old():\n    assert False\n"}


@pytest.fixture
def court(tmp_path: Path) -> Court:
    court = Court.at(tmp_path)
    court.needs(PYTEST)
    return court


@pytest.mark.needs("pytest")
def test_settings_that_stop_early_hide_nothing(court: Court) -> None:
    ini: Tree = {"pytest.ini": "[pytest]\naddopts = -x\npythonpath = .\n"}
    judged = court.judge({**PYTEST.tree, **ini, **OLD}, PYTEST.failing.files)

    assert judged.build.status is Status.FAIL
    assert judged.places[0] == PYTEST.failing.place


@pytest.mark.needs("pytest")
def test_tests_that_are_ended_with_exit_code_0(court: Court) -> None:
    judged = court.judge(PYTEST.tree, {"conftest.py": "import os\nos._exit(0)\n"})

    assert judged.build.status is Status.ERROR
    assert judged.build.metadata["reason"] == "report_missing"


@pytest.mark.needs("pytest")
def test_a_base_that_does_not_load_either_tells_nothing(court: Court) -> None:
    judged = court.judge({**PYTEST.tree, **PYTEST.broken.files}, PYTEST.harmless)

    assert (judged.build.status, judged.build.metadata["reason"]) == (
        Status.ERROR,
        "base_broken",
    )
    assert judged.places[0] == PYTEST.broken.place


def test_without_tests_the_sources_are_compiled(court: Court) -> None:
    judged = court.judge({"setup.py": ""}, {"setup.py": "print(\n"})

    assert judged.build.status is Status.FAIL
    assert judged.places == ["setup.py:1"]
    assert judged.build.metadata["system"] == "python"


def test_a_change_that_takes_the_last_test_away(court: Court) -> None:
    gone: Tree = {
        "tests/test_core.py": None,
        "tests/test_app.py": None,
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    }
    judged = court.judge(PYTEST.tree, gone)

    assert (judged.build.status, judged.build.label) == (Status.ABSTAIN, "build_changed")
    assert "this change replaces the build that judges it" in judged.build.reasoning
