"""``prjury build``, ``collect``, ``decide`` and ``publish``: a review in parts, as jobs do it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prjury.cli import options
from prjury.cli.build_plan import print_plan
from prjury.cli.output import (
    OutputFormat,
    PlainFormat,
    Terminal,
    parse_outputs,
    print_out,
    refuse_place,
)
from prjury.cli.review import exit_code_of, report_outcome
from prjury.errors import CannotJudgeError, ExitCode, PublishError, UsageError

if TYPE_CHECKING:
    from prjury.app.stages.evidence import NoEvidence, StageEvidence
    from prjury.judges.builds.stage import BuiltEvidence
    from prjury.publishers.factory import PublisherFactory
    from prjury.report.model import Report

_EvidenceFile = Annotated[Path, typer.Argument(help="What `prjury collect` wrote.")]
_Digest = Annotated[
    str | None, typer.Option("--sha256", help="The digest that the evidence must have.")
]


@options.expand
def build(
    context: typer.Context,
    change: options.ChangeOptions,
    *,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the evidence goes.")] = Path(
        "build-evidence.json"
    ),
    plan: Annotated[
        bool, typer.Option("--plan", help="Show what would run, and why; run nothing.")
    ] = False,
    format: Annotated[
        PlainFormat, typer.Option(help="How the plan is printed.")
    ] = PlainFormat.TERMINAL,
) -> int:
    """Merge and build a change, and write the evidence for another job to judge."""
    from prjury.app.stages.build import build as run
    from prjury.git.open_snapshot import NothingToReview

    terminal: Terminal = context.obj
    if plan:
        return print_plan(terminal, change, format)
    if format is not PlainFormat.TERMINAL:
        raise UsageError("--format is for --plan", remedy="The evidence is JSON; see --output")
    refuse_place(output)
    outcome = run(options.request_of(terminal, change), terminal.environment())
    if isinstance(outcome, NothingToReview):
        print(outcome.reason)
        return ExitCode.OPEN
    return hand_over(terminal, outcome, output)


def hand_over(terminal: Terminal, outcome: BuiltEvidence, output: Path) -> int:
    """Writes the evidence whatever it says, then prints what it would come to here."""
    from prjury.app.artifact_file import LARGEST
    from prjury.jury.judgment import Status
    from prjury.publishers.files import write_atomically
    from prjury.publishers.judgment import JudgmentPrinter
    from prjury.publishers.terminal import printable_line

    content = json.dumps(outcome.evidence, indent=1, allow_nan=False)
    write_atomically(output, content + "\n")
    printer, ballot = JudgmentPrinter(sys.stdout, terminal.redact), outcome.ballot
    lines = [line for one in outcome.ballots for line in printer.lines(one.judge, one.judgment)]
    shown = [*lines, printable_line(f"evidence: {output}", sys.stdout)]
    print_out("judgment", "\n".join(shown), sys.stdout.encoding)
    if len(content) >= LARGEST:
        raise CannotJudgeError(
            f"the evidence is larger than {LARGEST // 1024**2} MiB and will be refused",
            why="the build has millions of tests, or its commands print without end",
            remedy="build less at a time, with `build: {systems: […]}`",
            reason="too_large",
        )
    complaint = JudgmentPrinter(sys.stderr, terminal.redact).complaint(
        ballot.judge, ballot.judgment
    )
    if complaint:
        print(complaint, file=sys.stderr)
    codes = {Status.FAIL: ExitCode.REJECTED, Status.ERROR: ExitCode.NOT_JUDGED}
    return codes.get(ballot.judgment.status, ExitCode.OPEN)


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
    from prjury.app.stages.codec import evidence_to_text
    from prjury.app.stages.collect import collect as run
    from prjury.git.open_snapshot import NothingToReview
    from prjury.publishers.files import write_atomically

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
    from prjury.app.request import ReviewRequest
    from prjury.app.stages.codec import verdict_to_text
    from prjury.app.stages.decide import decide as run
    from prjury.app.stages.evidence import NoEvidence
    from prjury.app.stages.publish import publish_stage
    from prjury.publishers.files import write_atomically

    terminal: Terminal = context.obj
    refuse_place(output)
    found, digest = _read(evidence, sha256)
    if isinstance(found, NoEvidence):
        print(found.reason)
        return ExitCode.OPEN
    request = ReviewRequest(
        model=models.model,
        trusts_policy=models.trust_policy,
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
    format: options.Printed = OutputFormat.TERMINAL,
    output: options.Output = None,
    sha256: _Digest = None,
    post: Annotated[
        bool, typer.Option("--post", help="Post it to the pull request, with GITHUB_TOKEN.")
    ] = False,
) -> int:
    """Make the report of evidence and verdict, print it, and post it if asked to."""
    from prjury.app.artifact_file import read_artifact_file
    from prjury.app.stages.codec import LARGEST, opinions_from_text
    from prjury.app.stages.evidence import NoEvidence
    from prjury.app.stages.publish import publish_stage

    terminal: Terminal = context.obj
    files = parse_outputs(output, OutputFormat)
    found, digest = _read(evidence, sha256)
    if isinstance(found, NoEvidence):
        print(found.reason, file=sys.stdout if format is OutputFormat.TERMINAL else sys.stderr)
        return ExitCode.OPEN
    opinions = opinions_from_text(read_artifact_file(verdict, "verdict", None, LARGEST))
    report = publish_stage(found, digest, opinions)
    code = report_outcome(terminal, report, format, files)
    if post:
        _post(terminal, report)
    return code


def _read(file: Path, sha256: str | None) -> tuple[StageEvidence | NoEvidence, str]:
    from prjury.app.artifact_file import read_artifact_file
    from prjury.app.artifact_file import sha256 as digest_of
    from prjury.app.stages.codec import LARGEST, evidence_from_text

    content = read_artifact_file(file, "evidence", sha256, LARGEST)
    return evidence_from_text(content), digest_of(content)


def _post(terminal: Terminal, report: Report) -> None:
    """Posts the comment, the status and whatever else the report's policy wants.

    Raises:
        UsageError: where nothing says which pull request, or there is no token.
        PublishError: when something could not be posted; everything else is.
    """
    posts = _factory(terminal, report)
    wanted = report.policy.resolved.get("publish", {})
    complaints: list[str] = []
    with posts.client:
        posts.refuse_old_head()
        publishers = [publisher for _, publisher in posts.of_pull_request(wanted)]
        for publisher in filter(None, [*publishers, posts.status(), posts.check(wanted)]):
            try:
                publisher.publish(report)
            except PublishError as error:
                # A person's token may not write check runs, and need not.
                if not (error.reason == "permission" and publisher.name == "check run"):
                    complaints.append(str(error))
    if complaints:
        raise PublishError(" ".join(complaints))


def _factory(terminal: Terminal, report: Report) -> PublisherFactory:
    from prjury.github.client import GITHUB_API, Connection, GitHub
    from prjury.publishers.factory import PublisherFactory, Target, Texts
    from prjury.report.render import Renderer

    environ, pull = terminal.environ, report.pull
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if not token:
        raise UsageError("--post takes a token", remedy="Set GITHUB_TOKEN")
    if pull.number is None or "/" not in pull.repo:
        raise UsageError(
            "--post takes a pull request",
            why="The evidence is about two refs of a local repository",
            remedy="Collect it by the pull request's number or URL",
        )
    renderer = Renderer(terminal.redact)
    client = GitHub(Connection(environ.get("GITHUB_API_URL") or GITHUB_API, token))
    target = Target(pull.repo, pull.number, pull.head.sha, by_status=True)
    words = Texts(lambda reported, run: renderer.comment(reported, run=run), renderer.check)
    return PublisherFactory(target, client, words, terminal.redact)
