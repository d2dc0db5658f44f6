"""``prjury collect``, ``decide`` and ``publish``: a review in parts, as separate jobs do it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prjury.cli import options
from prjury.cli.output import OutputFormat, Terminal, parse_output
from prjury.cli.review import exit_code_of, refuse_place, report_outcome
from prjury.errors import ExitCode

if TYPE_CHECKING:
    from prjury.app.stages.evidence import NoEvidence, StageEvidence

_EvidenceFile = Annotated[Path, typer.Argument(help="What `prjury collect` wrote.")]
_Digest = Annotated[
    str | None, typer.Option("--sha256", help="The digest that the evidence must have.")
]


@options.expand
def collect(
    context: typer.Context,
    change: options.ChangeOptions,
    judges: options.JudgeOptions,
    *,
    evidence: options.Evidence = None,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where it goes.")] = Path(
        "evidence.json"
    ),
    onto: options.Onto = None,
) -> int:
    """Ask every judge that needs no model; nothing of the change is run."""
    from prjury.app.stages.codec import evidence_to_text  # noqa: PLC0415 - keeps `--help` instant
    from prjury.app.stages.collect import collect as run  # noqa: PLC0415 - the same
    from prjury.git.open_snapshot import NothingToReview  # noqa: PLC0415 - the same
    from prjury.publishers.files import write_atomically  # noqa: PLC0415 - the same

    terminal: Terminal = context.obj
    refuse_place(output)
    request = options.request_of(terminal, change, judges, onto=onto, evidence=evidence)
    found = run(request, terminal.environment())
    if isinstance(found, NothingToReview):
        print(found.reason)
        return ExitCode.OPEN
    write_atomically(output, evidence_to_text(found))
    print(f"evidence: {output}")
    return ExitCode.OPEN


@options.expand
def decide(
    context: typer.Context,
    models: options.ModelOptions,
    evidence: _EvidenceFile = Path("evidence.json"),
    *,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where it goes.")] = Path(
        "verdict.json"
    ),
    offline: options.Offline = False,
    timeout: options.Timeout = None,
    sha256: _Digest = None,
) -> int:
    """Ask the models about what was collected; neither repository nor GitHub is needed."""
    from prjury.app.request import ReviewRequest  # noqa: PLC0415 - the same
    from prjury.app.stages.codec import verdict_to_text  # noqa: PLC0415 - keeps `--help` instant
    from prjury.app.stages.decide import decide as run  # noqa: PLC0415 - the same
    from prjury.app.stages.evidence import NoEvidence  # noqa: PLC0415 - the same
    from prjury.app.stages.publish import publish_stage  # noqa: PLC0415 - the same
    from prjury.publishers.files import write_atomically  # noqa: PLC0415 - the same

    terminal: Terminal = context.obj
    refuse_place(output)
    found, digest = _read(evidence, sha256)
    if isinstance(found, NoEvidence):
        print(found.reason)
        return ExitCode.OPEN
    request = ReviewRequest(
        model=models.model,
        trusts_policy=models.trust_policy or found.trusted,
        offline=offline,
        timeout=timeout,
    )
    opinions = run(found, digest, request, terminal.environment())
    report = publish_stage(found, digest, opinions)
    write_atomically(output, verdict_to_text(report, opinions, terminal.redact))
    print(report.headline)
    print(f"verdict: {output}")
    return exit_code_of(terminal, report)


def publish(
    context: typer.Context,
    verdict: Annotated[Path, typer.Argument(help="What `prjury decide` wrote.")] = Path(
        "verdict.json"
    ),
    *,
    evidence: Annotated[
        Path, typer.Option(metavar="FILE", help="What `prjury collect` wrote.")
    ] = Path("evidence.json"),
    format: options.Printed = OutputFormat.TERMINAL,  # noqa: A002 - the option's documented name
    output: options.Output = None,
    sha256: _Digest = None,
    post: Annotated[
        bool, typer.Option("--post", help="Post it to the pull request, with GITHUB_TOKEN.")
    ] = False,
) -> int:
    """Make the report of evidence and verdict, print it, and post it if asked to."""
    from prjury.app.artifact_file import read_artifact_file  # noqa: PLC0415 - the same
    from prjury.app.stages.codec import LARGEST, opinions_from_text  # noqa: PLC0415 - the same
    from prjury.app.stages.evidence import NoEvidence  # noqa: PLC0415 - the same
    from prjury.app.stages.publish import publish_stage  # noqa: PLC0415 - the same
    from prjury.cli.post import post as post_report  # noqa: PLC0415 - the same

    terminal: Terminal = context.obj
    files = [parse_output(text, OutputFormat) for text in output or ()]
    for _, file in files:
        refuse_place(file)
    found, digest = _read(evidence, sha256)
    if isinstance(found, NoEvidence):
        print(found.reason, file=sys.stdout if format is OutputFormat.TERMINAL else sys.stderr)
        return ExitCode.OPEN
    opinions = opinions_from_text(read_artifact_file(verdict, "verdict", None, LARGEST))
    report = publish_stage(found, digest, opinions)
    code = report_outcome(terminal, report, format, files)
    if post:
        post_report(terminal, report)
    return code


def _read(file: Path, sha256: str | None) -> tuple[StageEvidence | NoEvidence, str]:
    from prjury.app.artifact_file import read_artifact_file  # noqa: PLC0415 - as above
    from prjury.app.artifact_file import sha256 as digest_of  # noqa: PLC0415 - as above
    from prjury.app.stages.codec import LARGEST, evidence_from_text  # noqa: PLC0415 - as above

    content = read_artifact_file(file, "evidence", sha256, LARGEST)
    return evidence_from_text(content), digest_of(content)
