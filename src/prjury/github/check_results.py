"""What GitHub's answers say of a commit, and which of it counts. Pure.

A commit may have been checked several times: by several workflows whose jobs share a name, on a
push and on a pull request, again after a failure. The newest word counts, but only on the same
question: a workflow's run supersedes an earlier one of the same workflow and event, never a run of
another workflow, and what was skipped supersedes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from prjury.github.payload import at, read_number, read_time, read_url, text
from prjury.github.workflow_runs import WorkflowRun
from prjury.ports.types import CheckResult

ACTIONS = "github-actions"

#: The name of the job of `prjury.yml` where nothing is to be judged.
IDLE = "Nothing to judge"

_SKIPPED = frozenset({"skipped", "neutral"})
_OURS, _OUR_REPORT = "prjury", "pr jury report"
_WORKFLOW = ".github/workflows/prjury.yml"
_LONGEST_NAME = 255
_RUN_URL = re.compile(r"/actions/runs/(\d{1,19})(?:/|$)", re.ASCII)

#: Which question a check answers: who asks, in which series of runs, and under what name.
_CheckKey: TypeAlias = tuple[object, ...]


class OwnRun(Struct, frozen=True):
    """The workflow run that this process is part of."""

    id: int | None = None
    #: The key of its job in the workflow, empty where that is not known.
    job: str = ""


class ReportedRun(Struct, frozen=True):
    """A check run, with where it belongs."""

    id: int
    run: CheckResult
    suite: int | None = None
    #: The workflow run that its address names, None where it names none.
    of_run: int | None = None
    external_id: str = ""


def read_check_run(payload: object) -> ReportedRun:
    """A run in the list of check runs."""
    suite, address = at(payload, "check_suite", "id"), read_url(at(payload, "details_url"))
    app = text(at(payload, "app", "slug"))
    match = _RUN_URL.search(address or "") if app == ACTIONS else None
    number = read_number(at(payload, "id"), "id")
    return ReportedRun(
        number,
        CheckResult(
            _read_name(at(payload, "name"), "name"),
            app,
            _read_conclusion(payload),
            address or read_url(at(payload, "html_url")),
            number,
            read_time(at(payload, "completed_at")),
        ),
        None if suite is None else read_number(suite, "check_suite.id"),
        int(match[1]) if match else None,
        text(at(payload, "external_id")),
    )


def read_status(payload: object) -> ReportedRun:
    """A status in the list of commit statuses."""
    state = text(at(payload, "state"))
    return ReportedRun(
        read_number(at(payload, "id"), "id"),
        CheckResult(
            _read_name(at(payload, "context"), "context"),
            f"@{text(at(payload, 'creator', 'login'))}",
            None if state == "pending" else state or "unknown",
            read_url(at(payload, "target_url")),
            ended=read_time(at(payload, "updated_at")),
        ),
    )


@dataclass(frozen=True)
class CommitRuns:
    """All that GitHub says of a commit."""

    workflows: Sequence[WorkflowRun] = ()
    runs: Sequence[ReportedRun] = ()
    statuses: Sequence[ReportedRun] = ()
    own: OwnRun = field(default_factory=OwnRun)

    def list_newest_foreign_results(self) -> tuple[CheckResult, ...]:
        """Return what counts of it, this program's own reports left out."""
        own = self._find_own_check_keys()
        runs = [
            run
            for run in self.runs
            if self._key_of(run) not in own and not (_is_own_report(run) or self._is_report(run))
        ]
        statuses = [status for status in self.statuses if not _is_own_report(status)]
        message = map(self._with_base, (*self._find_newest(runs), *self._find_newest(statuses)))
        return (*message, *self._list_jobless_and_waiting_workflows())

    def _with_base(self, reported: ReportedRun) -> CheckResult:
        workflow = self._workflow(reported)
        return replace(reported.run, base=workflow.base) if workflow else reported.run

    def _is_report(self, reported: ReportedRun) -> bool:
        workflow = self._workflow(reported)
        if workflow is None:
            return False
        idle = workflow.path == _WORKFLOW and _is_job(reported.run.name, IDLE)
        return idle or workflow.is_ours

    @cached_property
    def _by_suite(self) -> Mapping[int, WorkflowRun]:
        return {workflow.suite: workflow for workflow in self.workflows}

    def _workflow(self, reported: ReportedRun) -> WorkflowRun | None:
        return self._by_suite.get(reported.suite) if reported.suite else None

    def _key_of(self, reported: ReportedRun) -> _CheckKey:
        workflow = self._workflow(reported)
        series = workflow.series if workflow else reported.suite
        return reported.run.app, series, reported.run.name

    def _find_newest(self, of: Iterable[ReportedRun]) -> Iterator[ReportedRun]:
        runs_by_key: dict[_CheckKey, list[ReportedRun]] = {}
        for answer in of:
            runs_by_key.setdefault(self._key_of(answer), []).append(answer)
        for answers in runs_by_key.values():
            opinions = [one for one in answers if one.run.conclusion not in _SKIPPED]
            yield from self._find_last(opinions or answers)

    def _find_last(self, answers: Sequence[ReportedRun]) -> Iterator[ReportedRun]:
        workflows = [self._workflow(one) for one in answers]
        if None in workflows:
            return iter([max(answers, key=lambda one: one.id)])
        newest = max(workflow.number for workflow in workflows if workflow)
        pairs = zip(answers, workflows, strict=True)
        return (one for one, workflow in pairs if workflow and workflow.number == newest)

    def _find_own_check_keys(self) -> set[_CheckKey]:
        if (job := self._find_own_job()) is None:
            return set()
        workflow = own.workflow if (own := self._workflow(job)) else None
        same = [
            run for run in self.runs if (run.run.app, run.run.name) == (job.run.app, job.run.name)
        ]
        series = [run for run in same if (of := self._workflow(run)) and of.workflow == workflow]
        return {self._key_of(job), *map(self._key_of, series)}

    def _find_own_job(self) -> ReportedRun | None:
        if self.own.id is None:
            return None
        running = [one for one in self.runs if one.run.conclusion is None and self._is_own(one)]
        if len(running) > 1:
            running = [one for one in running if _is_job(one.run.name, self.own.job)]
        return running[0] if len(running) == 1 else None

    def _is_own(self, reported: ReportedRun) -> bool:
        workflow = self._workflow(reported)
        return self.own.id in {reported.of_run, workflow.id if workflow else None}

    def _list_jobless_and_waiting_workflows(self) -> Iterator[CheckResult]:
        own = {workflow.workflow for workflow in self.workflows if workflow.id == self.own.id}
        for workflow in self._newest_workflows():
            if workflow.workflow in own or workflow.is_ours:
                continue
            jobs = [one.run for one in self.runs if one.suite == workflow.suite]
            running = any(job.conclusion is None for job in jobs)
            if not jobs or (workflow.conclusion is None and not running):
                # Without jobs nothing was checked, whatever the run says.
                ended = "neutral" if workflow.conclusion == "success" else workflow.conclusion
                name, when = workflow.name or "a workflow", workflow.ended
                yield CheckResult(name, ACTIONS, ended, workflow.url, ended=when)

    def list_ended_workflows(self) -> Sequence[WorkflowRun]:
        """The newest run of each workflow on each event, where it has ended; this one's none."""
        newest = self._newest_workflows()
        return [one for one in newest if one.conclusion is not None and one.id != self.own.id]

    def _newest_workflows(self) -> Iterable[WorkflowRun]:
        newest: dict[tuple[int, str], WorkflowRun] = {}
        for workflow in sorted(self.workflows, key=lambda one: one.number):
            newest[workflow.series] = workflow
        return newest.values()


def _is_own_report(reported: ReportedRun) -> bool:
    name = reported.run.name.casefold()
    report = name == _OUR_REPORT and reported.external_id.startswith(f"{_OURS}:")
    status = reported.run.app.startswith("@") and name.startswith(_OURS)
    return name == _OURS or report or status


def _is_job(name: str, job: str) -> bool:
    return bool(job) and (name == job or name.startswith(f"{job} (") or name.endswith(f" / {job}"))


def _read_conclusion(payload: object) -> str | None:
    if at(payload, "status") != "completed":
        return None
    return text(at(payload, "conclusion")) or "unknown"


def _read_name(value: object, key: str) -> str:
    if name := text(value)[:_LONGEST_NAME]:
        return name
    raise ValueError(f"{key} is missing")
