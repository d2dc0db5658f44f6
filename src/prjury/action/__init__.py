"""The runner's face: a GitHub Actions job comes in, a verdict with an exit code goes out."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TextIO

from prjury.action.inputs import Inputs, read_inputs
from prjury.action.log import Log
from prjury.action.places import Places
from prjury.action.publishing import publish, tell_outcome
from prjury.action.wiring import Nothing, Wiring, wire
from prjury.errors import ExitCode, PrJuryError, PublishError, SourceError, UsageError
from prjury.handover import secrets_in
from prjury.report.model import Report
from prjury.report.redact import Redactor
from prjury.sources.github.event import Event, EventKind, read_event
from prjury.sources.github.payload import PullFacts, Tip

_NOT_GATING = " (not gating: fail-on is `never`)"
#: In these a job holds the base repository's token and secrets, whoever wrote the change.
_BESIDE_SECRETS = frozenset({EventKind.PULL_REQUEST_TARGET, EventKind.WORKFLOW_DISPATCH})
#: With ``fail-on: never`` the job is green for these; a wrong workflow or a bug stays red.
_FORGIVEN = frozenset(
    {ExitCode.REJECTED, ExitCode.NOT_JUDGED, ExitCode.SOURCE, ExitCode.NOT_PUBLISHED}
)


def main(environ: Mapping[str, str], stream: TextIO, wiring: Wiring | None = None) -> int:
    """Runs the action and returns its exit code.

    Args:
        environ: the job's environment with its secrets; nothing of it reaches a child by itself.
        stream: where the log goes.
        wiring: the parts to work with, the real ones by default.
    """
    log = Log(stream)
    with log.commands_stopped():
        code, complaint = _guarded(environ, log, wiring)
    if complaint:
        log.error(complaint)
    return int(code)


def _guarded(
    environ: Mapping[str, str], log: Log, wiring: Wiring | None
) -> tuple[ExitCode, str | None]:
    """The outermost handler: every way to fail ends in one line and a documented exit code."""
    try:
        log.redact = Redactor(secrets_in(environ))
        inputs = read_inputs(environ)
        return _attempt(inputs, environ, log, wiring)
    except PrJuryError as error:
        return error.exit_code, str(error)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED, "Interrupted; nothing was published."
    except Exception as bug:  # noqa: BLE001 - the last resort: the job must end with our own code
        for line in traceback.format_exc().splitlines():
            log.say(line)
        complaint = (
            f"A bug of ours: {type(bug).__name__}. Please report the lines of the job's log."
        )
        _tell_error(Places.of(environ), complaint, log)
        return ExitCode.BUG, complaint


def _attempt(
    inputs: Inputs, environ: Mapping[str, str], log: Log, wiring: Wiring | None
) -> tuple[ExitCode, str | None]:
    """A review; one that ends in an error is told in the summary and the outputs as well."""
    places = Places.of(environ)
    try:
        parts = wiring or wire(environ, log.stream, log.redact)
        code, complaint = _review(inputs, environ, log, parts, places)
    except PrJuryError as error:
        code, complaint = error.exit_code, str(error)
        _tell_error(places, complaint, log)
    forgiven = inputs.fail_on == "never" and code in _FORGIVEN
    return (ExitCode.OPEN if forgiven else code), complaint


def _review(
    inputs: Inputs, environ: Mapping[str, str], log: Log, wiring: Wiring, places: Places
) -> tuple[ExitCode, str | None]:
    if inputs.mode != "review":
        raise UsageError(
            f"The mode {inputs.mode} is not available yet", remedy="Use the mode review"
        )
    event = _event(inputs, environ, wiring)
    for note in event.notes:
        log.say(note)
    if event.of_pull_request and event.action == "closed":
        return _nothing(f"Nothing to review: #{event.number} is closed.", "success", places, log)
    wiring.connect(event, inputs).close()  # tells a wrong address or token before any work
    judged = wiring.judge(event, inputs)
    if not isinstance(judged, Report):
        if judged.superseded:
            _confirm_newer_head(event, inputs, wiring)
        return _nothing(judged.reason, _gate_without_report(judged, event, inputs), places, log)
    report = judged
    if inputs.fail_on == "never":
        report = replace(judged, headline=judged.headline + _NOT_GATING)
    log.say(report.headline)
    complaints, notes = publish(report, event, inputs, wiring, places)
    for note in notes:
        log.say(note)
    return _exit_code(report, complaints), " ".join(complaints) or None


def _event(inputs: Inputs, environ: Mapping[str, str], wiring: Wiring) -> Event:
    """The event, completed by GitHub where it names a number only, and by the inputs.

    Raises:
        UsageError: for a fork's build next to the base repository's token.
    """
    event = read_event(environ)
    pull = event.pull
    if event.kind is EventKind.WORKFLOW_DISPATCH and event.number:
        pull = _completed(event, inputs, wiring)
    if inputs.base:
        pull = replace(pull, base=Tip(inputs.base))
    if inputs.head:
        pull = replace(pull, head=Tip(inputs.head))
    if event.kind in _BESIDE_SECRETS and pull.is_fork and inputs.build:
        raise UsageError(
            f"A fork's code is not built under {event.kind}",
            why="The job holds the base repository's token and secrets",
            remedy="Run on pull_request, or set `build: false`",
        )
    return replace(event, pull=pull)


def _completed(event: Event, inputs: Inputs, wiring: Wiring) -> PullFacts:
    """What GitHub says of the number; the head is the one that the event names, if it does."""
    named = event.pull
    with wiring.connect(event, inputs) as hub:
        told = hub.pull(named.repo, named.number or 0)
    base = named.base if named.base.named else told.base
    return replace(told, base=base, head=named.head)


def _tell_error(places: Places, complaint: str, log: Log) -> None:
    with suppress(PublishError):
        tell_outcome(places, "error", "action_required", complaint, log.redact)


def _confirm_newer_head(event: Event, inputs: Inputs, wiring: Wiring) -> None:
    """The newer head has a run of its own; without one, nothing would judge the event's head.

    Raises:
        SourceError: when GitHub still calls the event's head the current one.
    """
    with wiring.connect(event, inputs) as hub:
        told = hub.pull(event.repo, event.number or 0)
    if told.head.sha == event.pull.head.sha:
        raise SourceError(
            f"The head of #{event.number} cannot be fetched",
            why="The server's refs/pull is not at the head that GitHub names; it may lag behind",
            remedy="Run the job again",
            reason="ref_lags",
        )


def _gate_without_report(nothing: Nothing, event: Event, inputs: Inputs) -> str:
    """What the gate is where nothing was judged: open only for what the base holds already.

    Where the workflow names other sides, nothing is known of the pull request's own head.
    """
    elsewhere = event.of_pull_request and (inputs.base or inputs.head)
    return "action_required" if nothing.superseded or elsewhere else "success"


def _nothing(reason: str, gate: str, places: Places, log: Log) -> tuple[ExitCode, str | None]:
    log.say(reason)
    tell_outcome(places, "abstain", gate, reason, log.redact)
    return ExitCode.OPEN, None


def _exit_code(report: Report, complaints: list[str]) -> ExitCode:
    code = report.gate.exit_code
    return ExitCode.NOT_PUBLISHED if complaints and code is ExitCode.OPEN else code
