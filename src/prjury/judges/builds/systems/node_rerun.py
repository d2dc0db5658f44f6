"""Running failing tests of Node's test runners again, by their names. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildStep
from prjury.judges.builds.systems.node_scripts import ScriptCommand, node_options
from prjury.judges.builds.systems.node_tool import NodeTool
from prjury.judges.builds.systems.source_tree import SourceTree, nearest
from prjury.judges.builds.systems.workspace_graph import Member

#: What jest and vitest are told so that they name every test that they run.
NAMING = {"jest": ("--verbose", "--bail=0"), "vitest": ("--reporter=verbose",)}
#: What takes the names of the tests that are to be run, with those of the suites around them.
_CHOOSING = {"jest": "-t", "vitest": "-t", "mocha": "--grep"}
_CHOICES = ("-t", "--testNamePattern", "--grep", "-g", "--fgrep", "-f")
#: How the runners part a test's name from those of the suites around it, in what they print.
_PARTED = " [>›] "
_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|]")
#: Characters that not every package manager hands on as they are.
_FRAGILE = frozenset("\"'`$\\!%")


@dataclass(frozen=True)
class NodeAlone:
    """Runs failing tests again.

    Attributes:
        commands: what the test script runs, by the directory of the package.
        members: the packages below the root, by directory.
    """

    root: SourceTree
    tool: NodeTool
    commands: Mapping[str, ScriptCommand]
    members: Mapping[str, Member]

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for each package, None where a test cannot be named exactly."""
        homes: dict[str, list[Failure]] = {}
        for failure in failures:
            home = self._home(failure)
            if home is None:
                return None
            homes.setdefault(home, []).append(failure)
        steps = [self._step(home, some) for home, some in sorted(homes.items())]
        return tuple(step for step in steps if step) if steps and all(steps) else None

    def _home(self, failure: Failure) -> str | None:
        """The directory of the package that the test is in."""
        if not self.members:
            return ""
        file = self._file(failure)
        own = {""} if "" in self.commands else set[str]()
        return nearest(file, frozenset(self.members) | own) if file else None

    def _file(self, failure: Failure) -> str | None:
        """The file as seen from the root of the project, if it is one of the tree."""
        place = f"{self.root.place}/"
        for path in (failure.suite or "", failure.path or ""):
            below = path.removeprefix(place) if self.root.place else path
            if below in self.root.files:
                return below
        return None

    def _step(self, home: str, failures: Sequence[Failure]) -> BuildStep | None:
        command, member = self.commands.get(home), self.members.get(home)
        names = [re.split(_PARTED, failure.name or "") for failure in failures]
        if command is None or not all(_is_plain(part) for name in names for part in name):
            return None
        if command.runner == "node":
            return self._by_node(home, command, {name[-1] for name in names}, failures)
        option = _CHOOSING.get(command.runner or "", "")
        if not option or command.has(*_CHOICES):
            return None
        full = sorted({_escaped(" ".join(name)) for name in names})
        naming = NAMING.get(command.runner or "", ())
        arguments = (*naming, option, f"^(?:{'|'.join(full)})$")
        if member:
            return self.tool.step("test", [member], "test", *arguments)
        return BuildStep("test", self.tool.run("test", *arguments))

    def _by_node(
        self, home: str, command: ScriptCommand, names: set[str], failures: Sequence[Failure]
    ) -> BuildStep | None:
        """Only the files with these tests; what the script says besides of files is left out.

        node takes the name of a test without those of the suites around it.
        """
        options = node_options(command.words) if command.alone else None
        files = {self._file(failure) for failure in failures}
        if options is None or None in files:
            return None
        patterns = (f"--test-name-pattern=^{_escaped(name)}$" for name in sorted(names))
        below = sorted(f"./{(file or '').removeprefix(f'{home}/')}" for file in files)
        argv = ("node", *options, *patterns, *below)
        if not home:
            return BuildStep("test", argv)
        place = shlex.quote(home)
        heading = shlex.quote(f"> {home.rpartition('/')[2]} test")
        return BuildStep("test", f"echo {heading}; cd {place} && {shlex.join(argv)}")


def _is_plain(name: str) -> bool:
    return bool(name) and name.isprintable() and not _FRAGILE & set(name)


def _escaped(name: str) -> str:
    """The name as a regular expression of JavaScript."""
    return _SPECIAL.sub(r"\\\g<0>", name)
