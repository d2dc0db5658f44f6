"""``prjury explain``: the page of a judge, a check or a rule."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from prjury.cli.output import print_out


def explain(
    name: Annotated[str, typer.Argument(help="A judge, a check, a rule or a pack of rules.")],
) -> None:
    """Show the page of a judge, a check or a rule."""
    from prjury.app.explain import explain as page

    print_out("page", page(name), sys.stdout.encoding)
