"""The Python environment of one side: what a project declares for its tests, installed. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from prjury.judges.builds.calls import read_calls
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.pytest import read_ini
from prjury.judges.builds.systems.source_tree import SourceTree
from prjury.judges.builds.systems.tox import VERSION_VARIABLES
from prjury.manifests.python import PyProject, read_pyproject
from prjury.manifests.syntax import strings, table
from prjury.snapshot.model import printable

#: The plans whose interpreter is the machine's, unless an environment is made for them.
_PREPARED = frozenset({"pytest", "unittest", "django"})
_SYSTEMS = _PREPARED | {"uv", "tox", "nox"}
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
    versions = find_version_variables(root) if plan.system in _SYSTEMS else ()
    if plan.system == "uv":
        plan = replace(plan, steps=(BuildStep("setup", _sync(root, ci)), *plan.steps))
    if plan.system not in _PREPARED:
        return plan.with_env(dict.fromkeys(versions, "{version}"))
    environment = PythonEnvironment(root, with_pytest=plan.system == "pytest")
    command = environment.command
    if not command:
        return plan
    # the variables are set for all of the line, but not for the tests
    variables = " ".join(f'{name}="$PRJURY_VERSION"' for name in versions)
    line = f"export {variables} && {command}" if variables else command
    prepared = replace(
        plan,
        steps=(BuildStep("setup", _VENV), BuildStep("setup", line), *plan.steps),
        reasons=(*plan.reasons, environment.because),
        programs=(*plan.programs, *sorted(LENT & set(command.split()))),
    )
    more = {"VIRTUAL_ENV": "{home}/venv", "PATH": f"{_BIN}:{path}"}
    return prepared.with_env(more | ({"PRJURY_VERSION": "{version}"} if versions else {}))


def find_version_variables(root: SourceTree) -> tuple[str, ...]:
    """The variables that give a version to backends that would ask git, which is not there.

    The root of a workspace need not have one, while its members do.
    """
    paths = [path for name in _SETUP_FILES for path in root.named(name)]
    settings = "".join(map(root.text, paths))
    each = zip(VERSION_VARIABLES, _VERSIONED, strict=True)
    return tuple(name for name, tools in each if any(tool in settings for tool in tools))


def _sync(root: SourceTree, ci: Iterable[str]) -> tuple[str, ...]:
    """Uv's own command for a locked environment, with the options that the CI gives it."""
    manifest = root.readable(_MANIFEST, read_pyproject) or PyProject()
    for call in (call for script in ci for call in read_calls(script)):
        if call.words[:2] == ("uv", "sync"):
            words = [one for one in call.words[2:] if one not in {"--frozen", "--locked"}]
            if all(one.replace("-", "").replace("_", "").isalnum() for one in words):
                return ("uv", "sync", "--frozen", *words)
    every = ("--all-packages",) if manifest.is_workspace or root.place else ()
    return ("uv", "sync", "--frozen", *every, *_bring_pytest(manifest))


def _bring_pytest(manifest: PyProject) -> tuple[str, ...]:
    options: list[str] = []
    for option, groups in (("--group", manifest.groups), ("--extra", manifest.extras)):
        own = [name for name in groups if name.startswith("test")]
        if not own and "pytest" not in manifest.installed:
            own = [name for name, wanted in groups.items() if "pytest" in wanted][:1]
        options += [word for name in own if name.isprintable() for word in (option, name)]
    return tuple(options)


class PythonEnvironment:
    """What a project declares for its tests."""

    def __init__(self, root: SourceTree, *, with_pytest: bool) -> None:
        self.root, self.with_pytest = root, with_pytest
        self.manifest = root.readable(_MANIFEST, read_pyproject) or PyProject()
        self.settings = root.settings(_MANIFEST)
        self.poetry = table(self.settings, "tool", "poetry")
        self.required = sorted(_REQUIREMENTS & root.files.keys())
        plain = self.poetry.get("package-mode") is False
        built = bool(table(self.settings, "build-system")) and not plain
        #: False where nothing says how it is built.
        self.is_package = root.has("setup.py") is not None or built

    @property
    def command(self) -> str:
        """The line that installs it; empty where nothing is declared."""
        if export := self._export_lock():
            lines = [f"{export} >{_LOCKED}", f"uv pip install --quiet -r {_LOCKED}"]
            own = ["uv pip install --quiet --no-deps -e ."] if self.is_package else []
            return " && ".join([*lines, *own])
        words = [*self._list_package(), *self._list_hatch()]
        words += [word for name in _for_tests(self.manifest.groups) for word in ("--group", name)]
        words += [word for path in self.required for word in ("-r", path)]
        pytest = ["pytest"] if self.with_pytest else []
        return shlex.join(["uv", "pip", "install", "--quiet", *words, *pytest]) if words else ""

    @property
    def because(self) -> str:
        """The file that says how it is installed."""
        marker = self.root.has("poetry.lock", "pdm.lock", "Pipfile", *_SETUP_FILES[:3])
        return f"{marker or printable(self.required[0])} says what is installed"

    def _export_lock(self) -> str:
        """The manager's line that prints what its lock file holds, which is made if it lacks."""
        if self.root.has("poetry.lock") or (self.poetry and not self.manifest.is_project):
            tool, lock = "uv tool run --quiet --with poetry-plugin-export poetry", "poetry.lock"
            export = f"export {shlex.join(self._list_poetry_options())}"
        elif self.root.has("pdm.lock"):
            return "uv tool run --quiet pdm export --format requirements --no-hashes"
        elif self.root.has("Pipfile"):
            tool, lock, export = "uv tool run --quiet pipenv", "Pipfile.lock", "requirements --dev"
        else:
            return ""
        make = "" if self.root.has(lock) else f"{tool} lock --quiet && "
        return f"{make}{tool} {export}"

    def _list_poetry_options(self) -> Iterator[str]:
        yield "--without-hashes"
        groups = table(self.poetry, "group")
        optional = [name for name in groups if table(groups, name).get("optional")]
        names = [name for name in groups if name not in optional] + _for_tests(optional)
        old = ["dev"] if "dev-dependencies" in self.poetry else []
        for name in dict.fromkeys([*names, *old, *_for_tests(self.manifest.groups)]):
            yield from ("--with", name)
        for name in _for_tests([*table(self.poetry, "extras"), *self.manifest.extras]):
            yield from ("--extras", name)

    def _list_package(self) -> Iterator[str]:
        """The project itself, or, where nothing says how it is built, what it needs."""
        extras = _for_tests(self._list_extras())
        if self.is_package:
            yield from ("-e", f".[{','.join(extras)}]" if extras else ".")
        elif self.manifest.is_project:
            yield from ("-r", _MANIFEST)
            for name in extras:
                yield from ("--extra", name)

    def _list_extras(self) -> list[str]:
        settings, setup = read_ini(self.root.text("setup.cfg")), self.root.text("setup.py")
        section = "options.extras_require"
        inside = [*settings[section]] if settings.has_section(section) else []
        quoted = [name for name in _TESTS if f'"{name}"' in setup or f"'{name}'" in setup]
        return [*self.manifest.extras, *inside, *(quoted if "extras_require" in setup else ())]

    def _list_hatch(self) -> Iterator[str]:
        own = table(self.root.settings("hatch.toml"), "envs")
        envs = own or table(self.settings, "tool", "hatch", "envs")
        name = next((one for one in ("hatch-test", *_TESTS, "default") if one in envs), "")
        settings = table(envs, name)
        for key in ("dependencies", "extra-dependencies"):
            yield from (one for one in strings(settings.get(key)) or () if one[:1].isalnum())
        features = [one for one in strings(settings.get("features")) or () if one.isalnum()]
        if self.is_package and features:
            yield from ("-e", f".[{','.join(features)}]")


def _for_tests(names: Iterable[str]) -> list[str]:
    """Those that are for tests; those for development only where there are no others."""
    every = frozenset(names)
    fitting = [name for name in _TESTS if name in every]
    return [name for name in fitting if name.startswith("test")] or fitting[:1]
