"""Whose fault a failure is: the machine's, the base's, chance's, or the change's. Pure.

`with_environment` marks what the machine lacks, as soon as a log was read; `compared` what the base
fails as well; `with_flaky` what passed when it was run again. All else is the change's, unless
`unproven` says why old failures may hide new ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import CUSTOM, BuildPlan
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.test_sets import Vanished
from prjury.report.wording import counted

_JAVA = "install the JDK that the project needs and name it in JAVA_HOME (actions/setup-java)"
_MAVEN = "install that Maven, or check in its wrapper (`mvn wrapper:wrapper`)"
_RUST = "install that toolchain (`rustup toolchain install`), or pin it in rust-toolchain.toml"
_GO = "install that Go (actions/setup-go), or allow its download (GOTOOLCHAIN=auto)"
_PYTHON = "install that Python before the build (actions/setup-python, `uv python install`)"
_NODE = "install that Node (actions/setup-node), or the package manager's version that is named"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A message of a tool, as it is found anywhere in a line, and what to do about it."""

    message: str
    remedy: str


MISMATCHES = (
    Mismatch(r"error: release version \d+ not supported", _JAVA),
    Mismatch(r"invalid (?:target|source) release: [\d.]+", _JAVA),
    Mismatch(r"(?:Source|Target) option \d+ is no longer supported", _JAVA),
    Mismatch(r"Detected JDK [Vv]ersion:? .* is not in the allowed range", _JAVA),
    Mismatch(r"compiled by a more recent version of the Java Runtime", _JAVA),
    Mismatch(r"Unsupported class file major version \d+", _JAVA),
    Mismatch(r"Cannot find a Java installation on your machine", _JAVA),
    Mismatch(r"No matching toolchains? found for requested specification", _JAVA),
    Mismatch(r"Detected Maven Version: \S+ is not in the allowed range", _MAVEN),
    Mismatch(r"error: rustc \S+ is not supported by the following package", _RUST),
    Mismatch(r"requires rustc \S+ or newer, while the currently active rustc", _RUST),
    Mismatch(r"^go: .*requires go >= \S+ \(running go ", _GO),
    Mismatch(r"^go: download go[\d.]+ for \S+: toolchain not available", _GO),
    Mismatch(r"requires a different Python: \S+ not in ", _PYTHON),
    Mismatch(r"No interpreter found for Python ", _PYTHON),
    Mismatch(r"interpreter resolved to Python \S+, which is incompatible", _PYTHON),
    Mismatch(r"npm (?:ERR!|error) (?:code EBADENGINE|engine Not compatible)", _NODE),
    Mismatch(r'The engine "\w+" is incompatible with this module', _NODE),
    Mismatch(r"ERR_PNPM_UNSUPPORTED_ENGINE", _NODE),
)
_ANY = re.compile("|".join(f"(?:{one.message})" for one in MISMATCHES))
#: What stands around the message in a line.
_AROUND = re.compile(r"^(?:\[ERROR\]|[>\s])+|\s+-> \[Help \d+\]$")


def find_mismatches(section: LogSection) -> Iterator[tuple[int, Failure]]:
    """The lines of a log about it."""
    for index, line in enumerate(section.lines):
        if _ANY.search(line):
            yield section.numbers[index], section.failure("error", _AROUND.sub("", line))


def with_environment(found: Iterable[tuple[int, Failure]]) -> list[tuple[int, Failure]]:
    """The failures with those marked that the machine is to blame for, each once."""
    every = [(number, _marked(failure)) for number, failure in found]
    known = [one.message for _, one in every if one.state == "environment"]
    return [item for item in every if not _is_repeated(item[1], known)]


def _marked(failure: Failure) -> Failure:
    blameless = failure.kind in {"error", "goal"} and _ANY.search(failure.message)
    return replace(failure, kind="error", state="environment") if blameless else failure


def _is_repeated(failure: Failure, messages: Sequence[str]) -> bool:
    """Whether a longer message says the same."""
    own = failure.message
    return failure.state == "environment" and any(own in one and own != one for one in messages)


def remedy_for(failure: Failure) -> str:
    """What to do about a failure of the environment."""
    known = (one.remedy for one in MISMATCHES if re.search(one.message, failure.message))
    return next(known, "install the version that the project needs")


#: Characters of a command in a sentence.
_LONGEST_STEP = 60


def comparable(outcome: PlanOutcome) -> bool:
    """Whether it is worth asking how the base fares: a limit or a signal is the change's own."""
    return (
        outcome.failed
        and not outcome.last.completed.stopped
        and outcome.last.completed.exit_code >= 0
    )


def compared(outcome: PlanOutcome, base: PlanOutcome) -> PlanOutcome:
    """The outcome with the failures that the base has as well marked as such.

    Each failure of the base accounts for one of the merged tree: of two that look alike
    the second one is new where the base has only one.
    """
    there = Counter(failure.id for failure in base.failures)
    failures = []
    for failure in outcome.failures:
        old = there[failure.id] > 0 and failure.state != "environment"
        there[failure.id] -= old
        failures.append(replace(failure, state="pre_existing") if old else failure)
    return replace(outcome, failures=tuple(failures))


def unproven(plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished) -> str:
    """Why old failures may hide new ones, or nothing where it is shown that they do not.

    What shows it: nothing but tests failed (and the goals that run them), both runs have results
    that could be read in full, and no test of the base is lost.
    """
    return next(_doubts(plan, outcome, base, lost), "")


def _doubts(
    plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished
) -> Iterator[str]:
    kinds = {failure.kind for failure in outcome.failures}
    if "test" not in kinds or kinds - {"test", "goal"}:
        yield "not only tests failed, so something may have kept tests from running"
    exit_code = outcome.last.completed.exit_code
    if exit_code and plan.all_ran not in {None, exit_code}:
        yield f"exit code {exit_code} does not show that every test ran"
    if plan.system == CUSTOM and plan.all_ran != exit_code:
        yield f"`{outcome.last.step.text[:_LONGEST_STEP]}` may leave out what comes after a failure"
    if len(outcome.results) < len(plan.steps):
        yield f"the steps after `{outcome.last.step.text[:_LONGEST_STEP]}` were not reached"
    yield from _doubts_about(outcome, "the merged tree")
    yield from _doubts_about(base, "the base")
    if lost.count:
        such = f", such as {lost.names[0]}" if lost.names else ""
        yield f"{counted(lost.count, 'test')} of the base did not run{such}"


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
    return f"what `{plan.text}` leaves out after a failure ran on neither side"


def with_flaky(outcome: PlanOutcome, flaky_ids: frozenset[str]) -> PlanOutcome:
    """The outcome with the tests marked that passed when they were run again alone."""
    failures = tuple(
        replace(failure, state="flaky") if failure.id in flaky_ids else failure
        for failure in outcome.failures
    )
    return replace(outcome, failures=failures)


def failing_again(failures: Sequence[Failure], flaky_ids: frozenset[str]) -> Iterator[Failure]:
    """Mark as new what passes alone and fails again among the others."""
    for failure in failures:
        again = failure.id in flaky_ids and failure.state == "new"
        words = f"{failure.message} (passes alone, fails again with the others)"
        yield replace(failure, message=words) if again else failure


_UNUSABLE = {126, 127}
#: What shells and tools print about a name that they do not know.
_UNKNOWN = re.compile(
    r"No module named ['\"]?(?P<module>[\w.]+)"
    r"|[Mm]issing script: ['\"]?(?P<script>[\w:.-]+)"
    r"|No rule to make target ['`‘\"](?P<target>[^'’\"]+)"
    r"|can't cd to (?P<place>\S+)"
    r"|cd: (?P<directory>[^\s:]+): No such file"
)


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
