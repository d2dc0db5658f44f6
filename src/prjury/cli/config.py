"""``prjury check-config`` and ``prjury schema``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prjury.cli.output import print_out
from prjury.errors import ConfigError

if TYPE_CHECKING:
    from prjury.policy.schema import Config


def check_config(
    file: Annotated[Path, typer.Argument(help="The configuration file.")] = Path(
        ".github/prjury.yml"
    ),
) -> None:
    """Check a configuration file; every problem is a line `file:line:column: message`."""
    from prjury.app.policy_in_force import text_of
    from prjury.doctor.checked import check_policy, find_doubts
    from prjury.policy.load import list_places
    from prjury.policy.yaml_reader import read_yaml

    text = text_of(file)
    try:
        policy = check_policy(text, str(file), _root_for(file))
    except ConfigError as error:
        if not error.problems:
            raise
        raise _print_problems(file, error.problems) from error
    for doubt in list_places(read_yaml(text, str(file)), find_doubts(policy.config)):
        print(f"warning: {doubt}", file=sys.stderr)
    print(f"{file} is valid. In force:")
    print("\n".join(_lines(policy.config, read_yaml(text, str(file)).value or {})))


def _lines(config: Config, written: dict[str, object]) -> Iterator[str]:
    extended = {entry.title for entry in config.extend}
    source = "this file" if "tiers" in written else "the default"
    for tier in config.tiers:
        titles = [entry.title for entry in tier.judges]
        shown = [f"{name} (extend)" if name in extended else name for name in titles]
        origin = "extend" if extended.issuperset(titles) else source
        yield f"  {tier.name}: {', '.join(shown)} ({tier.policy}, from {origin})"
    for key in sorted(written.keys() - {"version", "tiers", "extend"}):
        yield f"  {key}: {json.dumps(written[key], ensure_ascii=False)} (from this file)"
    yield "  everything else: the default; `prjury schema` has every key"


def _root_for(file: Path) -> Path:
    directory = file.absolute().parent
    return directory.parent if directory.name == ".github" else Path.cwd()


def _print_problems(file: Path, problems: tuple[str, ...]) -> ConfigError:
    for problem in problems:
        print(problem, file=sys.stderr)
    number = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return ConfigError(f"{file} has {number}", remedy="Correct what the lines above name")


def schema(
    *,
    report: Annotated[
        bool, typer.Option("--report", help="The report's schema instead of the configuration's.")
    ] = False,
) -> None:
    """Print the JSON Schema of the configuration file, or of the report."""
    from prjury.policy.load import json_schema
    from prjury.report.codec import report_schema

    print_out("schema", json.dumps(report_schema() if report else json_schema(), indent=2))
