"""The Python environment of one side: what a project declares for its tests, installed. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from textwrap import dedent

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.pytest import TOX_NOTE, VERSION_VARIABLES
from prjury.judges.builds.systems.python_installs import scripted_installs, setup_extras
from prjury.judges.builds.systems.source_tree import SourceTree, joined
from prjury.manifests.python import PyProject, read_pyproject
from prjury.manifests.syntax import strings, table, words
from prjury.snapshot.model import printable, visible

#: The plans whose interpreter is the machine's, unless an environment is made for them.
PREPARED = frozenset({"pytest", "unittest", "django"})
#: Tools that are lent where the machine lacks them.
LENT = frozenset({"uv", "tox"})
_MANIFEST = "pyproject.toml"
_PLAIN = "requirements.txt"
#: What groups, extras and environments for tests are called, the likeliest first.
_TESTS = ("test", "tests", "testing", "dev", "develop", "development")
#: A plan may run twice in one tree, so it takes an environment that is there.
_VENV = 'uv venv --quiet --allow-existing --python "$(command -v python3)" "$HOME/venv"'
_BIN = "{home}/venv/bin"
_LOCKED = '"$HOME/requirements.txt"'
_WORDS = "test|tests|testing|dev|develop|development"
_REQUIREMENTS = re.compile(
    rf"requirements\.txt|requirements[-_.]({_WORDS})\.txt|({_WORDS})[-_]requirements\.txt"
    rf"|requirements/({_WORDS})\.txt|tests?/requirements\.txt"
)
_EXTRAS_CFG = re.compile(r"^\[options\.extras_require\](?P<body>(?:\n(?!\[).*)*)", re.MULTILINE)
_KEY = re.compile(r"^([\w-]+)[ \t]*=", re.MULTILINE)
#: Backends that take a version from git, in the order of the variables that tell it instead.
_VERSIONED = (
    r"setuptools[-_]scm|hatch-vcs|flit[-_]scm|vcs-versioning|use_scm_version",
    r"\[tool\.pdm\.version\]|pdm[-_.]backend",
    "poetry-dynamic-versioning",
    "uv-dynamic-versioning",
    r"\bpbr\b",
)
#: The interpreter in the name of an environment of tox: any, or one by its number alone.
_INTERPRETER = re.compile(r"py(?:thon)?[\d.]*|(?P<number>\d\.\d+)")
#: The number of the interpreter that is here, as environments of tox are called by it.
_NUMBER_HERE = """$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"""
#: The last factor of environments with nothing special.
_USUAL = ("-tests", "-test", "-unit", "-default")
#: Environments without an interpreter in their name that run the tests.
_FOR_TESTS = frozenset("test tests pytest unit unittest unittests".split())
#: Factors of environments that check the code, or document it, without running its tests.
_NO_TESTS = frozenset(
    "mypy typing types typecheck pyright lint flake8 ruff pylint black isort style format docs doc "
    "doctest doctests mindeps lowest bench benchmark nightly".split()
)
_ENVLIST = re.compile(r"^env_?list[ \t]*=[ \t]*(.*(?:\n[ \t]+\S.*|\n[ \t]*)*)", re.MULTILINE)
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"\b(\d{1,4})-(\d{1,4})\b")
#: The names that one range or list of choices stands for; the last ones count.
_MOST_CHOICES = 10
#: The factors of lines in tox's settings, and those that get something from a repository.
_RUN_BY = re.compile(
    r"^[ \t]*([\w.,{}-]+):[ \t].*\b(?:pytest|unittest|nose2?|trial)\b", re.MULTILINE
)
_FETCHED = re.compile(r"^[ \t]*([\w.,{}-]+):.*(?:git\+|https?:)", re.MULTILINE)
_TOX_NAME = re.compile(r"[\w.-]+")


def with_environment(
    plan: BuildPlan, root: SourceTree, path: str, ci: Iterable[str] = (), python: str = ""
) -> BuildPlan:
    """The plan with an environment of its own, where the project says what belongs into it.

    Args:
        root: where the plan runs.
        path: where steps look for programs, as it is written in the variables of plans.
        ci: the commands of the base's own CI.
        python: the version of the interpreter that is used, such as ``3.11``; empty if unknown.
    """
    if plan.system not in {"uv", "tox", *PREPARED}:
        return plan
    plan = replace(plan, set_up_code=tuple(_own_backend(root)))
    reported = _version_variables(root)
    if plan.system in {"uv", "tox"}:
        plan = plan.with_env(dict.fromkeys(reported, "{version}"))
        return _with_tox_environment(plan, root, python) if plan.system == "tox" else plan
    environment = PythonEnvironment(root, plan.system == "pytest", tuple(ci))
    command = environment.command
    if not command:
        return plan
    set_up = BuildStep("setup", _VENV), BuildStep("setup", _told(reported) + command)
    more = {"VIRTUAL_ENV": "{home}/venv", "PATH": f"{_BIN}:{path}"}
    more |= {"PRJURY_VERSION": "{version}"} if reported else {}
    prepared = replace(
        plan,
        steps=(*set_up, *plan.steps),
        reasons=(*plan.reasons, environment.because),
        notes=(*plan.notes, *environment.notes),
        programs=(*plan.programs, *sorted(LENT & set(command.split()))),
    )
    if plan.keep_going:
        going_on = replace(plan.keep_going, steps=(*set_up, *plan.keep_going.steps))
        prepared = replace(prepared, keep_going=going_on)
    return prepared.with_env(more)


def _own_backend(root: SourceTree) -> Iterator[str]:
    """Where the code lies that builds the project, if that is the project's own."""
    for path in words(table(root.settings(_MANIFEST), "build-system").get("backend-path")):
        place = joined(root.place, path)
        if place is not None:
            yield place


def _version_variables(root: SourceTree) -> tuple[str, ...]:
    """The variables that give a version to backends that would ask git, which is not there."""
    settings = "".join(map(root.text, (_MANIFEST, "setup.py", "setup.cfg", "hatch.toml")))
    each = zip(VERSION_VARIABLES, _VERSIONED, strict=True)
    return tuple(name for name, tools in each if re.search(tools, settings))


def _told(variables: tuple[str, ...]) -> str:
    """The start of a line that sets them for all of it, but not for the tests."""
    each = " ".join(f'{name}="$PRJURY_VERSION"' for name in variables)
    return f"export {each} && " if variables else ""


@dataclass(frozen=True)
class PythonEnvironment:
    """What a project declares for its tests.

    Attributes:
        with_pytest: whether pytest has to be there.
        ci: the commands of the base's own CI.
    """

    root: SourceTree
    with_pytest: bool
    ci: tuple[str, ...] = ()

    @cached_property
    def _manifest(self) -> PyProject:
        return self.root.readable(_MANIFEST, read_pyproject) or PyProject()

    @cached_property
    def _poetry(self) -> dict[str, object]:
        return table(self.root.settings(_MANIFEST), "tool", "poetry")

    @property
    def command(self) -> str:
        """The line that installs it; empty where nothing is declared."""
        if export := self._export():
            lines = [f"{export} >{_LOCKED}", f"uv pip install --quiet -r {_LOCKED}"]
            own = ["uv pip install --quiet --no-deps -e ."] if self._is_package else []
            return " && ".join([*lines, *own])
        found = [*self._package(), *self._groups(), *self._files(), *self._hatch(), *self._scripted]
        if not found:
            return ""
        pytest = ["pytest"] if self.with_pytest else []
        return shlex.join(["uv", "pip", "install", "--quiet", *found, *pytest])

    def _export(self) -> str:
        """The line that prints what a lock file holds; without such a file it is made first."""
        if self.root.has("poetry.lock") or (self._poetry and not self._manifest.is_project):
            tool = "uv tool run --quiet --with poetry-plugin-export poetry"
            made = "" if self.root.has("poetry.lock") else f"{tool} lock --quiet && "
            return f"{made}{tool} export {shlex.join(self._poetry_options())}"
        if self.root.has("pdm.lock"):
            return "uv tool run --quiet pdm export --format requirements --no-hashes"
        if self.root.has("Pipfile"):
            tool = "uv tool run --quiet pipenv"
            made = "" if self.root.has("Pipfile.lock") else f"{tool} lock --quiet && "
            return f"{made}{tool} requirements --dev"
        return ""

    @cached_property
    def _scripted(self) -> list[str]:
        """What scripts and the CI install, where nothing is declared for tests."""
        names = [*self._extras(), *self._manifest.groups]
        declared = _for_tests(names) or [one for one in self._required() if one != _PLAIN]
        if declared or [*self._hatch()]:
            return []
        found = scripted_installs(self.root, self.ci)
        return found if found != ["pytest"] else []

    @property
    def because(self) -> str:
        """The file that says how it is installed."""
        marker = self.root.has(
            "poetry.lock", "pdm.lock", "Pipfile", _MANIFEST, "setup.py", "setup.cfg"
        )
        marker = marker or printable(next(iter(self._required()), "its CI"))
        return f"{marker} says what is installed"

    @property
    def notes(self) -> tuple[str, ...]:
        """That pytest is added to what the project declares."""
        named = [_MANIFEST, "setup.py", "setup.cfg", "Pipfile", "hatch.toml", *self._required()]
        if self._scripted and not self._export():
            listed = " ".join(one for one in self._scripted if one not in {"-r", "-e"})
            return (f"installed for the tests as its scripts or its CI do: {visible(listed)}",)
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
        section = _EXTRAS_CFG.search(self.root.text("setup.cfg").replace("\r", ""))
        inside = _KEY.findall(section["body"]) if section else ()
        return [*self._manifest.extras, *inside, *setup_extras(self.root)]

    def _groups(self) -> Iterator[str]:
        for name in _for_tests([*self._manifest.groups]):
            yield from ("--group", name)

    def _required(self) -> list[str]:
        return sorted(path for path in self.root.files if _REQUIREMENTS.fullmatch(path))

    def _files(self) -> Iterator[str]:
        for path in self._required():
            yield from ("-r", path)

    def _hatch(self) -> Iterator[str]:
        """What hatch's environments for tests name; the one of ``hatch test`` has defaults."""
        own = table(self.root.settings("hatch.toml"), "envs")
        envs = own or table(self.root.settings(_MANIFEST), "tool", "hatch", "envs")
        names = [name for name in ("hatch-test", *_TESTS, "default") if name in envs]
        for name in names[:1]:
            settings = table(envs, name)
            for key in ("dependencies", "extra-dependencies"):
                yield from (one for one in strings(settings.get(key)) or () if one[:1].isalnum())
            if name == "hatch-test" and "dependencies" not in settings:
                yield "pytest-mock"
            if self._is_package:
                features = [one for one in strings(settings.get("features")) or () if one.isalnum()]
                yield from ("-e", f".[{','.join(features)}]") if features else ()
            for group in strings(settings.get("dependency-groups")) or ():
                if group in self._manifest.groups and group not in _TESTS:
                    yield from ("--group", group)

    def _poetry_options(self) -> Iterator[str]:
        yield "--without-hashes"
        groups = table(self._poetry, "group")
        optional = [name for name in groups if table(groups, name).get("optional")]
        names = [name for name in groups if name not in optional] + _for_tests(optional)
        old = ["dev"] if "dev-dependencies" in self._poetry else []
        for name in dict.fromkeys([*names, *old, *_for_tests([*self._manifest.groups])]):
            yield from ("--with", name)
        extras = [*table(self._poetry, "extras"), *self._manifest.extras]
        for name in _for_tests(extras):
            yield from ("--extras", name)


def _for_tests(names: list[str]) -> list[str]:
    """Those that are for tests; those for development only where there are no others."""
    found = [name for name in _TESTS if name in names]
    return [name for name in found if name.startswith("test")] or found[:1]


def _with_tox_environment(plan: BuildPlan, root: SourceTree, python: str) -> BuildPlan:
    """One environment of tox, that of the interpreter that is here, in the place of all."""
    name = tox_environment(root, python)

    def narrowed(one: BuildPlan) -> BuildPlan:
        steps = (replace(step, command=_with_name(step, name)) for step in one.steps)
        shown = name.replace(_NUMBER_HERE, "3.x")
        note = f"of tox's environments, {shown} is run, with the Python that is here"
        others = (other for other in one.notes if other != TOX_NOTE)
        return replace(one, steps=tuple(steps), notes=(*others, note))

    if not name:
        return plan
    going_on = narrowed(plan.keep_going) if plan.keep_going else None
    return replace(narrowed(plan), keep_going=going_on, programs=("tox",))


def _with_name(step: BuildStep, name: str) -> tuple[str, ...] | str:
    """The command for one environment, whose name the shell may have to complete."""
    return f'{step.text} -e "{name}"' if "$" in name else (*step.command, "-e", name)


def tox_environment(root: SourceTree, python: str = "") -> str:
    """The name of the environment with the tests, for any interpreter; empty if none has tests.

    Of several for one interpreter the last is taken, which is usually the newest.

    Args:
        python: the interpreter that is here; what is listed for it is asked first.
    """
    named = [*filter(_TOX_NAME.fullmatch, _listed(root))]
    listed = [one for one in named if _INTERPRETER.fullmatch(one.partition("-")[0])]
    if not listed:
        return next((one for one in named if one in _FOR_TESTS), "")
    text = root.text("tox.ini").replace("\r", "")
    for wanted, lines in ((False, _FETCHED), (True, _RUN_BY)):
        names = set(re.split(r"[{},]+", ",".join(lines.findall(text))))
        fitting = [one for one in listed if names.isdisjoint(one.split("-")) is not wanted]
        listed = fitting or listed
    listed = _with_tests(listed)
    here = {python, f"py{python}", f"py{python.replace('.', '')}", f"python{python}"}
    listed = [one for one in listed if python and one.partition("-")[0] in here] or listed
    plain = [one for one in listed if "-" not in one]
    usual = [one for one in listed if one.endswith(_USUAL)]
    first, dash, factors = next(reversed(plain or usual or listed), "").partition("-")
    by_number = (found := _INTERPRETER.fullmatch(first)) and found["number"]
    return f"{_NUMBER_HERE if by_number else 'py'}{dash}{factors}"


def _with_tests(names: list[str]) -> list[str]:
    """The names whose factors speak for tests, and for most of them; all where none does."""
    factors = {factor for name in names for factor in name.split("-")}
    less = _NO_TESTS | {f"no{factor}" for factor in factors}
    return [name for name in names if less.isdisjoint(name.split("-"))] or names


def _listed(root: SourceTree) -> list[str]:
    for path, keys in (("tox.toml", ()), (_MANIFEST, ("tool", "tox"))):
        settings = table(root.settings(path), *keys)
        if isinstance(found := settings.get("env_list"), list):
            return [name for one in found for name in _named(one)]
    legacy = table(root.settings(_MANIFEST), "tool", "tox").get("legacy_tox_ini")
    for text in (root.text("tox.ini"), dedent(str(legacy or "")), root.text("setup.cfg")):
        if found_list := _ENVLIST.search(text.replace("\r", "")):
            lines = (line.partition("#")[0] for line in found_list[1].splitlines())
            return [one for line in lines for one in _expanded(line)]
    return []


def _named(one: object) -> list[str]:
    """The names that an item of a list in TOML stands for."""
    if isinstance(one, str):
        return [one]
    factors = table(one).get("product")
    each = [_factors(factor) for factor in factors] if isinstance(factors, list) else []
    return ["-".join(names) for names in product(*each)] if each else []


def _factors(one: object) -> list[str]:
    if isinstance(one, list):
        return _with_tests([name for name in one if isinstance(name, str)])[-_MOST_CHOICES:]
    settings = table(one)
    ends = [end for key in ("start", "stop") if isinstance(end := settings.get(key), int)]
    prefix = settings.get("prefix", "")
    return [f"{prefix}{number}" for number in _from_to(*ends[:1], *ends[-1:])] if ends else []


def _from_to(first: int, last: int) -> range:
    """The numbers of a range, the last ones of a long one."""
    return range(max(first, last - _MOST_CHOICES + 1), last + 1)


def _expanded(line: str) -> Iterator[str]:
    """The names in a line of tox, with a name for each of the choices in braces."""
    outside = re.split(r",(?![^{}]*\})|\s+(?![^{}]*\})", line)
    for word in filter(None, outside):
        yield from filter(_TOX_NAME.fullmatch, _choices(re.sub(r"\s", "", word)))


def _counted(found: re.Match[str]) -> str:
    return ",".join(map(str, _from_to(int(found[1]), int(found[2])))) or found[0]


def _choices(word: str, most: int = 1_000) -> list[str]:
    found = _BRACES.search(word)
    if not found or not most:
        return [word]
    names = _with_tests(_RANGE.sub(_counted, found[1]).split(","))
    last = names[-min(most, _MOST_CHOICES) :]
    each = (f"{word[: found.start()]}{one}{word[found.end() :]}" for one in last)
    return [name for one in each for name in _choices(one, most // max(2, len(last)))]
