"""``prjury review``: the main job on the operator's own machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prjury.cli import options
from prjury.cli.output import OutputFormat, Terminal, parse_output, unprinted
from prjury.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from prjury.app.request import ReviewRequest
    from prjury.git.open_snapshot import SnapshotRequest
    from prjury.ports import Evidence
    from prjury.report.model import Report


_LONGEST_LINE = 300


def review(  # noqa: PLR0913 - the command line's options, named as documented
    context: typer.Context,
    target: options.Target = None,
    *,
    repo: options.Repo = Path(),
    base: options.Base = None,
    head: options.Head = None,
    config: options.Config = None,
    format: options.Printed = OutputFormat.TERMINAL,  # noqa: A002 - the option's documented name
    output: options.Output = None,
    no_build: options.NoBuild = False,
    no_llm: options.NoLlm = False,
    model: options.Model = None,
    offline: options.Offline = False,
    title: options.Title = None,
    body_file: options.BodyFile = None,
    timeout: options.Timeout = None,
    onto: options.Onto = None,
    trust_policy: options.TrustPolicy = False,
    dry_run: options.DryRun = False,
    evidence: options.Evidence = None,
) -> int:
    """Judge a pull request, or the current branch against its default branch."""
    from prjury.app.request import ReviewRequest  # noqa: PLC0415 - keeps `--help` instant

    terminal: Terminal = context.obj
    files = [parse_output(text, OutputFormat) for text in output or ()]
    request = ReviewRequest(
        wanted=wanted_by(
            terminal, target, repo, base, head, facts_of(title, body_file), offline=offline
        ),
        config=config,
        build=not no_build,
        models=not no_llm,
        model=model,
        offline=offline,
        timeout=timeout,
        backport_to=tuple(onto or ()),
        trusts_policy=trust_policy,
        evidence=evidence_in(evidence),
    )
    return (_foretold if dry_run else _run)(terminal, request, format, files)


def evidence_in(file: Path | None) -> Evidence | None:
    """The evidence in a file that the operator names."""
    from prjury.app.artifact_file import EvidenceFile  # noqa: PLC0415 - keeps `--help` instant

    return EvidenceFile(file) if file else None


def facts_of(title: str | None, body_file: Path | None) -> dict[str, object]:
    """What the operator says that the pull request says of itself.

    Raises:
        UsageError: for a file that cannot be read.
    """
    facts: dict[str, object] = {} if title is None else {"title": title}
    if body_file is not None:
        try:
            facts["body"] = body_file.read_text("utf-8", "replace")
        except OSError as error:
            raise UsageError(f"--body-file {body_file} cannot be read: {error.strerror}") from error
    return facts


def wanted_by(
    terminal: Terminal,
    target: str | None,
    repo: Path,
    base: str | None,
    head: str | None,
    facts: dict[str, object],
    *,
    offline: bool,
) -> SnapshotRequest:
    """The pull request that the command line names."""
    from prjury.git.fetch import Transport  # noqa: PLC0415 - as above
    from prjury.git.open_snapshot import SnapshotRequest, parse_target  # noqa: PLC0415 - as above

    number, url = parse_target(target)
    token = terminal.environ.get("GITHUB_TOKEN") or terminal.environ.get("GH_TOKEN")
    transport = None if offline else Transport(terminal.environ, token)
    return SnapshotRequest(repo, number, base, head, url, transport, facts)


def _run(
    terminal: Terminal,
    request: ReviewRequest,
    kind: OutputFormat,
    files: list[tuple[OutputFormat, Path]],
) -> int:
    from prjury.app.review import run  # noqa: PLC0415 - as above
    from prjury.git.open_snapshot import NothingToReview  # noqa: PLC0415 - as above

    for _, file in files:
        refuse_place(file)
    outcome = run(request, terminal.environment())
    if isinstance(outcome, NothingToReview):
        print(outcome.reason, file=sys.stdout if kind is OutputFormat.TERMINAL else sys.stderr)
        return ExitCode.OPEN
    return report_outcome(terminal, outcome, kind, files)


def refuse_place(output: Path) -> None:
    """Raises UsageError for a file that cannot be written, before anything is done for it."""
    if not output.absolute().parent.is_dir() or output.is_dir():
        raise UsageError(
            f"--output cannot write {output}", remedy="Name a file in a directory that exists"
        )


def report_outcome(
    terminal: Terminal, report: Report, kind: OutputFormat, files: list[tuple[OutputFormat, Path]]
) -> int:
    """Prints the report and writes it to files; the result is the gate's exit code.

    Raises:
        PublishError: when it could not.
    """
    from prjury.publishers.files import write_atomically  # noqa: PLC0415 - as above

    refused = unprinted(lambda: terminal.publisher(kind).publish(report))
    for each, file in files:
        write_atomically(file, terminal.rendered(report, each))
    if refused:
        raise refused
    return exit_code_of(terminal, report)


def exit_code_of(terminal: Terminal, report: Report) -> int:
    """The gate's exit code; where it is closed, one line on standard error says why."""
    if report.gate.exit_code:
        print(_closing_line(terminal, report), file=sys.stderr)
    return report.gate.exit_code


def _foretold(
    terminal: Terminal,
    request: ReviewRequest,
    kind: OutputFormat,
    files: list[tuple[OutputFormat, Path]],
) -> int:
    """Prints what a review would ask of models."""
    from prjury.app.review import forecast  # noqa: PLC0415 - as above
    from prjury.cli.dry_run import forecast_json, forecast_lines  # noqa: PLC0415 - as above
    from prjury.git.open_snapshot import NothingToReview  # noqa: PLC0415 - as above

    if files or kind not in {OutputFormat.TERMINAL, OutputFormat.JSON}:
        raise UsageError("--dry-run makes no report", remedy="Use it alone, or with --format json")
    outcome = forecast(request, terminal.environment())
    if isinstance(outcome, NothingToReview):
        print(outcome.reason)
    elif kind is OutputFormat.JSON:
        print(forecast_json(outcome))
    else:
        print("\n".join(forecast_lines(outcome)))
    return ExitCode.OPEN


def _closing_line(terminal: Terminal, report: Report) -> str:
    """What happened and what to do, for those who only see the end of a log."""
    from prjury.publishers.progress import line_for  # noqa: PLC0415 - as above

    failed = report.gate.exit_code == ExitCode.REJECTED
    remedy = "Mend what the report names" if failed else "Look at it yourself, or mend the reason"
    words = f"prjury: {report.headline}. {remedy}, and judge again."
    return line_for(sys.stderr, words, terminal.redact, _LONGEST_LINE)
