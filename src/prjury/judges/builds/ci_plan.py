"""Plans that a job of the base's CI gives: its lines, or a recipe with its options. Pure."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from string import Template

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.adapters import adapt
from prjury.judges.builds.calls import WORDS, Call
from prjury.judges.builds.ci import CiJob, measure_breadth
from prjury.judges.builds.ci_steps import CiStep
from prjury.judges.builds.plan import CUSTOM, BuildPlan, BuildStep, escape_braces
from prjury.judges.builds.runner_files import FILES
from prjury.judges.builds.systems.source_tree import SourceTree
from prjury.judges.builds.systems.tox import choose_environment, count_interpreters, tox_settings
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.wording import join_names
from prjury.sandbox.environment import is_refused

#: Wrappers that start a program where it is; the others have environments of their own.
_BARE = frozenset({"", "coverage", "python", "xvfb-run", "timeout"})
_VENV = BuildStep("setup", 'python3 -m venv "$HOME/venv"')
#: Where the tools go that a job installs for itself.
_OWN_PLACES = "venv/bin .local/bin npm/bin bin gems/bin cargo/bin composer/vendor/bin".split()
#: Those places, and what GitHub's runner says of itself.
_RUNNER = {
    "npm_config_prefix": "{home}/npm", "GEM_HOME": "{home}/gems", "GOBIN": "{home}/bin",
    "CARGO_INSTALL_ROOT": "{home}/cargo", "COMPOSER_HOME": "{home}/composer",
    "PNPM_HOME": "{home}/npm/bin", "PIP_REQUIRE_VIRTUALENV": "1",
    "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "{tree}", "GITHUB_EVENT_NAME": "pull_request",
    "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_TEMP": "{home}/.github-files/temp",
    **{name: f"{{home}}/.github-files/{name}" for name in FILES},
}  # fmt: skip
#: Variables of a job that say where the machine's tools are, or which Python uv installs into.
_NOT_TAKEN = frozenset("PATH HOME TMPDIR SHELL UV_SYSTEM_PYTHON CI".split())
#: Signs of a line that only bash reads.
_BASH = ("[[", "<(", "<<<", "${", "&>", "pushd ", "source ", "\n", "set -o", "shopt ")
#: The names of plans by the program that runs the tests, else by the kind of code.
_SYSTEMS = {
    **{name: name for name in (
        "tox unittest django npm pnpm yarn bun go cargo cmake maven gradle make meson deno dotnet "
        "bazel perl"
    ).split()},
    "python": "pytest", "node": "npm", "ruby": "bundler", "php": "composer", "elixir": "mix",
    "swift": "swiftpm", "scala": "sbt", "lua": "busted",
}  # fmt: skip


def plan_of_job(job: CiJob, root: SourceTree, here: Toolchains) -> BuildPlan:
    """The job's own lines, each test told to write a report, in a private environment."""
    steps = [*_adapt_steps([_fit_tox(step, here) for step in job.steps], root)]
    if any(map(_wants_venv, job.calls)):
        steps.insert(0, _VENV)
    row = ", ".join(f"{name}: {value}" for name, value in job.row.items())
    notes, tox = [], _choose_tox_environment(job, root)
    if job.linters:
        notes.append(f"not run here, since it tests nothing: {join_scripts(job.linters)}")
    if job.other_rows:
        notes.append(f"other rows of its matrix test: {join_scripts(job.other_rows)}")
    one = "of tox's environments, `{}` is run, with the Python that is here"
    notes += map(one.format, tox.values())
    return BuildPlan(
        _name_system(job),
        tuple(steps),
        (job.name, *([f"its row {row}"] if row else [])),
        tuple(notes),
        env={**_RUNNER, **tox, **_collect_variables(job, here)},
        source="ci",
        left_out=job.left_out,
    )


def _choose_tox_environment(job: CiJob, root: SourceTree) -> Mapping[str, str]:
    """One environment in place of all, where tox would go through several interpreters."""
    selecting = {"-e", "-f", "-m", "tox-gh", "tox-gh-actions"}
    selects = any(not selecting.isdisjoint(call.words) for call in job.calls)
    places = [step.directory for step in job.tests for call in step.calls if call.program == "tox"]
    settings = tox_settings(root.below(places[0])) if places and not selects else None
    several = settings and count_interpreters(settings.listed) > 1
    return {"TOXENV": choose_environment(settings.listed)} if settings and several else {}


def _fit_tox(step: CiStep, here: Toolchains) -> CiStep:
    """The step with the Python that is here in environments of tox for one that is not."""
    script = step.script
    calls = [call for call in step.calls if call.program == "tox"]
    for word, name in (pair for call in calls for pair in pairwise(call.words)):
        factor, dash, rest = name.partition("-")
        number = factor.removeprefix("py").removeprefix("thon")
        version = f"{number[:1]}.{number[1:]}" if number.isdigit() else number
        if word == "-e" and len(number) > 1 and here.distance("python", version) > 0:
            script = script.replace(name, f"py{dash}{rest}")
    return replace(step, script=script)


def _wants_venv(call: Call) -> bool:
    bare = call.program in WORDS["python"] and call.through in _BARE
    return bare or call.words[:2] == ("uv", "pip")


def _adapt_steps(steps: Iterable[CiStep], root: SourceTree) -> Iterator[BuildStep]:
    number = 0
    for step in steps:
        number += step.kind == "test"
        script, env, code = adapt(step, number, root)
        own = {name: escape_braces(text) for name, text in step.env.items() if not is_refused(name)}
        yield BuildStep(
            step.kind,
            _make_command(script, step.directory, tests=step.kind == "test"),
            env={**own, **env},
            origin=step.origin,
            may_fail=step.may_fail,
            all_ran=code,
        )


def _make_command(script: str, directory: str, *, tests: bool) -> str | tuple[str, ...]:
    """A plain line as it is, else bash, which ends at the first error as GitHub's does."""
    place = f"cd {shlex.quote(directory)}" if directory else ""
    if not any(sign in script for sign in (*_BASH, *((";", "|") if tests else ()))):
        return f"{place} && {script}" if place else script
    return ("bash", "-e", "-o", "pipefail", "-c", f"{place}\n{script}".strip())


def _name_system(job: CiJob) -> str:
    calls = [call for step in job.tests for call in step.calls if call.family]
    for call in calls:
        for name in (call.program, call.runner):
            if name in _SYSTEMS:
                return _SYSTEMS[name]
    return _SYSTEMS.get(calls[0].family, CUSTOM) if calls else CUSTOM


def _collect_variables(job: CiJob, here: Toolchains) -> Mapping[str, str]:
    variables = dict[str, str]()
    for name, text in job.env.items():
        is_compiler = name in {"CC", "CXX"} and not here.has(text)
        if name not in _NOT_TAKEN and not is_refused(name) and not is_compiler:
            variables[name] = escape_braces(text)
    for node in here.of("node")[:1]:
        if (node.home / "etc/npmrc").is_file():
            settings = escape_braces(str(node.home / "etc/npmrc"))
            variables = {"npm_config_globalconfig": settings, **variables}
    places = [f"{{home}}/{place}" for place in _OWN_PLACES]
    return {**variables, "PATH": os.pathsep.join([*places, escape_braces(here.path)])}


def join_scripts(texts: Sequence[str]) -> str:
    """The first lines of scripts in a sentence."""
    return join_names([f"`{text.partition(chr(10))[0]}`" for text in texts], 3)


class Options(Struct, frozen=True):
    """The words of a tool that a recipe takes over from the CI.

    Attributes:
        valued: words with a value, behind a blank or a sign of equality, or in them (`prefixes`).
        goals: words that name what is done; the CI's stand in the place of the recipe's.
        at: how many words of the tool come first; 0 for all.
        refused: starts of words that leave tests out, or name what this machine has otherwise.
    """

    programs: frozenset[str]
    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ("\0",)
    goals: frozenset[str] = frozenset()
    at: int = 0
    refused: tuple[str, ...] = ("\0",)


_SKIPS = tuple("-dskip -dmaven.test.skip -dmaven.test.failure -dtest= -dit.test= -dgroups=".split())
#: The tools whose recipe is run with the CI's words, by family.
RECIPE_FIRST: Mapping[str, Options] = {
    "cargo": Options(
        frozenset({"cargo"}),
        frozenset("--all-features --no-default-features --locked --release --all-targets".split()),
        frozenset("--features -F --exclude --profile".split()), at=2,
    ),
    "maven": Options(
        frozenset({"mvn"}),
        valued=frozenset({"-P", "--activate-profiles", "-D", "--define"}), prefixes=("-P", "-D"),
        goals=frozenset({"test", "package"}), refused=_SKIPS,
    ),
    "gradle": Options(
        frozenset({"gradle"}),
        valued=frozenset({"-x", "--exclude-task", "-P", "-D"}), prefixes=("-P", "-D"),
        goals=frozenset({"*"}), refused=_SKIPS,
    ),
    "cmake": Options(
        frozenset({"cmake", "ctest", "make", "ninja"}),
        valued=frozenset({"-D"}), prefixes=("-D",),
        refused=tuple(
            f"-dcmake_{name}" for name in ("install_", "toolchain", "c_compiler", "cxx_compiler")
        ),
    ),
}  # fmt: skip


def with_ci_options(plan: BuildPlan, job: CiJob, family: str) -> BuildPlan:
    """The recipe's plan with the words that the job gives the same tool; the steps stay."""
    table = RECIPE_FIRST[family]
    calls = [(step, call) for step in job.steps for call in step.calls if _is_of(call, family)]
    if not calls:
        return plan
    step, call = max(calls, key=lambda one: measure_breadth([replace(one[0], calls=(one[1],))]))
    words = _fill_words(call, {**job.env, **step.env})
    options, goals = _take_options(words, table), _list_goals(words, table)
    steps = tuple(_with_words(one, options, goals, table) for one in plan.steps)
    because = (f"options as in {step.origin}",) if steps != plan.steps else ()
    tests = [one for one in job.tests if one is not step and family != "cmake"]
    lines = [one.script for one in tests if any(call.family == family for call in one.calls)]
    others = list(dict.fromkeys([*lines, *job.other_rows]))
    notes = (f"its CI also runs, not run here: {join_scripts(others)}",) if others else ()
    return replace(
        plan, steps=steps, reasons=(*plan.reasons, *because), notes=(*plan.notes, *notes)
    )


def _is_of(call: Call, family: str) -> bool:
    configures = call.program == "cmake" and not {"--build", "-E"} & {*call.words}
    return configures if family == "cmake" else call.family == family


def _fill_words(call: Call, env: Mapping[str, str]) -> list[str]:
    """The words of a call with their variables; a variable may hold several options."""
    words: list[str] = []
    for word in call.words:
        text = Template(word).safe_substitute(env)
        try:
            words += shlex.split(text) if " " in text and text.startswith("-") else [text]
        except ValueError:  # a quotation without an end
            words.append(text)
    return words


def _take_options(words: Sequence[str], table: Options) -> list[str]:
    names = {word.partition("=")[0] for word in words}
    each = {"--feature-powerset", "--each-feature"} & names
    every = "hack" in words and each and not {"--exclude-features", "--skip"} & names
    options = ["--all-features"] if every else []
    before = words[: words.index("--")] if "--" in words else words
    for word, after in pairwise([*before, ""]):
        pair: list[str] = []
        if word in table.valued:
            pair = [word + after] if word in table.prefixes else [word, after]
        elif word.partition("=")[0] in table.flags | table.valued or word.startswith(
            table.prefixes
        ):
            pair = [word]
        if pair and all(pair) and _is_usable(" ".join(pair), table):
            options += pair
    return options if table.at else list(dict.fromkeys(options))


def _is_usable(text: str, table: Options) -> bool:
    """True if words mean the same here: they name no other compiler, and skip no tests."""
    lower = text.lower()
    strict = "werror" in lower or "warnings_as_errors" in lower
    return not (strict or "$" in text or text.endswith("=") or lower.startswith(table.refused))


def _list_goals(words: Sequence[str], table: Options) -> list[str]:
    pairs = pairwise(words)
    plain = [word for before, word in pairs if word[:1] != "-" and before not in table.valued]
    if "*" in table.goals:
        return [word for word in plain if word != "clean" and "$" not in word]
    goals = [word for word in plain if word in table.goals or word in {"verify", "install"}]
    return goals[-1:] if goals and goals[-1] in table.goals else []


def _with_words(
    step: BuildStep, options: Sequence[str], goals: Sequence[str], table: Options
) -> BuildStep:
    if isinstance(step.command, str):
        configures = step.command.startswith("cmake -S") and options
        line = f"{step.command} {shlex.join(options)}"
        return replace(step, command=line) if configures else step
    words = list(step.command)
    new = [word for word in options if word not in words or not word.startswith("-")]
    if goals:
        last = "build" if "*" in table.goals else "verify"
        words = [part for word in words for part in (goals if word == last else [word])]
    at = table.at or len(words)
    return replace(step, command=(*words[:at], *new, *words[at:]))


def list_other_tests(job: CiJob, family: str, root: SourceTree) -> list[BuildStep]:
    """The steps of a job beside those of the recipe's tool, if any of them tests."""
    programs = RECIPE_FIRST[family].programs
    steps = [
        step
        for step in job.steps
        if not any(call.family == family or call.program in programs for call in step.calls)
    ]
    families = {call.family for step in steps for call in step.calls}
    tests = not families.isdisjoint("python node go ruby php deno".split())
    return [*_adapt_steps(steps, root)] if tests else []
