"""The scripts of a ``package.json``, and how the package managers run them. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildStep, StepName
from prjury.judges.builds.systems.source_tree import SourceTree, nearest
from prjury.judges.builds.systems.workspace_graph import Member
from prjury.manifests.node import PackageJson

Runner: TypeAlias = Literal["node", "jest", "vitest", "mocha"]

_RUNNERS: Mapping[str, Runner] = {"jest": "jest", "vitest": "vitest", "mocha": "mocha"}
#: Scripts that test nothing: that of ``npm init``, and those that only say where the tests are.
_PLACEHOLDER = re.compile(
    r"echo .*no test specified|^\s*echo [^&|;]*(?:&&|;)\s*exit [1-9]\d*\s*$", re.IGNORECASE
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = frozenset("&|;<>()")
#: Programs that run the program after them.
_BEFORE = frozenset({"npx", "cross-env", "c8", "nyc"})
#: Those of them that measure coverage, with options of their own.
_COVERING = frozenset({"c8", "nyc"})
#: Words before a runner with which package managers start it.
_STARTING = frozenset({"yarn", "pnpm", "bunx", "exec"})

#: After these, the following commands run elsewhere, or not at all.
_AWAY = frozenset({"cd", "pushd", "exit", "exec"})

#: Options of node that take the next word as their value.
_WITH_VALUE = frozenset({"--import", "--require", "-r", "--loader", "--experimental-loader", "-C"})

#: The commands of a root's script that run the same script in all packages, without options;
#: `{}` stands for the script's name.
_DELEGATES: Mapping[str, Sequence[str]] = {
    "npm": ("run {}", "run-script {}", "{}"),
    "pnpm": ("run {}", "{}", "recursive run {}", "recursive {}"),
    "yarn": ("workspaces run {}", "workspaces foreach run {}"),
    "bun": ("run {}", "{}"),
    "lerna": ("run {}",),
    "turbo": ("run {}", "{}"),
}
#: One of these options is needed to run all packages.
_ALL = {
    "npm": frozenset({"--workspaces", "-ws", "--ws"}),
    "pnpm": frozenset({"-r", "--recursive"}),
    "bun": frozenset({"--filter=*", "--workspaces"}),
}
#: Options that do not change what is run.
_HARMLESS = frozenset(
    "--if-present --stream --parallel --no-bail --aggregate-output --no-sort --sort -A -a -p -t -v "
    "-i -pt -pv -ptv -Ap -At -Apt -Aptv -Apv --all --topological --topological-dev --verbose "
    "--interlaced".split()
)


def script_of(package: PackageJson, name: str) -> str:
    """The text of a script; empty if there is none, or one that does nothing."""
    text = package.scripts.get(name, "")
    return "" if _PLACEHOLDER.search(text) else text


@dataclass(frozen=True)
class ScriptCommand:
    """The last command of a script.

    Attributes:
        words: program and arguments, without what only prepares for it.
        alone: whether it is the only one.
    """

    words: tuple[str, ...]
    alone: bool

    @property
    def runner(self) -> Runner | None:
        """The test runner that it starts; None for another program."""
        program = self.words[0].rpartition("/")[2]
        if program != "node":
            return _RUNNERS.get(program)
        if any(word.endswith(("/bin/jest.js", ".bin/jest")) for word in self.words):
            return "jest"
        return "node" if "--test" in self.words else None

    def has(self, *options: str) -> bool:
        """Whether one of the options is given, with a value or without."""
        return any(word.partition("=")[0] in options for word in self.words)


def last_command(text: str) -> ScriptCommand | None:
    """The command that gets a script's arguments; None if that is uncertain."""
    words = _split(text)
    if any(word.startswith("#") or (word != "&&" and set(word) <= _OPERATORS) for word in words):
        return None
    segments = _segments(words)
    last = _prepared(segments[-1])
    return ScriptCommand(last, len(segments) == 1) if last else None


def _split(text: str) -> list[str]:
    """The words of a shell's line; none if the shell would expand it."""
    if any(mark in text for mark in "`$\n\\"):
        return []
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quotation that does not end
        return []


def _segments(words: Sequence[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            found.append([])
        else:
            found[-1].append(word)
    return found


def _prepared(words: Sequence[str]) -> tuple[str, ...]:
    """The command without assignments and programs before it that only run it."""
    left = list(words)
    while left and (_ASSIGNED.match(left[0]) or left[0] in _BEFORE):
        left.pop(0)
    start = next((at for at, word in enumerate(left) if word in _RUNNERS), 0)
    covered = not _COVERING.isdisjoint(words) and all(one[0] == "-" for one in left[:start])
    return tuple(left[start:] if covered or _STARTING.issuperset(left[:start]) else left)


def node_options(words: Sequence[str]) -> tuple[str, ...] | None:
    """The options of ``node --test``; None if files and values cannot be distinguished."""
    options: list[str] = []
    waiting = iter(words[1:])
    for word in waiting:
        if not word.startswith("-"):
            continue
        options.append(word)
        if word in _WITH_VALUE:
            value = next(waiting, None)
            if value is None:
                return None
            options.append(value)
    return tuple(options) if "--test" in options else None


def delegate_of(package: PackageJson, name: str) -> str | None:
    """The program by which the root's script runs the same script in all packages, or None.

    A script with others before or after it does more than that.
    """
    if script_of(package, f"pre{name}") or script_of(package, f"post{name}"):
        return None
    command = last_command(script_of(package, name))
    return _delegate(command.words, name) if command and command.alone else None


def goes_through(package: PackageJson, name: str) -> bool:
    """Whether the root's script runs, among others, the same script in all packages."""
    text = script_of(package, name)
    commands = list(filter(None, map(_prepared, _segments(_split(text)))))
    if last_command(text) is None or any(words[0] in _AWAY for words in commands):
        return False
    return any(_delegate(words, name) for words in commands)


def _delegate(words: Sequence[str], name: str) -> str | None:
    program, options, others = words[0], set[str](), list[str]()
    for word in words[1:]:
        if word.startswith("-"):
            options.add(word)
        else:
            others.append(word)
    wanted = [form.format(name) for form in _DELEGATES.get(program, ())]
    needed = _ALL.get(program, frozenset())
    recursive = "recursive" in others
    if " ".join(others) not in wanted or (needed and not recursive and not needed & options):
        return None
    return program if options <= needed | _HARMLESS else None


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
        """The command that runs a script in all members that have it, also after failures.

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

        Tests run in all of them, and each that fails has a line of its own: no manager's
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
        message = 'echo "The command failed in workspace $name with exit code $?"; '
        after = "failed=1" if self._is_old_yarn else f"{message}failed=1"
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


def tool_of(root: SourceTree, package: PackageJson) -> NodeTool:
    """The package manager that has a lock file, of several the named one, or else the first.

    Without lock files it is the one in ``packageManager``, then npm.
    """
    named, locks = package.manager, [lock for lock in _LOCKS if root.has(lock)]
    by_name = [lock for lock in locks if named.startswith(f"{_LOCKS[lock]}@")]
    lock = next(iter([*by_name, *locks]), "")
    chosen = _LOCKS.get(lock) or named.partition("@")[0]
    if lock and chosen == "npm":
        return NodeTool("npm", ("npm", "ci", "--no-audit", "--no-fund"), f"{lock} is there")
    if chosen == "pnpm":
        install = ("pnpm", "install", "--frozen-lockfile")
        return NodeTool("pnpm", install, "pnpm-lock.yaml or packageManager says pnpm")
    if chosen == "yarn":
        modern = _is_modern_yarn(root, named)
        flag = "--immutable" if modern else "--frozen-lockfile"
        return NodeTool("yarn", ("yarn", "install", flag), "yarn.lock or packageManager says yarn")
    if lock and chosen == "bun":
        return NodeTool("bun", ("bun", "install", "--frozen-lockfile"), "bun's lock file is there")
    needs = package.own or package.members or package.unclear
    fresh = ("npm", "install", "--no-audit", "--no-fund")
    return NodeTool("npm", fresh if needs else (), "no lock file, so it is npm")


def other_locks(root: SourceTree, tool: NodeTool) -> tuple[str, ...]:
    """The lock files of managers that are not used."""
    return tuple(lock for lock, name in _LOCKS.items() if name != tool.name and root.has(lock))


def _is_modern_yarn(root: SourceTree, named: str) -> bool:
    """Whether it is not yarn 1."""
    modern = re.match(r"yarn@[2-9]", named) or root.has(".yarnrc.yml")
    return bool(modern) or "\n__metadata:" in root.text("yarn.lock")[:2_000]


#: Options with which the runners name every test that they run, in TAP if they can.
NAMING = {
    "jest": ("--verbose", "--bail=0"),
    "vitest": ("--reporter=default", "--reporter=tap-flat"),
    "mocha": ("--reporter=tap",),
}
#: Options that choose tests by their names and those of their suites.
_CHOOSING = {"jest": "-t", "vitest": "-t", "mocha": "--grep"}
_CHOICES = ("-t", "--testNamePattern", "--grep", "-g", "--fgrep", "-f")
#: How the runners separate the names of suites and tests.
_PARTED = " [>›] "
_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|]")
#: Characters that not every package manager passes on unchanged.
_FRAGILE = frozenset("\"'`$\\!%")


@dataclass(frozen=True)
class NodeRerun:
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
        """One step for each package; None if a test cannot be named exactly."""
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
        """The path of the test's file in the project, if the tree has it."""
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
        """Only the files with these tests, not those that the script names.

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
