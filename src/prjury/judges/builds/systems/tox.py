"""tox: runs the tests of a Python project in environments of its own making. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.manifest import read_toml, table
from prjury.judges.builds.systems.pytest import TOX_PYTEST_ENV
from prjury.judges.builds.systems.source_tree import SourceTree

_INI = re.compile(r"^\[(?:tox|testenv)", re.MULTILINE)
_CFG = re.compile(r"^\[tox:tox\]", re.MULTILINE)
_SECTION = re.compile(r"^\[(?P<name>testenv:[\w.-]+)\](?P<body>(?:\n(?!\[).*)*)", re.MULTILINE)
_HANDED_ON = re.compile(r"^pass_?env[ \t]*=", re.MULTILINE)
_NAME = re.compile(r"[\w.-]+")

#: An environment whose Python is not installed is left out, as a developer's machine would want it.
_COMMAND = ("tox", "--skip-missing-interpreters", "true")
_NOTE = "tox leaves out the environments whose Python is not installed"


@dataclass(frozen=True)
class ToxSettings:
    """Where tox is configured, and which sections say which variables they hand on."""

    file: str
    base: str
    environments: tuple[str, ...] = ()

    def overrides(self, *more: str) -> str:
        """What tox is to change in its settings: pytest's options reach the tests."""
        sections = (self.base, *self.environments)
        told = [f"{section}.pass_env+=PYTEST_ADDOPTS" for section in sections]
        return ";".join([*told, *more])


def settings(root: SourceTree) -> ToxSettings | None:
    """The settings in the root, in the order in which tox looks for them."""
    text = root.text("tox.ini").replace("\r", "")
    if _INI.search(text):
        return ToxSettings("tox.ini", "testenv", tuple(_own_ini(text)))
    text = root.text("setup.cfg").replace("\r", "")
    if _CFG.search(text):
        return ToxSettings("setup.cfg", "testenv", tuple(_own_ini(text)))
    project = table(read_toml(root.text("pyproject.toml")), "tool", "tox")
    if legacy := project.get("legacy_tox_ini"):
        return ToxSettings("pyproject.toml", "testenv", tuple(_own_ini(str(legacy))))
    if project:
        own = tuple(f"tool.tox.env.{name}" for name in _own_toml(project))
        return ToxSettings("pyproject.toml", "tool.tox.env_run_base", own)
    if root.has("tox.toml"):
        document = read_toml(root.text("tox.toml")) or {}
        own = tuple(f"env.{name}" for name in _own_toml(document))
        return ToxSettings("tox.toml", "env_run_base", own)
    return None


def _own_ini(text: str) -> Iterator[str]:
    """The sections of environments that name the variables that they hand on."""
    for section in _SECTION.finditer(text):
        if _HANDED_ON.search(section["body"]):
            yield section["name"]


def _own_toml(document: object) -> Iterator[str]:
    for name, environment in table(document, "env").items():
        if _NAME.fullmatch(name) and "pass_env" in table(environment):
            yield name


def plan_of(found: ToxSettings) -> BuildPlan:
    """One run of tox; its thorough form runs the later commands of an environment as well."""
    plan = BuildPlan(
        "tox",
        (BuildStep("test", _COMMAND),),
        (f"{found.file} configures tox",),
        (_NOTE,),
        {**TOX_PYTEST_ENV, "TOX_OVERRIDE": found.overrides()},
    )
    going_on = found.overrides(f"{found.base}.ignore_errors=true")
    return replace(plan, thorough=replace(plan, env={**plan.env, "TOX_OVERRIDE": going_on}))
