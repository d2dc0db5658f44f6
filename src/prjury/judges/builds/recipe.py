"""Recipes of builds, as files in YAML: those that travel with the program, and users' own."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

import re2
from pydantic import AfterValidator, Field, model_validator

from prjury.policy.fields import Glob, PolicySection, empty
from prjury.policy.load import validated
from prjury.policy.yaml_reader import read_yaml


@cache
def compile_expression(pattern: str) -> re2._Regexp:
    """An expression of a recipe, by line; RE2's, as it meets files of a change."""
    return re2.compile(f"(?m){pattern}")


def _expression(pattern: str) -> str:
    try:
        compile_expression(pattern)
    except re2.error as error:
        raise ValueError(f"not an expression that RE2 knows: {error}") from error
    return pattern


def _command(text: str) -> str:
    if not text.strip():
        raise ValueError("a command is needed; leave out what should not run")
    return text.strip()


Expression: TypeAlias = Annotated[str, AfterValidator(_expression)]
#: One line for ``/bin/sh``. ``{reports}`` is a directory for JUnit files.
Command: TypeAlias = Annotated[str, AfterValidator(_command)]
RecipeName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,29}$")]
Suffix: TypeAlias = Annotated[str, Field(pattern=r"^(\.[A-Za-z0-9_+]+|\*)$")]


class FileTest(PolicySection):
    """A file of the project, perhaps with what it holds."""

    file: Glob = Field(description="a name in the project's directory, or a path or glob below it")
    matches: Expression | None = Field(None, description="what one of its lines holds, as RE2")
    executable: bool = Field(default=False, description="whether it has to be executable")


class RecipeSteps(PolicySection):
    """Commands, and what is known of them."""

    setup: Command | None = None
    build: Command | None = None
    test: Command | None = None
    keep_going: Command | None = Field(
        None, description="the test command that continues after failures, if `test` does not"
    )
    all_ran: int | None = Field(
        None, description="the exit code which means that all tests ran and some failed"
    )
    reports: list[Glob] = Field(
        default_factory=empty, description="JUnit files of the tests, unless in `{reports}`"
    )


class RecipeVariant(RecipeSteps):
    """What else is run where one of these files is there; the first that fits."""

    when: list[FileTest] = Field(min_length=1)


class Recipe(RecipeSteps):
    """A build system: how it is found, and what is run for it."""

    name: RecipeName
    title: str = Field(min_length=1, max_length=60)
    description: str = Field("", description="what is run, in a few words")
    detect: list[FileTest] = Field(min_length=1, description="one of these makes it a project")
    unless: list[FileTest] = Field(default_factory=empty, description="then another system's part")
    covers: list[Suffix] = Field(min_length=1, description="what is compiled or tested")
    when: Literal["always", "last_resort", "on_request"] = "always"
    family: RecipeName | None = Field(
        None, description="of several builds of one family in a directory one is run"
    )
    tools: list[str] = Field(default_factory=empty, description="programs that have to be there")
    versions: dict[str, list[Glob]] = Field(
        default_factory=dict, description="which files say which version of a tool"
    )
    env: dict[str, str] = Field(default_factory=dict)
    variants: list[RecipeVariant] = Field(default_factory=empty)
    tried: str = Field("", description="projects on which it was tried, and versions")
    notes: list[str] = Field(default_factory=empty)

    @model_validator(mode="after")
    def _runs_something(self) -> Recipe:
        if not any(steps.build or steps.test for steps in (self, *self.variants)):
            raise ValueError("name at least one of `build` and `test`")
        if any("/" in one.file for one in self.detect):
            raise ValueError("`detect` names files of one directory; write paths in `variants`")
        return self

    def steps_of(self, variant: RecipeVariant | None) -> dict[str, Any]:
        """The recipe's own steps with those of a variant in their place."""
        own = {name: getattr(self, name) for name in RecipeSteps.model_fields}
        if variant is None:
            return own
        return {
            **own,
            **{name: getattr(variant, name) for name in own if name in variant.model_fields_set},
        }


def read_recipe(text: str, source: str) -> Recipe:
    """The recipe that a file's text describes.

    Raises:
        ConfigError: naming key path, line, value and what is allowed.
    """
    return validated(read_yaml(text, source), Recipe)
