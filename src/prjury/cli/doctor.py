"""``prjury doctor``: what is wrong with the set-up, each in one sentence with its fix."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prjury.cli import options
from prjury.cli.output import PlainFormat, Terminal
from prjury.errors import ExitCode

if TYPE_CHECKING:
    from prjury.doctor.finding import Diagnosis

SCHEMA = "prjury/doctor/v1"


def doctor(
    context: typer.Context,
    *,
    repo: options.Repo = Path(),
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask GitHub.")] = False,
    format: Annotated[
        PlainFormat, typer.Option(help="How the findings are printed.")
    ] = PlainFormat.TERMINAL,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List what is fine as well.")
    ] = False,
) -> int:
    """Check the set-up: workflows, policy, token, required checks; each problem with its fix."""
    from prjury.doctor.finding import Level
    from prjury.doctor.run_checks import run_examination
    from prjury.report.wording import pluralize

    terminal: Terminal = context.obj
    findings = list(run_examination(repo, terminal.environ, offline=offline))
    if format is PlainFormat.JSON:
        print(json.dumps(_as_json(findings, terminal), indent=2))
    else:
        _print(findings, terminal, everything=verbose or terminal.verbose)
    problems = sum(finding.level is Level.PROBLEM for finding in findings)
    if not problems:
        return ExitCode.OPEN
    count = pluralize(problems, "problem")
    print(f"prjury: the set-up has {count}. Do what is said of each.", file=sys.stderr)
    return ExitCode.REJECTED


def _as_json(findings: Sequence[Diagnosis], terminal: Terminal) -> dict[str, object]:
    from prjury.report.sanitise import log_line

    entries = [
        {
            "level": str(finding.level),
            "about": log_line(finding.about, redact=terminal.redact) if finding.about else "",
            "text": log_line(finding.text, redact=terminal.redact),
        }
        for finding in findings
    ]
    return {"schema": SCHEMA, "findings": entries}


def _print(findings: Sequence[Diagnosis], terminal: Terminal, *, everything: bool) -> None:
    from prjury.doctor.finding import Level
    from prjury.publishers.terminal import printable_line
    from prjury.report.wording import pluralize

    for level in Level:
        for finding in findings:
            if finding.level is level and (everything or level is not Level.FINE):
                line = f"{level}: {finding.sentence}."
                print(printable_line(line, sys.stdout, terminal.redact))
    counts = Counter(finding.level for finding in findings)
    words = [pluralize(counts[level], level.value) for level in (Level.PROBLEM, Level.WARNING)]
    print(", ".join([*words, f"{counts[Level.FINE]} fine"]))
