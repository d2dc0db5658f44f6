"""Recipes of builds, as files in YAML: those that travel with the program, and users' own."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

import re2
from msgspec import Meta

from prjury.policy.fields import CommandLine, Glob, PolicySection
from prjury.policy.load import read_section
from prjury.policy.yaml_reader import read_yaml


@cache
def compile_expression(pattern: str) -> re2._Regexp:
    """An expression of a recipe, by line; RE2's, as it meets files of a change."""
    return re2.compile(f"(?m){pattern}")


_NAME = r"^[a-z][a-z0-9_-]{0,29}$(?!\n)"
RecipeName: TypeAlias = Annotated[str, Meta(pattern=_NAME)]
Suffix: TypeAlias = Annotated[str, Meta(pattern=r"^(\.[A-Za-z0-9_+]+|\*)$(?!\n)")]


class FileTest(PolicySection, frozen=True):
    """A file of the project, perhaps with what it holds.

    Attributes:
        file: a name in the project's directory, or a path or glob below it.
        matches: what one of its lines holds, as RE2.
        executable: whether it has to be executable.
    """

    file: Glob
    matches: str | None = None
    executable: bool = False

    def __post_init__(self) -> None:
        try:
            compile_expression(self.matches or "")
        except re2.error as error:
            raise ValueError(f"matches: not an expression that RE2 knows: {error}") from error


class RecipeSteps(PolicySection, frozen=True):
    """Commands for ``/bin/sh``, in which ``{reports}`` is a directory for JUnit files.

    Attributes:
        all_ran: the exit code which means that all tests ran and some failed.
        reports: JUnit files of the tests, unless in `{reports}`.
    """

    setup: CommandLine | None = None
    build: CommandLine | None = None
    test: CommandLine | None = None
    all_ran: int | None = None
    reports: list[Glob] | None = None


class RecipeVariant(RecipeSteps, frozen=True, kw_only=True):
    """What else is run where one of these files is there; the first that fits."""

    when: Annotated[list[FileTest], Meta(min_length=1)]


class Recipe(RecipeSteps, frozen=True, kw_only=True):
    """A build system: how it is found, and what is run for it.

    Attributes:
        description: what is run, in a few words.
        detect: one of these makes it a project.
        unless: one of these makes it a part of another system's project.
        covers: suffixes of what is compiled or tested.
        family: of several builds of one family in a directory one is run.
        tools: programs that have to be there.
        versions: which files say which version of a tool.
        tried: projects on which it was tried, and versions.
    """

    name: RecipeName
    title: Annotated[str, Meta(min_length=1, max_length=60)]
    description: str = ""
    detect: Annotated[list[FileTest], Meta(min_length=1)]
    unless: list[FileTest] = []
    covers: Annotated[list[Suffix], Meta(min_length=1)]
    when: Literal["always", "last_resort", "on_request"] = "always"
    family: RecipeName | None = None
    tools: list[str] = []
    versions: dict[str, list[Glob]] = {}
    env: dict[str, str] = {}
    variants: list[RecipeVariant] = []
    tried: str = ""
    notes: list[str] = []

    def __post_init__(self) -> None:
        if not any(steps.build or steps.test for steps in (self, *self.variants)):
            raise ValueError("name at least one of `build` and `test`")
        if any("/" in one.file for one in self.detect):
            raise ValueError("`detect` names files of one directory; write paths in `variants`")

    def steps_of(self, variant: RecipeVariant | None) -> dict[str, Any]:
        """The recipe's own steps with those of a variant in their place."""
        steps: dict[str, Any] = {}
        for name in RecipeSteps.__struct_fields__:
            own = getattr(variant, name) if variant else None
            steps[name] = getattr(self, name) if own is None else own
        return {**steps, "reports": steps["reports"] or []}


def read_recipe(text: str, source: str) -> Recipe:
    """The recipe that a file's text describes.

    Raises:
        ConfigError: naming key path, line, value and what is allowed.
    """
    return read_section(read_yaml(text, source), Recipe)
