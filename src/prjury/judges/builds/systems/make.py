"""make. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.makefile import NAMES, Makefile, read_makefile
from prjury.judges.builds.systems.outside_references import changes_in, make_references
from prjury.judges.builds.systems.projects import in_directory, is_below
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined
from prjury.snapshot.model import visible

#: In the order in which they are looked for.
_TARGETS = ("test", "check", "all")

#: With ``-i`` make goes on after every error, also within a recipe, and ends with exit code 0. Its
#: notes of ignored errors are turned back into errors, and the exit code says whether there were
#: any. With ``-k`` it would leave out the rest of a recipe.
_GOING_ON = (
    r"""{{ make -i {} 2>&1; echo "make ended with exit code $?"; }} | awk '"""
    r"/^make(\[[0-9]+\])?: \[.*\(ignored\)$/ "
    r"""{{ sub(/: \[/, ": *** ["); sub(/ \(ignored\)$/, "") }} """
    r"/^make(\[[0-9]+\])?: \*\*\* / {{ failed = 1 }} "
    r"/^make ended with exit code 0$/ {{ ended = 1 }} "
    r"{{ print; fflush() }} END {{ exit failed || !ended }}'"
)


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The outermost Makefiles that have a target for tests, or for everything.

    Those below another one are their own business: it calls them, or leaves them.
    """
    found: dict[str, BuildPlan] = {}
    for makefile in _makefiles(root):
        directory = makefile.directory
        if any(is_below(directory, place) for place in found):
            continue
        if plan := _plan(root, makefile):
            found[directory] = in_directory(plan, directory)
    if changes is None:
        return tuple(found.values())
    affected = (_affected(root, found, directory, changes) for directory in found)
    return tuple(plan for plan in affected if plan)


def unsuited(root: SourceTree) -> Mapping[str, str]:
    """Why Makefiles do not count that have no target to run, by their directories."""
    return {
        makefile.directory: _why_not(makefile)
        for makefile in _makefiles(root)
        if _target(makefile) is None
    }


def _makefiles(root: SourceTree) -> Iterator[Makefile]:
    for directory in sorted(filter(root.may_hold_project, root.directories_with(*NAMES))):
        if makefile := read_makefile(root, directory):
            yield makefile


def _target(makefile: Makefile) -> str | None:
    known = {*makefile.rules, *(["test"] if makefile.hands_on else [])}
    return next((name for name in _TARGETS if name in known), None)


def _why_not(makefile: Makefile) -> str:
    path = visible(joined(makefile.directory, makefile.file) or makefile.file)
    more = ", unless it is in what it includes" if makefile.unclear else ""
    return f"{path} has none of the targets {', '.join(_TARGETS)}{more}"


def _plan(root: SourceTree, makefile: Makefile) -> BuildPlan | None:
    target = _target(makefile)
    if target is None:
        return None
    asleep = makefile.is_asleep(target, root)
    tests = target != "all" and not asleep
    plan = BuildPlan(
        "make",
        (BuildStep("test" if tests else "build", ("make", target)),),
        (f"{makefile.file} has the target {target}",),
        (_asleep(target),) if asleep else (),
    )
    if not tests:
        return plan
    going_on = replace(plan, steps=(BuildStep("test", _GOING_ON.format(target)),))
    return replace(plan, thorough=going_on)


def _asleep(target: str) -> str:
    return (
        f"make does nothing for `{target}`, because a file of that name is there and the target "
        "is not .PHONY"
    )


def _affected(
    root: SourceTree, found: Mapping[str, BuildPlan], directory: str, changes: Changes
) -> BuildPlan | None:
    """The build where something changes in its directory, or in what it takes from elsewhere."""
    if not directory or changes.below(directory):
        return found[directory]
    for place in sorted(_reach(root, found, directory)):
        if changes_in(changes, place, directory):
            because = f"{visible(place) or 'the root'} changes, on which it may depend"
            return replace(found[directory], scope=BuildScope(because=because))
    return None


def _reach(root: SourceTree, found: Mapping[str, BuildPlan], directory: str) -> frozenset[str]:
    """What a Makefile takes from elsewhere, by itself or through other ones."""
    reached = set[str]()
    waiting, seen = [directory], set[str]()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            taken = make_references(root.below(one))
            reached |= taken
            waiting += [other for other in found if any(_meets(other, place) for place in taken)]
    return frozenset(reached)


def _meets(directory: str, place: str) -> bool:
    return directory == place or is_below(directory, place) or is_below(place, directory)
