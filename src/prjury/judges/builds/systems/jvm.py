"""What Maven and Gradle share: wrapper scripts, and goals. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import EXECUTABLE, SourceTree, parents_of, path_in


class Wrapper(Struct, frozen=True):
    """The way to call a tool that may come with a wrapper script.

    Attributes:
        settings: the text of the file that names the tool's version; empty for the installed one.
    """

    argv: tuple[str, ...]
    reason: str
    settings: str = ""


def find_wrapper(
    tree: SourceTree, directory: str, name: str, tool: str, needed: Sequence[str]
) -> Wrapper:
    """The nearest script, in the directory of a build or above it, else the installed tool.

    Args:
        name: the script's file.
        tool: the program that is installed where there is no script.
        needed: what else must be there for it to work, the file that names the version first.
    """
    installed = f"so the installed `{tool}` is used"
    for count, place in enumerate((directory, *parents_of(directory))):
        path, shown = path_in(place, name), f"{'../' * count}{name}"
        if path not in tree.files:
            continue
        missing = next((one for one in needed if path_in(place, one) not in tree.files), "")
        if missing:
            return Wrapper((tool,), f"{shown} is there without {missing}, {installed}")
        if "\r\n" in tree.text(path):
            return Wrapper((tool,), f"{shown} has Windows line ends, {installed}")
        settings = tree.text(path_in(place, needed[0]))
        if tree.files[path].mode != EXECUTABLE:
            reason = f"{shown} is there but not executable, so `sh` runs it"
            return Wrapper(("sh", shown), reason, settings)
        return Wrapper((shown if count else f"./{shown}",), f"{shown} is there", settings)
    return Wrapper((tool,), f"no {name}, {installed}")


def with_goals(plan: BuildPlan, goals: Sequence[str]) -> BuildPlan:
    """A plan of Maven or Gradle, whose last word is the goal, with these in its place."""
    step = BuildStep("test", (*plan.steps[-1].command[:-1], *goals))
    return replace(plan, steps=(*plan.steps[:-1], step))
