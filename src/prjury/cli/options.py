"""The options of ``prjury review``, as typer reads them; each is documented where it is defined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prjury.cli.output import OutputFormat


def absolute(path: Path | None) -> Path | None:
    """The path from the root: programs that are run for it work in other directories."""
    return path.absolute() if path else None


Target = Annotated[
    str | None,
    typer.Argument(help="A pull request's number or URL; the current branch without it."),
]
Repo = Annotated[Path, typer.Option(callback=absolute, help="A directory in the repository.")]
Base = Annotated[str | None, typer.Option(help="The branch to merge into.")]
Head = Annotated[str | None, typer.Option(help="What is to be merged.")]
Config = Annotated[
    Path | None, typer.Option(help="A policy of your own; else the base commit's is in force.")
]
Printed = Annotated[OutputFormat, typer.Option(help="What goes to standard output.")]
Output = Annotated[
    list[str] | None, typer.Option(metavar="FORMAT=FILE", help="May be given several times.")
]
NoBuild = Annotated[bool, typer.Option("--no-build", help="Run no build.")]
NoLlm = Annotated[bool, typer.Option("--no-llm", help="Ask no model.")]
Model = Annotated[
    str | None,
    typer.Option(
        help="provider:name, several with commas between them (each has a seat), or scripted:FILE."
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Touch no network.")]
Title = Annotated[str | None, typer.Option(help="What the change calls itself.")]
BodyFile = Annotated[Path | None, typer.Option(help="Its description.")]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="For all judges together.", min=0.001)
]
Onto = Annotated[
    list[str] | None,
    typer.Option(metavar="BRANCH", help="Also try a backport onto it; several times."),
]
TrustPolicy = Annotated[
    bool,
    typer.Option(
        "--trust-policy",
        help="Let the base's policy say which servers, keys and programs models are reached by.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Tell what models would be asked, and ask nobody.")
]
Evidence = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What `prjury build` wrote, for `build: {from: evidence}`."),
]
