"""make. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from prjury.judges.build.plan import BuildPlan, Step
from prjury.judges.build.systems.projects import is_below, placed
from prjury.judges.build.systems.root import Changes, Root, may_hold_project

_TARGET = re.compile(r"^(test|check|all)\s*:(?!=)", re.MULTILINE)
#: What a Makefile does for targets that it does not know, such as handing them on to another one.
_ANY = re.compile(r"^\.DEFAULT\s*:(?!=)", re.MULTILINE)
_NAMES = ("GNUmakefile", "makefile", "Makefile")

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


def plans(root: Root, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The outermost Makefiles that have a target for tests, or for everything.

    Those below another one are its own business: it calls them, or leaves them.
    """
    found: list[BuildPlan] = []
    for directory in sorted(filter(may_hold_project, root.directories_with(*_NAMES))):
        if any(is_below(directory, plan.directory) for plan in found):
            continue
        if plan := _plan(root.below(directory)):
            found.append(placed(plan, directory))
    return tuple(
        plan
        for plan in found
        if not plan.directory or changes is None or changes.below(plan.directory)
    )


def _plan(root: Root) -> BuildPlan | None:
    file = root.has(*_NAMES)
    text = root.text(file) if file else ""
    targets = {*_TARGET.findall(text), *(["test"] if _ANY.search(text) else [])}
    target = next((name for name in ("test", "check", "all") if name in targets), None)
    if not file or not target:
        return None
    plan = BuildPlan(
        "make",
        (Step("build" if target == "all" else "test", ("make", target)),),
        (f"{file} has the target {target}",),
    )
    if target == "all":
        return plan
    going_on = replace(plan, steps=(Step("test", _GOING_ON.format(target)),))
    return replace(plan, thorough=going_on)
