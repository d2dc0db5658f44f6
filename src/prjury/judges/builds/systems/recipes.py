"""Build systems that are data: recipes in YAML, those of the program and users' own."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import re2
from msgspec import Meta
from msgspec.structs import replace

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.plan import BuildPlan, BuildStep, BuildSystem, StepName, escape_braces
from prjury.judges.builds.source_tree import EXECUTABLE, SourceTree, is_below, parent_of
from prjury.policy.fields import CommandLine, Glob, PolicySection
from prjury.policy.load import read_section
from prjury.policy.tiers import BuildOptions
from prjury.policy.yaml_reader import read_yaml
from prjury.ports import Repository
from prjury.snapshot.exempt import matches
from prjury.snapshot.kinds import REGULAR_MODES

_PLACE = Path(__file__).parents[1] / "recipes"
_STEPS: tuple[StepName, ...] = ("setup", "build", "test")
#: How many files are read for one question.
_MOST_READ = 200
EXPERIMENTAL = "this recipe is experimental: it was not tried on a real project"


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
    env: dict[str, str] = {}
    variants: list[RecipeVariant] = []
    tried: str = ""
    notes: list[str] = []

    def __post_init__(self) -> None:
        if not any(steps.build or steps.test for steps in (self, *self.variants)):
            raise ValueError("name at least one of `build` and `test`")
        if any("/" in one.file for one in self.detect):
            raise ValueError("`detect` names files of one directory; write paths in `variants`")


def read_recipe(text: str, source: str) -> Recipe:
    """Read a recipe; ConfigError names key path, line, value and what is allowed."""
    return read_section(read_yaml(text, source), Recipe)


def read_shipped(name: str) -> BuildSystem:
    file = _PLACE / f"{name}.yml"
    return make_system(read_recipe(file.read_text("utf-8"), file.name))


def make_system(recipe: Recipe, *, own: bool = False) -> BuildSystem:
    if not (own or recipe.tried):
        recipe = replace(recipe, notes=[*recipe.notes, EXPERIMENTAL])
    return BuildSystem(
        tuple(dict.fromkeys(test.file for test in recipe.detect)),
        {recipe.name: frozenset(recipe.covers)},
        partial(_plan_projects, recipe),
        recipe.when,
        recipe.family or "",
        is_recipe=True,
        own=own,
    )


def read_own_recipes(options: BuildOptions, repository: Repository) -> tuple[BuildSystem, ...]:
    """The systems of the recipes that the base's policy names; ConfigError for invalid ones."""
    recipes: dict[str, Recipe] = {}
    for path in options.recipes:
        committed = _read_committed(repository, options.commit, path) if options.commit else None
        recipe = committed or load_recipe(Path(path), path)
        if recipes.setdefault(recipe.name, recipe) is not recipe:
            raise ConfigError(f"{path}: another recipe of the policy is called {recipe.name}")
    return tuple(make_system(recipe, own=True) for recipe in recipes.values())


def load_recipe(file: Path, shown_path: str) -> Recipe:
    """The recipe in a file of this machine; ConfigError for an invalid one."""
    try:
        return read_recipe(file.read_text("utf-8"), shown_path)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(
            f"the recipe {shown_path} cannot be read: {why}", remedy="Correct `build: {recipes: …}`"
        ) from error


def _read_committed(repository: Repository, commit: str, path: str) -> Recipe:
    entries = (entry for entry in repository.files(commit) if entry.mode in REGULAR_MODES)
    blob = next((entry.blob for entry in entries if entry.path == path), None)
    if blob is None:
        raise ConfigError(f"there is no recipe {path} in the base commit {commit[:12]}")
    content = repository.read([blob]).get(blob)
    if content is None:
        why = "this partial clone lacks its content"
        what = f"the recipe {path} cannot be read"
        raise CannotJudgeError(what, why=why, reason="object_missing")
    return read_recipe(content.decode("utf-8", "replace"), path)


def _plan_projects(recipe: Recipe, root: SourceTree) -> tuple[BuildPlan, ...]:
    projects: dict[str, BuildPlan] = {}
    places = {
        parent_of(path)
        for path in root.files
        if any(fnmatchcase(path.rpartition("/")[2], test.file) for test in recipe.detect)
    }
    for directory in sorted(filter(root.may_hold_project, places)):
        if not any(is_below(directory, place) for place in projects):
            plan = _plan_project(recipe, root.below(directory))
            if plan:
                projects[directory] = replace(plan, directory=directory)
    return tuple(projects.values())


def _plan_project(recipe: Recipe, part: SourceTree) -> BuildPlan | None:
    marker = _find_matching_file(part, recipe.detect)
    if marker is None or _find_matching_file(part, recipe.unless):
        return None
    reasons = [f"{marker} is there"]
    for variant in recipe.variants:
        if file := _find_matching_file(part, variant.when):
            own = {name: getattr(variant, name) for name in RecipeSteps.__struct_fields__}
            recipe = replace(recipe, **{name: one for name, one in own.items() if one is not None})
            reasons.append(f"{file} decides what is run")
            break
    if not (recipe.build or recipe.test):
        return None
    lines = {name: getattr(recipe, name) for name in _STEPS if getattr(recipe, name)}
    steps = tuple(
        BuildStep(name, line.replace("{reports}", '"$PRJURY_REPORTS"'), all_ran=recipe.all_ran)
        for name, line in lines.items()
    )
    texts = recipe.env.items()
    env = {name: escape_braces(x).replace("{{reports}}", "{reports}") for name, x in texts}
    return BuildPlan(
        recipe.name,
        steps,
        tuple(reasons),
        tuple(recipe.notes),
        env={**env, "PRJURY_REPORTS": "{reports}"},
        reports=tuple(recipe.reports or ()),
        programs=tuple(recipe.tools),
    )


def _find_matching_file(part: SourceTree, tests: Sequence[FileTest]) -> str | None:
    for test in tests:
        paths = _list_paths(part, test.file)
        if test.executable:
            paths = [path for path in paths if part.files[path].mode == EXECUTABLE]
        for path in paths[:_MOST_READ]:
            if test.matches is None or compile_expression(test.matches).search(part.text(path)):
                return path
    return None


def _list_paths(part: SourceTree, glob: str) -> Sequence[str]:
    if "/" not in glob:
        return [path for path in part.files if "/" not in path and fnmatchcase(path, glob)]
    return [path for path in part.files if matches(path, glob)]
