"""``prjury build --plan``: what would run, where, why, with which versions; nothing is run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prjury.cli import options
from prjury.cli.output import PlainFormat, Terminal, print_out
from prjury.errors import ExitCode

if TYPE_CHECKING:
    from prjury.judges.builds.detect import DetectedBuilds


def print_plan(terminal: Terminal, change: options.ChangeOptions, kind: PlainFormat) -> int:
    """Print the plan of a change, or of the directory where none is named and none is there."""
    from prjury.judges.builds.plan_view import plan_document, plan_lines
    from prjury.publishers.terminal import printable_line

    planned = _find_plan(terminal, change)
    if kind is PlainFormat.JSON:
        document = _redact(plan_document(planned), terminal.redact)
        print_out("plan", json.dumps(document, indent=2))
    else:
        for line in plan_lines(planned):
            print(printable_line(line, sys.stdout, terminal.redact))
    complete = bool(planned.plans) and not any(plan.missing for plan in planned.plans)
    if not complete:
        print(f"prjury: {_refusal(planned)}", file=sys.stderr)
    return ExitCode.OPEN if complete else ExitCode.NOT_JUDGED


def _refusal(found: DetectedBuilds) -> str:
    lacks = next((plan.missing for plan in found.plans if plan.missing), "")
    if lacks:
        return f"the build could not run here: {lacks}. Install it, or build where it is."
    return (
        "no build is known here. Nothing that builds was found at the top or below it. "
        "Name the command with `build: {command: …}` in the policy."
    )


def _find_plan(terminal: Terminal, change: options.ChangeOptions) -> DetectedBuilds:
    from prjury.app.stages.plan import plan_change, plan_directory
    from prjury.errors import SourceError
    from prjury.git.open_snapshot import NothingToReview

    environment = terminal.environment()
    stated = change.target or change.base or change.head
    try:
        planned = plan_change(options.request_of(terminal, change), environment)
    except SourceError:
        if stated or not change.repo.is_dir():
            raise
        return plan_directory(change.repo, environment, change.config)
    finally:
        environment.progress.close()
    if not isinstance(planned, NothingToReview):
        return planned
    return plan_directory(change.repo, environment, change.config)


def _redact(value: Any, redact: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _redact(item, redact) for key, item in value.items()}
    return [_redact(item, redact) for item in value] if isinstance(value, list) else value
