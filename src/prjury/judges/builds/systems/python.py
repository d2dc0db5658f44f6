"""Python: uv, tox, pytest, Django, or only the compiler without tests. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser, Error
from contextlib import suppress
from textwrap import dedent

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.calls import WORDS
from prjury.judges.builds.plan import NATIVE, PYTEST_ENV, BuildPlan, BuildStep, BuildSystem
from prjury.judges.builds.plan import PYTHON as SUFFIXES
from prjury.judges.builds.source_tree import (
    SourceTree,
    expand_braces,
    is_below,
    match_workspace_members,
    nearest,
    parent_of,
    path_in,
)
from prjury.manifests.python import PyProject, read_pyproject
from prjury.manifests.syntax import strings, table, words
from prjury.snapshot.model import printable

_PYTEST = ("python3", "-m", "pytest", "-q")
#: Names of files that unittest finds, and pytest by itself does not.
_ODD_NAMES = "test*.py *_tests.py"
#: Directories with data, or with code of others.
_ASIDE = frozenset("node_modules vendor third_party site-packages testdata fixtures".split())
_MANIFEST, _LOCK, _MANAGE = "pyproject.toml", "uv.lock", "manage.py"
#: Files that make a directory below the root a project of its own.
_MANIFESTS = (_LOCK, "tox.ini", "tox.toml", _MANIFEST, "setup.py")
#: Files that mark Python in the root of a tree.
_MARKERS = (*_MANIFESTS, "setup.cfg", "pytest.ini", "requirements.txt", "noxfile.py", _MANAGE)
_TABLES = ("[tool.pytest", "[tool:pytest")
_PYTEST_FILES = ((_MANIFEST, _TABLES), ("setup.cfg", _TABLES), ("tox.ini", ("[pytest]",)))
#: The exit code of pytest and of Django's runner if all tests ran and some failed.
_TESTS_FAILED = 1
#: What groups, extras and environments for tests are called, the likeliest first.
_TESTS = ("test", "tests", "testing", "dev", "develop", "development")
#: A plan may run twice in one tree, so it takes an environment that is there.
_VENV = 'uv venv --quiet --allow-existing --python "$(command -v python3)" "$HOME/venv"'
_INSTALL = "uv pip install --quiet"
_LOCKED = '"$HOME/requirements.txt"'
_REQUIREMENTS = {
    "requirements.txt",
    *(form.format(name) for name in _TESTS for form in WORDS["requirement_files"]),
}


def _plan_projects(root: SourceTree) -> tuple[BuildPlan, ...]:
    places = root.directories_with(*_MANIFESTS)
    modules = (path for path in root.files if path.endswith(".py") and "/" not in path)
    is_python = root.has(*_MARKERS) or any(modules)
    others = root.has(*WORDS["other_manifests"])
    if is_python or (not others and explain_pytest(root, places)):
        places |= {""}
    alone = {parent_of(one) for one in root.named(_MANAGE) if "django" in root.text(one).lower()}
    places |= {place for place in alone if nearest(f"{place}/x", places) is None}
    projects: dict[str, _PythonProject] = {}
    for place in sorted(places):
        above = (projects[other] for other in projects if is_below(place, other))
        owned = any(place in project.member_places for project in above)
        project = _PythonProject(root.below(place))
        if not owned and root.may_hold_project(place) and project.is_described:
            projects[place] = project
    return tuple(
        replace(plan, directory="/".join(filter(None, (place, plan.directory))))
        for place, project in projects.items()
        for plan in project.choose_plans()
    )


class _PythonProject:
    def __init__(self, root: SourceTree) -> None:
        self.root = root
        self.manifest = root.readable(_MANIFEST, read_pyproject) or PyProject()
        self.below = root.directories_with(*_MANIFESTS) - {""}
        patterns = (*self.manifest.members, *(f"!{one}" for one in self.manifest.excluded))
        is_workspace = self.manifest.is_workspace and root.has(_LOCK)
        #: The directories of the members of uv's workspace, also from the root of the tree.
        self.members = sorted(match_workspace_members(patterns, self.below)) if is_workspace else []
        self.member_places = {path_in(root.place, place) for place in self.members}
        #: False for a directory with settings of tools and nothing else.
        self.is_described = bool(
            not root.place
            or root.has("setup.py", _LOCK, "tox.ini", "tox.toml", _MANAGE)
            or self.manifest.is_described
        )

    def choose_plans(self) -> Iterator[BuildPlan]:
        """The one build, or one for each member of a workspace that has tests."""
        root, settings = self.root, read_tox(self.root)
        tests = explain_pytest(root, self.below)
        locked = root.has("poetry.lock", "pdm.lock")
        if root.has(_LOCK) and (tests or self.members or not settings):
            yield from self._list_uv_plans(tests)
        elif settings and settings.tests and not (locked and tests):
            yield plan_tox(settings)
        elif tests:
            yield self._plan_pytest("pytest", _PYTEST, tests)
        else:
            yield self._plan_django_unittest_or_compile(("python3",), _PYTEST)

    def _list_uv_plans(self, pytest_reason: str | None) -> Iterator[BuildPlan]:
        has_pytest = 'name = "pytest"' in self.root.text(_LOCK)
        run = ("uv", "run", "--no-sync")
        command = (*run, *(() if has_pytest else ("--with", "pytest")), "pytest", "-q")
        if self.members and not _find_configuration(self.root):
            for place in self.members:
                if test := _find_test_file(self.root.below(place), frozenset()):
                    plan = self._plan_pytest("uv", command, f"{place}/{test} is a test")
                    yield replace(plan, directory=place)
            command += tuple(f"--ignore={place}" for place in self.members)
        if pytest_reason:
            yield self._plan_pytest("uv", command, pytest_reason)
        elif not self.members:
            yield replace(
                self._plan_django_unittest_or_compile((*run, "python"), command), system="uv"
            )

    def _plan_pytest(self, system: str, command: tuple[str, ...], reason: str) -> BuildPlan:
        step = BuildStep("test", command, all_ran=_TESTS_FAILED)
        reasons = (self._name_marker(), reason)
        return BuildPlan(system, (step,), reasons, env=PYTEST_ENV, has_report=True)

    def _plan_django_unittest_or_compile(
        self, python: tuple[str, ...], pytest: tuple[str, ...]
    ) -> BuildPlan:
        """Django's runner, else pytest with names that unittest knows, else the compiler."""
        tests = [path for path in self.root.files if _is_odd_test(path, self.below)]
        if tests and "django" in self.root.text(_MANAGE).lower():
            step = BuildStep("test", (*python, _MANAGE, "test"), all_ran=_TESTS_FAILED)
            reasons = f"{_MANAGE} is Django's", f"{printable(tests[0])} may hold tests"
            return BuildPlan("django", (step,), reasons)
        for path, text in self.root.texts(tests):
            if "TestCase" in text:
                command = (*pytest, "-o", f"python_files={_ODD_NAMES}")
                return self._plan_pytest("pytest", command, f"{printable(path)} is a test")
        own = ("-x", r"/\.venv/") if self.root.has(_LOCK) else ()
        step = BuildStep("build", ("python3", "-m", "compileall", "-q", *own, "."))
        reasons = (self._name_marker(), "no tests were found, so it is only compiled")
        return BuildPlan("python", (step,), reasons)

    def _name_marker(self) -> str:
        marker = self.root.has(*_MARKERS)
        return f"{marker} is there" if marker else "there are Python files"


def explain_pytest(root: SourceTree, others: frozenset[str]) -> str | None:
    """A reason to run pytest, or None; the other directories are projects of their own."""
    if path := _find_configuration(root):
        return f"{path} configures pytest"
    test = _find_test_file(root, others)
    return f"{printable(test)} is a test" if test else None


def _find_configuration(root: SourceTree) -> str | None:
    if root.has("pytest.ini"):
        return "pytest.ini"
    for path, sections in _PYTEST_FILES:
        if any(line.startswith(sections) for line in root.text(path).splitlines()):
            return path
    return None


def _find_test_file(root: SourceTree, others: frozenset[str]) -> str | None:
    for path in root.files:
        stem = path.rpartition("/")[2].removesuffix(".py")
        is_test = path.endswith(".py") and (stem.startswith("test_") or stem.endswith("_test"))
        if is_test and (not others or nearest(path, others | {""}) == ""):
            return path
    return None


def _is_odd_test(path: str, others: frozenset[str]) -> bool:
    name = path.rpartition("/")[2]
    fits = name.endswith(".py") and (name.startswith("test") or name.endswith("_tests.py"))
    aside = _ASIDE.intersection(path.split("/")) or "/." in f"/{path}"
    return fits and not aside and nearest(path, others | {""}) == ""


def add_environment_and_install(plan: BuildPlan, root: SourceTree, search_path: str) -> BuildPlan:
    """The plan with an environment of its own; the path is as in variables of plans."""
    if plan.system == "uv":
        return replace(plan, steps=(BuildStep("setup", _make_uv_sync_command(root)), *plan.steps))
    command = make_install_command(root)
    if plan.system not in {"pytest", "django"} or not command:
        return plan
    marker = root.has("poetry.lock", "pdm.lock", "Pipfile", _MANIFEST, "setup.py", "setup.cfg")
    marker = marker or printable(min(_REQUIREMENTS & root.files.keys()))
    return replace(
        plan,
        steps=(BuildStep("setup", _VENV), BuildStep("setup", command), *plan.steps),
        reasons=(*plan.reasons, f"{marker} says what is installed"),
        programs=(*plan.programs, *sorted(WORDS["lent"] & set(command.split()))),
        env={**plan.env, "VIRTUAL_ENV": "{home}/venv", "PATH": f"{{home}}/venv/bin:{search_path}"},
    )


def _make_uv_sync_command(root: SourceTree) -> str:
    sync = ["uv", "sync", "--frozen"]
    manifest = root.readable(_MANIFEST, read_pyproject) or PyProject()
    sync += ["--all-packages"] if manifest.is_workspace or root.place else []
    groups = [name for name in manifest.groups if name.startswith("test")]
    if not groups and "pytest" not in manifest.installed:
        groups = [name for name, packages in manifest.groups.items() if "pytest" in packages][:1]
    sync += [word for name in groups if name.isprintable() for word in ("--group", name)]
    extras = [name for name in manifest.extras if name.startswith("test") and name.isprintable()]
    tests = shlex.join([*sync, *(word for name in extras for word in ("--extra", name))])
    others = len(manifest.extras) > len(extras)  # which may not fit together, or not be built here
    return f"{shlex.join([*sync, '--all-extras'])} || {tests}" if others else tests


def make_install_command(root: SourceTree) -> str:
    """The line that installs what a project declares for its tests; empty for nothing."""
    manifest = root.readable(_MANIFEST, read_pyproject) or PyProject()
    settings = root.settings(_MANIFEST)
    poetry = table(settings, "tool", "poetry")
    built = bool(table(settings, "build-system")) and poetry.get("package-mode") is not False
    is_package = root.has("setup.py") is not None or built
    if export := _make_export_command(root, manifest, poetry):
        own = f" && {_INSTALL} --no-deps -e ." if is_package else ""
        return f"{export} >{_LOCKED} && {_INSTALL} -r {_LOCKED}{own}"
    old = root.text("setup.cfg") + root.text("setup.py")
    forms = ("\n{} =", "\n{}=", '"{}"', "'{}'")
    names = [name for name in _TESTS if any(form.format(name) in old for form in forms)]
    extras = _for_tests([*manifest.extras, *(names if "extras_require" in old else ())])
    words = []
    if is_package:
        words += ["-e", f".[{','.join(extras)}]" if extras else "."]
    elif manifest.is_project:
        words += ["-r", _MANIFEST, *(word for name in extras for word in ("--extra", name))]
    words += [word for name in _for_tests(manifest.groups) for word in ("--group", name)]
    words += [word for path in sorted(_REQUIREMENTS & root.files.keys()) for word in ("-r", path)]
    return f"{_INSTALL} {shlex.join([*words, 'pytest'])}" if words else ""


def _make_export_command(root: SourceTree, manifest: PyProject, poetry: dict[str, object]) -> str:
    if root.has("poetry.lock") or (poetry and not manifest.is_project):
        tool, lock = "uv tool run --quiet --with poetry-plugin-export poetry", "poetry.lock"
        extras = _for_tests([*table(poetry, "extras"), *manifest.extras])
        words = [word for name in extras for word in ("--extras", name)]
        export = shlex.join(["export", "--without-hashes", "--all-groups", *words])
    elif root.has("pdm.lock"):
        return "uv tool run --quiet pdm export --format requirements --no-hashes"
    elif root.has("Pipfile"):
        tool, lock, export = "uv tool run --quiet pipenv", "Pipfile.lock", "requirements --dev"
    else:
        return ""
    make = "" if root.has(lock) else f"{tool} lock --quiet && "
    return f"{make}{tool} {export}"


def _for_tests(names: Iterable[str]) -> list[str]:
    """Those that are for tests; those for development only where there are no others."""
    every = frozenset(names)
    fitting = [name for name in _TESTS if name in every]
    return [name for name in fitting if name.startswith("test")] or fitting[:1]


_NAMES = dict.fromkeys(("pytest", "django", "python"), SUFFIXES)
_NAMES |= dict.fromkeys(("uv", "tox"), SUFFIXES | NATIVE)
PYTHON = BuildSystem(_MANIFESTS, _NAMES, _plan_projects, "last_resort_if_untested")


class ToxSettings(Struct, frozen=True):
    """The file that configures tox: the section of all environments (base), and its commands.

    Some environments name variables to pass on; those listed are run without being named.
    """

    file: str
    base: str
    environments: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    commands: str = ""

    @property
    def overrides(self) -> str:
        """The settings by which all commands run, and pytest's options reach them."""
        passing = (f"{one}.pass_env+=PYTEST_ADDOPTS" for one in (self.base, *self.environments))
        return ";".join([*passing, f"{self.base}.ignore_errors=true"])

    @property
    def tests(self) -> bool:
        parts = self.commands.replace("/", " ").split()
        return not parts or any("test" in part or part in WORDS["python_runners"] for part in parts)


def read_tox(root: SourceTree) -> ToxSettings | None:
    """The settings in the root, in the order in which tox looks for them."""
    for path, marks in (("tox.ini", ("[tox", "[testenv")), ("setup.cfg", ("[tox:tox]",))):
        if any(line.startswith(marks) for line in root.text(path).splitlines()):
            return _read_ini(path, root.text(path))
    project = table(root.settings("pyproject.toml"), "tool", "tox")
    if legacy := project.get("legacy_tox_ini"):
        return _read_ini("pyproject.toml", dedent(str(legacy)))
    if project:
        return _read_toml("pyproject.toml", project, "tool.tox.")
    return _read_toml("tox.toml", root.settings("tox.toml"), "") if root.has("tox.toml") else None


def _read_ini(path: str, text: str) -> ToxSettings:
    ini = ConfigParser(interpolation=None, strict=False, allow_no_value=True, default_section="\0")
    with suppress(Error):  # what cannot be read says nothing
        ini.read_string(text.replace("\r", ""))
    environments, commands, listed = list[str](), list[str](), ""
    for name in ini.sections():
        section = ini[name]
        commands += [section.get("commands") or "", section.get("commands_pre") or ""]
        if name.startswith("testenv:") and {"passenv", "pass_env"} & section.keys():
            environments.append(name)
        if name in {"tox", "tox:tox"}:
            listed = section.get("env_list") or section.get("envlist") or ""
    lines = (line.partition("#")[0] for line in listed.splitlines())
    names = tuple(name for line in lines for name in _split_environments(line))
    return ToxSettings(path, "testenv", tuple(environments), names, "\n".join(commands))


def _split_environments(line: str) -> Iterator[str]:
    word, depth = "", 0
    for letter in f"{line},":
        depth += (letter == "{") - (letter == "}")
        if depth or not (letter == "," or letter.isspace()):
            word += letter.strip()
        elif word:
            yield from expand_braces(word)
            word = ""


def _read_toml(path: str, settings: Mapping[str, object], prefix: str) -> ToxSettings:
    environments = {name: table(settings, "env", name) for name in table(settings, "env")}
    every = [table(settings, "env_run_base"), *environments.values()]
    commands = "\n".join(str(one.get("commands", "")) for one in every)
    commands = commands.translate(str.maketrans("[]'\",", "     "))
    return ToxSettings(
        path,
        f"{prefix}env_run_base",
        tuple(f"{prefix}env.{name}" for name, own in environments.items() if "pass_env" in own),
        tuple(words(settings.get("env_list"))) or strings(settings.get("envlist")) or (),
        commands,
    )


def plan_tox(settings: ToxSettings) -> BuildPlan:
    """One environment of tox, that of the interpreter that is here."""
    name = choose_environment(settings.listed)
    return BuildPlan(
        "tox",
        (BuildStep("test", ("tox", "-e", name)),),
        (f"{settings.file} configures tox",),
        (f"of tox's environments, `{name}` is run, with the Python that is here",),
        {**PYTEST_ENV, "TOX_OVERRIDE": settings.overrides},
        programs=("tox",),
    )


def choose_environment(listed: tuple[str, ...]) -> str:
    """The environment with the tests for any interpreter: the last of several, often the newest."""
    factors = [name.partition("-")[2] for name in listed if _find_interpreter(name)]
    if listed and not factors:
        return next((name for name in listed if name in WORDS["python_test_environments"]), "py")
    fitting = [one for one in factors if WORDS["no_test_factors"].isdisjoint(one.split("-"))]
    return "py" if not fitting or "" in fitting else f"py-{fitting[-1]}"


def count_interpreters(listed: tuple[str, ...]) -> int:
    return len({*map(_find_interpreter, listed)} - {""})


def _find_interpreter(environment: str) -> str:
    factor = environment.partition("-")[0]
    number = factor.removeprefix("python").removeprefix("py") or "0"
    return factor if number.replace(".", "").isdigit() else ""
