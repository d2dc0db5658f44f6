"""tox: its settings, and the one environment of them that runs the tests here. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from contextlib import suppress
from textwrap import dedent

from msgspec import Struct

from prjury.judges.builds.plan import PYTEST_ENV, BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import SourceTree, expand_choices
from prjury.manifests.syntax import strings, table, words

#: Programs that run tests and do not say so in their names.
_RUNNERS = frozenset({"trial", "nose2", "behave", "ward", "tox", "make"})
#: Environments without an interpreter in their name that run the tests.
_FOR_TESTS = ("test", "tests", "pytest", "unit", "unittest", "unittests")
#: Factors of environments that check the code, or document it, without running its tests.
_NO_TESTS = frozenset(
    "mypy typing types typecheck pyright lint flake8 ruff pylint black isort style format docs doc "
    "doctest doctests mindeps lowest bench benchmark nightly".split()
)


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
        """Tell whether any environment runs tests, as far as the commands show."""
        parts = self.commands.replace("/", " ").split()
        return not parts or any("test" in part or part in _RUNNERS for part in parts)


def read_ini(text: str) -> ConfigParser:
    """A file of settings in sections; nothing for one that cannot be read."""
    parser = ConfigParser(
        interpolation=None, strict=False, allow_no_value=True, default_section="\0"
    )
    with suppress(Error):
        parser.read_string(text.replace("\r", ""))
    return parser


def tox_settings(root: SourceTree) -> ToxSettings | None:
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
    settings = read_ini(text)
    environments, commands, listed = list[str](), list[str](), ""
    for name in settings.sections():
        section = settings[name]
        commands += [section.get("commands") or "", section.get("commands_pre") or ""]
        if name.startswith("testenv:") and {"passenv", "pass_env"} & section.keys():
            environments.append(name)
        if name in {"tox", "tox:tox"}:
            listed = section.get("env_list") or section.get("envlist") or ""
    lines = (line.partition("#")[0] for line in listed.splitlines())
    names = tuple(name for line in lines for name in _split_list(line))
    return ToxSettings(path, "testenv", tuple(environments), names, "\n".join(commands))


def _split_list(line: str) -> Iterator[str]:
    word, depth = "", 0
    for letter in f"{line},":
        depth += (letter == "{") - (letter == "}")
        if depth or not (letter == "," or letter.isspace()):
            word += letter.strip()
        elif word:
            yield from expand_choices(word)
            word = ""


def _read_toml(path: str, settings: Mapping[str, object], prefix: str) -> ToxSettings:
    environments = {name: table(settings, "env", name) for name in table(settings, "env")}
    every = [table(settings, "env_run_base"), *environments.values()]
    commands = "\n".join(str(one.get("commands", "")) for one in every)
    for mark in "[]'\",":
        commands = commands.replace(mark, " ")
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
    by_python = [name for name in listed if _is_interpreter(name.partition("-")[0])]
    if listed and not by_python:
        return next((name for name in listed if name in _FOR_TESTS), "py")
    factors = [name.partition("-")[2] for name in by_python]
    fitting = [one for one in factors if _NO_TESTS.isdisjoint(one.split("-"))]
    return "py" if not fitting or "" in fitting else f"py-{fitting[-1]}"


def count_interpreters(listed: tuple[str, ...]) -> int:
    """Count the interpreters of the environments that are run without being named."""
    return len({first for name in listed if _is_interpreter(first := name.partition("-")[0])})


def _is_interpreter(factor: str) -> bool:
    rest = factor.removeprefix("python").removeprefix("py")
    return (rest or "0").replace(".", "").isdigit()
