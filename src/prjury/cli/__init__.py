"""The terminal's face. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from prjury.cli.output import Terminal, close_terminal, print_out
from prjury.errors import ExitCode, PrJuryError, UsageError

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

#: The commands by the groups of the help, each with its module and an example.
_COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Judge a change": {
        "review": ("review", "--base main"),
        "backport": ("review", "123 --onto 1.2.x"),
        "build": ("build", "--plan"),
        "demo": ("demo", "--keep DIR"),
    },
    "Judge anything else": {
        "judge": ("judge", "file-exists --workspace . --option path=README.md"),
        "improve": ("judge", "--goal 'Mend the tests' --agent 'claude -p' --judge build"),
        "mcp": ("mcp", "--repo ."),
    },
    "Set up": {
        "init": ("init", "--forks"),
        "doctor": ("doctor", "--offline"),
        "check-config": ("doctor", ".github/prjury.yml"),
        "schema": ("doctor", "> prjury.schema.json"),
        "calibrate": ("calibrate", "reports/"),
    },
    "Look things up": {
        "explain": ("lookup", "tests-vanished"),
        "rules": ("lookup", "list"),
        "journal": ("lookup", "show"),
        "evidence": ("build", "from-junit reports/"),
    },
}
#: Commands and options of earlier releases.
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
        for title, commands in _COMMANDS.items():
            group = filter(None, [self.get_command(ctx, name) for name in commands])
            rows = [(command.name or "", command.get_short_help_str(200)) for command in group]
            with formatter.section(title):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; one of earlier releases is refused with what to use."""
        if args and args[0] in _GONE:
            raise UsageError(f"`prjury {args[0]}` {_GONE[args[0]]}")
        return super().resolve_command(ctx, args)


def make_app(command_to_load: str = "") -> typer.Typer:
    """The program; if the word is a command, with this one alone, for each takes time to load."""
    app = typer.Typer(
        name="prjury",
        help="A cascaded jury for pull requests: it merges and builds for real, scans for version "
        "mistakes, asks judges, and tells you whether to merge.",
        epilog="Exit codes: 0 gate open, 1 rejected, 2 usage, 3 could not be judged, "
        "4 source unavailable, 5 could not publish, 70 a bug in PR Jury, 130 interrupted.",
        cls=GroupedCommands,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "max_content_width": shutil.get_terminal_size((100, 24)).columns,
        },
    )
    app.callback()(_set_global_options)
    rows = {name: row for group in _COMMANDS.values() for name, row in group.items()}
    for name in [command_to_load] if command_to_load in rows else rows:
        module, example = rows[name]
        command = getattr(import_module(f"prjury.cli.{module}"), name.replace("-", "_"))
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command(name, epilog=f"Example: prjury {name} {example}")(command)
    return app


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer hands the flag over like this
    if value:
        from prjury.resources import program_version

        print(f"prjury {program_version()}")
        raise typer.Exit


def _set_global_options(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - the callback does the work
        bool,
        typer.Option(
            "--version", "-V", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Show the traceback of a bug, and of a judge that crashes."
        ),
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Print no colours.")] = False,
) -> None:
    terminal: Terminal = context.obj
    terminal.command = context.invoked_subcommand or ""
    terminal.verbose = verbose
    terminal.color = not (no_color or terminal.environ.get("NO_COLOR"))
    if verbose:
        terminal.show_tracebacks()


def main(environ: Mapping[str, str]) -> NoReturn:
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # such as below nohup
            signal.signal(ending, _interrupt)
    _replace_closed_streams_and_wrap_stderr()
    sys.argv += ["--help"] * (len(sys.argv) == 1)
    terminal = Terminal(environ)
    code = _flush_stdout_and_choose_code(_run_reporting_errors(terminal))
    if terminal.journal and terminal.journal.descriptor is not None:
        terminal.journal.record("end", exit=code)
    sys.stderr.flush()
    # Threads of judges that hang are abandoned, not waited for; what they left behind is removed.
    atexit._run_exitfuncs()  # noqa: SLF001 - os._exit skips them, and there is no public name
    os._exit(int(code))


def _flush_stdout_and_choose_code(code: int) -> int:
    """The exit code once standard output is written; a full disk takes the place of a success."""
    try:
        sys.stdout.flush()
    except OSError as error:
        close_terminal()
        if not code and not isinstance(error, BrokenPipeError):
            return _complain_unprinted(f"standard output cannot be written: {error.strerror}")
    return code


def _complain_unprinted(what: str) -> int:
    return _complain(f"{what}. Free some space, or read all of the output.", ExitCode.NOT_PUBLISHED)


def _replace_closed_streams_and_wrap_stderr() -> None:
    """Streams that the caller closed (``>&-``) become empty ones; standard error may be full."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    stream: Any = sys.stderr
    encoding = stream.encoding
    sys.stderr = _Forgiving(stream.detach(), encoding, "backslashreplace", line_buffering=True)


class _Forgiving(io.TextIOWrapper):
    """Standard error; a full device neither fails a judge nor changes the exit code."""

    def write(self, text: str, /) -> int:
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            super().flush()


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _run_reporting_errors(terminal: Terminal) -> int:  # noqa: PLR0911 - one for each way to end
    """The outermost handler: every way to fail ends in one line and a documented exit code."""
    try:
        code = _run_command_line(terminal)
        # Typer answers Ctrl-C with a number.
        return _end_interrupted() if code == ExitCode.INTERRUPTED else code
    except typer.TyperException as error:
        return _complain(_word_usage_error(error), ExitCode.USAGE)
    except PrJuryError as error:
        return _complain(str(error), error.exit_code)
    except typer.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _end_interrupted()
    except SystemExit:
        # Typer ends like this when the reader of our output has gone away.
        close_terminal()
        if {"-h", "--help", "-V", "--version"} & set(sys.argv):
            return ExitCode.OPEN
        return _complain_unprinted("the reader of standard output has gone away")
    except OSError as error:
        what = f"the system refuses a file or directory: {error}."
        return _complain(f"{what} Check TMPDIR, the disk and the permissions.", ExitCode.SOURCE)
    except Exception as bug:  # noqa: BLE001 - the last resort: no traceback for users
        if {"-v", "--verbose"} & set(sys.argv):
            traceback.print_exc()
        what = f"a bug in PR Jury: {type(bug).__name__}: {bug}."
        return _complain(f"{what} Run it with -v and report the traceback.", ExitCode.BUG)


def _run_command_line(terminal: Terminal) -> int:
    try:
        app = make_app(sys.argv[1])
        return int(app(standalone_mode=False, obj=terminal, prog_name="prjury") or ExitCode.OPEN)
    except PrJuryError as error:
        if error.exit_code is not ExitCode.OPEN:
            raise
        if terminal.prints_for_people:  # there is nothing to review
            print_out("reason", error.what, sys.stdout.encoding)
        else:
            print(error.what, file=sys.stderr)
        return ExitCode.OPEN


def _word_usage_error(error: typer.TyperException) -> str:
    message = str(getattr(error, "format_message", error.__str__)())
    context, option = getattr(error, "ctx", None), getattr(error, "option_name", "")
    if context and (context.info_name, option) in _GONE_OPTIONS:
        message = f"{option} is gone: {_GONE_OPTIONS[context.info_name, option]}"
    what = message.replace("Value error, ", "").rstrip(".")
    end = "" if what.endswith("?") else "."
    return f"{what}{end} See: {context.command_path if context else 'prjury'} --help"


def _end_interrupted() -> int:
    return _complain("interrupted; nothing was published", ExitCode.INTERRUPTED)


def _complain(line: str, code: int) -> int:
    text = " ".join(line.split()).encode(errors="backslashreplace").decode()
    print(f"prjury: {text}", file=sys.stderr)
    return int(code)
