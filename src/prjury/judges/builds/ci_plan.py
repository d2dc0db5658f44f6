"""Plans that a job of the base's CI gives: its lines, or a recipe with its options. Pure."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.calls import (
    TABLE,
    WORDS,
    Call,
    find_last_call,
    name_script,
    normalise_program,
    read_calls,
    stops_early,
)
from prjury.judges.builds.ci import WRAPPING, CiJob, Place, measure_feature_breadth
from prjury.judges.builds.ci_steps import CiStep, locate_and_classify, read_called_script
from prjury.judges.builds.plan import CUSTOM, BuildPlan, BuildStep, LeftOutStep, escape_braces
from prjury.judges.builds.source_tree import SourceTree
from prjury.judges.builds.step_environment import FILES
from prjury.judges.builds.systems.python import choose_environment, count_interpreters, read_tox
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.wording import join_names
from prjury.sandbox.environment import is_refused

#: Wrappers that start a program where it is; the others have environments of their own.
_BARE = frozenset({"", "coverage", "python", "xvfb-run", "timeout"})
_VENV = BuildStep("setup", 'python3 -m venv "$HOME/venv"')
#: Where the tools go that a job installs for itself.
_OWN_PLACES = "venv/bin .local/bin npm/bin bin gems/bin cargo/bin composer/vendor/bin".split()
#: Those places, and what GitHub's runner says of itself.
_RUNNER = {**TABLE["runner"], **{name: f"{{home}}/.github-files/{name}" for name in FILES}}
#: Signs of a line that only bash reads.
_BASH = ("[[", "<(", "<<<", "${", "&>", "pushd ", "source ", "\n", "set -o", "shopt ")


def plan_ci_job(job: CiJob, root: SourceTree, toolchains: Toolchains) -> BuildPlan:
    """The job's own lines, each test told to write a report, in a private environment."""
    steps, env = list[BuildStep](), dict(_RUNNER)
    for step in job.steps:
        number = 1 + sum(one.name == "test" for one in steps)
        steps.append(_make_build_step(_use_local_tox_python(step, toolchains), number, root))
    bare = (call for call in job.calls if call.program in WORDS["python"] and call.through in _BARE)
    if any(bare) or any(call.words[:2] == ("uv", "pip") for call in job.calls):
        steps.insert(0, _VENV)
    row = ", ".join(f"{name}: {value}" for name, value in job.row.items())
    notes, selecting = [], {"-e", "-f", "-m", "tox-gh", "tox-gh-actions"}
    selects = any(not selecting.isdisjoint(call.words) for call in job.calls)
    unset = (one for one in job.tests if {"TOX_ENV", "TOXENV"}.isdisjoint({*job.env, *one.env}))
    by_tox = [call.place for step in unset for call in step.calls if call.program == "tox"]
    settings = read_tox(root.below(by_tox[0])) if by_tox and not selects else None
    chosen = ""
    if settings and count_interpreters(settings.listed) > 1:
        chosen = env["TOXENV"] = choose_environment(settings.listed)
    for node in toolchains.of("node")[:1]:
        if (npmrc := node.home / "etc/npmrc").is_file():
            env["npm_config_globalconfig"] = escape_braces(str(npmrc))
    for name, text in job.env.items():
        is_compiler = name in {"CC", "CXX"} and not toolchains.has(text)
        if name not in WORDS["not_taken"] and not is_refused(name) and not is_compiler:
            env[name] = escape_braces(text)
    places = [f"{{home}}/{place}" for place in _OWN_PLACES]
    env["PATH"] = os.pathsep.join([*places, escape_braces(toolchains.path)])
    if job.linters:
        notes.append(f"not run here, since it tests nothing: {_join_scripts(job.linters)}")
    notes += _name_other_rows(job)
    if chosen:
        notes.append(f"of tox's environments, `{chosen}` is run, with the Python that is here")
    calls = [call for step in job.tests for call in step.calls if call.family]
    names = [name for call in calls for name in (call.program, call.runner)]
    names += [call.family for call in calls[:1]]
    systems = TABLE["systems"]  # by the program that runs the tests, else by the kind of code
    return BuildPlan(
        next((systems[name] for name in names if name in systems), CUSTOM),
        tuple(steps),
        (job.name, *([f"its row {row}"] if row else [])),
        tuple(notes),
        env=env,
        source="ci",
        left_out=job.left_out,
    )


def _use_local_tox_python(step: CiStep, toolchains: Toolchains) -> CiStep:
    script = step.script
    calls = [call for call in step.calls if call.program == "tox"]
    for word, name in (pair for call in calls for pair in pairwise(call.words)):
        factor, dash, rest = name.partition("-")
        number = factor.removeprefix("py").removeprefix("thon")
        version = f"{number[:1]}.{number[1:]}" if number.isdigit() else number
        if word == "-e" and len(number) > 1 and toolchains.distance("python", version) > 0:
            script = script.replace(name, f"py{dash}{rest}")
    return replace(step, script=script)


def _join_scripts(texts: Sequence[str]) -> str:
    return join_names([f"`{text.partition(chr(10))[0]}`" for text in texts], 3)


def _name_other_rows(job: CiJob) -> list[str]:
    rows = join_names([f"`{row}`" for row in job.other_rows], 3)
    return [f"other rows of its matrix, not run here, test otherwise: {rows}"] if rows else []


class Options(Struct, frozen=True):
    """The words of a tool that its recipe takes over from the CI.

    Attributes:
        valued: options with a value, behind a blank or a sign of equality, or in them.
        goal: the recipe's word in whose place the CI's goals stand.
        refused: starts of words that leave tests out, or name what this machine has otherwise.
    """

    programs: frozenset[str]
    valued: frozenset[str]
    flags: frozenset[str] = frozenset()
    goal: str = ""
    refused: tuple[str, ...] = ()


#: The tools whose recipe is run with the CI's words, by family.
RECIPE_FIRST = msgspec.convert(TABLE["options"], dict[str, Options])


def add_ci_settings_and_steps(plan: BuildPlan, job: CiJob, ci_rest: BuildPlan | None) -> BuildPlan:
    """The recipe's plan with the job's variables, its words for the same tool, and other lines."""
    family, table, variables = plan.system, RECIPE_FIRST[plan.system], dict[str, str]()
    for name, text in job.env.items():
        of_machine = any(part in name for part in WORDS["of_machine_parts"])
        if not (of_machine or name in WORDS["of_machine"] or is_refused(name)):
            variables[name] = escape_braces(text)
    steps, reasons, notes = plan.steps, [*plan.reasons], [*plan.notes]
    called = [
        (step, call)
        for step in job.steps
        for call in step.calls
        if (call.configures if family == "cmake" else call.family == family)
        and call.runner != "script"
    ]
    pairs = [pair for pair in called if pair[1].place == plan.directory] or called
    if pairs:
        step, call = max(pairs, key=lambda pair: measure_feature_breadth([pair[1]]))
        options = _derive_safe_options(call.words, table)
        alike = [call]
        if table.goal == "build":  # tasks of several calls can be asked for in one
            alike = [one for _, one in pairs if _derive_safe_options(one.words, table) == options]
        goals = [goal for one in alike for goal in _list_goals(one.arguments, table)]
        goals = [*dict.fromkeys(goals)]
        steps = tuple(_add_options_replace_goal(one, options, goals, table) for one in plan.steps)
        reasons += [f"options as in {step.origin}"] if steps != plan.steps else []
        notes += _name_other_rows(job)
        if "--all-targets" not in options and all("nextest" in one.words for _, one in called):
            notes.append("the CI's nextest runs no tests in documentation; they run here")
        others = [one.words for _, one in pairs if one not in alike and family != "cmake"]
        powerset = any(word.startswith(("--each-f", "--feature-p")) for word in call.words)
        others += [call.words] if powerset and not options and call.place == plan.directory else []
        if others:
            scripts = _join_scripts([*dict.fromkeys(map(shlex.join, others))])
            notes.append(f"its CI also runs, not run here: {scripts}")
    ci_rest = ci_rest or BuildPlan("", ())
    # the recipe runs without the flags of compilers and the directories that the job sets
    own = {name: text for name, text in ci_rest.env.items() if name in job.env}
    env = {name: text for name, text in ci_rest.env.items() if name not in own}
    more = (replace(step, env={**own, **step.env}) for step in ci_rest.steps)
    return replace(
        plan,
        steps=(*steps, *more),
        env={**env, **variables, **plan.env},
        left_out=job.left_out,
        reasons=(*reasons, job.name),
        notes=tuple(dict.fromkeys([*notes, *ci_rest.notes])),
    )


def _derive_safe_options(words: Sequence[str], table: Options) -> list[str]:
    options: dict[tuple[str, ...], None] = {}
    names = {word.partition("=")[0] for word in words}
    each = names & {"--feature-powerset", "--each-feature"}
    if "hack" in words and each and not names & {"--exclude-features", "--skip"}:
        options["--all-features",] = None
    before = words[: words.index("--")] if "--" in words else words
    own = {"--profile"} if "nextest" in words else set[str]()  # of its own settings
    for word, after in pairwise([*before, ""]):
        names = {word.partition("=")[0], word[:2]} - own
        pair = (word, after) if word in table.valued else (word,)
        if names & (table.flags | table.valued) and all(pair) and _is_safe("".join(pair), table):
            options[pair] = None
    return [word for pair in options for word in pair]


def _is_safe(text: str, table: Options) -> bool:
    """True if words mean the same here: they name no other compiler, and skip no tests."""
    lower = text.lower()
    strict = "werror" in lower or "warnings_as_errors" in lower
    excluded = lower.removeprefix("--exclude-task").removeprefix("-x").lstrip("=")
    if excluded != lower and excluded.rpartition(":")[2] in {"test", "check"}:
        return False
    return not (strict or "$" in text or text.endswith("=") or lower.startswith(table.refused))


def _list_goals(arguments: Sequence[str], table: Options) -> list[str]:
    pairs = pairwise(["", *arguments])
    plain = [word for before, word in pairs if word[:1] != "-" and before not in table.valued]
    if table.goal == "build":
        return [word for word in plain if word != "clean" and "$" not in word]
    goals = [word for word in plain if word in {"test", "package", "verify", "install"}]
    return goals[-1:] if table.goal and goals[-1:] in (["test"], ["package"]) else []


def _add_options_replace_goal(
    step: BuildStep, options: Sequence[str], goals: Sequence[str], table: Options
) -> BuildStep:
    if isinstance(step.command, str):
        configures = step.command.startswith("cmake -S") and options
        line = f"{step.command} {shlex.join(options)}"
        return replace(step, command=line) if configures else step
    words: list[str] = []
    for word in step.command:
        words += goals if goals and word == table.goal else [word]
    return replace(step, command=(*words, *options))


def drop_recipe_and_unmet_steps(job: CiJob, recipes: Collection[Place], unmet_need: str) -> CiJob:
    """The job without the steps that recipes stand for; without any if no other tests.

    Tests that cannot run here are left out by name, also those that want CMake's own directory.
    """
    families = {family for family, _ in recipes}
    by_cmake = "cmake" in families
    tools = {program for family in families for program in RECIPE_FIRST[family].programs}
    steps, left_out = list[CiStep](), [*job.left_out]
    for step in job.steps:
        calls = [call for call in step.calls if call.family] or step.calls
        owned = [call for call in calls if call.program in tools or call.family in families]
        owned = [call for call in owned if call.runner != "script"]  # a program of the project
        covered = all((call.family, call.place) in recipes for call in owned) or by_cmake
        if len(owned) == len(calls) and (step.kind != "test" or covered):
            continue
        why = unmet_need and f"its job needs {unmet_need}"
        for call in step.calls:
            if call.family and call.program in job.lacks:
                why = f"`{call.program}` is not here"
            elif by_cmake and call.family in WRAPPING:
                why = "it may want what CMake has built in another directory"
        if step.kind == "test" and why:
            text = step.script.partition("\n")[0]
            left_out.append(LeftOutStep(text, why, origin=step.origin, tests=True))
        else:
            steps.append(step)
    tests = any(step.kind == "test" for step in steps)
    return replace(job, steps=tuple(steps if tests else ()), left_out=tuple(left_out))


class Adapter(Struct, frozen=True):
    """Options, behind a word, and variables by which a runner names tests and writes a report."""

    options: str = ""
    env: Mapping[str, str] = {}
    all_ran: int | None = None
    repeated: str = ""  # what a second call is told, which may run beside the first
    after: str = ""


#: The rows by runner. The names of files are what `results` reads below the reports' directory.
ADAPTERS = msgspec.convert(TABLE["adapters"], dict[str, Adapter])
#: The runners that tests of a family may end in, of which only variables are set.
_BEHIND = {family: runners.split() for family, runners in TABLE["behind"].items()}


def _make_build_step(step: CiStep, test_number: int, root: SourceTree) -> BuildStep:
    script = step.script.replace("uv pip install --system", "uv pip install")
    env = {name: escape_braces(text) for name, text in step.env.items() if not is_refused(name)}
    if step.kind == "test":
        for call in step.calls:
            for runner in (call.runner, *_BEHIND.get(call.family, ())):
                if runner != "go" or root.named("go.mod"):
                    variables = ADAPTERS.get(runner, Adapter()).env
                    env |= {name: text.format(step=test_number) for name, text in variables.items()}
        for call in (call for call in step.calls if call.family):
            if settings := read_tox(root.below(call.place)):
                env["TOX_OVERRIDE"] = settings.overrides
        script = _add_report_options(script, step, test_number, root)
        if "$PRJURY_REPORTS" in script:
            env["PRJURY_REPORTS"] = "{reports}"
    place = f"cd {shlex.quote(step.directory)}" if step.directory else ""
    command: str | tuple[str, ...] = f"{place} && {script}" if place else script
    if any(sign in script for sign in (*_BASH, *((";", "|") if step.kind == "test" else ()))):
        command = ("bash", "-e", "-o", "pipefail", "-c", f"{place}\n{script}".strip())
    return BuildStep(
        step.kind,
        command,
        env=env,
        origin=step.origin,
        may_fail=step.may_fail,
        all_ran=_find_all_ran_exit_code(step, root) if step.kind == "test" else None,
    )


def _add_report_options(script: str, step: CiStep, number: int, root: SourceTree) -> str:
    words = script.replace("\n", " \n ").split(" ")
    at, counts = 0, Counter[str]()
    for call in step.calls:
        at = _find_call_index(words, call, at)
        if at < 0:
            break
        adapter = ADAPTERS.get(call.runner, Adapter())
        counts[call.runner] += 1
        count = counts[call.runner]
        options = (count > 1 and adapter.repeated) or adapter.options
        if call.runner == "go" and ("|" in script or {"-json", "-C"} & set(call.words[2:])):
            options = ""  # what reads its output in a pipe reads text; `-v` comes by the variable
        place, added = at + 1, [options] if options else []
        if options and call.program in WORDS["managers"] and call.words[:2] != ("bun", "test"):
            last, _ = find_last_call(read_called_script(call, root))
            printed = last and any(one.partition("=")[0] in WORDS["printing"] for one in last.words)
            reached = last and last.runner == call.runner and not printed
            alone = reached and len(step.calls) == 1 and not set("|;)") & set(script)
            sign = ["--"] if call.program == "npm" and "--" not in call.words else []
            place, added = len(words), [*sign, options] if alone else []
        elif adapter.after in call.words[1:]:
            place += call.words.index(adapter.after)
        if words[place - 1].endswith((";", ")")):
            added = []  # the command ends there
        name = f"{number}-{count}" if count > 1 else str(number)
        words[place:place] = [word.format(step=name) for word in added]
        at += len(call.words) + len(added)
    return " ".join(words).replace(" \n ", "\n")


def _find_call_index(words: Sequence[str], call: Call, start: int) -> int:
    for at in range(start, len(words)):
        plain = words[at].strip("'\"();&")
        if normalise_program(plain) == call.program and words[at]:
            following = next((word for word in words[at + 1 :] if word), "").strip("'\"();&|")
            if len(call.words) == 1 or call.words[1].startswith(following):
                return at
    return -1


def _find_all_ran_exit_code(step: CiStep, root: SourceTree) -> int | None:
    if len(step.calls) != 1 or stops_early(step.calls[0]):
        return None
    (call,) = step.calls
    adapter = ADAPTERS.get(call.runner, Adapter())
    if call.program in WORDS["managers"]:
        after = replace(call, words=(call.words[0], f"post{name_script(call)}"))
        _, alone = find_last_call(read_called_script(call, root))
        return adapter.all_ran if alone and not read_called_script(after, root) else None
    return adapter.all_ran if call.runner in {call.program, "django", "node"} else None


def add_report_options_to_script_plan(plan: BuildPlan, root: SourceTree) -> BuildPlan:
    """A recipe's plan that calls scripts or targets, with their runners told as in a CI's step."""
    if plan.system not in WORDS["managers"] | WORDS["makes"]:
        return plan
    part, steps = root.below(plan.directory), list[BuildStep]()
    for step in plan.steps:
        calls = tuple(locate_and_classify(call, part, "") for call in read_calls(step.text))
        same = CiStep("test", step.text, calls=calls)
        adapted = replace(_make_build_step(same, 1, part), parts=step.parts)
        steps.append(adapted if step.name == "test" else step)
    return replace(plan, steps=tuple(steps))
