"""The steps of a job as a build here runs them, with those of local actions in their place.

What wants more rights than a build has, or would change the machine itself, is named. Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Template

from msgspec import Struct
from msgspec.structs import replace

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.calls import (
    RECIPE_FAMILIES,
    SETUP_ACTIONS,
    WORDS,
    Call,
    find_heredoc,
    find_purpose,
    list_lines,
    name_program,
    name_script,
    read_calls,
)
from prjury.judges.builds.plan import LeftOutKind, LeftOutStep, StepName
from prjury.judges.builds.systems.source_tree import SourceTree, join_path, path_in
from prjury.judges.builds.systems.tox import tox_settings
from prjury.judges.builds.toolchains import Toolchains
from prjury.manifests.matrix import ExpressionContext
from prjury.manifests.node import read_package_json
from prjury.manifests.workflow import CompositeAction, WorkflowStep, read_composite

_DOWNLOADS = "actions/download-artifact"
_SECRETS = ("secrets.", "secrets[", "github.token")
_WORKSPACE = "${{ github.workspace }}"
_LARGEST_SCRIPT = 64 * 1024
_DEEPEST = 3


class CiStep(Struct, frozen=True):
    """Commands of one step.

    Attributes:
        script: one line, or a script for bash.
        origin: the file and the line where it stands.
        directory: where it runs, from the root of the tree.
        env: the step's own variables.
        may_fail: whether the job goes on after a failure of it.
        calls: the commands in it; those of scripts of the tree are known by what the scripts run.
    """

    kind: StepName
    script: str
    origin: str = ""
    directory: str = ""
    env: Mapping[str, str] = {}
    may_fail: bool = False
    calls: tuple[Call, ...] = ()


def fill_variables(
    context: ExpressionContext, texts: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The variables whose values are known, without secrets."""
    for name, text in texts.items():
        value = None if _holds_secret(text) else context.fill(text)
        if value is not None:
            yield name, value


def _holds_secret(text: str) -> bool:
    return any(mark in text for mark in _SECRETS)


def has_part(text: str, parts: Iterable[str]) -> bool:
    """Find one of these parts in a text, in whatever case."""
    lower = text.lower()
    return any(part in lower for part in parts)


def join_background(steps: Sequence[CiStep]) -> list[CiStep]:
    """The steps, those that start a program beside the rest as one script with what follows."""
    merged: list[CiStep] = []
    for step in steps:
        before = merged[-1] if merged else None
        if before and _ends_in_background(before.script) and before.directory == step.directory:
            env, calls = {**before.env, **step.env}, (*before.calls, *step.calls)
            script = f"{before.script}\n{step.script}"
            merged[-1] = replace(step, script=script, env=env, origin=before.origin, calls=calls)
        else:
            merged.append(step)
    return merged


def _ends_in_background(script: str) -> bool:
    line = script.rstrip().rpartition("\n")[2]
    return line.endswith("&") and not line.endswith("&&")


class StepReader:
    """Goes through the steps of a row."""

    def __init__(
        self,
        root: SourceTree,
        here: Toolchains,
        context: ExpressionContext,
        path: str,
        composites: dict[str, CompositeAction | None],
    ) -> None:
        self.root, self.here, self.context = root, here, context
        self.path = path
        self.defaults: Mapping[str, str] = {}
        self.steps: list[CiStep] = []
        self.versions: dict[str, str] = {}
        self.version_files: dict[str, str] = {}
        self.left_out: list[LeftOutStep] = []
        self.linters: list[str] = []
        self.left_at_test = 0
        self.needs_artifacts = False
        self.depth = 0
        self.checkout = ""
        self.others: list[str] = []  # directories of other repositories
        self.composites = composites
        self.actions: list[WorkflowStep] = []
        self.actions_at_test = 0

    def take(self, steps: Sequence[WorkflowStep]) -> None:
        """Read steps, and those of local actions in their place."""
        for step in steps:
            if self.context.holds(step.condition) is False:
                continue
            if step.run:
                self._take_run(step, step.run)
            elif step.uses.startswith("./"):
                self._take_action(step)
            else:
                self._take_setup(step)

    def _take_action(self, step: WorkflowStep) -> None:
        if step.uses not in self.composites:
            self.composites[step.uses] = self._read_action(step.uses)
        action = self.composites[step.uses] if self.depth < _DEEPEST else None
        if action is None:
            return
        inputs = {name: self.context.fill(text) or "" for name, text in step.inputs.items()}
        outer = self.context, self.path, self.defaults
        self.context = ExpressionContext(
            {**self.context.values, "inputs": {**action.inputs, **inputs}}
        )
        self.path, self.defaults, self.depth = action.path, {}, self.depth + 1
        self.take(action.steps)
        (self.context, self.path, self.defaults), self.depth = outer, self.depth - 1

    def _read_action(self, uses: str) -> CompositeAction | None:
        place = uses.removeprefix("./").strip("/")
        path = self.root.has(
            *(f"{place}/{name}".lstrip("/") for name in ("action.yml", "action.yaml"))
        )
        try:
            return read_composite(self.root.text(path), path) if path else None
        except (ConfigError, CannotJudgeError):
            return None

    def _take_setup(self, step: WorkflowStep) -> None:
        inputs = {name: self.context.fill(text) or "" for name, text in step.inputs.items()}
        self.actions.append(step.model_copy(update={"inputs": inputs}))
        tool, key = SETUP_ACTIONS.get(step.action, ("", ""))
        path = inputs.get(f"{key}-file", "") if tool else ""
        if version := self._choose_version(tool, inputs.get(key, "") if tool else ""):
            self.versions[tool] = version
        elif step.action == "dtolnay/rust-toolchain" and not step.uses.endswith("@master"):
            self.versions[tool] = step.uses.partition("@")[2]
        elif path:
            self.version_files[tool] = path.removeprefix("./")
        if step.action == "actions/checkout" and "repository" not in step.inputs:
            self.checkout = step.inputs.get("path", "")
        elif step.action == "actions/checkout":
            self.others.append(inputs.get("path") or "\0")
        if step.action == _DOWNLOADS and not any(one.kind == "test" for one in self.steps):
            self.needs_artifacts = True
            self._leave(step.uses, "it brings what another job has made", "elsewhere", 0)
        elif step.action.startswith("docker://") or has_part(step.action, WORDS["service_actions"]):
            self._leave(step.uses, "services are not started here", "services", 0)
        elif command := _find_command(step):
            self._take_run(step, command)
        elif not tool and not has_part(step.action, WORDS["harmless_actions"]):
            self._leave(step.uses, "this action is not run here", "other", 0)

    def _choose_version(self, tool: str, text: str) -> str:
        """The version that is nearest to this machine, of those that an action sets up at once."""
        versions = [line.strip() for line in text.splitlines() if line.strip()]

        def rank(version: str) -> tuple[bool, float]:
            return has_part(version, WORDS["unusual"]), self.here.distance(tool, version)

        return min(versions, key=rank, default="")

    def _leave(self, text: str, why: str, kind: LeftOutKind, line: int) -> None:
        origin = f"{self.path}:{line}" if line else self.path
        tests = any(map(would_test, list_lines(text)))
        self.left_out.append(LeftOutStep(show_first_line(text), why, kind, origin, tests))

    def _take_run(self, step: WorkflowStep, run: str) -> None:
        text = run.replace("${{github.", "${{ github.").replace(_WORKSPACE, "$GITHUB_WORKSPACE")
        without = ExpressionContext({**self.context.values, "steps": {}})
        script = None if _holds_secret(run) else without.fill(text)
        place = step.directory or self.defaults.get("working-directory", "")
        place = place.removeprefix(self.checkout) if self.checkout else place
        directory = self.context.fill(place)
        shell = (self.context.fill(step.shell or self.defaults.get("shell", "")) or "").strip()
        if script is None or directory is None:
            secret = _holds_secret(run)
            why = "it wants a secret" if secret else "it depends on the run itself"
            self._leave(run, why, "elsewhere" if secret else "other", step.line)
        elif shell and not shell.startswith(("bash", "sh")) and shell.split()[0] != "python":
            self._leave(run, f"it wants the shell {shell.split()[0]}", "elsewhere", step.line)
        else:
            below = directory.removeprefix("./").strip("/.")
            script, below = _enter_directory(_join_continued(script), below)
            for offset, part in split_script(script):
                line = step.line + offset if step.line else 0
                lines = self._drop_refused(part, line, below)
                if lines and shell.startswith("python"):
                    lines = f"python3 - <<'PYTHON'\n{lines}\nPYTHON"
                if lines:
                    self._add(step, lines, line, below)

    def _look_into_script(self, line: str, directory: str) -> tuple[str, LeftOutKind] | None:
        for call in read_calls(line):
            words = call.words[1:2] if call.program in WORDS["shells"] else call.words[:1]
            path = join_path(directory, words[0]) if words and call.purpose != "test" else None
            for inner in list_lines(self.root.text(path)) if path else ():
                if refusal := find_refusal(inner):
                    return refusal
        return None

    def _drop_refused(self, part: str, line: int, directory: str) -> str:
        """A script without the lines that cannot run here, which are named."""
        lines = part.splitlines()
        for at, text in enumerate(lines):
            refusal = find_refusal(text) or self._look_into_script(text, directory)
            if refusal:
                self._leave(text, *refusal, line + at if line else 0)
                lines[at] = ":" if len(lines) > 1 else ""
        rest = "\n".join(lines)
        return rest if any(call.words != (":",) for call in read_calls(rest)) else ""

    def _add(self, step: WorkflowStep, part: str, line: int, directory: str) -> None:
        env = dict(fill_variables(self.context, step.env))
        plain = Template(part).safe_substitute({**self.context.values["env"], **env})
        calls = tuple(resolve_call(call, self.root, directory) for call in read_calls(plain))
        places = tuple(f"./{place}/" for place in self.others)
        foreign = any(f"./{one.words[0].removeprefix('./')}".startswith(places) for one in calls)
        purpose = "other" if foreign or _ends_in_background(part) else find_purpose(calls)
        if purpose == "lint":
            self.linters.append(show_first_line(part))
            return
        kind: StepName = "test" if purpose == "test" else "build" if purpose == "build" else "setup"
        origin = f"{self.path}:{line}" if line else self.path
        may_fail = step.continues or (kind != "test" and purpose == "other")
        if kind != "test":
            calls = tuple(replace(call, family="", runner="") for call in calls)
        self.steps.append(CiStep(kind, part, origin, directory, env, may_fail, calls))
        if kind == "test":
            self.left_at_test, self.actions_at_test = len(self.left_out), len(self.actions)


def resolve_call(call: Call, root: SourceTree, directory: str, depth: int = 0) -> Call:
    """The call of a script of the tree with the purpose of what the script runs."""
    text = read_script(call, root, directory) if depth < _DEEPEST else ""
    inner = [resolve_call(one, root, directory, depth + 1) for one in read_calls(text)]
    tests = [one for one in inner if one.family and one.family != "script"]
    if tests and not (call.purpose == "setup" or call.family in {"make", "shell"}):
        family = call.family or tests[0].family
        if family == "script" and tests[0].family not in RECIPE_FAMILIES:
            family = tests[0].family
        family = "node" if call.program in WORDS["managers"] else family
        return replace(call, purpose="test", family=family, runner=tests[0].runner)
    settings = tox_settings(root.below(directory)) if call.program == "tox" else None
    if settings and not settings.tests:
        return replace(call, purpose="other", family="", runner="")
    if inner and all(one.purpose == "lint" for one in inner):
        return replace(call, purpose="lint", family="", runner="")
    return call


def read_script(call: Call, root: SourceTree, directory: str) -> str:
    """The text of the script that a call runs; empty if it is none of the tree's."""
    if call.program in WORDS["managers"]:
        package = root.readable(path_in(directory, "package.json"), read_package_json)
        return package.scripts.get(name_script(call), "") if package else ""
    plain = [word for word in call.words[1:] if not word.startswith("-")]
    path = plain[0] if call.program in WORDS["shells"] and plain else call.words[0]
    place = join_path(directory, path) if "/" in path or call.program in WORDS["shells"] else None
    if not place or place.endswith((".py", ".js", ".rb", ".pl")):
        return ""
    text = root.text(place)
    return text if len(text) < _LARGEST_SCRIPT else ""


def _find_command(step: WorkflowStep) -> str:
    inputs = step.inputs
    if inputs.get("bundler-cache") == "true":
        return "bundle install"
    if inputs.get("run_install") == "true":
        return "pnpm install"
    if step.action.startswith("gradle/") and inputs.get("arguments"):
        return f"./gradlew {inputs['arguments']}"
    if step.action == "actions-rs/cargo":
        return f"cargo {inputs.get('command', '')} {inputs.get('args', '')}".strip()
    return ""


def _enter_directory(script: str, directory: str) -> tuple[str, str]:
    """The script without a beginning that changes the directory, and the directory."""
    text = script.strip()
    if text.startswith("(cd ") and text.endswith(")") and text.count("(") == 1:
        script = text[1:-1]
    first, line_end, rest = script.partition("\n")
    change, _, more = first.partition("&&")
    word, _, place = change.strip().partition(" ")
    inside = join_path(directory, place) if set(place).isdisjoint("$`~*?;&|()'\" ") else None
    if word != "cd" or inside is None or not (more or rest):
        return script, directory
    return f"{more.lstrip()}{line_end}{rest}", inside


def would_test(line: str) -> bool:
    """True if a command of a line runs tests, perhaps behind a program that cannot run here."""
    for call in read_calls(line):
        words = call.words[1:] if call.program in {"sudo", "doas"} else call.words
        if words and name_program(words[0]) in WORDS["packages"]:
            continue
        for start in range(len(words)):
            inner = read_calls(shlex.join(words[start:]))
            if inner and inner[0].family not in {"", "script"}:
                return True
    return False


def split_script(script: str) -> Iterator[tuple[int, str]]:
    """The lines of a plain script with their offsets; one that is more than a list stays whole."""
    text = script.rstrip()
    plain = [line.strip() for line in text.splitlines()]
    if _is_one(plain) or any(map(find_heredoc, plain)):
        yield len(text) - len(text.lstrip("\n")), text.lstrip("\n")
        return
    yield from ((at, line) for at, line in enumerate(plain) if line and not line.startswith("#"))


def _join_continued(script: str) -> str:
    """The script with continued lines in one, and as many lines as before."""
    lines = script.split("\n")
    for at in range(len(lines) - 2, -1, -1):
        if lines[at].endswith("\\") and not lines[at].lstrip().startswith("#"):
            lines[at] = f"{lines[at][:-1].rstrip()} {lines[at + 1].lstrip()}"
            del lines[at + 1]
            lines.insert(at + 1, "")
    return "\n".join(lines)


def _is_one(lines: Sequence[str]) -> bool:
    """True if later lines depend on what earlier ones set, or a command goes over several."""
    several = len([line for line in lines if line and not line.startswith("#")]) > 1
    for line in lines if several else ():
        if line.startswith("#"):
            continue
        word = line.split()[0] if line else ""
        name, sign, _ = word.partition("=")
        ends = (
            line.endswith(("{", "(", "&", "||", "|")) or line.count('"') % 2 or line.count("'") % 2
        )
        if (
            word in WORDS["script_words"]
            or ends
            or (sign and name.isidentifier() and " " not in line)
        ):
            return True
    return False


_REFUSALS: Sequence[tuple[str, str, LeftOutKind]] = (
    ("packages", "it installs packages of the system, or wants its rights", "packages"),
    ("services", "services are not started here", "services"),
    ("machine", "it would change the machine's own tools", "other"),
    ("elsewhere", "it reaches other machines", "other"),
)


def find_refusal(line: str) -> tuple[str, LeftOutKind] | None:
    """Tell why a line cannot run here; None if nothing speaks against it."""
    for call in read_calls(line):
        program, words = name_program(call.words[0]), call.words
        uploads = program in {"git", "npm", "cargo", "twine", "gem"}
        changes = program == "corepack" and "enable" in words
        for name, why, kind in _REFUSALS:
            if (
                program in WORDS[name]
                or (name == "machine" and (changes or "--system" in words[1:3]))
                or (name == "elsewhere" and uploads and {*words[1:2]} & WORDS["uploads"])
            ):
                return why, kind
    return None


def show_first_line(script: str) -> str:
    """The first command of a script, with a sign for more."""
    first = next(list_lines(script), "")
    return first if len(script.strip().splitlines()) <= 1 else f"{first} …"
