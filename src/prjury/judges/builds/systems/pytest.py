"""pytest and tox: which trees use them, their options, and how to rerun single tests. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import SourceTree, nearest
from prjury.manifests.syntax import strings, table
from prjury.snapshot.model import printable

#: Options that pytest gets after the tree's own, so that they win: to write a report with files and
#: lines (only the older family has them), and to continue after failures.
_OPTIONS = "--junitxml={{reports}}/{}.xml -o junit_family=xunit1 --maxfail=0"
PYTEST_ENV = {"PYTEST_ADDOPTS": _OPTIONS.format("pytest")}
#: The same for tox, which runs pytest in each environment; pytest fills in the name.
TOX_PYTEST_ENV = {"PYTEST_ADDOPTS": _OPTIONS.format("pytest-$TOX_ENV_NAME")}
#: What tells a version to the backends that would ask git, which is not there.
VERSION_VARIABLES = (
    "SETUPTOOLS_SCM_PRETEND_VERSION",
    "PDM_BUILD_SCM_VERSION",
    "POETRY_DYNAMIC_VERSIONING_BYPASS",
    "UV_DYNAMIC_VERSIONING_BYPASS",
    "PBR_VERSION",
)
#: pytest's exit code if all tests ran and some failed.
TESTS_FAILED = 1

_TABLE = re.compile(r"^\[tool[:.]pytest", re.MULTILINE)
_INI = re.compile(r"^\[pytest\]", re.MULTILINE)
_TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
_INI_VALUE = r"^{}[ \t]*=[ \t]*(.*(?:\n[ \t]+\S.*)*)"


def configuration(root: SourceTree) -> str | None:
    """The file in the root that configures pytest."""
    if root.has("pytest.ini"):
        return "pytest.ini"
    for path, pattern in (("pyproject.toml", _TABLE), ("setup.cfg", _TABLE), ("tox.ini", _INI)):
        if pattern.search(root.text(path)):
            return path
    return None


def configured_paths(root: SourceTree) -> tuple[str, ...]:
    """The configured paths of tests; empty if there are none."""
    return configured(root, "testpaths")


def configured(root: SourceTree, key: str) -> tuple[str, ...]:
    """The configured words of an option; empty if there are none."""
    path = configuration(root)
    if path == "pyproject.toml":
        options = table(root.settings(path), "tool", "pytest", "ini_options")
        value = options.get(key)
        return tuple(value.split()) if isinstance(value, str) else strings(value) or ()
    match = re.search(_INI_VALUE.format(key), root.text(path), re.MULTILINE) if path else None
    return tuple(match[1].split()) if match else ()


@dataclass(frozen=True)
class PytestFiles:
    """The names of files in which pytest looks for tests.

    Attributes:
        patterns: the configured ones; empty for pytest's own.
    """

    patterns: tuple[str, ...] = ()

    @classmethod
    def of(cls, root: SourceTree) -> PytestFiles:
        """As configured in the root."""
        return cls(configured(root, "python_files"))

    def has(self, path: str) -> bool:
        """Whether pytest looks for tests in a file."""
        if not self.patterns:
            return _TEST_FILE.search(path) is not None
        name = path.rpartition("/")[2]
        fits = (fnmatchcase(path if "/" in one else name, one) for one in self.patterns)
        return path.endswith(".py") and any(fits)

    def first(self, root: SourceTree, others: frozenset[str]) -> str | None:
        """The first file with tests outside of the other directories."""
        homes = others | {""}
        own = filter(self.has, root.files)
        return next((path for path in own if not others or nearest(path, homes) == ""), None)


def what_tests(root: SourceTree, others: frozenset[str]) -> str | None:
    """Why there are tests for pytest, or None."""
    if path := configuration(root):
        return f"{path} configures pytest"
    found = PytestFiles().first(root, others)
    return f"{printable(found)} is a test" if found else None


@dataclass(frozen=True)
class PytestRerun:
    """Runs failing tests again by their node ids.

    Attributes:
        command: pytest without arguments that name tests.
        root: where it runs.
    """

    command: tuple[str, ...]
    root: SourceTree

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for all tests; None if one cannot be named exactly."""
        nodes = [self._node(failure) for failure in failures]
        named = sorted({node for node in nodes if node})
        if not named or not all(nodes):
            return None
        return (BuildStep("test", (*self.command, *named)),)

    def _node(self, failure: Failure) -> str | None:
        """From a report's ``package.module.Class#test[case]`` to ``file::Class::test[case]``."""
        file = self._file(failure)
        owner, mark, test = (failure.name or "").partition("#")
        if not file or not mark or not test or not (test.isprintable() and owner.isprintable()):
            return None
        module = file.removesuffix(".py").replace("/", ".")
        inner = owner.removeprefix(module)
        if not owner.startswith(module) or (inner and not inner.startswith(".")):
            return None
        return "::".join([file, *inner.split(".")[1:], test])

    def _file(self, failure: Failure) -> str | None:
        """The path of the test's file from where pytest runs, if the tree has it."""
        suite = (failure.suite or "").removeprefix("./")
        place = f"{self.root.place}/"
        for path in (suite, suite.removeprefix(place)):
            if path in self.root.files and path.endswith(".py") and not path.startswith("-"):
                return path
        return None


_TOX_INI = re.compile(r"^\[(?:tox|testenv)", re.MULTILINE)
_TOX_CFG = re.compile(r"^\[tox:tox\]", re.MULTILINE)
_SECTION = re.compile(r"^\[(?P<name>testenv:[\w.-]+)\](?P<body>(?:\n(?!\[).*)*)", re.MULTILINE)
_HANDED_ON = re.compile(r"^pass_?env[ \t]*=", re.MULTILINE)
_NAME = re.compile(r"[\w.-]+")

#: Environments whose Python is not installed are left out.
_TOX = ("tox", "--skip-missing-interpreters", "true")
TOX_NOTE = "tox leaves out the environments whose Python is not installed"


@dataclass(frozen=True)
class ToxSettings:
    """The file that configures tox, and its sections that name variables to pass on."""

    file: str
    base: str
    environments: tuple[str, ...] = ()

    def overrides(self, *more: str) -> str:
        """The settings that are changed, so that pytest's options reach the tests.

        A version that git would tell reaches the environment that builds the package.
        """
        sections = (self.base, *self.environments)
        passed = [f"{section}.pass_env+=PYTEST_ADDOPTS" for section in sections]
        packaging = self.base.replace("env_run_base", "env_pkg_base").replace("testenv", "pkgenv")
        handed_on = f"{packaging}.pass_env+={','.join(VERSION_VARIABLES)}"
        return ";".join([*passed, handed_on, *more])


def tox_settings(root: SourceTree) -> ToxSettings | None:
    """The settings in the root, in the order in which tox looks for them."""
    text = root.text("tox.ini").replace("\r", "")
    if _TOX_INI.search(text):
        return ToxSettings("tox.ini", "testenv", tuple(_own_ini(text)))
    text = root.text("setup.cfg").replace("\r", "")
    if _TOX_CFG.search(text):
        return ToxSettings("setup.cfg", "testenv", tuple(_own_ini(text)))
    project = table(root.settings("pyproject.toml"), "tool", "tox")
    if legacy := project.get("legacy_tox_ini"):
        return ToxSettings("pyproject.toml", "testenv", tuple(_own_ini(str(legacy))))
    if project:
        own = tuple(f"tool.tox.env.{name}" for name in _own_toml(project))
        return ToxSettings("pyproject.toml", "tool.tox.env_run_base", own)
    if root.has("tox.toml"):
        document = root.settings("tox.toml")
        own = tuple(f"env.{name}" for name in _own_toml(document))
        return ToxSettings("tox.toml", "env_run_base", own)
    return None


def _own_ini(text: str) -> Iterator[str]:
    """The sections of environments that name variables to pass on."""
    for section in _SECTION.finditer(text):
        if _HANDED_ON.search(section["body"]):
            yield section["name"]


def _own_toml(document: object) -> Iterator[str]:
    for name, environment in table(document, "env").items():
        if _NAME.fullmatch(name) and "pass_env" in table(environment):
            yield name


def tox_plan(found: ToxSettings) -> BuildPlan:
    """One run of tox; the form that keeps going runs all commands of an environment."""
    plan = BuildPlan(
        "tox",
        (BuildStep("test", _TOX),),
        (f"{found.file} configures tox",),
        (TOX_NOTE,),
        {**TOX_PYTEST_ENV, "TOX_OVERRIDE": found.overrides()},
    )
    going_on = found.overrides(f"{found.base}.ignore_errors=true")
    return replace(plan, keep_going=replace(plan, env={**plan.env, "TOX_OVERRIDE": going_on}))
