from __future__ import annotations

import pytest

from fakes.roots import root_of
from prjury.judges.builds.systems.pytest import ToxSettings, tox_plan, tox_settings

INI = """\
[tox]
envlist = py311, own

[testenv]
commands = pytest

[testenv:own]
pass_env = FOO

[testenv:old]
passenv=FOO

[testenv:plain]
commands =
    python -c "pass_env = 1"

[testenv:py{310,311}]
pass_env = BAR
"""
TOML = """\
[env_run_base]
pass_env = ["A"]
[env.own]
pass_env = ["B"]
[env.plain]
[env."a;b"]
pass_env = []
"""
LEGACY = "[tool.tox]\nlegacy_tox_ini = '''\n[testenv:a]\npass_env = x\n'''\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"tox.ini": INI}, ToxSettings("tox.ini", "testenv", ("testenv:own", "testenv:old"))),
        (
            {"tox.ini": INI.replace("\n", "\r\n")},
            ToxSettings("tox.ini", "testenv", ("testenv:own", "testenv:old")),
        ),
        ({"tox.ini": "[testenv:x]\n"}, ToxSettings("tox.ini", "testenv")),
        ({"setup.cfg": "[tox:tox]\n"}, ToxSettings("setup.cfg", "testenv")),
        ({"tox.toml": TOML}, ToxSettings("tox.toml", "env_run_base", ("env.own",))),
        ({"tox.toml": "["}, ToxSettings("tox.toml", "env_run_base")),
        (
            {"pyproject.toml": "[tool.tox]\n[tool.tox.env.own]\npass_env = []\n"},
            ToxSettings("pyproject.toml", "tool.tox.env_run_base", ("tool.tox.env.own",)),
        ),
        (
            {"pyproject.toml": LEGACY},
            ToxSettings("pyproject.toml", "testenv", ("testenv:a",)),
        ),
        ({"tox.ini": "[pytest]\n", "pyproject.toml": "[tool.other]\n", "setup.cfg": ""}, None),
    ],
)
def test_where_tox_is_configured(files: dict[str, str], found: ToxSettings | None) -> None:
    assert tox_settings(root_of(files)) == found


def test_pytest_reports_from_every_environment() -> None:
    plan = tox_plan(ToxSettings("tox.ini", "testenv", ("testenv:own",)))
    assert (plan.text, plan.reasons) == (
        "tox --skip-missing-interpreters true",
        ("tox.ini configures tox",),
    )
    assert plan.notes == ("tox leaves out the environments whose Python is not installed",)
    assert plan.env == {
        "PYTEST_ADDOPTS": (
            "--junitxml={reports}/pytest-$TOX_ENV_NAME.xml -o junit_family=xunit1 --maxfail=0"
        ),
        "TOX_OVERRIDE": ("testenv.pass_env+=PYTEST_ADDOPTS;testenv:own.pass_env+=PYTEST_ADDOPTS"),
    }
    assert (plan.reported, plan.all_ran, plan.rerun_failed) == (False, None, None)


def test_the_thorough_form_runs_the_later_commands_as_well() -> None:
    plan = tox_plan(ToxSettings("tox.toml", "env_run_base"))
    assert plan.keep_going is not None
    assert plan.keep_going.steps == plan.steps
    assert plan.keep_going.env["TOX_OVERRIDE"] == (
        "env_run_base.pass_env+=PYTEST_ADDOPTS;env_run_base.ignore_errors=true"
    )
    assert plan.keep_going.env["PYTEST_ADDOPTS"] == plan.env["PYTEST_ADDOPTS"]
