"""Build systems that are data: a recipe in YAML becomes one. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep, StepName, escape_braces
from prjury.judges.builds.recipe import (
    FileTest,
    Recipe,
    RecipeVariant,
    compile_expression,
    read_recipe,
)
from prjury.judges.builds.systems.build_system import DocsRows, When
from prjury.judges.builds.systems.projects import is_below, move_to
from prjury.judges.builds.systems.source_tree import (
    EXECUTABLE,
    Changes,
    SourceTree,
    outermost_first,
    parent_of,
)
from prjury.snapshot.exempt import matches

_PLACE = Path(__file__).parents[1] / "recipes"
_STEPS: tuple[StepName, ...] = ("setup", "build", "test")
#: How many files are read for one question.
_MOST_READ = 200
EXPERIMENTAL = "this recipe is experimental: it was not tried on a real project"


@dataclass(frozen=True)
class RecipeSystem:
    """A build system by its recipe.

    Attributes:
        own: whether it is the policy's, not one of those that travel with the program.
    """

    recipe: Recipe
    own: bool = False

    @property
    def experimental(self) -> bool:
        """Tell whether it travels with the program and was not tried on a real project."""
        return not self.own and not self.recipe.tried

    @cached_property
    def MANIFESTS(self) -> tuple[str, ...]:  # noqa: N802 - as the protocol has it
        """The names of the files that make a directory a project, globs among them."""
        return tuple(dict.fromkeys(one.file for one in self.recipe.detect))

    @property
    def COVERS(self) -> Mapping[str, frozenset[str]]:  # noqa: N802
        """The suffixes of the sources that are compiled or tested."""
        return {self.recipe.name: frozenset(self.recipe.covers)}

    @property
    def WHEN(self) -> When:  # noqa: N802
        """When its builds are run."""
        return self.recipe.when

    @property
    def DOCS(self) -> DocsRows:  # noqa: N802
        """Its rows in the documentation."""
        files = ", ".join(f"`{name}`" for name in self.MANIFESTS)
        asked = ", if the policy names it" if self.WHEN == "on_request" else ""
        tried = f"tried on {self.recipe.tried}" if self.recipe.tried else "experimental"
        return ((files + asked, f"{self.recipe.description} ({tried})"),)

    def plans(self, root: SourceTree, _changes: Changes | None, /) -> tuple[BuildPlan, ...]:
        """The outermost projects, whatever changes: no recipe says what a project depends on."""
        projects: dict[str, BuildPlan] = {}
        places = {
            parent_of(path)
            for path in root.files
            if any(fnmatchcase(path.rpartition("/")[2], name) for name in self.MANIFESTS)
        }
        for directory in outermost_first(filter(root.may_hold_project, places)):
            if any(is_below(directory, place) for place in projects):
                continue
            if plan := self._plan(root.below(directory)):
                projects[directory] = move_to(plan, directory)
        return tuple(projects[directory] for directory in sorted(projects))

    def _plan(self, part: SourceTree) -> BuildPlan | None:
        marker = _find_first(part, self.recipe.detect)
        if marker is None or _find_first(part, self.recipe.unless):
            return None
        variant, because = self._choose_variant(part)
        commands = self.recipe.steps_of(variant)
        steps = tuple(_make_step(name, commands) for name in _STEPS if commands[name])
        if not {"build", "test"} & {step.name for step in steps}:
            return None
        versions = self.recipe.versions.items()
        pins = ((tool, [FileTest(file=file) for file in files]) for tool, files in versions)
        pinned = ((tool, _find_first(part, tests)) for tool, tests in pins)
        texts = self.recipe.env.items()
        env = {name: escape_braces(x).replace("{{reports}}", "{reports}") for name, x in texts}
        return BuildPlan(
            self.recipe.name,
            steps,
            (
                f"{marker} is there",
                *because,
                *(f"{file} says which {tool}" for tool, file in pinned if file),
            ),
            (*self.recipe.notes, *([EXPERIMENTAL] if self.experimental else ())),
            env={**env, "PRJURY_REPORTS": "{reports}"},
            reports=tuple(commands["reports"]),
            programs=tuple(self.recipe.tools),
        )

    def _choose_variant(self, part: SourceTree) -> tuple[RecipeVariant | None, Sequence[str]]:
        for variant in self.recipe.variants:
            if file := _find_first(part, variant.when):
                return variant, (f"{file} decides what is run",)
        return None, ()


def _make_step(name: StepName, commands: Mapping[str, Any]) -> BuildStep:
    texts = {key: str(commands[key] or "") for key in (name, "keep_going")}
    lines = {key: text.replace("{reports}", '"$PRJURY_REPORTS"') for key, text in texts.items()}
    step = BuildStep(name, lines[name], all_ran=commands["all_ran"])
    longer = replace(step, command=lines["keep_going"])
    return replace(step, keep_going=longer) if name == "test" and longer.command else step


def _find_first(part: SourceTree, tests: Sequence[FileTest]) -> str | None:
    return next((path for test in tests for path in _list_fitting(part, test)), None)


def _list_fitting(part: SourceTree, test: FileTest) -> Iterator[str]:
    paths = _list_paths(part, test.file)
    if test.executable:
        paths = [path for path in paths if part.files[path].mode == EXECUTABLE]
    if test.matches is None:
        return iter(paths)
    pattern = compile_expression(test.matches)
    return (path for path in paths[:_MOST_READ] if pattern.search(part.text(path)))


def _list_paths(part: SourceTree, glob: str) -> Sequence[str]:
    """The files with this path; a name alone is one in the directory itself."""
    if not set(glob) & set("*?["):
        return [glob] if glob in part.files else []
    if "/" not in glob:
        return [path for path in part.files if "/" not in path and fnmatchcase(path, glob)]
    return [path for path in part.files if matches(path, glob)]


@cache
def read_shipped(name: str) -> RecipeSystem:
    """The system of a recipe that travels with the program."""
    file = _PLACE / f"{name}.yml"
    return RecipeSystem(read_recipe(file.read_text("utf-8"), file.name))
