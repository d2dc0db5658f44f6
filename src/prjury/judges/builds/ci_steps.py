"""The steps of a job as a build here runs them; what wants more rights is named. Pure."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from string import Template
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.calls import (
    RECIPE_FAMILIES,
    SETUP_ACTIONS,
    TABLE,
    WORDS,
    Call,
    find_heredoc,
    find_purpose,
    list_command_lines,
    name_script,
    normalise_program,
    read_calls,
    tests_in_container,
)
from prjury.judges.builds.plan import LeftOutKind, LeftOutStep, StepName
from prjury.judges.builds.source_tree import SourceTree, join_path, nearest, path_in
from prjury.judges.builds.systems.python import read_tox
from prjury.judges.builds.toolchains import Toolchains
from prjury.manifests.matrix import EXPRESSION, UNKNOWN, ExpressionContext
from prjury.manifests.node import read_package_json
from prjury.manifests.workflow import Trigger, WorkflowStep, read_composite_action

_SECRETS = ("secrets.", "secrets[", "github.token")
_WORKSPACE, _ROOT = "${{ github.workspace }}", "$GITHUB_WORKSPACE"
_SHELL = "it wants the shell"
_LARGEST_SCRIPT = 64 * 1024
_DEEPEST = 3
#: Words of lines by which a script stops at the first error, as all do here.
_STRICT = frozenset({"set", "-e", "-u", "-x", "-eu", "-ue", "-ex", "-xe", "-eux"})


class CiStep(Struct, frozen=True):
    """One line of a step, or a script for bash, and its calls."""

    kind: StepName
    script: str
    origin: str = ""
    directory: str = ""
    env: Mapping[str, str] = {}
    may_fail: bool = False
    calls: tuple[Call, ...] = ()


def fill_variables(context: ExpressionContext, texts: Mapping[str, str]) -> dict[str, str]:
    """The variables whose values are known, without secrets."""
    plain = ((name, text) for name, text in texts.items() if not has_part(text, _SECRETS))
    values = ((name, context.fill(text)) for name, text in plain)
    return {name: value for name, value in values if value is not None}


def fill_inputs(context: ExpressionContext, on: Trigger, own: Mapping[str, str]) -> dict[str, Any]:
    """The inputs of what is called: texts, but for flags of a workflow; some may be unknown."""
    values = {name: context.fill(text) for name, text in {**on.inputs, **own}.items()}
    flags = {name: values[name] == "true" for name in on.flags if values[name] is not None}
    return {name: UNKNOWN if text is None else text for name, text in values.items()} | flags


def has_part(text: str, parts: Iterable[str]) -> bool:
    """Find one of these parts in a text, in whatever case."""
    lower = text.lower()
    return any(part in lower for part in parts)


@dataclass
class StepReader:
    """Goes through the steps of a row, up to the last that tests."""

    root: SourceTree
    machine: Toolchains
    context: ExpressionContext
    path: str
    defaults: Mapping[str, str]
    steps: list[CiStep] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    version_files: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOutStep] = field(default_factory=list)
    linters: list[str] = field(default_factory=list)
    actions: list[WorkflowStep] = field(default_factory=list)
    needs_artifacts: bool = False
    _depth: int = 0
    _checkout: str = "."
    _others: list[str] = field(default_factory=list)  # directories of other repositories
    _last: tuple[int, int, int] = 0, 0, 0  # steps, left out and actions up to the last test
    _wanted: tuple[dict[str, str], ...] = ()  # versions and their files before the last test

    def read_up_to_last_test(self, steps: Sequence[WorkflowStep]) -> None:
        """Read all steps; without a test none is left, and all that cannot run is."""
        self._read_steps(steps)
        count, left_out, actions = self._last
        if self._wanted:
            self.versions, self.version_files = self._wanted
        builds = (one for one in self.steps if one.may_fail or one.kind == "build")
        unknown = [(_show_first_line(one.script), one.origin) for one in builds]
        unclear = (one for one in self.left_out if one.why.startswith(_SHELL) and not one.tests)
        unknown += [(one.text, one.origin) for one in unclear]
        if unknown and not count:
            text, origin = unknown[-1]
            self.left_out.append(LeftOutStep(text, "it is not known to test", "unknown", origin))
        self.steps = self.steps[:count]
        self.left_out = self.left_out[: left_out or None]
        self.actions = self.actions[:actions]

    def _read_steps(self, steps: Sequence[WorkflowStep]) -> None:
        for step in (one for one in steps if self.context.holds(one.condition) is not False):
            if step.run:
                self._read_commands(step, step.run)
            elif step.uses.startswith("./"):
                self._read_local_action(step)
            elif step.uses:
                self._read_remote_action(step)

    def _read_local_action(self, step: WorkflowStep) -> None:
        place = step.uses.removeprefix("./").strip("/")
        path = self.root.has(path_in(place, "action.yml"), path_in(place, "action.yaml"))
        try:
            action = read_composite_action(self.root.text(path), path) if path else None
        except (ConfigError, CannotJudgeError):
            action = None
        if action is None or self._depth == _DEEPEST:
            return
        outer = self.context, self.path, self.defaults
        inputs = fill_inputs(self.context, Trigger(inputs=action.inputs), step.inputs)
        values = {**self.context.values, "inputs": inputs}
        self.context, self.path, self.defaults = ExpressionContext(values), action.path, {}
        self._depth += 1
        self._read_steps(action.steps)
        self._depth -= 1
        self.context, self.path, self.defaults = outer

    def _read_remote_action(self, step: WorkflowStep) -> None:
        filled = {name: self.context.fill(text) for name, text in step.inputs.items()}
        inputs = {name: text or "" for name, text in filled.items()}
        self.actions.append(replace(step, inputs=inputs))
        tool, key = SETUP_ACTIONS.get(step.action, ("", ""))
        path = inputs.get(f"{key}-file", "") if tool else ""
        if versions := [*filter(None, map(str.strip, inputs.get(key, "").splitlines()))]:
            usual = [one for one in versions if not has_part(one, WORDS["unusual"])] or versions
            self.versions[tool] = min(usual, key=partial(self.machine.distance, tool))
        elif step.action == "dtolnay/rust-toolchain" and not step.uses.endswith("@master"):
            self.versions[tool] = step.uses.partition("@")[2]
        elif path:
            self.version_files[tool] = path.removeprefix("./")
        if step.action == "actions/checkout" and "repository" not in step.inputs:
            self._checkout = step.inputs.get("path", ".")
        elif step.action == "actions/checkout":
            self._others.append(f"./{inputs.get('path')}/")
        tested = any(one.kind == "test" for one in self.steps)
        if step.action == "actions/download-artifact" and not tested:
            self.needs_artifacts = True
            self._leave(step.uses, "it brings what another job has made", "elsewhere")
        elif step.action.startswith("docker://") or has_part(step.action, WORDS["service_actions"]):
            self._leave(step.uses, "services are not started here", "services")
        elif command := _find_command(step, filled, self.root):
            place = step.inputs.get("working-directory") or "."
            self._read_commands(replace(step, directory=place), command)
        elif not tool and not has_part(step.action, WORDS["harmless_actions"]):
            texts = (text for name, text in step.inputs.items() if name in WORDS["script_inputs"])
            self._leave(next(texts, step.uses), f"{step.action} is not run here", "other")

    def _leave(self, text: str, why: str, kind: LeftOutKind, line: int = 0) -> None:
        origin = f"{self.path}:{line}" if line else self.path
        shown = _show_first_line(text)
        self.left_out.append(LeftOutStep(shown, why, kind, origin, _would_test(text)))

    def _read_commands(self, step: WorkflowStep, run: str) -> None:
        text = run.replace("${{github.", "${{ github.").replace(_WORKSPACE, _ROOT)
        without = ExpressionContext({**self.context.values, "steps": {}})
        secret = has_part(run, _SECRETS)
        script = None if secret else without.fill(text)
        place = step.directory or self.defaults.get("working-directory", "")
        below = self.context.fill(f"{place or '.'}/".removeprefix(f"{self._checkout}/"))
        directory = None if below is None else join_path("", below)
        shell = (self.context.fill(step.shell or self.defaults.get("shell", "")) or "").strip()
        if secret:
            self._leave(run, "it wants a secret", "elsewhere", step.line)
        elif script is None or directory is None:
            self._leave(run, "it depends on the run itself or leaves the tree", "other", step.line)
        elif shell and not shell.startswith(("bash", "sh")):
            self._leave(run, f"{_SHELL} {shell.split()[0]}", "elsewhere", step.line)
        else:
            joined = _join_continued_lines(script)
            for offset, part, place in _split_script_if_plain(joined, directory):
                line = step.line + offset if step.line else 0
                lines = self._note_and_drop_refused_lines(part, line, place)
                if lines:
                    self._add_step_or_linter(step, lines, line, place)

    def _note_and_drop_refused_lines(self, part: str, line: int, directory: str) -> str:
        lines = part.splitlines()
        for at, text in enumerate(lines):
            if refusal := self._find_line_refusal(text, directory):
                self._leave(text, *refusal, line + at if line else 0)
                lines[at] = ":" if len(lines) > 1 else ""
        rest = "\n".join(lines)
        return rest if any(call.words != (":",) for call in read_calls(rest)) else ""

    def _find_line_refusal(self, line: str, directory: str) -> tuple[str, LeftOutKind] | None:
        """The refusal of a line, for a call in it or in a script that tests nothing."""
        calls = read_calls(line)
        inner = list[Call]()
        for call in calls:
            words = call.words[1:2] if call.program in WORDS["shells"] else call.words[:1]
            place = _resolve_place(call, self.root, directory)
            path = join_path(place, words[0]) if words and call.purpose != "test" else None
            inner += read_calls(self.root.text(path)) if path else ()
        return next(filter(None, map(_find_refusal, (*calls, *inner))), None)

    def _add_step_or_linter(self, step: WorkflowStep, part: str, line: int, directory: str) -> None:
        env = fill_variables(self.context, step.env)
        plain_calls = read_calls(_expand_variables(part, {**self.context.values["env"], **env}))
        calls = tuple(locate_and_classify(call, self.root, directory) for call in plain_calls)
        paths = [path_in(path_in(directory, call.place), call.words[0]) for call in plain_calls]
        others = tuple(self._others)
        foreign = any(f"./{path.removeprefix('./')}".startswith(others) for path in paths)
        purpose = "other" if foreign or part.endswith("&") else find_purpose(calls)
        if purpose == "lint":
            self.linters.append(_show_first_line(part))
            return
        kind: StepName = "test" if purpose == "test" else "build" if purpose == "build" else "setup"
        origin = f"{self.path}:{line}" if line else self.path
        may_fail = step.continues or (kind != "test" and purpose == "other")
        if kind != "test":
            calls = tuple(replace(call, family="", runner="") for call in calls)
        before = self.steps[-1] if self.steps else None
        if before and before.script.endswith("&") and before.directory == directory:
            part, origin = f"{before.script}\n{part}", before.origin
            env, calls = {**before.env, **env}, (*before.calls, *calls)
            self.steps.pop()
        self.steps.append(CiStep(kind, part, origin, directory, env, may_fail, calls))
        if kind == "test":
            self._last = len(self.steps), len(self.left_out), len(self.actions)
            self._wanted = {**self.versions}, {**self.version_files}


def _expand_variables(part: str, env: Mapping[str, str]) -> str:
    """The text with the variables that are known, also as ``${NAME:-other}``."""
    text, *pieces = part.split("${")
    for piece in pieces:
        inside, end, after = piece.partition("}")
        name, sign, other = inside.partition(":")
        value = env.get(name) or other[1:] * other.startswith(("-", "="))
        text += f"{value}{after}" if end and sign and value else f"${{{piece}"
    return Template(text).safe_substitute(env)


def locate_and_classify(call: Call, root: SourceTree, directory: str, depth: int = 0) -> Call:
    """The call with its place from the root, and the purpose of the tree's script that it runs."""
    call = replace(call, place=_resolve_place(call, root, directory))
    text = read_called_script(call, root) if depth < _DEEPEST else ""
    inner = [locate_and_classify(one, root, call.place, depth + 1) for one in read_calls(text)]
    tests = [one for one in inner if one.family and one.family != "script"]
    if tests and not (call.purpose == "setup" or call.family in {"make", "shell"}):
        families = {one.family for one in tests}
        mixed = len(families) > 1 or call.family == "script"  # more than what a recipe runs
        by_recipe = "script" if families & RECIPE_FAMILIES and mixed else ""
        family = call.family.removeprefix("script") or by_recipe or tests[0].family
        family = "node" if call.program in WORDS["managers"] else family
        return replace(call, purpose="test", family=family, runner=tests[0].runner)
    settings = read_tox(root.below(call.place)) if call.program == "tox" else None
    if settings and not settings.tests:
        return replace(call, purpose="other", family="", runner="")
    if inner and all(one.purpose == "lint" for one in inner):
        return replace(call, purpose="lint", family="", runner="")
    return call


def _resolve_place(call: Call, root: SourceTree, directory: str) -> str:
    """A directory of the tree; one that a build makes stands for where it lies."""
    place = call.place.removeprefix(_ROOT).lstrip("/") if call.place[:1] == "$" else call.place
    path = join_path("" if call.place.startswith(_ROOT) else directory, place)
    if path is None or "$" in path:
        return directory
    return nearest(f"{path}/x", root.directories | {directory}) or ""


def read_called_script(call: Call, root: SourceTree) -> str:
    """The text of the script that a call runs in its place; empty if it is none of the tree's."""
    if call.program in WORDS["managers"]:
        package = root.readable(path_in(call.place, "package.json"), read_package_json)
        return package.scripts.get(name_script(call), "") if package else ""
    plain = [word for word in call.words[1:] if not word.startswith("-")]
    by_shell = call.program in WORDS["shells"]
    path = plain[0] if by_shell and plain else call.words[0]
    place = join_path(call.place, path) if "/" in path or by_shell else None
    if not place or place.endswith((".py", ".js", ".rb", ".pl")):
        return ""
    text = root.text(place)
    return text if len(text) < _LARGEST_SCRIPT else ""


def _find_command(step: WorkflowStep, filled: Mapping[str, str | None], root: SourceTree) -> str:
    """The command that an action runs by its inputs, or by the files that are there."""
    place = filled.get("working-directory") or ""
    for case, line in TABLE["running_actions"].get(step.action, {}).items():
        name, sign, value = case.partition("=")
        text = filled.get(name, "")
        if "\n" in place or (sign and text is None):
            return ""  # several places, or one case of several
        fits = text != "" or not name or join_path(place, name) in root.files
        if text == value if sign else fits:
            return str(line).format_map(defaultdict(str, step.inputs)).strip()
    return ""


def _would_test(script: str) -> bool:
    """True if a command runs tests, perhaps behind a program that cannot run here."""
    for call in read_calls(EXPRESSION.sub("1.0", script)):
        words = call.words[1:] if call.program in {"sudo", "doas"} else call.words
        program = normalise_program(words[0]) if words else ""
        if program in WORDS["containers"] and tests_in_container(words):
            return True
        around = [] if program in WORDS["packages"] | WORDS["containers"] else [*words]
        inner = (read_calls(shlex.join(around[start:])) for start in range(len(around)))
        if any(calls and calls[0].family not in {"", "script"} for calls in inner):
            return True
    return False


def _split_script_if_plain(script: str, directory: str) -> Iterator[tuple[int, str, str]]:
    """The commands of a plain script, each with its line and directory; any other stays whole.

    It does where commands depend on what others set, or are a part of one.
    """
    lines, parts = script.splitlines(), list[tuple[int, str, str]]()
    whole: tuple[int, str, str] | None = None
    for at, text in enumerate(lines):
        line = text.strip()
        if line.startswith("#") or _STRICT.issuperset(line.split()):
            continue
        change, _, after = line.partition("&&")
        word, _, place = change.strip().partition(" ")
        inside = join_path(directory, place) if set(place).isdisjoint("$`~*?;&|()'\" ") else None
        if word == "cd" and place and inside is not None and "cd -" not in script:
            directory, line = inside, after.strip()
        if not line:
            continue
        whole = whole or (at, "\n".join([line, *lines[at + 1 :]]).rstrip(), directory)
        if _needs_shell(line):
            yield whole
            return
        parts += [(at, command, directory) for command in _split_list(line) if command]
    yield from parts


def _needs_shell(line: str) -> bool:
    changes = "() {" in line or any(map(_changes_shell, _list_parts(line)))
    goes_on = find_heredoc(line) or line.endswith(("{", "(", "&", "||", "|"))
    odd = line.count('"') % 2 or line.count("'") % 2
    after = read_calls(f"{line}\n:")[-1:]  # none where the line hands over what follows
    return bool(changes or goes_on or odd or not after or after[0].place)


def _changes_shell(command: str) -> bool:
    """True if later commands depend on it: an assignment alone, or a word of the shell."""
    before = command.partition("$(")[0]
    assigns = before.partition("=")[0].isidentifier() and "=" in before and not read_calls(before)
    return assigns or not WORDS["script_words"].isdisjoint(command.split()[:1])


def _list_parts(line: str) -> list[str]:
    return [part.strip() for part in line.replace(";", "&&").replace("||", "&&").split("&&")]


def _split_list(line: str) -> list[str]:
    """The commands of a line that come one after the other; the line itself if one may be asked."""
    parts = _list_parts(line)
    calls = [call for part in parts for call in read_calls(part)]
    whole = set("(#|") & set(line) or any(part.count(one) % 2 for part in parts for one in "'\"")
    odd = (call for call in calls if call.purpose == "other" and not _find_refusal(call))
    return [line] if whole or len(calls) != len(parts) or any(odd) else parts


def _join_continued_lines(script: str) -> str:
    lines = script.split("\n")
    for at in range(len(lines) - 2, -1, -1):
        if lines[at].endswith("\\") and not lines[at].lstrip().startswith("#"):
            lines[at] = f"{lines[at][:-1].rstrip()} {lines[at + 1].lstrip()}"
            del lines[at + 1]
            lines.insert(at + 1, "")
    return "\n".join(lines)


_REFUSALS: Mapping[str, tuple[str, LeftOutKind]] = {
    "packages": ("it installs packages of the system, or wants its rights", "packages"),
    "services": ("services are not started here", "services"),
    "machine": ("it would change the machine's own tools", "other"),
    "elsewhere": ("it reaches other machines", "other"),
}


def _find_refusal(call: Call) -> tuple[str, LeftOutKind] | None:
    program, words = call.program, call.words
    uploads = program in {"git", "npm", "cargo", "twine", "gem"}
    beside = {
        "machine": (program == "corepack" and "enable" in words) or "--system" in words[1:3],
        "elsewhere": uploads and not WORDS["uploads"].isdisjoint(words[1:2]),
    }
    for name, refusal in _REFUSALS.items():
        if program in WORDS[name] or beside.get(name):
            return refusal
    return None


def _show_first_line(script: str) -> str:
    first = next(list_command_lines(script), "")
    return first if len(script.strip().splitlines()) <= 1 else f"{first} …"
