"""``prjury replay``: the verdict of a report, or of recorded ballots, derived again."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prjury.cli.output import PlainFormat, Terminal, print_out
from prjury.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prjury.app.derivation import Derivation
    from prjury.calibration.strategies import StrategyResult


def replay(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A report in JSON, or recorded ballots as FILE.jsonl: see the docs.",
        ),
    ],
    *,
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="For ballots: of strategies that read scores.")
    ] = 0.5,
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="JUDGE=WEIGHT", help="For ballots: of one judge; repeatable."),
    ] = None,
    format: Annotated[
        PlainFormat, typer.Option(help="What goes to standard output.")
    ] = PlainFormat.TERMINAL,
) -> int:
    """Derive the verdict of a JSON report again, or compare voting strategies over ballots."""
    from prjury.app.derivation import derive

    terminal: Terminal = context.obj
    if file.suffix == ".jsonl":
        return _compare(terminal, file, threshold, weight or [], format)
    derived = derive(read_json(file))
    if format is PlainFormat.JSON:
        print_out("verdict", json.dumps(_as_json(derived), indent=2, ensure_ascii=False))
    else:
        print_out("verdict", terminal.redact("\n".join(_lines(derived))))
    for difference in derived.differences:
        print(terminal.redact(f"differs: {difference}"), file=sys.stderr)
    if derived.exit_code:
        print(f"prjury: {terminal.redact(_closing(derived))}", file=sys.stderr)
    return derived.exit_code


def _compare(
    terminal: Terminal, file: Path, threshold: float, weights: list[str], kind: PlainFormat
) -> int:
    """Print what each strategy would have made of recorded ballots.

    Raises:
        UsageError: for a file that cannot be read, or a weight that is none.
    """
    from dataclasses import asdict

    from prjury.calibration.records import cases_of, read_records
    from prjury.calibration.strategies import compare

    try:
        with file.open(encoding="utf-8") as lines:
            cases = cases_of(read_records(lines))
        found = compare(cases, threshold, dict(map(_weight, weights)))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {error.strerror}", remedy="Check the path"
        ) from error
    except ValueError as error:
        raise UsageError(f"{file}: {error}", remedy="Correct the records or the options") from error
    if kind is PlainFormat.JSON:
        rows = [
            {**asdict(one), "accuracy": one.accuracy, "interval": one.interval} for one in found
        ]
        print_out("comparison", json.dumps({"strategies": rows}, indent=2, ensure_ascii=False))
    else:
        print_out("comparison", terminal.redact("\n".join(_table(found))))
    return ExitCode.OPEN


def _weight(text: str) -> tuple[str, float]:
    judge, _, value = text.rpartition("=")
    with suppress(ValueError):
        if judge:
            return judge, float(value)
    raise ValueError(f"--weight {text!r} is not JUDGE=WEIGHT, such as strict=2")


def _table(found: Sequence[StrategyResult]) -> Iterator[str]:
    from prjury.snapshot.model import visible

    yield f"{'':<31}{'cases':>7}{'decided':>9}{'passed':>8}{'right':>7}  {'95 %':<9}{'$/case':>6}"
    for one in found:
        decided, passed = one.decided / one.cases, one.passed / max(1, one.decided)
        right = "" if one.accuracy is None else f"{one.accuracy:.1%}"
        low, high = one.interval or (0.0, 0.0)
        interval = f"{low:.0%}-{high:.0%}" if one.interval else ""
        cost = "" if one.cost is None else f"{one.cost:.4f}"
        name = visible(one.name)[:30]
        yield (
            f"{name:<31}{one.cases:>7,}{decided:>9.1%}{passed:>8.1%}{right:>7}  "
            f"{interval:<9}{cost:>6}"
        ).rstrip()


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
        raise UsageError(
            f"{path} cannot be read as JSON: {why}",
            remedy="Name a report that --format json has written",
        ) from error
    if not isinstance(value, dict):
        raise UsageError(f"{path} holds no JSON object", remedy="Name a report in JSON")
    return value


def _lines(derived: Derivation) -> list[str]:
    from prjury.snapshot.model import visible

    override = "; opened by a label of maintainers" if derived.overridden else ""
    reported = [f"{derived.verdict}", f"gate: {derived.gate}{override}"]
    if not derived.differences:
        reported.append("The report says the same.")
    return [visible(line) for text in reported for line in text.splitlines()]


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
