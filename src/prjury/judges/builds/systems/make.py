"""make: the outermost Makefiles' default goal, then their tests. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.build_system import ANY_LANGUAGE, SystemDocs, When
from prjury.judges.builds.systems.projects import in_directory, is_below
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, path_in
from prjury.snapshot.model import visible

MANIFESTS = ("GNUmakefile", "makefile", "Makefile")
COVERS = {"make": ANY_LANGUAGE}
WHEN: When = "last_resort"
DOCS = SystemDocs(
    (
        (
            "`Makefile` with `test`, `check`, `.DEFAULT` or `all`",
            "`make` (or `make all`, `build`, if that is another task), `make test` or `check`",
        ),
    )
)

#: In the order in which they are looked for.
_TARGETS = ("test", "check", "all")
#: Default goals that build nothing, or more than that.
_TASKS = frozenset(
    "help usage list info version clean distclean mrproper install uninstall deploy release "
    "publish dist package push up down start stop run serve watch dev docker image format fmt "
    "lint docs doc test tests check ci setup init bootstrap deps bench benchmark coverage".split()
)
_MOST_INCLUDED = 100
#: What stands before the name of a variable that is set.
_MODIFIERS = frozenset({"export", "override", "private"})


def plans(root: SourceTree, _changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The outermost Makefiles that have a target for tests, or for everything.

    A Makefile below another one is left to that one. No Makefile is left out for a change that
    does not touch its directory: a Makefile does not say what it uses.
    """
    chosen: dict[str, BuildPlan] = {}
    for makefile in _find_makefiles(root):
        directory = makefile.directory
        if makefile.target and not any(is_below(directory, place) for place in chosen):
            chosen[directory] = in_directory(_plan(makefile, makefile.target), directory)
    return tuple(chosen.values())


def unsuited(root: SourceTree) -> Mapping[str, str]:
    """Why Makefiles without a target to run are not run, by their directories."""
    return {
        makefile.directory: f"{visible(path_in(makefile.directory, makefile.file))} has none of "
        f"the targets {', '.join(_TARGETS)}"
        for makefile in _find_makefiles(root)
        if makefile.target is None
    }


def _plan(makefile: Makefile, target: str) -> BuildPlan:
    build = makefile.build_goal(target)
    steps = [BuildStep("build", build)] if build else []
    tests = target != "all"
    plan = BuildPlan(
        "make",
        (*steps, BuildStep("test" if tests else "build", ("make", target))),
        (f"{makefile.file} has the target {target}",),
    )
    if not tests:
        return plan
    going_on = tuple(
        replace(step, command=("make", "-k", *step.command[1:])) for step in plan.steps
    )
    return replace(plan, keep_going=replace(plan, steps=going_on))


@dataclass(frozen=True)
class Makefile:
    """A Makefile with the files that it includes.

    Attributes:
        directory: where it is, from the root of the tree.
        rules: the prerequisites of each target, in the order of the targets.
        default: the goal that it names as its default; empty for none.
    """

    file: str
    directory: str
    rules: Mapping[str, tuple[str, ...]]
    default: str = ""

    @property
    def target(self) -> str | None:
        """The target that runs the tests, or else makes everything."""
        if self.rules.get("check") == ("test",):
            return "check"  # which may run what `test` only links
        known = {*self.rules, *(["test"] if ".DEFAULT" in self.rules else [])}
        return next((name for name in _TARGETS if name in known), None)

    def build_goal(self, target: str) -> tuple[str, ...]:
        """The command that builds everything, which tests alone need not do; empty for none."""
        plain = (name for name in self.rules if not name.startswith(".") and "%" not in name)
        default = self.default or next(plain, "")
        goals = ["all", "build"] if not default or default.lower() in _TASKS else [default]
        goal = next((name for name in goals if name in self.rules), None)
        if goal is None or target in {goal, "all"} or goal in self.rules.get(target, ()):
            return ()
        return ("make",) if goal == default else ("make", goal)


def _find_makefiles(root: SourceTree) -> Iterator[Makefile]:
    """The Makefiles that make reads, each with the files that it includes."""
    for directory in sorted(filter(root.may_hold_project, root.directories_with(*MANIFESTS))):
        path = root.has(*(path_in(directory, name) for name in MANIFESTS))
        if path is None:
            continue
        rules, default = dict[str, tuple[str, ...]](), ""
        texts, waiting = set[str](), [path]
        while waiting and len(texts) < _MOST_INCLUDED:
            current = waiting.pop(0)
            if current in texts:
                continue
            texts.add(current)
            for line in _read_lines(root.text(current)):
                words = line.split("#")[0].split()
                if words[:1] and words[0] in {"include", "-include", "sinclude"}:
                    waiting += _find_included(root, directory, words[1:])
                elif words[:1] == [".DEFAULT_GOAL"]:
                    default = words[-1]
                for target, needs in _read_rule(line):
                    rules[target] = (*rules.get(target, ()), *needs)
        yield Makefile(path.rpartition("/")[2], directory, rules, default)


def _read_lines(text: str) -> Iterator[str]:
    """The logical lines without recipes."""
    for line in text.replace("\r\n", "\n").replace("\\\n", " ").splitlines():
        if not line.startswith("\t"):
            yield line


def _find_included(root: SourceTree, directory: str, names: list[str]) -> Iterator[str]:
    for name in names:
        place = None if "$" in name else joined(directory, name)
        if place and set(place) & set("*?["):
            yield from sorted(path for path in root.files if fnmatchcase(path, place))
        elif place in root.files:
            yield place


def _read_rule(line: str) -> Iterator[tuple[str, list[str]]]:
    """The targets of a rule, each with what it needs; a variable that is set is no rule."""
    names, colon, rest = line.partition(":")
    rest = rest.removeprefix(":")
    words = rest.replace(":=", " = ").replace("?=", " = ").replace("+=", " = ").split()
    own = [word for word in words if word not in _MODIFIERS]
    sets = rest.lstrip(":").startswith("=") or "=" in own[1:2] or "=" in "".join(own[:1])
    if colon and not sets and "=" not in names and not names.lstrip().startswith("#"):
        needs = rest.partition(";")[0].partition("#")[0].split()
        for name in names.rstrip("& ").split():
            yield name, needs
