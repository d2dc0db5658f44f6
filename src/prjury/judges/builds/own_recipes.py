"""The user's own recipes of builds: where the policy is the base's, its recipes are as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.recipe import Recipe, read_recipe
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.policy.tiers import BuildOptions
from prjury.ports import Repository
from prjury.snapshot.kinds import REGULAR_MODES


def own_recipes(options: BuildOptions, repository: Repository) -> tuple[RecipeSystem, ...]:
    """The recipes that the policy names.

    Raises:
        ConfigError: for one that is not there or not valid, and for two of one name.
        CannotJudgeError: when a partial clone lacks one.
    """
    if not options.recipes:
        return ()
    if options.commit:
        recipes = _committed(repository, options.commit, options.recipes)
    else:
        recipes = [recipe_at(Path(path), path) for path in options.recipes]
    named: dict[str, Recipe] = {}
    for recipe, path in zip(recipes, options.recipes, strict=True):
        if named.setdefault(recipe.name, recipe) is not recipe:
            raise ConfigError(f"{path}: another recipe of the policy is called {recipe.name}")
    return tuple(RecipeSystem(recipe, own=True) for recipe in recipes)


def recipe_at(file: Path, shown: str) -> Recipe:
    """The recipe in a file of this machine.

    Raises:
        ConfigError: if it cannot be read, or is not valid.
    """
    try:
        return read_recipe(file.read_text("utf-8"), shown)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(
            f"the recipe {shown} cannot be read: {why}", remedy="Correct `build: {recipes: …}`"
        ) from error


def _committed(repository: Repository, commit: str, paths: Sequence[str]) -> list[Recipe]:
    blobs = {e.path: e.blob for e in repository.files(commit) if e.mode in REGULAR_MODES}
    if missing := [path for path in paths if path not in blobs]:
        raise ConfigError(f"there is no recipe {missing[0]} in the base commit {commit[:12]}")
    contents = repository.read([blobs[path] for path in paths])
    return [read_recipe(_text(contents, blobs[path], path), path) for path in paths]


def _text(contents: Mapping[str, bytes | None], blob: str, path: str) -> str:
    content = contents.get(blob)
    if content is None:
        raise CannotJudgeError(
            f"the recipe {path} cannot be read",
            why="this partial clone lacks its content",
            reason="object_missing",
        )
    return content.decode("utf-8", "replace")
