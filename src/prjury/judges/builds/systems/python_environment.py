"""The Python environment of one side: what a project declares for its tests, installed. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from msgspec.structs import replace

from prjury.judges.builds.calls import read_calls
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import SourceTree
from prjury.judges.builds.systems.tox import VERSION_VARIABLES
from prjury.manifests.python import PyProject, read_pyproject
from prjury.manifests.syntax import table
from prjury.snapshot.model import printable

#: The plans whose interpreter is the machine's, unless an environment is made for them.
_PREPARED = frozenset({"pytest", "unittest", "django"})
_SYSTEMS = _PREPARED | {"uv", "tox"}
#: Tools that are lent where the machine lacks them.
LENT = frozenset({"uv", "uvx", "tox", "nox", "poetry", "pdm", "hatch", "pipenv", "pipx"})
_MANIFEST = "pyproject.toml"
_SETUP_FILES = (_MANIFEST, "setup.py", "setup.cfg")
#: What groups, extras and environments for tests are called, the likeliest first.
_TESTS = ("test", "tests", "testing", "dev", "develop", "development")
#: A plan may run twice in one tree, so it takes an environment that is there.
_VENV = 'uv venv --quiet --allow-existing --python "$(command -v python3)" "$HOME/venv"'
_INSTALL = "uv pip install --quiet"
_LOCKED = '"$HOME/requirements.txt"'
_FORMS = (
    "requirements-{}.txt requirements_{}.txt requirements.{}.txt {}-requirements.txt "
    "{}_requirements.txt requirements/{}.txt {}/requirements.txt"
).split()
_REQUIREMENTS = {"requirements.txt", *(form.format(name) for name in _TESTS for form in _FORMS)}
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

    The path is as it is written in the variables of plans; `ci` are the commands of the base's CI.
    """
    versions = find_version_variables(root) if plan.system in _SYSTEMS else ()
    if plan.system == "uv":
        plan = replace(plan, steps=(BuildStep("setup", _sync(root, ci)), *plan.steps))
    if plan.system not in _PREPARED:
        return plan.with_env(dict.fromkeys(versions, "{version}"))
    command = find_install_command(root, with_pytest=plan.system == "pytest")
    if not command:
        return plan
    # the variables are set for all of the line, but not for the tests
    variables = " ".join(f'{name}="$PRJURY_VERSION"' for name in versions)
    line = f"export {variables} && {command}" if variables else command
    marker = root.has("poetry.lock", "pdm.lock", "Pipfile", *_SETUP_FILES)
    marker = marker or printable(min(_REQUIREMENTS & root.files.keys()))
    prepared = replace(
        plan,
        steps=(BuildStep("setup", _VENV), BuildStep("setup", line), *plan.steps),
        reasons=(*plan.reasons, f"{marker} says what is installed"),
        programs=(*plan.programs, *sorted(LENT & set(command.split()))),
    )
    env = {"VIRTUAL_ENV": "{home}/venv", "PATH": f"{{home}}/venv/bin:{path}"}
    return prepared.with_env(env | ({"PRJURY_VERSION": "{version}"} if versions else {}))


def find_version_variables(root: SourceTree) -> tuple[str, ...]:
    """The variables that give a version to backends of a project or its members that ask git."""
    paths = [path for name in _SETUP_FILES for path in root.named(name)]
    settings = "".join(map(root.text, paths))
    each = zip(VERSION_VARIABLES, _VERSIONED, strict=True)
    return tuple(name for name, tools in each if any(tool in settings for tool in tools))


def _sync(root: SourceTree, ci: Iterable[str]) -> str:
    """Uv's own command for a locked environment, as the CI gives it, else with all extras."""
    sync = ["uv", "sync", "--frozen"]
    for call in (call for script in ci for call in read_calls(script)):
        if call.words[:2] == ("uv", "sync"):
            words = [word for word in call.words[2:] if word not in {"--frozen", "--locked"}]
            if all(word.replace("-", "").replace("_", "").isalnum() for word in words):
                return shlex.join([*sync, *words])
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


def find_install_command(root: SourceTree, *, with_pytest: bool) -> str:
    """The line that installs what a project declares for its tests; empty for nothing."""
    manifest = root.readable(_MANIFEST, read_pyproject) or PyProject()
    settings = root.settings(_MANIFEST)
    poetry = table(settings, "tool", "poetry")
    built = bool(table(settings, "build-system")) and poetry.get("package-mode") is not False
    is_package = root.has("setup.py") is not None or built
    if export := _export_lock(root, manifest, poetry):
        own = f" && {_INSTALL} --no-deps -e ." if is_package else ""
        return f"{export} >{_LOCKED} && {_INSTALL} -r {_LOCKED}{own}"
    extras = _for_tests(_list_extras(root, manifest))
    words = []
    if is_package:
        words += ["-e", f".[{','.join(extras)}]" if extras else "."]
    elif manifest.is_project:
        words += ["-r", _MANIFEST, *(word for name in extras for word in ("--extra", name))]
    words += [word for name in _for_tests(manifest.groups) for word in ("--group", name)]
    words += [word for path in sorted(_REQUIREMENTS & root.files.keys()) for word in ("-r", path)]
    pytest = ["pytest"] if with_pytest else []
    return f"{_INSTALL} {shlex.join([*words, *pytest])}" if words else ""


def _export_lock(root: SourceTree, manifest: PyProject, poetry: dict[str, object]) -> str:
    """The manager's line that prints what its lock file holds, which is made if it lacks."""
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


def _list_extras(root: SourceTree, manifest: PyProject) -> list[str]:
    old = root.text("setup.cfg") + root.text("setup.py")
    forms = ("\n{} =", "\n{}=", '"{}"', "'{}'")
    names = [name for name in _TESTS if any(form.format(name) in old for form in forms)]
    return [*manifest.extras, *(names if "extras_require" in old else ())]


def _for_tests(names: Iterable[str]) -> list[str]:
    """Those that are for tests; those for development only where there are no others."""
    every = frozenset(names)
    fitting = [name for name in _TESTS if name in every]
    return [name for name in fitting if name.startswith("test")] or fitting[:1]
