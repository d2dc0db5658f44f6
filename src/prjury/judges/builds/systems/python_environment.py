"""The Python environment of one side: what a project declares for its tests, installed. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.pytest import read_ini
from prjury.judges.builds.systems.source_tree import SourceTree
from prjury.judges.builds.systems.tox import VERSION_VARIABLES
from prjury.manifests.python import PyProject, read_pyproject
from prjury.manifests.syntax import strings, table
from prjury.snapshot.model import printable

#: The plans whose interpreter is the machine's, unless an environment is made for them.
PREPARED = frozenset({"pytest", "unittest", "django"})
#: Tools that are lent where the machine lacks them.
LENT = frozenset({"uv", "uvx", "tox", "nox", "poetry", "pdm", "hatch", "pipenv", "pipx"})
_MANIFEST = "pyproject.toml"
_SETUP_FILES = (_MANIFEST, "setup.py", "setup.cfg", "hatch.toml")
#: What groups, extras and environments for tests are called, the likeliest first.
_TESTS = ("test", "tests", "testing", "dev", "develop", "development")
#: A plan may run twice in one tree, so it takes an environment that is there.
_VENV = 'uv venv --quiet --allow-existing --python "$(command -v python3)" "$HOME/venv"'
_BIN = "{home}/venv/bin"
_LOCKED = '"$HOME/requirements.txt"'
_PLAIN = "requirements.txt"
_REQUIREMENTS = frozenset(
    form.format(name)
    for name in _TESTS
    for form in (
        *(f"requirements{mark}{{}}.txt" for mark in "-_."),
        *(f"{{}}{mark}requirements.txt" for mark in "-_"),
        "requirements/{}.txt",
        "{}/requirements.txt",
    )
) | {_PLAIN}
#: What backends are called that take a version from git, in the order of the variables that tell it
#: instead.
_VERSIONED = (
    ("setuptools_scm", "setuptools-scm", "hatch-vcs", "flit_scm", "flit-scm", "vcs-versioning",
     "use_scm_version"),
    ("[tool.pdm.version]", "pdm-backend", "pdm.backend"),
    ("poetry-dynamic-versioning",),
    ("uv-dynamic-versioning",),
    ("pbr",),
)  # fmt: skip


def with_environment(
    plan: BuildPlan, root: SourceTree, path: str, ci: Iterable[str] = ()
) -> BuildPlan:
    """The plan with an environment of its own, where the project says what belongs into it.

    Args:
        root: where the plan runs.
        path: where steps look for programs, as it is written in the variables of plans.
        ci: the commands of the base's own CI.
    """
    if plan.system not in {"uv", "tox", "nox", *PREPARED}:
        return plan
    versions = find_version_variables(root)
    if plan.system in {"uv", "tox", "nox"}:
        setup = [BuildStep("setup", _sync(root, ci))] if plan.system == "uv" else []
        return replace(plan, steps=(*setup, *plan.steps)).with_env(
            dict.fromkeys(versions, "{version}")
        )
    environment = PythonEnvironment(root, plan.system == "pytest")
    command = environment.command
    if not command:
        return plan
    setup = [BuildStep("setup", _VENV), BuildStep("setup", _export(versions) + command)]
    more = {"VIRTUAL_ENV": "{home}/venv", "PATH": f"{_BIN}:{path}"}
    more |= {"PRJURY_VERSION": "{version}"} if versions else {}
    prepared = replace(
        plan,
        steps=(*setup, *plan.steps),
        reasons=(*plan.reasons, environment.because),
        notes=(*plan.notes, *environment.notes),
        programs=(*plan.programs, *sorted(LENT & set(command.split()))),
    )
    return prepared.with_env(more)


def find_version_variables(root: SourceTree) -> tuple[str, ...]:
    """The variables that give a version to backends that would ask git, which is not there.

    The root of a workspace need not have one, while its members do.
    """
    paths = [path for name in _SETUP_FILES for path in root.named(name)]
    settings = "".join(map(root.text, paths))
    each = zip(VERSION_VARIABLES, _VERSIONED, strict=True)
    return tuple(name for name, tools in each if any(tool in settings for tool in tools))


def _export(variables: Sequence[str]) -> str:
    """The start of a line that sets them for all of it, but not for the tests."""
    each = " ".join(f'{name}="$PRJURY_VERSION"' for name in variables)
    return f"export {each} && " if variables else ""


def _sync(root: SourceTree, ci: Iterable[str]) -> tuple[str, ...]:
    """Uv's own command for a locked environment, with the options that the CI gives it."""
    manifest = root.readable(_MANIFEST, read_pyproject) or PyProject()
    for line in ci:
        for part in line.replace("&&", "\n").replace(";", "\n").splitlines():
            words = part.split()
            if words[:2] == ["uv", "sync"]:
                given = [one for one in words[2:] if one not in {"--frozen", "--locked"}]
                if all(one.replace("-", "").replace("_", "").isalnum() for one in given):
                    return ("uv", "sync", "--frozen", *given)
    every = ("--all-packages",) if manifest.is_workspace or root.place else ()
    return ("uv", "sync", "--frozen", *every, *_bring_pytest(manifest))


def _bring_pytest(manifest: PyProject) -> tuple[str, ...]:
    """The options for the extra and group for tests, or for the ones that have pytest."""
    options: list[str] = []
    for option, named in (("--group", manifest.groups), ("--extra", manifest.extras)):
        own = [name for name in named if name.startswith("test")]
        if not own and "pytest" not in manifest.installed:
            own = [name for name, wanted in named.items() if "pytest" in wanted][:1]
        options += [word for name in own if name.isprintable() for word in (option, name)]
    return tuple(options)


@dataclass(frozen=True)
class PythonEnvironment:
    """What a project declares for its tests.

    Attributes:
        with_pytest: whether pytest has to be there.
    """

    root: SourceTree
    with_pytest: bool

    @cached_property
    def _manifest(self) -> PyProject:
        return self.root.readable(_MANIFEST, read_pyproject) or PyProject()

    @cached_property
    def _poetry(self) -> dict[str, object]:
        return table(self.root.settings(_MANIFEST), "tool", "poetry")

    @property
    def command(self) -> str:
        """The line that installs it; empty where nothing is declared."""
        if export := self._lock_export():
            lines = [f"{export} >{_LOCKED}", f"uv pip install --quiet -r {_LOCKED}"]
            own = ["uv pip install --quiet --no-deps -e ."] if self._is_package else []
            return " && ".join([*lines, *own])
        declared = [*self._package(), *self._groups(), *self._files(), *self._hatch()]
        if not declared:
            return ""
        pytest = ["pytest"] if self.with_pytest else []
        return shlex.join(["uv", "pip", "install", "--quiet", *declared, *pytest])

    def _lock_export(self) -> str:
        """The manager's line that prints what its lock file holds, which is made if it lacks."""
        if self.root.has("poetry.lock") or (self._poetry and not self._manifest.is_project):
            tool = "uv tool run --quiet --with poetry-plugin-export poetry"
            lock = "" if self.root.has("poetry.lock") else f"{tool} lock --quiet && "
            return f"{lock}{tool} export {shlex.join(self._poetry_options())}"
        if self.root.has("pdm.lock"):
            return "uv tool run --quiet pdm export --format requirements --no-hashes"
        if self.root.has("Pipfile"):
            tool = "uv tool run --quiet pipenv"
            lock = "" if self.root.has("Pipfile.lock") else f"{tool} lock --quiet && "
            return f"{lock}{tool} requirements --dev"
        return ""

    def _poetry_options(self) -> Iterator[str]:
        yield "--without-hashes"
        groups = table(self._poetry, "group")
        optional = [name for name in groups if table(groups, name).get("optional")]
        names = [name for name in groups if name not in optional] + _for_tests(optional)
        old = ["dev"] if "dev-dependencies" in self._poetry else []
        for name in dict.fromkeys([*names, *old, *_for_tests(self._manifest.groups)]):
            yield from ("--with", name)
        for name in _for_tests([*table(self._poetry, "extras"), *self._manifest.extras]):
            yield from ("--extras", name)

    @property
    def because(self) -> str:
        """The file that says how it is installed."""
        marker = self.root.has("poetry.lock", "pdm.lock", "Pipfile", *_SETUP_FILES[:3])
        marker = marker or printable(next(iter(self._required()), "its CI"))
        return f"{marker} says what is installed"

    @property
    def notes(self) -> tuple[str, ...]:
        """That pytest is added to what the project declares."""
        named = [*_SETUP_FILES, "Pipfile", *self._required()]
        if not self.with_pytest or any("pytest" in self.root.text(path) for path in named):
            return ()
        return ("the project declares no pytest, so the newest one is installed",)

    @property
    def _is_package(self) -> bool:
        built = bool(table(self.root.settings(_MANIFEST), "build-system"))
        plain = self._poetry.get("package-mode") is False
        return self.root.has("setup.py") is not None or (built and not plain)

    def _package(self) -> Iterator[str]:
        """The project itself, or, where nothing says how it is built, what it needs."""
        extras = _for_tests(self._extras())
        if self._is_package:
            yield from ("-e", f".[{','.join(extras)}]" if extras else ".")
        elif self._manifest.is_project:
            yield from ("-r", _MANIFEST)
            for name in extras:
                yield from ("--extra", name)

    def _extras(self) -> list[str]:
        settings, setup = read_ini(self.root.text("setup.cfg")), self.root.text("setup.py")
        section = "options.extras_require"
        inside = [*settings[section]] if settings.has_section(section) else []
        quoted = [name for name in _TESTS if f'"{name}"' in setup or f"'{name}'" in setup]
        return [*self._manifest.extras, *inside, *(quoted if "extras_require" in setup else ())]

    def _groups(self) -> Iterator[str]:
        for name in _for_tests(self._manifest.groups):
            yield from ("--group", name)

    def _required(self) -> list[str]:
        return sorted(_REQUIREMENTS & self.root.files.keys())

    def _files(self) -> Iterator[str]:
        for path in self._required():
            yield from ("-r", path)

    def _hatch(self) -> Iterator[str]:
        """What hatch's environment for tests names; the one of ``hatch test`` has defaults."""
        own = table(self.root.settings("hatch.toml"), "envs")
        envs = own or table(self.root.settings(_MANIFEST), "tool", "hatch", "envs")
        name = next((one for one in ("hatch-test", *_TESTS, "default") if one in envs), None)
        if name is None:
            return
        settings = table(envs, name)
        for key in ("dependencies", "extra-dependencies"):
            yield from (one for one in strings(settings.get(key)) or () if one[:1].isalnum())
        if name == "hatch-test" and "dependencies" not in settings:
            yield "pytest-mock"
        features = [one for one in strings(settings.get("features")) or () if one.isalnum()]
        if self._is_package and features:
            yield from ("-e", f".[{','.join(features)}]")


def _for_tests(names: Iterable[str]) -> list[str]:
    """Those that are for tests; those for development only where there are no others."""
    known = frozenset(names)
    fitting = [name for name in _TESTS if name in known]
    return [name for name in fitting if name.startswith("test")] or fitting[:1]
