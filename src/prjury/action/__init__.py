"""The runner's face: a GitHub Actions job comes in, a verdict with an exit code goes out."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TextIO

from prjury.action.dependencies import make_dependencies
from prjury.action.job import Dependencies, Inputs, Job, JobDirectories, JobResult, Log, read_inputs
from prjury.errors import ExitCode, PrJuryError
from prjury.report.sanitise import Redactor
from prjury.secret_env import secrets_in

#: The module and the function of each mode; a job loads what it needs and nothing else.
_MODES: Mapping[str, str] = {
    "review": "prjury.action.stages:review_and_publish",
    "build": "prjury.action.stages:build_and_write_evidence",
    "collect": "prjury.action.stages:collect_and_write_evidence",
    "decide": "prjury.action.stages:ask_models_and_write_verdict",
    "publish": "prjury.action.stages:publish_verdict",
    "backport": "prjury.action.backporting:backport_merged_pull",
    "conflicts": "prjury.action.conflicts:judge_conflicts",
    "comment": "prjury.action.commenting:answer_comment",
}
#: With ``fail-on: never`` the job is green for these; a wrong workflow or a bug stays red.
_FORGIVEN = frozenset(
    {ExitCode.REJECTED, ExitCode.NOT_JUDGED, ExitCode.SOURCE, ExitCode.NOT_PUBLISHED}
)


def main(
    environ: Mapping[str, str], stream: TextIO, dependencies: Dependencies | None = None
) -> int:
    log = Log(stream)
    with log.commands_stopped():
        code, complaint = _read_inputs_and_run_job(environ, log, dependencies)
    if complaint:
        log.error(complaint)
    return int(code)


def _read_inputs_and_run_job(
    environ: Mapping[str, str], log: Log, dependencies: Dependencies | None
) -> JobResult:
    """The outermost handler: every way to fail ends in one line and a documented exit code."""
    try:
        log.redact = Redactor(secrets_in(environ))
        inputs = read_inputs(environ)
        parts = dependencies or make_dependencies(environ, log.stream, log.redact)
        return _run_or_forgive(inputs, Job(inputs, environ, log, parts, JobDirectories.of(environ)))
    except PrJuryError as error:
        return JobResult(error.exit_code, str(error))
    except KeyboardInterrupt:
        return JobResult(ExitCode.INTERRUPTED, "Interrupted; nothing was published.")


def _run_or_forgive(inputs: Inputs, job: Job) -> JobResult:
    try:
        module, _, function = _MODES[inputs.mode].partition(":")
        mode: Callable[[Job], JobResult] = getattr(import_module(module), function)
        ended = mode(job)
    except PrJuryError as error:
        ended = JobResult(error.exit_code, str(error))
        job.tell_error(str(error))
    except Exception as bug:  # noqa: BLE001 - the last resort: the job must end with our own code
        for line in traceback.format_exc().splitlines():
            job.log.say(line)
        complaint = (
            f"A bug in PR Jury: {type(bug).__name__}. Please report the lines of the job's log."
        )
        job.tell_error(complaint)
        return JobResult(ExitCode.BUG, complaint)
    forgiven = inputs.fail_on == "never" and ended.code in _FORGIVEN
    return JobResult(ExitCode.OPEN, ended.complaint) if forgiven else ended
