"""Ways to tell each test runner to name its tests and to write a report; its command stays. Pure.

A variable reaches a runner behind any script; options are written behind its own words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.calls import (
    WORDS,
    Call,
    find_last_call,
    name_program,
    name_script,
    read_calls,
    stops_early,
)
from prjury.judges.builds.ci_steps import CiStep, read_script, resolve_call
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.source_tree import SourceTree
from prjury.judges.builds.systems.tox import tox_settings

#: Options by which a script chooses how its tests are printed.
_PRINTING = {"--reporter", "--reporters", "-R", "--json", "--silent", "--verbose"}


class Adapter(Struct, frozen=True):
    """A way to tell one runner; `{step}` stands for the number of the step.

    With the exit code `all_ran` all tests ran and some failed. Options are written behind the word
    `after`; `repeated` are those of later calls in a step, where a variable names the report.
    """

    options: str = ""
    env: Mapping[str, str] = {}
    all_ran: int | None = None
    repeated: str = ""
    after: str = ""


_REPORTS = '"$PRJURY_REPORTS"'
_PYTEST = "--junitxml={{reports}}/pytest-{step}-$TOX_ENV_NAME$NOX_CURRENT_SESSION.xml"
_NODE = (
    "--test-reporter=spec --test-reporter-destination=stdout "
    "--test-reporter=junit --test-reporter-destination={{reports}}/node-{step}.xml"
)
#: The rows by runner. The names of files are what `results` reads below the reports' directory.
ADAPTERS: Mapping[str, Adapter] = {
    "pytest": Adapter(
        env={"PYTEST_ADDOPTS": f"{_PYTEST} -o junit_family=xunit1 --maxfail=0"},
        all_ran=1,
        repeated=f"--junitxml={_REPORTS}/pytest-{{step}}.xml",
    ),
    "tox": Adapter(all_ran=1),
    "unittest": Adapter("-v", all_ran=1, after="discover"),
    "django": Adapter("-v 2", all_ran=1, after="test"),
    "node": Adapter(env={"NODE_OPTIONS": _NODE}, all_ran=1),
    "jest": Adapter("--verbose --bail=0", all_ran=1),
    "vitest": Adapter(
        f"--reporter=default --reporter=junit --outputFile.junit={_REPORTS}/vitest-{{step}}.xml",
        all_ran=1,
    ),
    "mocha": Adapter(f"--reporter=xunit --reporter-options output={_REPORTS}/mocha-{{step}}.xml"),
    "bun": Adapter(
        f"--reporter=junit --reporter-outfile={_REPORTS}/bun-{{step}}.xml", after="test"
    ),
    "deno": Adapter(f"--junit-path={_REPORTS}/deno-{{step}}.xml", after="test"),
    "go": Adapter("-json", {"GOFLAGS": "-v"}, all_ran=1, after="test"),
    "gotestsum": Adapter(
        env={"GOTESTSUM_JUNITFILE": "{{reports}}/gotestsum-{step}.xml"},
        repeated=f"--junitfile={_REPORTS}/gotestsum-{{step}}.xml",
    ),
    "ctest": Adapter(
        f"--output-on-failure --output-junit {_REPORTS}/ctest-{{step}}.xml", all_ran=8
    ),
    "phpunit": Adapter(f"--log-junit {_REPORTS}/phpunit-{{step}}.xml", all_ran=1),
    "rspec": Adapter(all_ran=1),
    "rake": Adapter(env={"TESTOPTS": "-v"}),
    "prove": Adapter(env={"HARNESS_VERBOSE": "1"}),
    "bats": Adapter(f"--report-formatter junit --output {_REPORTS}"),
}
#: The runners that tests of a family may end in, of which only variables are set.
_BEHIND: Mapping[str, Sequence[str]] = {
    "python": ("pytest",), "make": ("pytest", "go", "prove"), "script": ("pytest", "go"),
    "ruby": ("rake",), "perl": ("prove",), "go": (), "shell": ("pytest",),
}  # fmt: skip


def adapt(step: CiStep, number: int, root: SourceTree) -> tuple[str, Mapping[str, str], int | None]:
    """The script of a step with options, its variables, and the exit code that means all ran."""
    script, env = step.script.replace("uv pip install --system", "uv pip install"), dict[str, str]()
    if step.kind != "test":
        return script, {}, None
    for call in step.calls:
        for runner in (call.runner, *_BEHIND.get(call.family, ())):
            if runner != "go" or root.has("go.mod"):
                variables = ADAPTERS.get(runner, Adapter()).env
                env.update({name: text.format(step=number) for name, text in variables.items()})
    settings = tox_settings(root.below(step.directory))
    if settings and any(call.family for call in step.calls):
        env["TOX_OVERRIDE"] = settings.overrides
    script = _with_options(script, step, number, root)
    if "$PRJURY_REPORTS" in script:
        env["PRJURY_REPORTS"] = "{reports}"
    return script, env, _find_all_ran(step, root)


def _with_options(script: str, step: CiStep, number: int, root: SourceTree) -> str:
    """The script with each runner's options, which name a report of its own for each call."""
    words = script.replace("\n", " \n ").split(" ")
    at, counts = 0, Counter[str]()
    for call in step.calls:
        at = _find_call(words, call, at)
        if at < 0:
            break
        adapter = ADAPTERS.get(call.runner, Adapter())
        counts[call.runner] += 1
        count = counts[call.runner]
        options = adapter.repeated if count > 1 and adapter.repeated else adapter.options
        if call.runner == "go" and ("|" in script or "-json" in call.words):
            options = ""  # what reads its output in a pipe reads text; `-v` comes by the variable
        place, added = at + 1, [options] if options else []
        if options and call.program in WORDS["managers"] and call.words[:2] != ("bun", "test"):
            alone = len(step.calls) == 1 and "|" not in script and _reaches_runner(call, step, root)
            sign = ["--"] if call.program == "npm" and "--" not in call.words else []
            place, added = len(words), [*sign, options] if alone else []
        elif adapter.after in call.words[1:]:
            place += call.words.index(adapter.after)
        name = f"{number}-{count}" if count > 1 else str(number)
        words[place:place] = [word.format(step=name) for word in added]
        at += len(call.words) + len(added)
    return " ".join(words).replace(" \n ", "\n")


def _find_call(words: Sequence[str], call: Call, start: int) -> int:
    """The place of a command among the words of a script; -1 if it is written otherwise there."""
    for at in range(start, len(words)):
        plain = words[at].strip("'\"();&")
        if name_program(plain) == call.program and words[at]:
            following = next((word for word in words[at + 1 :] if word), "").strip("'\"();&|")
            if len(call.words) == 1 or call.words[1].startswith(following):
                return at
    return -1


def _reaches_runner(call: Call, step: CiStep, root: SourceTree) -> bool:
    last, _ = find_last_call(read_script(call, root, step.directory))
    options = {word.partition("=")[0] for word in last.words} if last else {"--json"}
    return last is not None and last.runner == call.runner and not options & _PRINTING


def _find_all_ran(step: CiStep, root: SourceTree) -> int | None:
    """The exit code by which a step of one runner says that all tests ran and some failed."""
    call = step.calls[0] if len(step.calls) == 1 else None
    if call is None or len(read_calls(step.script)) != 1 or stops_early(call):
        return None
    adapter = ADAPTERS.get(call.runner, Adapter())
    if call.program in WORDS["managers"]:
        after = replace(call, words=(call.words[0], f"post{name_script(call)}"))
        followed = read_script(after, root, step.directory)
        _, alone = find_last_call(read_script(call, root, step.directory))
        return adapter.all_ran if alone and not followed else None
    return adapter.all_ran if call.runner in {call.program, "django", "node"} else None


def with_adapters(plan: BuildPlan, root: SourceTree) -> BuildPlan:
    """A recipe's plan of a package manager, whose runner is told as in a step of the CI."""
    steps = []
    for step in plan.steps:
        if step.name == "test" and plan.system in WORDS["managers"]:
            calls = (resolve_call(call, root, plan.directory) for call in read_calls(step.text))
            same = CiStep("test", step.text, directory=plan.directory, calls=tuple(calls))
            script, env, all_ran = adapt(same, 1, root)
            step = replace(step, command=script, env=env, all_ran=all_ran)  # noqa: PLW2901
        steps.append(step)
    return replace(plan, steps=tuple(steps))
