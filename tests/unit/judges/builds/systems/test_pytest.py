from __future__ import annotations

import pytest

from fakes.roots import failing, root_of
from prjury.judges.builds.plan import BuildStep
from prjury.judges.builds.systems.pytest import (
    VERSION_VARIABLES,
    PytestFiles,
    PytestRerun,
    ToxSettings,
    configuration,
    configured_paths,
    tox_plan,
    tox_settings,
    what_tests,
)

NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"pytest.ini": ""}, "pytest.ini configures pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pyproject.toml configures pytest"),
        ({"pyproject.toml": "[tool.pytest]\n"}, "pyproject.toml configures pytest"),
        ({"setup.cfg": "[tool:pytest]\n"}, "setup.cfg configures pytest"),
        ({"tox.ini": "[pytest]\n"}, "tox.ini configures pytest"),
        ({"a/test_x.py": ""}, "a/test_x.py is a test"),
        ({"a/x_test.py": ""}, "a/x_test.py is a test"),
        ({"a/test_x.txt": "", "a/tests.py": "", "attest_x.py": "", "tox.ini": "[tox]\n"}, None),
    ],
)
def test_signs_of_tests(files: dict[str, str], told: str | None) -> None:
    assert what_tests(root_of(files), NONE) == told


def test_tests_of_other_projects_are_not_counted() -> None:
    root = root_of({"a/b/test_x.py": ""})
    assert what_tests(root, frozenset({"a/b"})) is None
    assert what_tests(root, frozenset({"c"})) == "a/b/test_x.py is a test"


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ({"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["a", "b"]\n'}, ("a", "b")),
        ({"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = "a b"\n'}, ("a", "b")),
        ({"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = 3\n"}, ()),
        ({"pytest.ini": "[pytest]\ntestpaths =\n    a\n    b\naddopts = -x\n"}, ("a", "b")),
        ({"setup.cfg": "[tool:pytest]\ntestpaths = a\n"}, ("a",)),
        ({"pytest.ini": ""}, ()),
        ({"a.py": ""}, ()),
    ],
)
def test_configured_paths(files: dict[str, str], paths: tuple[str, ...]) -> None:
    assert configured_paths(root_of(files)) == paths


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("[pytest]\n", ["a/test_x.py", "x_test.py"]),
        ("[pytest]\npython_files = tests.py\n    *_spec.py\n", ["a/tests.py", "b_spec.py"]),
        ("[pytest]\npython_files = a/*\n", ["a/test_x.py", "a/tests.py"]),
    ],
)
def test_the_files_that_pytest_takes(text: str, files: list[str]) -> None:
    every = ["a/test_x.py", "a/tests.py", "b_spec.py", "x_test.py", "a/tests.txt"]
    taken = PytestFiles.of(root_of({"pytest.ini": text}))
    assert [path for path in every if taken.has(path)] == files


def test_the_first_file_that_pytest_reads_counts() -> None:
    files = {"pytest.ini": "", "setup.cfg": "[tool:pytest]\n", "tox.ini": "[pytest]\n"}
    assert configuration(root_of(files)) == "pytest.ini"
    assert configuration(root_of({})) is None


FILES = {"p/tests/test_a.py": "", "p/b_test.py": "", "p/-c.py": "", "test_top.py": ""}
COMMAND = ("python3", "-m", "pytest", "-q")
ALONE = PytestRerun(COMMAND, root_of(FILES).below("p"))


def test_failing_tests_are_run_again_by_their_node_ids() -> None:
    steps = ALONE(
        [
            failing("tests.test_a#test_one", suite="tests/test_a.py"),
            failing("tests.test_a.TestX.Inner#test_two[a-b#c]", suite="p/tests/test_a.py"),
            failing("b_test#test_three[x y]", suite="./b_test.py"),
            failing("tests.test_a#test_one", suite="tests/test_a.py"),
        ]
    )
    assert steps == (
        BuildStep(
            "test",
            (
                *COMMAND,
                "b_test.py::test_three[x y]",
                "tests/test_a.py::TestX::Inner::test_two[a-b#c]",
                "tests/test_a.py::test_one",
            ),
        ),
    )


def test_in_the_root_of_the_tree() -> None:
    alone = PytestRerun(COMMAND, root_of(FILES))
    assert alone([failing("test_top#test_x", suite="test_top.py")]) == (
        BuildStep("test", (*COMMAND, "test_top.py::test_x")),
    )


@pytest.mark.parametrize(
    ("name", "suite"),
    [
        ("tests.test_a#test_one", "tests/gone.py"),
        ("tests.test_a#test_one", "reports/pytest.xml"),
        ("tests.test_a#test_one", None),
        ("tests.test_b#test_one", "tests/test_a.py"),
        ("tests.test_ab#test_one", "tests/test_a.py"),
        ("tests.test_a#", "tests/test_a.py"),
        ("tests.test_a", "tests/test_a.py"),
        (None, "tests/test_a.py"),
        ("tests.test_a#a\nb", "tests/test_a.py"),
        ("-c#test_one", "-c.py"),
    ],
)
def test_what_cannot_be_named_is_not_run_again(name: str | None, suite: str | None) -> None:
    known = failing("tests.test_a#test_one", suite="tests/test_a.py")
    assert ALONE([known, failing(name, suite=suite)]) is None
    assert ALONE([]) is None


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


VERSIONS = ",".join(VERSION_VARIABLES)


def test_a_version_from_git_reaches_the_environment_that_builds_the_package() -> None:
    found = ToxSettings("pyproject.toml", "tool.tox.env_run_base")
    assert f";tool.tox.env_pkg_base.pass_env+={VERSIONS}" in found.overrides()
    assert VERSIONS.startswith("SETUPTOOLS_SCM_PRETEND_VERSION,")


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
        "TOX_OVERRIDE": (
            "testenv.pass_env+=PYTEST_ADDOPTS;testenv:own.pass_env+=PYTEST_ADDOPTS;"
            f"pkgenv.pass_env+={VERSIONS}"
        ),
    }
    assert (plan.reported, plan.all_ran, plan.rerun_failed) == (False, None, None)


def test_the_form_that_keeps_going_runs_all_commands() -> None:
    plan = tox_plan(ToxSettings("tox.toml", "env_run_base"))
    assert plan.keep_going is not None
    assert plan.keep_going.steps == plan.steps
    assert plan.keep_going.env["TOX_OVERRIDE"] == (
        f"env_run_base.pass_env+=PYTEST_ADDOPTS;env_pkg_base.pass_env+={VERSIONS};"
        "env_run_base.ignore_errors=true"
    )
    assert plan.keep_going.env["PYTEST_ADDOPTS"] == plan.env["PYTEST_ADDOPTS"]
