"""``prjury replay``: the verdict of a report, derived again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prjury.cli.output import PlainFormat, Terminal, print_out
from prjury.errors import UsageError

if TYPE_CHECKING:
    from prjury.app.derivation import Derivation


def replay(
    context: typer.Context,
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A report in JSON.")],
    *,
    format: Annotated[
        PlainFormat, typer.Option(help="What goes to standard output.")
    ] = PlainFormat.TERMINAL,
) -> int:
    """Derive the verdict of a JSON report again: no repository, no network, no model."""
    from prjury.app.derivation import derive

    terminal: Terminal = context.obj
    derived = derive(read_json(report))
    if format is PlainFormat.JSON:
        print_out("verdict", json.dumps(_as_json(derived), indent=2, ensure_ascii=False))
    else:
        print_out("verdict", terminal.redact("\n".join(_lines(derived))))
    for difference in derived.differences:
        print(terminal.redact(f"differs: {difference}"), file=sys.stderr)
    if derived.exit_code:
        print(f"prjury: {terminal.redact(_closing(derived))}", file=sys.stderr)
    return derived.exit_code


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; ``-`` is standard input.

    Raises:
        UsageError: for a file that cannot be read, or holds something else.
    """
    try:
        text = sys.stdin.read() if path == Path("-") else path.read_text("utf-8")
        value = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path} cannot be read as JSON: {why}") from error
    if not isinstance(value, dict):
        raise UsageError(f"{path} holds no JSON object", remedy="Name a report in JSON")
    return value


def _lines(derived: Derivation) -> list[str]:
    from prjury.snapshot.model import visible

    override = "; opened by a label of maintainers" if derived.overridden else ""
    told = [f"{derived.verdict}", f"gate: {derived.gate}{override}"]
    if not derived.differences:
        told.append("The report says the same.")
    return [visible(line) for text in told for line in text.splitlines()]


def _as_json(derived: Derivation) -> dict[str, Any]:
    said = derived.verdict.aggregated
    return {
        "status": said.status,
        "decided_by": derived.verdict.decided_by,
        "reasoning": said.reasoning,
        "gate": derived.gate,
        "overridden": derived.overridden,
        "differences": list(derived.differences),
    }


def _closing(derived: Derivation) -> str:
    if derived.differences:
        number = len(derived.differences)
        what = "1 difference" if number == 1 else f"{number} differences"
        return f"the report is not what its ballots come to: {what}. Do not rely on it."
    said = derived.verdict.aggregated
    reason = " ".join(said.reasoning.split())[:200]
    return f"{said.status}: {reason}. Fix what the report names, and review again."
