"""The options that commands share, each written once, and the request that they make.

A command takes groups of them: `expand_option_groups` makes each field of a group an option.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from msgspec import Struct, structs

from prjury.cli.output import Terminal
from prjury.errors import UsageError

if TYPE_CHECKING:
    from prjury.app.request import ReviewRequest
    from prjury.git.open_snapshot import SnapshotRequest
    from prjury.git.uncommitted import Uncommitted


def absolute(path: Path | None) -> Path | None:
    """The path from the root: programs that are run for it work in other directories."""
    return path.absolute() if path else None


def parse_seconds(text: str) -> float:
    """Read a duration as the policy has it, such as 30m; a bare number is seconds."""
    from prjury.policy.fields import parse_duration

    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parse_duration(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    if not 0 < seconds < math.inf:
        raise typer.BadParameter("a duration is more than 0 seconds, such as 90s, 30m, 2h")
    return seconds


Repo = Annotated[Path, typer.Option(callback=absolute, help="A directory in the repository.")]
Base = Annotated[str | None, typer.Option(help="The branch to merge into.")]
Head = Annotated[str | None, typer.Option(help="The branch or commit to merge.")]
Config = Annotated[
    Path | None, typer.Option(help="Your own policy file, instead of the base commit's.")
]
NoBuild = Annotated[bool, typer.Option("--no-build", help="Run no build.")]
NoLlm = Annotated[bool, typer.Option("--no-llm", help="Ask no model.")]
Model = Annotated[
    str | None, typer.Option(help="provider:name, several separated by commas, or scripted:FILE.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Use no network.")]


class SideOptions(Struct, frozen=True):
    """Which sides of which repository are looked at, and by which policy."""

    repo: Repo = Path()
    base: Base = None
    head: Head = None
    config: Config = None
    offline: Offline = False


class ChangeOptions(SideOptions, frozen=True):
    """Which change is looked at, by which policy, and for how long."""

    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            help="A pull request's number or URL, or a branch; by default the current branch.",
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parse_seconds, help="For everything together, such as 30m."
        ),
    ] = None


class JudgeOptions(Struct, frozen=True):
    """Which judges are asked, and what the change says about itself."""

    no_build: NoBuild = False
    no_llm: NoLlm = False
    title: Annotated[str | None, typer.Option(help="The title of the change.")] = None
    body_file: Annotated[Path | None, typer.Option(help="A file with its description.")] = None


class ModelOptions(Struct, frozen=True):
    """How models are reached."""

    model: Model = None
    record: Annotated[
        Path | None,
        typer.Option(
            callback=absolute,
            metavar="FILE",
            help="Keep what the models answer, for --model scripted:FILE.",
        ),
    ] = None
    trust_policy: Annotated[
        bool,
        typer.Option(
            "--trust-policy",
            help="Let the base's policy choose servers, keys and programs for models.",
        ),
    ] = False


class UncommittedOptions(Struct, frozen=True):
    """Work that is not committed yet, instead of a change that is."""

    worktree: Annotated[
        bool,
        typer.Option("--worktree", help="Judge uncommitted work: all files that are not ignored."),
    ] = False
    staged: Annotated[
        bool, typer.Option("--staged", help="Judge uncommitted work: what is staged.")
    ] = False

    def target_uncommitted(self, request: ReviewRequest, change: ChangeOptions) -> ReviewRequest:
        if not (self.worktree or self.staged):
            return request
        if self.worktree and self.staged:
            raise UsageError(
                "--worktree and --staged are given", remedy="--worktree holds what is staged"
            )
        name: Uncommitted = "worktree" if self.worktree else "staged"
        if change.target or change.head:
            raise UsageError(
                f"--{name} is a change by itself, and another one is named",
                remedy="Leave one of them out; --base may be named",
            )
        return structs.replace(request, target=structs.replace(request.target, uncommitted=name))


def make_group(name: str, about: str) -> typer.Typer:
    """Make a command that has commands; alone it shows its help."""
    group = typer.Typer(name=name, help=about, invoke_without_command=True, rich_markup_mode=None)

    @group.callback()
    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            print(context.get_help())

    return group


def expand_option_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take groups of options; each field of a group becomes an option."""
    own = inspect.signature(command, eval_str=True)
    groups: dict[str, type[Any]] = {
        name: one.annotation
        for name, one in own.parameters.items()
        if isinstance(one.annotation, type) and issubclass(one.annotation, Struct)
    }

    @wraps(command)
    def run(**given: Any) -> int:  # noqa: ANN401 - whatever the options are
        values = {
            name: group(**{field: given.pop(field) for field in group.__struct_fields__})
            for name, group in groups.items()
        }
        return command(**given, **values)

    parameters = []
    for name, one in own.parameters.items():
        members = [one] if name not in groups else []
        if name in groups:
            hints = get_type_hints(groups[name], include_extras=True)
            members = [
                one.replace(name=field.name, default=field.default, annotation=hints[field.name])
                for field in structs.fields(groups[name])
            ]
        parameters += [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in members]
    vars(run)["__signature__"] = own.replace(parameters=parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def request_of(
    terminal: Terminal,
    change: ChangeOptions,
    judges: JudgeOptions | None = None,
    models: ModelOptions | None = None,
    *,
    onto: list[str] | None = None,
    labels: list[str] | None = None,
    evidence: Path | None = None,
) -> ReviewRequest:
    from prjury.app.request import EvidenceFile, ReviewRequest

    judges, models = judges or JudgeOptions(), models or ModelOptions()
    facts: dict[str, object] = {"labels": tuple(labels)} if labels else {}
    if judges.title is not None:
        facts["title"] = judges.title
    if (file := judges.body_file) is not None:
        try:
            facts["body"] = file.read_text("utf-8", "replace")
        except OSError as error:
            raise UsageError(
                f"--body-file {file} cannot be read: {error.strerror}", remedy="Check the path"
            ) from error
    return ReviewRequest(
        target=_make_snapshot_request(terminal, change, facts),
        config=change.config,
        build=not judges.no_build,
        models=not judges.no_llm,
        model=models.model,
        offline=change.offline,
        timeout=change.timeout,
        backport_to=tuple(onto or ()),
        trusts_policy=models.trust_policy,
        record=models.record,
        evidence=EvidenceFile(evidence) if evidence else None,
    )


def _make_snapshot_request(
    terminal: Terminal, change: ChangeOptions, facts: dict[str, object]
) -> SnapshotRequest:
    from prjury.git.fetch import Transport
    from prjury.git.open_snapshot import SnapshotRequest, parse_number_and_clone_url

    number, url, head = None, None, change.head
    if change.target and re.fullmatch(r"(?!#?[0-9]+$)(?!-)[^\s:~^?*\[\\]+", change.target):
        if head:
            raise UsageError(
                "A branch and --head are given",
                remedy="Leave one of them out; both name the change",
            )
        head = change.target
    else:
        number, url = parse_number_and_clone_url(change.target)
    token = terminal.environ.get("GITHUB_TOKEN") or terminal.environ.get("GH_TOKEN")
    transport = None if change.offline else Transport(terminal.environ, token)
    return SnapshotRequest(change.repo, number, change.base, head, url, transport, facts)
