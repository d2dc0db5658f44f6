"""Whose fault a failure is: the machine's, the base's, chance's, or the change's. Pure.

`with_environment` and `blame_environment` mark what the machine lacks, as soon as logs were read;
`compared` what the base fails as well; `with_flaky` what passed when it was run again. All else is
the change's, unless `unproven` says why old failures may hide new ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from prjury.judges.builds.environment import (
    is_known,
    is_unfound,
    may_pass,
    missing_name,
    missing_submodule,
)
from prjury.judges.builds.failure import Failure, State, inside_tree, make_failure
from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import CUSTOM, REPORTED, BuildPlan
from prjury.judges.builds.test_sets import Vanished
from prjury.report.wording import counted
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind


def with_environment(
    found: Iterable[tuple[int, Failure]], blamed: Iterable[tuple[int, Failure]]
) -> list[tuple[int, Failure]]:
    """The failures of a log with those that the machine is to blame for, each once.

    Args:
        found: what other readers have found.
        blamed: what the log says about the machine; it stands for what was read from its lines.
    """
    found, blamed = list(found), list(blamed)
    goals = {number: one for number, one in found if one.name and one.kind in {"error", "goal"}}
    known = [
        (number, _of_goal(one, number, goals))
        for number, one in blamed
        if one.state == "environment"
    ]
    read, lines = {number for number, _ in found}, {number for number, _ in known}
    missing = [item for item in blamed if item[0] not in read | lines]
    others = [
        (number, _marked(one))
        for number, one in found
        if number not in lines and not _is_explained(one, lines.intersection(_near(number, goals)))
    ]
    every = [*others, *missing, *known]
    messages = [one.message for _, one in every if one.state == "environment"]
    return [item for item in every if not _is_repeated(item[1], messages)]


#: What goals say that lack a download; the next three lines say why.
_NOT_DOWNLOADED = re.compile(r"\bCould not (?:resolve|download|collect)\b")


def _near(number: int, goals: Collection[int]) -> range:
    """The numbers of three lines more, without those about the next goal."""
    ends = (each for each in range(number + 1, number + 4) if each in goals)
    return range(number, next(ends, number + 4))


def _of_goal(failure: Failure, number: int, goals: Mapping[int, Failure]) -> Failure:
    """The failure under the name of the goal that gave up with it, if one did."""
    near = (goals[line] for line in range(number, number - 4, -1) if line in goals)
    goal = next(near, None)
    return structs.replace(failure, name=goal.name) if goal else failure


def _is_explained(failure: Failure, below: Collection[int]) -> bool:
    """Whether javac cannot read it, or a goal not download it, for what the lines below blame."""
    unread = failure.message.startswith("cannot access ")
    lacking = failure.name is not None and _NOT_DOWNLOADED.search(failure.message) is not None
    return bool(below) and (unread or lacking)


def _marked(failure: Failure) -> Failure:
    blameless = failure.kind in {"error", "goal"} and is_known(failure.message)
    return structs.replace(failure, kind="error", state="environment") if blameless else failure


def _is_repeated(failure: Failure, messages: Sequence[str]) -> bool:
    """Whether a longer message says the same."""
    own = failure.message
    return failure.state == "environment" and any(own in one and own != one for one in messages)


def blame_environment(
    outcome: PlanOutcome, changed: Collection[str], set_up_code: Sequence[str] = ()
) -> PlanOutcome:
    """The outcome with what follows from the machine marked as such, or with nothing marked.

    Where tests failed, the lines about the machine may be the tests' own, unless a goal of the
    build tool gave up with them. A step of set-up that failed is the machine's, unless the change
    touches what set-up reads, its log names a line of a file that the change touches, or a file of
    the tree does not compile.

    Args:
        changed: the paths that the change touches.
        set_up_code: directories with code that set-up runs.
    """
    failures = outcome.failures
    if any(failure.kind == "test" for failure in failures):
        kept = (one for one in failures if one.state != "environment" or one.name)
        return replace(outcome, failures=tuple(kept))
    known = [failure for failure in failures if failure.state == "environment"]
    others = [failure for failure in failures if failure.state != "environment"]
    if any(_is_of_tree(failure, changed) for failure in others):
        others.sort(key=lambda failure: not _is_of_tree(failure, changed))
        return replace(outcome, failures=(*others, *known))
    if not known:
        if not _is_set_up(outcome, changed):
            return outcome
        if named := _named_line(outcome, changed):
            others = [one for one in others if one.message not in named.message]
            return replace(outcome, failures=(named, *others))
        own = tuple(f"{place}/" if place else "" for place in set_up_code)
        if any(path.startswith(own) for path in changed):
            return outcome
        others = others or [make_failure("error", _last_words(outcome.last.tail))]
    marked = (structs.replace(failure, state="environment") for failure in (*known, *others))
    return replace(outcome, failures=tuple(marked))


def _last_words(tail: str) -> str:
    """The last line that names an error, else the last one, without what tools always say."""
    lines = [line.strip() for line in tail.splitlines() if not _ALWAYS_SAID.search(line)]
    lines = [text for line in lines if re.search(r"\w", text := _OF_NPM.sub("", line))]
    named = (line for line in reversed(lines) if re.search(r"(?i)error|not found", line))
    return next(named, (lines or [""])[-1])


def _is_of_tree(failure: Failure, changed: Collection[str]) -> bool:
    """Whether a file of the tree does not compile, or one that the change touches fails."""
    return failure.path is not None and (failure.kind == "compile" or failure.path in changed)


#: What npm puts before every line of an error.
_OF_NPM = re.compile(r"^npm (?:ERR!|error)\s+")
#: What package managers print after every error.
_ALWAYS_SAID = re.compile(
    r"complete log of this run|^npm (?:ERR!|error)\s*$|correct access rights|repository exists\.$"
    r"|^npm (?:ERR!|error) (?:code|path|command) |^info Visit http|^\[notice\]|^hint: "
    r"|Failed with errors in|Response Code: |Request (?:Method|URL): "  # Yarn
    r"|^note: This (?:error originates|is an issue with)|subprocess-exited-with-error"
)
#: A line of a file as interpreters and compilers name it, or the file that Python imports from.
_NAMED_LINE = re.compile(r"(?P<path>[\w./@+-]+\.\w+)(?:\", line |:|\()(?P<line>\d+)")
_IMPORTED = re.compile(r"ImportError: .* \((?P<path>[^()]+)\)(?P<line>)$")
_NO_ERROR = re.compile(r"\b(?:warning|note|info)\b", re.IGNORECASE)


def _named_line(outcome: PlanOutcome, changed: Collection[str]) -> Failure | None:
    """The first line at the end of the log that blames a line of a file the change touches."""
    for text in outcome.last.tail.splitlines():
        for found in (*_IMPORTED.finditer(text), *_NAMED_LINE.finditer(text)):
            path = inside_tree(found["path"])
            if path in changed and not _NO_ERROR.search(text):
                return make_failure("error", text, path, found["line"])
    return None


def _is_set_up(outcome: PlanOutcome, changed: Collection[str]) -> bool:
    """Whether set-up failed, or an index had nothing, without anything of the change in it."""
    last = outcome.last
    if last.good or not comparable(outcome):
        return False
    set_up = last.step.name == "setup" or any(map(is_unfound, outcome.failures))
    return set_up and not any(_steers(path, last.step.text) for path in changed)


_STEERING = frozenset({FileKind.LOCK, FileKind.VENDORED, FileKind.BINARY, FileKind.SUBMODULE})
_SET_UP = re.compile(
    r"(?:^|/)(?:setup\.py|build\.rs|Gemfile|Rakefile|mix\.exs|Package\.swift|configure(?:\.\w+)?"
    r"|Makefile\.\w+|CMakeLists\.txt|meson\.build|binding\.gyp|[^/]*\.(?:gemspec|mk|m4|sh|bat))$"
)


def _steers(path: str, command: str) -> bool:
    """Whether set-up may do otherwise for this file: a manifest, a lock file, a script."""
    kind = kind_of(path)
    manifest = kind is FileKind.CONFIG and not path.startswith(".github/")
    named = path.rpartition("/")[2] in command
    return kind in _STEERING or manifest or named or _SET_UP.search(path) is not None


def worth_another_try(outcome: PlanOutcome) -> bool:
    """Whether the environment is to blame, and may have been so for a moment only."""
    cause = outcome.environment
    return cause is not None and may_pass(cause)


#: Characters of a command in a sentence.
_LONGEST_STEP = 60


def comparable(outcome: PlanOutcome) -> bool:
    """Whether it is worth asking how the base fares: a limit or a signal is the change's own."""
    return (
        outcome.failed
        and not outcome.last.completed.stopped
        and outcome.last.completed.exit_code >= 0
    )


def compared(outcome: PlanOutcome, base: PlanOutcome, known: frozenset[str]) -> PlanOutcome:
    """The outcome with the failures that the base has as well marked as such.

    Each failure of the base accounts for one of the merged tree: of two that look alike
    the second one is new where the base has only one. A module that is missing on both sides and
    is none of the tree's own is the machine's.

    Args:
        known: the paths of the merged tree.
    """
    there = Counter(failure.id for failure in base.failures)
    failures = []
    for failure in outcome.failures:
        old = there[failure.id] > 0 and failure.state != "environment"
        there[failure.id] -= old
        absent = old and _is_absent(failure, known)
        state: State = "environment" if absent else "pre_existing"
        failures.append(structs.replace(failure, state=state) if old else failure)
    return replace(outcome, failures=tuple(failures))


#: What make says of a program that it cannot start.
_NOT_STARTED = re.compile(r"\*\*\* \[.*\] Error 12[67]$")


def _is_absent(failure: Failure, known: frozenset[str]) -> bool:
    """Whether an old failure is for something that neither tree has: a program, a submodule."""
    if missing := missing_name(failure):
        return not _is_ours(missing, known)
    return bool(missing_submodule(failure, known) or _NOT_STARTED.search(failure.message))


def _is_ours(module: str, known: frozenset[str]) -> bool:
    """Whether a file or directory of the tree has the name of a module, package or header."""
    place = module if "/" in module or module.endswith((".h", ".hh", ".hpp", ".hxx")) else ""
    below = f"/{place or module.replace('.', '/')}"
    return any(
        f"/{path}".endswith(below) or f"{below}/" in f"/{path}" or f"{below}." in f"/{path}"
        for path in known
    )


def unproven(plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished) -> str:
    """Why old failures may hide new ones, or nothing where it is shown that they do not.

    What shows it: nothing but tests failed (and the goals that run them), or, in a build that goes
    on after every failure, goals that run none; both runs have results that could be read in full,
    and no test of the base is lost.
    """
    return next(_doubts(plan, outcome, base, lost), "")


def _doubts(
    plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished
) -> Iterator[str]:
    if not _only_tests(outcome.failures) and not (plan.goes_on and _aside(outcome.failures)):
        yield "not only tests failed, so something may have kept tests from running"
    exit_code = outcome.last.completed.exit_code
    if exit_code and plan.all_ran not in {None, exit_code}:
        yield f"exit code {exit_code} does not show that every test ran"
    own = plan.system in {CUSTOM, REPORTED}
    if own and plan.all_ran != exit_code and not _shows_all(outcome, base):
        yield f"`{outcome.last.step.text[:_LONGEST_STEP]}` may leave out what comes after a failure"
    if len(outcome.results) < len(plan.steps):
        yield f"the steps after `{outcome.last.step.text[:_LONGEST_STEP]}` were not reached"
    yield from _doubts_about(outcome, "the merged tree")
    yield from _doubts_about(base, "the base")
    if lost.count:
        such = f", such as {lost.names[0]}" if lost.names else ""
        yield f"{counted(lost.count, 'test')} of the base did not run{such}"


def _only_tests(failures: Sequence[Failure]) -> bool:
    """Whether nothing failed but tests, and the goals that run them."""
    kinds = {failure.kind for failure in failures}
    return "test" in kinds and not kinds - {"test", "goal"}


#: What make says of a recipe that failed, and of one that ended by itself, not by a signal.
_GOAL = re.compile(r"\*\*\* \[(?:[^\]:]+:\d+: )?(?P<target>[^\]]+)\]")
_ENDED = re.compile(r"\] Error \d{1,2}$")
_TESTING = re.compile(r"test|check|spec", re.IGNORECASE)


def _aside(failures: Sequence[Failure]) -> bool:
    """Whether nothing failed but goals that run no tests, such as documentation.

    A goal that runs tests may have ended in the middle of them, and code that does not compile may
    have kept some from being there.
    """
    goals = [(goal, one.message) for one in failures if (goal := _GOAL.search(one.message))]
    known = all(_ENDED.search(text) and not _TESTING.search(goal["target"]) for goal, text in goals)
    return bool(goals) and known and all(failure.kind != "compile" for failure in failures)


def _shows_all(outcome: PlanOutcome, base: PlanOutcome) -> bool:
    """Whether the reports of an own command show that it leaves nothing out after a failure.

    They name every test that ran, each test of the base among them, and on both sides a test ran
    after one that failed. No report shows what a script or make would have run after the failing
    command, so this holds only for a command that is a test runner, and nothing else.
    """
    if not _is_one_runner(outcome.last.step.text):
        return False
    runs = (outcome, base)
    named = all(run.reports.files and run.reports.ran and not run.reports.counted for run in runs)
    missing = Counter(base.reports.ran) - Counter(outcome.reports.ran)
    return named and not missing and all(map(_goes_on, runs))


#: What prepares the tests and is no test itself.
_PREPARES = re.compile(
    r"\s*(?:cd|\.|source|export|set|mkdir|rm|python\S*\s+-m\s+(?:pip|venv)|\S*pip3?|uv\s+(?:sync|pip|venv)"
    r"|npm\s+(?:ci|install|i)|(?:pnpm|yarn|poetry|pdm|bundle|composer)\s+install)(?=\s|$)"
)


#: Programs that run tests and nothing after them, however they are called.
_RUNNER = re.compile(
    r"\s*(?:\w+=\S*\s+|env\s+|(?:uv|poetry|pdm|hatch|pipenv)\s+run\s+(?:--\S+\s+)*|npx\s+|bundle\s+exec\s+)*"
    r"(?:\S*python[\d.]*\s+-m\s+(?:pytest|unittest)|(?:\S*/)?(?:pytest|py\.test|jest|vitest|mocha|phpunit|rspec|ctest)"
    r"|go\s+test|cargo\s+(?:test|nextest\s+run))(?=\s|$)"
)


def _is_one_runner(command: str) -> bool:
    """Whether a line for the shell is one test runner, perhaps after steps that prepare it."""
    parts = [part for part in re.split(r"&&|[|;&\n]", command) if part.strip()]
    tests = [part for part in parts if not _PREPARES.match(part)]
    return len(tests) == 1 and _RUNNER.match(tests[0]) is not None


def _goes_on(run: PlanOutcome) -> bool:
    failing = {failure.id for failure in run.reports.failures}
    broken = next((at for at, name in enumerate(run.reports.ran) if name in failing), None)
    return broken is not None and broken + 1 < len(run.reports.ran)


def _doubts_about(run: PlanOutcome, of: str) -> Iterator[str]:
    if run.last.completed.stopped or run.last.completed.exit_code < 0:
        yield f"the build of {of} was cut off"
    if run.reports.problems:
        yield f"in {of} {run.reports.problems[0]}"
    if not run.reports.tests and not run.reports.counted:
        yield f"there are no test results of {of}"


def unseen(plan: BuildPlan, outcome: PlanOutcome) -> str:
    """What may still not have run for the failures' sake, on either side; a note, no doubt."""
    if plan.all_ran == outcome.last.completed.exit_code:
        return ""
    return f"what `{plan.without_setup}` leaves out after a failure ran on neither side"


def with_flaky(outcome: PlanOutcome, flaky_ids: frozenset[str]) -> PlanOutcome:
    """The outcome with the tests marked that passed when they were run again alone."""
    failures = tuple(
        structs.replace(failure, state="flaky") if failure.id in flaky_ids else failure
        for failure in outcome.failures
    )
    return replace(outcome, failures=failures)


def failing_again(failures: Sequence[Failure], flaky_ids: frozenset[str]) -> Iterator[Failure]:
    """Mark as new what passes alone and fails again among the others."""
    for failure in failures:
        again = failure.id in flaky_ids and failure.state == "new"
        words = f"{failure.message} (passes alone, fails again with the others)"
        yield structs.replace(failure, message=words) if again else failure


_UNUSABLE = {126, 127}
#: What shells and tools print about a name that they do not know.
_UNKNOWN = re.compile(
    r"No module named ['\"]?(?P<module>[\w.]+)"
    r"|[Mm]issing script: ['\"]?(?P<script>[\w:.-]+)"
    r"|No rule to make target ['`‘\"](?P<target>[^'’\"]+)"
    r"|can't cd to (?P<place>\S+)"
    r"|cd: (?P<directory>[^\s:]+): No such file"
)


def not_started(outcome: PlanOutcome) -> Failure | None:
    """That the last step's program could not be started, if it is one of the machine's.

    Set-up of which no reason was read comes to the same: nothing of the code was tried.
    """
    last = outcome.last
    if last.step.name == "setup":
        words = _last_words(last.tail)
        return make_failure("error", f"set-up fails with the change and without it: {words}")
    program = last.step.text.split(maxsplit=1)[0]
    if last.completed.exit_code not in _UNUSABLE or "/" in program:
        return None
    said = last.tail.strip().splitlines()
    return make_failure("error", said[-1] if said else f"{program} cannot be started")


def broken_command(plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome) -> str:
    """Why a command of the policy cannot work in this project, or nothing.

    It ended in the same way on both sides, and a name in it is known to neither of them.
    """
    if plan.system != CUSTOM or outcome.last.step != base.last.step:
        return ""
    ours, theirs = list(_complaints(outcome)), list(_complaints(base))
    return next((complaint for complaint in ours if complaint in theirs), "")


def _complaints(outcome: PlanOutcome) -> Iterator[str]:
    command, tail = outcome.last.step.text, outcome.last.tail
    for found in _UNKNOWN.finditer(tail):
        name = next(filter(None, found.groups()))
        if name in command:
            yield found[0].strip()
    if outcome.last.completed.exit_code in _UNUSABLE:
        lines = [line.strip() for line in tail.splitlines() if line.strip()]
        yield lines[-1] if lines else "it cannot be executed, or is not there"
