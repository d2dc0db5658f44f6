"""What Maven and Gradle share: wrapper scripts, and goals. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import EXECUTABLE, SourceTree, parents_of, path_in


@dataclass(frozen=True)
class Wrapper:
    """How to call a tool that may come with a wrapper script.

    Attributes:
        settings: the text of the file that names the tool's version; empty for the installed one.
    """

    argv: tuple[str, ...]
    reason: str
    settings: str = ""


@dataclass(frozen=True)
class Script:
    """A wrapper script.

    Attributes:
        name: the script's file.
        tool: the program that is installed where there is no script.
        needs: what else must be there for it to work, the file that names the version first.
    """

    name: str
    tool: str
    needs: tuple[str, ...]


def find_wrapper(tree: SourceTree, directory: str, script: Script) -> Wrapper:
    """The nearest script, in the directory of a build or above it, else the installed tool."""
    installed = f"so the installed `{script.tool}` is used"
    for count, place in enumerate((directory, *parents_of(directory))):
        path, shown = path_in(place, script.name), f"{'../' * count}{script.name}"
        if path not in tree.files:
            continue
        for needed in script.needs:
            if path_in(place, needed) not in tree.files:
                return Wrapper((script.tool,), f"{shown} is there without {needed}, {installed}")
        if "\r\n" in tree.text(path):
            return Wrapper((script.tool,), f"{shown} has Windows line ends, {installed}")
        settings = tree.text(path_in(place, script.needs[0]))
        if tree.files[path].mode != EXECUTABLE:
            reason = f"{shown} is there but not executable, so `sh` runs it"
            return Wrapper(("sh", shown), reason, settings)
        return Wrapper((shown if count else f"./{shown}",), f"{shown} is there", settings)
    return Wrapper((script.tool,), f"no {script.name}, {installed}")


def with_goals(plan: BuildPlan, goals: Sequence[str]) -> BuildPlan:
    """A plan of Maven or Gradle, whose last word is the goal, with these in its place."""
    last = plan.steps[-1]
    step = BuildStep("test", (*last.command[:-1], *goals))
    return replace(plan, steps=(*plan.steps[:-1], step))
