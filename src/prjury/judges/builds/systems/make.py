"""make: the outermost Makefiles' default goal, then their tests. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.build_system import ANY_LANGUAGE, SystemDocs, When
from prjury.judges.builds.systems.projects import in_directory, is_below
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined
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
    ),
)

#: In the order in which they are looked for.
_TARGETS = ("test", "check", "all")

#: Default goals that build nothing, or more than that.
_TASKS = frozenset(
    "help usage list info version clean distclean mrproper install uninstall deploy release "
    "publish dist package push up down start stop run serve watch dev docker image format fmt "
    "lint docs doc test tests check ci setup init bootstrap deps bench benchmark coverage".split()
)

#: With ``-i`` make continues after every error, also within a recipe, and ends with exit code 0.
#: Its notes of ignored errors are turned back into errors, and the exit code tells whether there
#: were any. With ``-k`` it would leave out the rest of a recipe.
_GOING_ON = (
    r"""{{ make -i {} 2>&1; echo "make ended with exit code $?"; }} | awk '"""
    r"/^make(\[[0-9]+\])?: \[.*\(ignored\)$/ "
    r"""{{ sub(/: \[/, ": *** ["); sub(/ \(ignored\)$/, "") }} """
    r"/^make(\[[0-9]+\])?: \*\*\* / {{ failed = 1 }} "
    r"/^make ended with exit code 0$/ {{ ended = 1 }} "
    r"{{ print; fflush() }} END {{ exit failed || !ended }}'"
)


def plans(root: SourceTree, _changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The outermost Makefiles that have a target for tests, or for everything.

    A Makefile below another one is left to that one. No Makefile is left out for a change that
    does not touch its directory: a Makefile does not say what it uses.
    """
    found: dict[str, BuildPlan] = {}
    for makefile in _makefiles(root):
        directory = makefile.directory
        if any(is_below(directory, place) for place in found):
            continue
        if plan := _plan(root, makefile):
            found[directory] = in_directory(plan, directory)
    return tuple(found.values())


def unsuited(root: SourceTree) -> Mapping[str, str]:
    """Why Makefiles without a target to run are not run, by their directories."""
    return {
        makefile.directory: _why_not(makefile)
        for makefile in _makefiles(root)
        if _target(makefile) is None
    }


def _makefiles(root: SourceTree) -> Iterator[Makefile]:
    for directory in sorted(filter(root.may_hold_project, root.directories_with(*MANIFESTS))):
        if makefile := read_makefile(root, directory):
            yield makefile


def _target(makefile: Makefile) -> str | None:
    known = {*makefile.rules, *(["test"] if makefile.hands_on else [])}
    if makefile.rules.get("check", MakeRule()).needs == ("test",):
        return "check"  # which may run what `test` only links
    return next((name for name in _TARGETS if name in known), None)


def _why_not(makefile: Makefile) -> str:
    path = visible(joined(makefile.directory, makefile.file) or makefile.file)
    more = ", unless an included file has one" if makefile.unclear else ""
    return f"{path} has none of the targets {', '.join(_TARGETS)}{more}"


def _plan(root: SourceTree, makefile: Makefile) -> BuildPlan | None:
    target = _target(makefile)
    if target is None:
        return None
    idle = makefile.has_no_effect(target, root)
    tests = target != "all" and not idle
    goal = _goal(makefile, target)
    plan = BuildPlan(
        "make",
        (*_making(makefile, goal), BuildStep("test" if tests else "build", ("make", target))),
        (f"{makefile.file} has the target {target}",),
        (_no_effect(target),) if idle else (),
    )
    if not tests:
        return plan
    every = f"{goal} {target}" if goal else target
    going_on = replace(plan, steps=(BuildStep("test", _GOING_ON.format(every)),), goes_on=True)
    return replace(plan, keep_going=going_on)


def _goal(makefile: Makefile, target: str) -> str | None:
    """What builds everything, which tests alone need not do; nothing where the target does it."""
    default = makefile.default_goal
    goals = ["all", "build"] if default is None or default.lower() in _TASKS else [default]
    goal = next((name for name in goals if name in makefile.rules), None)
    made = makefile.rules.get(target, MakeRule()).needs
    return None if target in {goal, "all"} or goal in made else goal


def _making(makefile: Makefile, goal: str | None) -> tuple[BuildStep, ...]:
    if goal is None:
        return ()
    return (BuildStep("build", ("make",) if goal == makefile.default_goal else ("make", goal)),)


def _no_effect(target: str) -> str:
    return (
        f"make does nothing for `{target}`, because a file of that name exists and the target "
        "is not .PHONY"
    )


_MOST_INCLUDED = 100

_CONTINUED = re.compile(r"\\\r?\n")
_RULE = re.compile(r"(?P<names>[^\s:=#][^:=#]*?)[ \t]*(?P<colons>::?)(?![:=])(?P<rest>.*)")
#: After the colon of a rule, a variable may be set for the target; this is no rule.
_OWN_VARIABLE = re.compile(r"\s*(?:(?:export|override|private)\s+)*[\w.-]+\s*(?:[?+!]|:{1,3})?=")
_ASSIGNED = re.compile(
    r"[ \t]*(?:(?:export|override|private)[ \t]+)*(?P<name>[\w.-]+)[ \t]*(?:[?+]|:{1,3})?="
    r"(?P<value>.*)"
)
_INCLUDE = re.compile(r"[ \t]*[-s]?include[ \t]+(?P<files>[^#]*)")
_VARIABLE = re.compile(r"\$[({]([\w.-]+)[)}]")
#: A rule that passes any target on to another Makefile.
_HANDS_ON = re.compile(r"\$[({]MAKE[)}][^\n]*\$@")


@dataclass(frozen=True)
class MakeRule:
    """The prerequisites of one target, from all its rules."""

    needs: tuple[str, ...] = ()
    double: bool = False


@dataclass(frozen=True)
class Makefile:
    """Rules and variables of a Makefile and the files that it includes.

    Attributes:
        directory: where it is, from the root of the tree.
        unclear: whether it includes an unknown file, or one outside of its directory.
    """

    file: str
    directory: str
    texts: tuple[str, ...]
    unclear: bool = False
    rules: Mapping[str, MakeRule] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def hands_on(self) -> bool:
        """Whether it passes any target on to another Makefile."""
        pattern = "%" in self.rules and any(map(_HANDS_ON.search, self.texts))
        return ".DEFAULT" in self.rules or pattern

    @property
    def default_goal(self) -> str | None:
        """What make without a target makes, as far as its files say."""
        if named := self.variables.get(".DEFAULT_GOAL"):
            return named
        plain = (name for name in self.rules if not name.startswith(".") or "/" in name)
        return next((name for name in plain if not set(name) & set("%$")), None)

    def is_phony(self, target: str) -> bool:
        """Whether a target is declared ``.PHONY``."""
        return target in self.rules.get(".PHONY", MakeRule()).needs

    def has_no_effect(self, target: str, root: SourceTree) -> bool:
        """Whether make may do nothing for a target, because the tree has a file of that name.

        A target that is ``.PHONY``, or has a missing prerequisite, is always made.
        """
        if self.is_phony(target) or not self._is_there(target, root):
            return False
        rule = self.rules.get(target, MakeRule())
        if rule.double and not rule.needs:
            return False
        plain = [name for name in rule.needs if not set(name) & set("$%|*?")]
        return not any(self.is_phony(one) or not self._is_there(one, root) for one in plain)

    def _is_there(self, name: str, root: SourceTree) -> bool:
        path = joined(self.directory, name)
        return path is not None and (path in root.files or path in root.directories)


def read_makefile(root: SourceTree, directory: str) -> Makefile | None:
    """The Makefile that make reads in a directory, with the files that it includes."""
    prefix = f"{directory}/" if directory else ""
    path = root.has(*(f"{prefix}{name}" for name in MANIFESTS))
    if path is None:
        return None
    texts, unclear = _included(root, directory, path)
    variables = dict(assigned(texts))
    rules: dict[str, MakeRule] = {}
    for name, rule in _rules(texts, variables):
        before = rules.get(name, MakeRule())
        rules[name] = MakeRule(before.needs + rule.needs, before.double or rule.double)
    return Makefile(path.removeprefix(prefix), directory, tuple(texts), unclear, rules, variables)


def lines_of(text: str) -> Iterator[str]:
    """The logical lines without recipes."""
    for line in _CONTINUED.sub(" ", text).splitlines():
        if not line.startswith("\t"):
            yield line


def assigned(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Every variable that is set, with its value as written."""
    for text in texts:
        for line in lines_of(text):
            if match := _ASSIGNED.match(line):
                yield match["name"], match["value"].strip()


def _included(root: SourceTree, directory: str, path: str) -> tuple[list[str], bool]:
    """The texts of a Makefile and of all files that it includes, and whether any is unknown."""
    found: dict[str, str] = {}
    waiting, unclear = [path], False
    while waiting and len(found) < _MOST_INCLUDED:
        one = waiting.pop(0)
        if one in found:
            continue
        found[one] = root.text(one)
        for word in included_words(found[one]):
            place = None if "$" in word else joined(directory, word)
            inside = place is not None and (not directory or place.startswith(f"{directory}/"))
            unclear = unclear or not inside
            waiting += _fitting(root, place) if place is not None else []
    return list(found.values()), unclear or bool(waiting)


def included_words(text: str) -> Iterator[str]:
    """The files that a Makefile includes, as written."""
    for line in lines_of(text):
        if match := _INCLUDE.match(line):
            yield from match["files"].split()


def _fitting(root: SourceTree, pattern: str) -> list[str]:
    if not set(pattern) & set("*?["):
        return [pattern] if pattern in root.files else []
    return sorted(path for path in root.files if fnmatchcase(path, pattern))


def _rules(texts: list[str], variables: Mapping[str, str]) -> Iterator[tuple[str, MakeRule]]:
    for text in texts:
        for line in lines_of(text):
            match = _RULE.match(line)
            if match is None or _OWN_VARIABLE.match(match["rest"]):
                continue
            needs = _expanded(re.split(r"[;#]", match["rest"], maxsplit=1)[0], variables).split()
            for name in _expanded(match["names"].rstrip("& "), variables).split():
                yield name, MakeRule(tuple(needs), match["colons"] == "::")


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    """The text with plain variables replaced by their values."""
    return _VARIABLE.sub(lambda match: _plain(match, variables), text)


def _plain(match: re.Match[str], variables: Mapping[str, str]) -> str:
    value = variables.get(match[1], "$")
    return match[0] if "$" in value else value
