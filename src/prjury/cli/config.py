"""``prjury check-config`` and ``prjury schema``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def check_config(
    file: Annotated[Path, typer.Argument(help="The configuration file.")] = Path(
        ".github/prjury.yml"
    ),
) -> None:
    """Check a configuration file; every problem comes with key path and line."""
    from prjury.config.pending import pending_note  # noqa: PLC0415 - pydantic costs 0.1 s
    from prjury.doctor.local import checked_policy  # noqa: PLC0415 - the same
    from prjury.policy import text_of  # noqa: PLC0415 - the same

    policy = checked_policy(text_of(file), str(file))
    judges = [entry.name for tier in policy.config.tiers for entry in tier.judges]
    for note in pending_note(policy.config):
        print(f"note: {note}", file=sys.stderr)
    print(
        f"{file} is valid: tiers {', '.join(t.name for t in policy.config.tiers)}; "
        f"judges {', '.join(judges)}"
    )


def schema(
    *,
    report: Annotated[
        bool, typer.Option("--report", help="The report's schema instead of the configuration's.")
    ] = False,
) -> None:
    """Print the JSON Schema of the configuration file, or of the report."""
    from prjury.config.load import json_schema  # noqa: PLC0415 - pydantic costs 0.1 s
    from prjury.report.wire import report_schema  # noqa: PLC0415 - the same

    print(json.dumps(report_schema() if report else json_schema(), indent=2))
