"""``prjury doctor``, ``prjury check-config`` and ``prjury schema``: what is wrong with a set-up."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from prjury.app.policy_in_force import read_config_text
from prjury.cli import options
from prjury.cli.output import PlainFormat, Terminal, print_out
from prjury.doctor.checked import check_policy, find_unlikely_settings
from prjury.doctor.examination import run_examination
from prjury.doctor.workflows import Diagnosis, Level
from prjury.errors import ConfigError, ExitCode
from prjury.policy import POLICY_PATH
from prjury.policy.load import json_schema, list_places
from prjury.policy.schema import Config
from prjury.policy.yaml_reader import read_yaml
from prjury.report.codec import report_schema
from prjury.report.sanitise import log_line
from prjury.report.wording import pluralize


def doctor(
    context: typer.Context,
    *,
    repo: options.Repo = Path(),
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask GitHub.")] = False,
    format: Annotated[PlainFormat, typer.Option(help="How the findings are printed.")] = "terminal",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List what is fine as well.")
    ] = False,
) -> int:
    """Check the set-up: workflows, policy, token, required checks; each problem with its fix."""
    terminal: Terminal = context.obj
    findings = list(run_examination(repo, terminal.environ, offline=offline))
    if format == "json":
        entries = [
            {
                "level": str(finding.level),
                "about": log_line(finding.about, redact=terminal.redact) if finding.about else "",
                "text": log_line(finding.text, redact=terminal.redact),
            }
            for finding in findings
        ]
        print(json.dumps({"schema": "prjury/doctor/v1", "findings": entries}, indent=2))
    else:
        _print_diagnoses(findings, terminal, show_fine=verbose or terminal.verbose)
    problems = sum(finding.level is Level.PROBLEM for finding in findings)
    if not problems:
        return ExitCode.OPEN
    count = pluralize(problems, "problem")
    terminal.complain(f"the set-up has {count}. Do what is said of each.")
    return ExitCode.REJECTED


def _print_diagnoses(findings: Sequence[Diagnosis], terminal: Terminal, *, show_fine: bool) -> None:
    for level in Level:
        for finding in findings:
            if finding.level is level and (show_fine or level is not Level.FINE):
                terminal.print_lines([f"{level}: {finding.sentence}."])
    counts = Counter(finding.level for finding in findings)
    words = [pluralize(counts[level], level.value) for level in (Level.PROBLEM, Level.WARNING)]
    print(", ".join([*words, f"{counts[Level.FINE]} fine"]))


def check_config(
    file: Annotated[Path, typer.Argument(help="The configuration file.")] = Path(POLICY_PATH),
) -> None:
    """Check a configuration file; every problem is a line `file:line:column: message`."""
    text = read_config_text(file)
    try:
        directory = file.absolute().parent
        root = directory.parent if directory.name == ".github" else Path.cwd()
        policy = check_policy(text, str(file), root)
    except ConfigError as error:
        if not error.problems:
            raise
        for problem in error.problems:
            print(problem, file=sys.stderr)
        count = pluralize(len(error.problems), "problem")
        remedy = "Correct what the lines above name"
        raise ConfigError(f"{file} has {count}", remedy=remedy) from error
    document = read_yaml(text, str(file))
    for doubt in list_places(document, find_unlikely_settings(policy.config)):
        print(f"warning: {doubt}", file=sys.stderr)
    print(f"{file} is valid. In force:")
    print("\n".join(_describe_config(policy.config, document.value or {})))


def _describe_config(config: Config, file_mapping: dict[str, object]) -> Iterator[str]:
    extended = {entry.title for entry in config.extend}
    source = "this file" if "tiers" in file_mapping else "the default"
    for tier in config.tiers:
        titles = [entry.title for entry in tier.judges]
        shown = [f"{name} (extend)" if name in extended else name for name in titles]
        origin = "extend" if extended.issuperset(titles) else source
        yield f"  {tier.name}: {', '.join(shown)} ({tier.policy}, from {origin})"
    for key in sorted(file_mapping.keys() - {"version", "tiers", "extend"}):
        yield f"  {key}: {json.dumps(file_mapping[key], ensure_ascii=False)} (from this file)"
    yield "  everything else: the default; `prjury schema` has every key"


def schema(
    *,
    report: Annotated[
        bool, typer.Option("--report", help="The report's schema instead of the configuration's.")
    ] = False,
) -> None:
    """Print the JSON Schema of the configuration file, or of the report."""
    print_out("schema", json.dumps(report_schema() if report else json_schema(), indent=2))
