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
    compiled,
    read_recipe,
)
from prjury.judges.builds.systems.build_system import DocsRows, When
from prjury.judges.builds.systems.projects import in_directory, is_below
from prjury.judges.builds.systems.source_tree import (
    EXECUTABLE,
    Changes,
    SourceTree,
    outermost_first,
)
from prjury.snapshot.exempt import matches

_PLACE = Path(__file__).parents[1] / "recipes"
_REPORTS = "{reports}"
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
        """Whether it travels with the program and was not tried on a real project."""
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
        found = ", ".join(f"`{name}`" for name in self.MANIFESTS)
        asked = ", if the policy names it" if self.WHEN == "on_request" else ""
        tried = f"tried on {self.recipe.tried}" if self.recipe.tried else "experimental"
        run = f"{self.recipe.description} ({tried})"
        return ((found + asked, run),)

    def plans(self, root: SourceTree, _changes: Changes | None, /) -> tuple[BuildPlan, ...]:
        """The outermost projects, whatever changes: no recipe says what a project depends on."""
        found: dict[str, BuildPlan] = {}
        places = filter(root.may_hold_project, self._places(root))
        for directory in outermost_first(places):
            if any(is_below(directory, place) for place in found):
                continue
            if plan := self._plan(root.below(directory)):
                found[directory] = in_directory(plan, directory)
        return tuple(found[directory] for directory in sorted(found))

    def _places(self, root: SourceTree) -> frozenset[str]:
        plain = [name for name in self.MANIFESTS if not set(name) & set("*?[")]
        globs = [name for name in self.MANIFESTS if name not in plain]
        fitting = {
            path.rpartition("/")[0]
            for path in (root.files if globs else ())
            if any(fnmatchcase(path.rpartition("/")[2], glob) for glob in globs)
        }
        return root.directories_with(*plain) | fitting

    def _plan(self, part: SourceTree) -> BuildPlan | None:
        marker = _first(part, self.recipe.detect)
        if marker is None or _first(part, self.recipe.unless):
            return None
        variant, because = self._variant(part)
        commands = self.recipe.steps_of(variant)
        steps = tuple(_make_step(name, commands) for name in _STEPS if commands[name])
        if not {"build", "test"} & {step.name for step in steps}:
            return None
        return BuildPlan(
            self.recipe.name,
            steps,
            (f"{marker} is there", *because, *self._versions(part)),
            (*self.recipe.notes, *([EXPERIMENTAL] if self.experimental else ())),
            env={**_escape_variables(self.recipe.env), "PRJURY_REPORTS": _REPORTS},
            reports=tuple(commands["reports"]),
            programs=tuple(self.recipe.tools),
        )

    def _variant(self, part: SourceTree) -> tuple[RecipeVariant | None, Sequence[str]]:
        for variant in self.recipe.variants:
            if found := _first(part, variant.when):
                return variant, (f"{found} decides what is run",)
        return None, ()

    def _versions(self, part: SourceTree) -> Iterator[str]:
        for tool, files in self.recipe.versions.items():
            if found := _first(part, [FileTest(file=file) for file in files]):
                yield f"{found} says which {tool}"


_STEPS: tuple[StepName, ...] = ("setup", "build", "test")


def _make_step(name: StepName, commands: Mapping[str, Any]) -> BuildStep:
    step = BuildStep(name, _name_reports(commands[name]), all_ran=commands["all_ran"])
    if name != "test" or not commands["keep_going"]:
        return step
    return replace(step, keep_going=replace(step, command=_name_reports(commands["keep_going"])))


def _name_reports(command: str) -> str:
    return command.replace(_REPORTS, '"$PRJURY_REPORTS"')


def _escape_variables(env: Mapping[str, str]) -> Mapping[str, str]:
    """The variables, in which no brace means anything but the directory of reports."""
    return {
        name: escape_braces(text).replace("{{reports}}", _REPORTS) for name, text in env.items()
    }


def _first(part: SourceTree, tests: Sequence[FileTest]) -> str | None:
    """The first file that fits one of the tests."""
    return next((path for test in tests for path in _fitting(part, test)), None)


def _fitting(part: SourceTree, test: FileTest) -> Iterator[str]:
    paths = _paths(part, test.file)
    if test.executable:
        paths = [path for path in paths if part.files[path].mode == EXECUTABLE]
    if test.matches is None:
        return iter(paths)
    pattern = compiled(test.matches)
    return (path for path in paths[:_MOST_READ] if pattern.search(part.text(path)))


def _paths(part: SourceTree, glob: str) -> Sequence[str]:
    """The files with this path; a name alone is one in the directory itself."""
    if not set(glob) & set("*?["):
        return [glob] if glob in part.files else []
    if "/" not in glob:
        return [path for path in part.files if "/" not in path and fnmatchcase(path, glob)]
    return [path for path in part.files if matches(path, glob)]


@cache
def shipped(name: str) -> RecipeSystem:
    """The system of a recipe that travels with the program."""
    file = _PLACE / f"{name}.yml"
    return RecipeSystem(read_recipe(file.read_text("utf-8"), file.name))
