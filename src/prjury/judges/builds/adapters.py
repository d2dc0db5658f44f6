"""Ways to tell each test runner to name its tests and to write a report; its command stays.

A variable is the best way: it reaches a runner behind any script. Else options are written behind
the runner's own words, or at the end of the package manager's command that starts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from prjury.judges.builds.calls import Call, list_lines, name_program, split_commands, stops_early
from prjury.judges.builds.ci_steps import CiStep
from prjury.judges.builds.systems.node_scripts import last_command
from prjury.judges.builds.systems.source_tree import SourceTree, path_in
from prjury.judges.builds.systems.tox import tox_settings
from prjury.manifests.node import read_package_json


class Adapter(msgspec.Struct, frozen=True):
    """A way to tell one runner; `{step}` stands for the number of the step.

    Attributes:
        options: words behind its own.
        env: its variables.
        all_ran: the exit code that means that all tests ran and some failed; None if none does.
    """

    options: str = ""
    env: Mapping[str, str] = {}
    all_ran: int | None = None


_REPORT = '"$PRJURY_REPORTS"/{runner}-{{step}}.xml'
_PYTEST = "--junitxml={{reports}}/pytest-{step}-$TOX_ENV_NAME$NOX_CURRENT_SESSION.xml"
_NODE = (
    "--test-reporter=spec --test-reporter-destination=stdout "
    "--test-reporter=junit --test-reporter-destination={{reports}}/node-{step}.xml"
)
#: The rows by runner. The names of files are what `results` reads below the reports' directory.
ADAPTERS: Mapping[str, Adapter] = {
    "pytest": Adapter(
        env={"PYTEST_ADDOPTS": f"{_PYTEST} -o junit_family=xunit1 --maxfail=0"}, all_ran=1
    ),
    "unittest": Adapter("-v", all_ran=1),
    "django": Adapter("-v 2", all_ran=1),
    "node": Adapter(env={"NODE_OPTIONS": _NODE}, all_ran=1),
    "jest": Adapter("--verbose --bail=0", all_ran=1),
    "vitest": Adapter(
        "--reporter=default --reporter=junit --outputFile.junit=" + _REPORT.format(runner="vitest"),
        all_ran=1,
    ),
    "mocha": Adapter("--reporter=tap"),
    "bun": Adapter("--reporter=junit --reporter-outfile=" + _REPORT.format(runner="bun")),
    "deno": Adapter("--junit-path=" + _REPORT.format(runner="deno")),
    "go": Adapter("-json", {"GOFLAGS": "-v"}, all_ran=1),
    "gotestsum": Adapter(env={"GOTESTSUM_JUNITFILE": "{{reports}}/gotestsum-{step}.xml"}),
    "ctest": Adapter(
        "--output-on-failure --output-junit " + _REPORT.format(runner="ctest"), all_ran=8
    ),
    "phpunit": Adapter("--log-junit " + _REPORT.format(runner="phpunit"), all_ran=1),
    "rspec": Adapter(all_ran=1),
    "rake": Adapter(env={"TESTOPTS": "-v"}),
    "prove": Adapter(env={"HARNESS_VERBOSE": "1"}),
    "bats": Adapter('--report-formatter junit --output "$PRJURY_REPORTS"'),
}  # fmt: skip
#: The runners that tests of a family may end in, of which only variables are set.
_BEHIND: Mapping[str, Sequence[str]] = {
    "python": ("pytest",), "make": ("pytest", "go", "prove"), "script": ("pytest", "go"),
    "ruby": ("rake",), "perl": ("prove",), "go": (), "shell": ("pytest",),
}  # fmt: skip
#: The words behind which options stand; for all others it is the runner's name.
_WORDS = {"go": ("go", "test"), "bun": ("bun", "test"), "deno": ("deno", "test"),
          "django": ("manage.py", "test"), "unittest": ("unittest",)}  # fmt: skip
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})


def adapt(step: CiStep, number: int, root: SourceTree) -> tuple[str, Mapping[str, str], int | None]:
    """The script of a step with options, its variables, and the exit code that means all ran."""
    script, env = step.script.replace("uv pip install --system", "uv pip install"), dict[str, str]()
    if step.kind != "test":
        return script, {}, None
    for call in step.calls:
        for runner in (call.runner, *_BEHIND.get(call.family, ())):
            adapter = ADAPTERS.get(runner)
            if adapter and not (runner == "go" and not root.has("go.mod")):
                env.update({name: _fill(text, number) for name, text in adapter.env.items()})
        script = _with_options(script, call, step, number, root)
    if any(call.family for call in step.calls) and (settings := tox_settings(root)):
        env["TOX_OVERRIDE"] = settings.overrides()
    names_reports = "$PRJURY_REPORTS" in script
    return (
        script,
        {**env, **({"PRJURY_REPORTS": "{reports}"} if names_reports else {})},
        _ends(step, root),
    )


def _fill(text: str, number: int) -> str:
    return text.replace("{step}", str(number)).replace("{{", "{").replace("}}", "}")


def _with_options(script: str, call: Call, step: CiStep, number: int, root: SourceTree) -> str:
    adapter = ADAPTERS.get(call.runner)
    if adapter is None or not adapter.options:
        return script
    options = _fill(adapter.options, number)
    if call.program in _MANAGERS and call.runner != call.program:
        alone = len(step.calls) == 1 and "|" not in script
        return (
            _append_to_manager(script, call, options)
            if alone and _takes(call, step, root)
            else script
        )
    if call.runner == "go" and ("|" in script or "-json" in call.words):
        return script  # what reads its output reads text; `-v` comes by the variable
    words = _WORDS.get(call.runner, (call.runner,))
    if call.runner == "unittest" and call.words[1:2] == ("discover",):
        words = ("unittest", "discover")
    return "\n".join(_insert(line, words, options) for line in script.split("\n"))


def _append_to_manager(script: str, call: Call, options: str) -> str:
    """Npm wants a sign before the script's own options; the others hand them on as they are."""
    sign = "" if call.program != "npm" or "--" in call.words else "-- "
    return f"{script} {sign}{options}"


def _takes(call: Call, step: CiStep, root: SourceTree) -> bool:
    """True if options at the end reach the runner."""
    command = last_command(_script_text(call, step, root))
    return (
        command is not None
        and command.runner == call.runner
        and not command.has("--reporter", "--reporters", "-R", "--json")
    )


def _script_text(call: Call, step: CiStep, root: SourceTree) -> str:
    words = [
        word
        for word in call.words[1:]
        if not word.startswith("-") and word not in {"run", "run-script"}
    ]
    package = root.readable(path_in(step.directory, "package.json"), read_package_json)
    name = "test" if words[:1] in (["t"], ["tst"]) else next(iter(words), "")
    return package.scripts.get(name, "") if package else ""


def _insert(line: str, words: Sequence[str], options: str) -> str:
    """The line with options behind the first place with these words."""
    parts = line.split(" ")
    for at in range(len(parts) - len(words) + 1):
        names = [
            part if index else name_program(part)
            for index, part in enumerate(parts[at : at + len(words)])
        ]
        if names == list(words):
            return " ".join([*parts[: at + len(words)], options, *parts[at + len(words) :]])
    return line


def _ends(step: CiStep, root: SourceTree) -> int | None:
    """The exit code by which a step of one runner says that all tests ran and some failed."""
    commands = [words for line in list_lines(step.script) for words in split_commands(line)]
    if len(commands) != 1 or len(step.calls) != 1:
        return None
    call = step.calls[0]
    adapter = ADAPTERS.get(call.runner)
    if stops_early(call):
        return None
    if call.program in _MANAGERS:
        command = last_command(_script_text(call, step, root))
        return adapter.all_ran if adapter and command and command.alone else None
    direct = call.runner in {call.program, "django", "node"}
    return adapter.all_ran if adapter and direct else None
