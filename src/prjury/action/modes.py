"""Which part of the work a job does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from prjury.action.job import Job, JobResult

#: The module and the function of each mode; a job loads what it needs and nothing else.
_MODES: Mapping[str, str] = {
    "review": "prjury.action.review:review",
    "build": "prjury.action.stages:build",
    "collect": "prjury.action.stages:collect",
    "decide": "prjury.action.stages:decide",
    "publish": "prjury.action.publish:publish",
    "backport": "prjury.action.backporting:backport",
}


def run_mode(job: Job) -> JobResult:
    """Does what the job's mode says.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    module, _, function = _MODES[job.inputs.mode].partition(":")
    mode: Callable[[Job], JobResult] = getattr(import_module(module), function)
    return mode(job)
