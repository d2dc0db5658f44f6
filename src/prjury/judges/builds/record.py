"""A build's case as the values of the evidence, and back. Pure.

The way back believes as little as it can. The plan, the tree and the policy are this side's own.
The record says what ran, how it ended and what failed; a record that contradicts itself, or that no
build of this plan can have left behind, is refused.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from prjury.errors import CannotJudgeError, first_problem
from prjury.judges.builds.failure import Failure, Kind, Results, State, inside_tree
from prjury.judges.builds.fault import comparable, compared
from prjury.judges.builds.kept_reports import packed, unpacked
from prjury.judges.builds.outcome import BuildResult, PlanOutcome, StepResult
from prjury.judges.builds.plan import REPORTED, BuildPlan, BuildStep
from prjury.policy.schema import BuildOptions
from prjury.ports.types import Completed
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import visible

SCHEMA_NAME = "prjury/build-evidence/v1"

#: Brackets in the whole file; a small file of nothing else would take gigabytes of memory.
_MOST_PARTS = 4_000_000
_LONGEST_PROBLEM = 200

Sha: TypeAlias = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
Word: TypeAlias = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
LONGEST_LINE, LONGEST_TEXT = 10_000, 200_000
#: A path, a name, a message, a test's identity.
Line: TypeAlias = Annotated[str, Field(max_length=LONGEST_LINE)]
#: Commands and what they printed.
Text: TypeAlias = Annotated[str, Field(max_length=LONGEST_TEXT)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=2**31)]
Seconds: TypeAlias = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class EvidencePart(BaseModel):
    """A part of the evidence: unknown keys, other types and values that are left out are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class FailureJson(EvidencePart):
    """One cause of a failed build."""

    kind: Kind
    message: Line
    path: Line | None
    line: Annotated[int, Field(ge=1, lt=10**9)] | None
    name: Line | None
    suite: Line | None
    state: State
    details: Text = ""


class ReportsJson(EvidencePart):
    """What the test reports of one run say."""

    files: Count
    tests: Count
    counted: Count
    skipped: Count = 0
    ignored: Count = 0
    by_runner: dict[Line, Count]
    within: dict[Line, Count] = {}
    ran: list[Line]
    failures: list[FailureJson]
    problems: list[Line]


class StepJson(EvidencePart):
    """A command that was run, and how it ended."""

    name: Word
    command: Text
    exit_code: Annotated[int, Field(ge=-1_000, le=2**32)]
    stopped: Word | None
    seconds: Seconds
    tail: Text
    log: Line


class OutcomeJson(EvidencePart):
    """What became of the steps on one tree."""

    allowed: Seconds
    steps: list[StepJson] = Field(min_length=1)
    failures: list[FailureJson]
    reports: ReportsJson


class CaseJson(EvidencePart):
    """What became of one build on the merged tree and, where that was tried, on the base."""

    thorough: bool
    merged: OutcomeJson
    base: OutcomeJson | None
    base_unknown: Line
    first: OutcomeJson | None
    ran_again: Count
    versions: dict[Line, Line] = {}
    kept: dict[Line, str | None] = {}
    kept_of_base: dict[Line, str | None] = {}


class ErrorJson(EvidencePart):
    """Why a build could not be tried."""

    reason: Word
    message: Annotated[Line, Field(min_length=1)]


class BuildJson(EvidencePart):
    """One build: which one it is, and what became of it, or why nothing did."""

    system: Line
    directory: Line
    command: Text
    case: CaseJson | None
    error: ErrorJson | None

    @model_validator(mode="after")
    def _either(self) -> BuildJson:
        if (self.case is None) is (self.error is None):
            raise ValueError("a build has either a case or an error")
        return self


class BuildSandboxJson(EvidencePart):
    """How the build was kept in."""

    level: Literal["L0", "L1", "L2", "L3"]


class BuildEvidenceJson(EvidencePart):
    """The whole file. It holds no verdict: that is decided anew from what happened.

    Attributes:
        commands: what the policy runs besides builds.
    """

    schema_: Literal["prjury/build-evidence/v1"] = Field(alias="schema")
    version: Line
    base: Sha
    head: Sha
    merged_tree: Sha | None
    sandbox: BuildSandboxJson
    builds: list[BuildJson]
    commands: list[BuildJson] = []

    @model_validator(mode="after")
    def _each_once(self) -> BuildEvidenceJson:
        for runs in (self.builds, self.commands):
            keys = [(run.system, run.directory, run.command) for run in runs]
            if len(set(keys)) != len(keys):
                raise ValueError("the same build is recorded twice")
        return self


def read_evidence(content: bytes) -> BuildEvidenceJson:
    """The evidence in a file.

    Raises:
        CannotJudgeError: ``evidence_invalid`` for anything that has not exactly the known form.
    """
    try:
        return BuildEvidenceJson.model_validate(_json(content))
    except ValidationError as error:
        raise invalid(first_problem(error.errors())) from error
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise invalid(f"it is not JSON: {why}") from error


def invalid(why: str) -> CannotJudgeError:
    """The error for evidence that cannot be what a build has left behind."""
    return CannotJudgeError(
        f"the evidence of the build is refused: {visible(why[:_LONGEST_PROBLEM])}",
        why="it was damaged or made up, or another version of prjury wrote it",
        remedy="build again with `prjury build`, in the same version",
        reason="evidence_invalid",
    )


def _json(content: bytes) -> Any:  # noqa: ANN401 - JSON
    if content.count(b"[") + content.count(b"{") > _MOST_PARTS:
        raise ValueError(f"it has more than {_MOST_PARTS} parts")
    return json.loads(
        content.decode("utf-8"),
        object_pairs_hook=_object,
        parse_constant=_refused,
        parse_float=_finite,
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _finite(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise ValueError("a number is too large")


Json: TypeAlias = dict[str, Any]
#: Makes a text fit to leave this machine.
Clean: TypeAlias = Callable[[str], str]


@dataclass(frozen=True)
class EvidenceRecorder:
    """Writes down what became of builds.

    Attributes:
        clean: takes out of a text what must not leave this machine. What identifies a build, which
            is system, directory and commands, stays as it is.
    """

    clean: Clean = str

    def build(self, plan: BuildPlan, became: BuildResult | CannotJudgeError) -> Json:
        """One build: which one it is, and its case or why there is none."""
        case = error = None
        if isinstance(became, CannotJudgeError):
            error = {
                "reason": became.reason,
                "message": self._line(str(became)) or became.reason,
            }
        else:
            case = self._case(plan, became)
        which = {"system": plan.system, "directory": plan.directory, "command": plan.text}
        return {**which, "case": case, "error": error}

    def _case(self, plan: BuildPlan, case: BuildResult) -> Json:
        return {
            "thorough": case.plan is not plan,
            "merged": self.outcome(case.outcome),
            "base": self.outcome(case.base) if case.base else None,
            "base_unknown": self._line(case.base_unknown),
            "first": self.outcome(case.first) if case.first else None,
            "ran_again": case.ran_again,
            "versions": {self._line(name): self._line(one) for name, one in case.versions.items()},
            "kept": dict(self._kept(case.kept)),
            "kept_of_base": dict(self._kept(case.kept_of_base)),
        }

    def _kept(self, kept: Mapping[str, bytes | None]) -> Iterator[tuple[str, str | None]]:
        for path, content in kept.items():
            text = None if content is None else self.clean(content.decode("utf-8", "replace"))
            yield self._line(path), None if text is None else packed(text)

    def outcome(self, outcome: PlanOutcome) -> Json:
        """What became of a plan on one tree."""
        reports = outcome.reports
        return {
            "allowed": outcome.allowed,
            "steps": [self._step(result) for result in outcome.results],
            "failures": list(map(self._failure, outcome.failures)),
            "reports": {
                **structs.asdict(structs.replace(reports, failures=(), ran=())),
                "by_runner": {self._line(name): n for name, n in reports.by_runner.items()},
                "within": {self._line(name): n for name, n in reports.within.items()},
                "ran": list(map(self._line, reports.ran)),
                "failures": list(map(self._failure, reports.failures)),
                "problems": list(map(self._line, reports.problems)),
            },
        }

    def _step(self, result: StepResult) -> Json:
        done = result.completed
        return {
            **asdict(done),
            "name": result.step.name,
            "command": result.step.text,
            "tail": self.clean(result.tail)[-LONGEST_TEXT:],
            "log": self._line(str(done.log)),
        }

    def _failure(self, failure: Failure) -> Json:
        stated = structs.asdict(failure)
        for key in ("message", "path", "name", "suite"):
            stated[key] = None if stated[key] is None else self._line(stated[key])
        return {**stated, "details": self.clean(failure.details)[:LONGEST_TEXT]}

    def _line(self, text: str) -> str:
        return self.clean(text)[:LONGEST_LINE]


@dataclass(frozen=True)
class EvidenceReader:
    """Reads what was written down, for this side's own plan, tree and policy.

    Attributes:
        known: the paths of the merged tree.
    """

    plan: BuildPlan
    known: frozenset[str]
    options: BuildOptions

    def case(self, record: CaseJson) -> BuildResult:
        """The case that was recorded.

        Raises:
            ValueError: for a record that no build of this plan leaves behind, with the reason.
        """
        plan = self._plan(record)
        base = (
            self.outcome(self._base_plan(plan, record.base), record.base) if record.base else None
        )
        first = self.outcome(self.plan, record.first) if record.first else None
        outcome = self.outcome(plan, record.merged)
        case = BuildResult(
            plan,
            _with_states(outcome, base, self.known),
            self.known,
            self.options,
            base,
            record.base_unknown,
            first,
            record.ran_again,
            record.versions,
            _kept(record.kept, self.options.keep),
            _kept(record.kept_of_base, self.options.keep_of_base),
        )
        if contradiction := next(self._contradictions(case), None):
            raise ValueError(contradiction)
        return case

    def _plan(self, record: CaseJson) -> BuildPlan:
        if not record.thorough:
            return self.plan
        if self.plan.once_more is self.plan:
            raise ValueError("this build has no thorough form")
        return self.plan.once_more

    def _base_plan(self, plan: BuildPlan, record: OutcomeJson) -> BuildPlan:
        """The form that the base was run in: where tests were flaky it ran but once."""
        recorded = [(step.name, step.command) for step in record.steps]
        plain = [(step.name, step.text) for step in self.plan.steps[: len(recorded)]]
        return self.plan if recorded == plain else plan

    def outcome(self, plan: BuildPlan, record: OutcomeJson) -> PlanOutcome:
        """The outcome of a plan that was recorded.

        Raises:
            ValueError: for a record that the plan cannot leave behind, with the reason.
        """
        results = tuple(_results(plan.steps, record.steps))
        reports = _reports(record.reports)
        listing = _failures(record.failures)
        outcome = PlanOutcome(results, record.allowed, failures=listing, reports=reports)
        listed, reported = (_counted(one) for one in (outcome.failures, reports.failures))
        if any(reported[test] > listed[test] for test in reported):
            raise ValueError("a failure of the reports is not among the failures")
        lucky = {failure.id for failure in outcome.failures if failure.state == "flaky"}
        if outcome.last.good and listed.keys() - reported.keys() - lucky:
            raise ValueError("it lists failures, though its steps and its reports know of none")
        return outcome

    def _contradictions(self, case: BuildResult) -> Iterator[str]:
        """What cannot be, as `prjury.judges.builds.run` goes about it."""
        again, other = case.first is not None, case.plan is not self.plan
        if other is not again and (other or self.plan.once_more is not self.plan):
            yield "the thorough form is run after a first run, and after nothing else"
        if again and not other and not case.ran_again:
            yield "the same is run once more after tests were run alone, and after nothing else"
        if case.first and not (case.first.failed and case.base):
            yield "the thorough form is run after a failure, and on the base as well"
        if case.base and not case.ran_again and case.base.last.step not in case.plan.steps:
            yield "the base is run in the same form, unless only single tests were run again"
        if case.base and case.base.last.completed.stopped:
            yield "a base that was stopped is nothing to compare with"
        green = self.options.compare == "always" and not case.outcome.failed
        reported = self.plan.system == REPORTED
        if case.base and not (again or green or reported or comparable(case.outcome)):
            yield "the base is not built for an outcome of this kind"
        lucky = {failure.id for failure in case.outcome.failures if failure.state == "flaky"}
        if len(lucky) > case.ran_again:
            yield "more tests are flaky than were run again"
        if case.ran_again and not (case.base or case.base_unknown):
            yield "tests are run again after the base was tried, and not before"
        if case.ran_again and not (self.plan.rerun_failed or case.plan.rerun_failed):
            yield "this build cannot run single tests again"


def _results(steps: Sequence[BuildStep], records: Sequence[StepJson]) -> Iterator[StepResult]:
    """The plan's own steps with what became of them: from the first one, up to a failure.

    Raises:
        ValueError: for another step, one too many, or one that was left out.
    """
    if len(records) > len(steps):
        raise ValueError("it has more steps than the plan")
    for number, (step, record) in enumerate(zip(steps, records, strict=False), 1):
        if (record.name, record.command) != (step.name, step.text):
            raise ValueError(f"step {number} is not the plan's `{step.text}`")
        done = Completed(record.exit_code, Path(record.log), record.seconds, record.stopped)
        result, is_last = StepResult(step, done, record.tail), number == len(records)
        if not (result.good or is_last):
            raise ValueError(f"step {number} failed, and yet the next one ran")
        if result.good and is_last and number < len(steps):
            raise ValueError(f"the steps after step {number} are left out")
        yield result


def _reports(record: ReportsJson) -> Results:
    stated = record.model_dump(exclude={"failures", "problems", "ran"})
    problems, ran = tuple(record.problems), tuple(record.ran)
    return Results(**stated, failures=_failures(record.failures), problems=problems, ran=ran)


def _kept(kept: Mapping[str, str | None], globs: Sequence[str]) -> dict[str, bytes | None]:
    """The reports that this side's policy asks for."""
    return {
        path: None if text is None else unpacked(text)
        for path, text in kept.items()
        if any(matches(path, glob) for glob in globs)
    }


def _failures(records: Sequence[FailureJson]) -> tuple[Failure, ...]:
    """The failures; a place outside of the tree is no place."""
    failures = (Failure(**record.model_dump()) for record in records)
    places = (inside_tree(record.path) if record.path else None for record in records)
    return tuple(
        structs.replace(failure, path=path, line=failure.line if path else None)
        for failure, path in zip(failures, places, strict=True)
    )


def _counted(failures: Sequence[Failure]) -> Counter[str]:
    """How often each failure occurs; a test may fail several times, anything else counts once."""
    tests = Counter(failure.id for failure in failures if failure.kind == "test")
    return tests | Counter({failure.id for failure in failures if failure.kind != "test"})


def _with_states(
    outcome: PlanOutcome, base: PlanOutcome | None, known: frozenset[str]
) -> PlanOutcome:
    """Only the base decides what is old; that a test is flaky has to be believed.

    So has what is said of the machine, which never makes a PASS.

    Without a base nothing is excused, whatever it is called.
    """
    if base is None:
        return outcome
    fresh = tuple(
        failure if failure.state == "environment" else structs.replace(failure, state="new")
        for failure in outcome.failures
    )
    marked = compared(replace(outcome, failures=fresh), base, known).failures
    failures = tuple(
        structs.replace(now, state="flaky")
        if claimed.state == "flaky" and now.kind == "test"
        else now
        for now, claimed in zip(marked, outcome.failures, strict=True)
    )
    return replace(outcome, failures=failures)
