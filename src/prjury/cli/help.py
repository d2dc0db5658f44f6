"""The list of commands in the help: grouped, each with an example; and words that are gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from prjury.errors import UsageError

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

#: The commands of each group, in the order of the help.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Judge a change": ("review", "backport", "build", "demo"),
    "Judge anything else": ("judge", "improve", "mcp"),
    "Set up": ("init", "doctor", "check-config", "schema", "calibrate"),
    "Look things up": ("explain", "rules", "journal", "evidence"),
}
EXAMPLES: Mapping[str, str] = {
    "review": "prjury review --base main",
    "backport": "prjury backport 123 --onto 1.2.x",
    "build": "prjury build --plan",
    "demo": "prjury demo --keep DIR",
    "judge": "prjury judge file-exists --workspace . --option path=README.md",
    "improve": "prjury improve --goal 'Mend the tests' --agent 'claude -p' --judge build",
    "mcp": "prjury mcp --repo .",
    "init": "prjury init --forks",
    "doctor": "prjury doctor --offline",
    "check-config": "prjury check-config .github/prjury.yml",
    "schema": "prjury schema > prjury.schema.json",
    "calibrate": "prjury calibrate reports/",
    "explain": "prjury explain tests-vanished",
}
#: Commands of earlier releases.
_GONE = {
    "collect": "is the action's mode `collect` now",
    "decide": "is the action's mode `decide` now",
    "publish": "is the action's mode `publish` now",
    "replay": "is gone: a report holds its ballots, and a test derives each verdict again",
}
_GONE_OPTIONS = {
    ("init", "--app"): "write the steps of actions/create-github-app-token yourself; see the docs",
    ("init", "--commands"): "it is the default; --no-comments leaves it out",
    ("show", "--svg"): "the table in the terminal shows which step follows which",
}


class GroupedCommands(TyperGroup):
    """The program's commands."""

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands by their groups, each in one whole sentence."""
        for title, names in GROUPS.items():
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                if command is not None:
                    rows.append((name, command.get_short_help_str(limit=200)))
            with formatter.section(title):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; one of earlier releases is refused with what to use."""
        if args and args[0] in _GONE:
            raise UsageError(f"`prjury {args[0]}` {_GONE[args[0]]}")
        return super().resolve_command(ctx, args)


def make_group(name: str, words: str) -> typer.Typer:
    """Make a command that has commands; alone it shows its help."""
    group = typer.Typer(name=name, help=words, invoke_without_command=True, rich_markup_mode=None)

    @group.callback()
    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            print(context.get_help())

    return group


def replacement_of_option(error: typer.TyperException) -> str:
    """The sentence for an option of earlier releases; empty for any other error."""
    option: Any = getattr(error, "option_name", "")
    context: Any = getattr(error, "ctx", None)
    instead = _GONE_OPTIONS.get((context.info_name, option)) if context else None
    return f"{option} is gone: {instead}" if instead else ""
