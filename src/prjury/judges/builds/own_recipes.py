"""The user's own recipes of builds: where the policy is the base's, its recipes are as well."""

from __future__ import annotations

from pathlib import Path

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.recipe import Recipe, read_recipe
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.policy.tiers import BuildOptions
from prjury.ports import Repository
from prjury.snapshot.kinds import REGULAR_MODES


def read_own_recipes(options: BuildOptions, repository: Repository) -> tuple[RecipeSystem, ...]:
    """The recipes that the policy names.

    Raises:
        ConfigError: for one that is not there or not valid, and for two of one name.
        CannotJudgeError: when a partial clone lacks one.
    """
    recipes: dict[str, Recipe] = {}
    for path in options.recipes:
        committed = _read_committed(repository, options.commit, path) if options.commit else None
        recipe = committed or recipe_at(Path(path), path)
        if recipes.setdefault(recipe.name, recipe) is not recipe:
            raise ConfigError(f"{path}: another recipe of the policy is called {recipe.name}")
    return tuple(RecipeSystem(recipe, own=True) for recipe in recipes.values())


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
