"""The table of test runners, ``runners.yml``, and the forms of their tests' names. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from prjury.judges.builds.results.runner_output import LogSection

_TABLE = Path(__file__).with_name("runners.yml").read_bytes()  # before a build could change it


class Runner(Struct, frozen=True, forbid_unknown_fields=True):
    """What one runner prints: a row of the table, which explains the fields."""

    by: str
    marks: tuple[str, ...]
    totals: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    unloaded: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    begins: str = ""
    place: str = ""
    lists: str = ""
    outline: str = ""
    name: str = "directory"
    python: bool = False
    sums: bool = True
    timed: bool = False
    sections: tuple[str, ...] = ()

    def name_test(self, section: LogSection, suite: str, fields: dict[str, str]) -> tuple[str, str]:
        """The suite and the name of a test, as the runner's reports have them."""
        return _NAMES[self.name](section, suite, fields)


@cache
def read_table() -> tuple[Runner, ...]:
    """All rows; the last one is for programs of tests that are no known runner."""
    return msgspec.yaml.decode(_TABLE, type=tuple[Runner, ...])


def _name_pytest(section: LogSection, _suite: str, fields: dict[str, str]) -> tuple[str, str]:
    path, test = section.file(fields["path"]), fields.get("name", "")
    plain, bracket, parameters = test.partition("[")
    *classes, function = plain.split("::")
    module = fields["path"].removesuffix(".py").replace("/", ".")
    return path, f"{'.'.join([module, *classes])}#{function}{bracket}{parameters}"


def _name_unittest(section: LogSection, _suite: str, fields: dict[str, str]) -> tuple[str, str]:
    """Name a test as pytest does; newer Pythons repeat the test in the owner."""
    owner = fields["owner"].removesuffix(f".{fields['name']}")
    return section.tree.module(owner) or "", f"{owner}#{fields['name']}"


def _name_cargo(_section: LogSection, suite: str, fields: dict[str, str]) -> tuple[str, str]:
    """Name a test as it is written in the code; in documentation without its line."""
    name = fields["name"].removesuffix(" - should panic")
    name = name.removesuffix(" - compile fail").removesuffix(" - compile")
    file, dash, item = name.partition(".rs - ")
    if dash and " (line " in item:
        name = f"{file}{dash}{item.rpartition(' (line ')[0]}".removesuffix(" - ").strip()
        name = name.removesuffix(" -")
    return suite, name


def _name_in_directory(section: LogSection, _suite: str, fields: dict[str, str]) -> tuple[str, str]:
    owner = fields.get("owner", "")
    return section.directory, f"{owner}#{fields['name']}" if owner else fields["name"]


def _name_in_suite(section: LogSection, suite: str, fields: dict[str, str]) -> tuple[str, str]:
    if "path" in fields:
        suite = section.file(fields["path"])
    return fields.get("suite", suite), fields["name"]


_NAMES: Mapping[str, Callable[[LogSection, str, dict[str, str]], tuple[str, str]]] = {
    "pytest": _name_pytest,
    "unittest": _name_unittest,
    "cargo": _name_cargo,
    "directory": _name_in_directory,
    "suite": _name_in_suite,
}
