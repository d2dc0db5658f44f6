"""The package managers of Node: how they install, and run scripts in packages. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.judges.builds.plan import BuildStep, StepName
from prjury.judges.builds.systems.source_tree import SourceTree
from prjury.judges.builds.systems.workspace_graph import Member

_LOCKS = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}


@dataclass(frozen=True)
class NodeTool:
    """A package manager as a project uses it.

    Attributes:
        install: how dependencies are set up; empty where there are none.
        reason: what decided for it.
    """

    name: str
    install: tuple[str, ...]
    reason: str

    def run(self, script: str, *arguments: str) -> tuple[str, ...]:
        """The command that runs a script of the root."""
        return (self.name, "run", script, *self._handed_on(arguments))

    def run_in_all(self, script: str, *arguments: str) -> tuple[str, ...] | None:
        """The command that runs a script in all members that have it, whatever becomes of one.

        It names none of them, so that it stays the same when members come and go. None where the
        manager has no such command.
        """
        if self.name == "npm":
            form = ("npm", "run", script, "--workspaces", "--if-present")
            return (*form, *self._handed_on(arguments))
        if self.name == "pnpm":
            return ("pnpm", "-r", "--no-bail", "run", "--if-present", script, *arguments)
        return None

    def step(
        self, name: StepName, members: Sequence[Member], script: str, *arguments: str
    ) -> BuildStep:
        """One step that runs a script in each of the members.

        Tests run in all of them, and each that fails is told in a line of its own: no manager's
        own way does both. A build stops at the first that fails, for others may need it.
        The first yarn says by itself that a script failed.
        """
        parts = tuple(map(self._chosen, members))
        form = (*self._form(script, "$name"), *self._handed_on(arguments))
        run = " ".join('"$name"' if word == "$name" else shlex.quote(word) for word in form)
        command: Sequence[str] | str
        if len(parts) == 1 and (self.name == "npm" or name != "test"):
            command = tuple(parts[0] if word == "$name" else word for word in form)
        elif name == "test":
            command = self._going_on(parts, script, run)
        else:
            command = f"(for name in {shlex.join(parts)}; do {run} || exit; done)"
        return BuildStep(name, command, parts, run)

    def _going_on(self, parts: Sequence[str], script: str, run: str) -> str:
        heading = "" if self.name == "npm" else f'echo "> ${{name##*/}} {script}"; '
        told = 'echo "The command failed in workspace $name with exit code $?"; '
        after = "failed=1" if self._is_old_yarn else f"{told}failed=1"
        chosen = shlex.join(parts)
        each = f"for name in {chosen}; do {heading}{run} || {{ {after}; }}; done"
        return f"(failed=0; {each}; exit $failed)"

    @property
    def _is_old_yarn(self) -> bool:
        return self.name == "yarn" and "--immutable" not in self.install

    def _chosen(self, member: Member) -> str:
        return f"./{member.directory}" if self.name == "bun" else member.name

    def _form(self, script: str, chosen: str) -> tuple[str, ...]:
        forms = {
            "npm": ("npm", "run", script, "--workspace", chosen),
            "pnpm": ("pnpm", "--filter", chosen, "run", script),
            "yarn": ("yarn", "workspace", chosen, "run", script),
            "bun": ("bun", "run", "--cwd", chosen, script),
        }
        return forms[self.name]

    def _handed_on(self, arguments: Sequence[str]) -> tuple[str, ...]:
        return ("--", *arguments) if arguments and self.name == "npm" else tuple(arguments)


def tool_of(root: SourceTree, package: Mapping[str, Any]) -> NodeTool:
    """The package manager: the lock file decides, then ``packageManager``, then it is npm."""
    named = str(package.get("packageManager", ""))
    if lock := root.has("package-lock.json", "npm-shrinkwrap.json"):
        return NodeTool("npm", ("npm", "ci", "--no-audit", "--no-fund"), f"{lock} is there")
    if root.has("pnpm-lock.yaml") or named.startswith("pnpm@"):
        install = ("pnpm", "install", "--frozen-lockfile")
        return NodeTool("pnpm", install, "pnpm-lock.yaml or packageManager says pnpm")
    if root.has("yarn.lock") or named.startswith("yarn@"):
        modern = _is_modern_yarn(root, named)
        flag = "--immutable" if modern else "--frozen-lockfile"
        return NodeTool("yarn", ("yarn", "install", flag), "yarn.lock or packageManager says yarn")
    if root.has("bun.lock", "bun.lockb"):
        return NodeTool("bun", ("bun", "install", "--frozen-lockfile"), "bun's lock file is there")
    needs = any(package.get(key) for key in ("dependencies", "devDependencies", "workspaces"))
    fresh = ("npm", "install", "--no-audit", "--no-fund")
    return NodeTool("npm", fresh if needs else (), "no lock file, so it is npm")


def other_locks(root: SourceTree, tool: NodeTool) -> tuple[str, ...]:
    """The lock files of managers that are not used."""
    return tuple(lock for lock, name in _LOCKS.items() if name != tool.name and root.has(lock))


def _is_modern_yarn(root: SourceTree, named: str) -> bool:
    """Whether it is not the first yarn, which goes on in many projects."""
    told = re.match(r"yarn@[2-9]", named) or root.has(".yarnrc.yml")
    return bool(told) or "\n__metadata:" in root.text("yarn.lock")[:2_000]
