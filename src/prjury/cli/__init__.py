"""The terminal's face. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import FrameType
from typing import Annotated, NoReturn

import typer

from prjury.cli.config import check_config, schema
from prjury.cli.demo import demo
from prjury.cli.output import Terminal
from prjury.cli.review import review
from prjury.errors import ExitCode, PrJuryError

app = typer.Typer(
    name="prjury",
    help="A cascaded jury for pull requests: it merges and builds for real, scans for version "
    "mistakes, asks judges, and tells you whether to merge.",
    epilog="Exit codes: 0 gate open, 1 rejected, 2 usage, 3 could not be judged, "
    "4 source unavailable, 5 could not publish, 70 a bug of ours, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(review)
app.command()(demo)
app.command("check-config")(check_config)
app.command()(schema)


def _version(value: bool) -> None:  # noqa: FBT001 - typer hands the flag over like this
    if value:
        from importlib.metadata import version  # noqa: PLC0415 - 20 ms that only this flag needs

        print(f"prjury {version('prjury')}")
        raise typer.Exit


@app.callback()
def _globals(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - the callback does the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the traceback of a bug.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours.")] = False,
) -> None:
    colorless = no_color or bool(os.environ.get("NO_COLOR"))
    context.obj = Terminal(verbose=verbose, color=not colorless, environ=dict(os.environ))


def main() -> NoReturn:
    """Runs the command line and exits with one of the documented codes."""
    signal.signal(signal.SIGTERM, _interrupt)
    code = _guarded()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`| head -1`) has seen enough; Python must not complain while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.stderr.flush()
    # Threads of judges that hang are abandoned, not waited for.
    os._exit(int(code))


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _guarded() -> int:
    """The outermost handler: every way to fail ends in one line and a documented exit code."""
    try:
        return int(app(standalone_mode=False) or ExitCode.OPEN)
    except typer.TyperException as error:
        return _told(f"prjury: {getattr(error, 'format_message', error.__str__)()}", ExitCode.USAGE)
    except PrJuryError as error:
        return _told(f"prjury: {error}", error.exit_code)
    except typer.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _told("prjury: interrupted; nothing was published", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        return ExitCode.OPEN
    except Exception as bug:  # noqa: BLE001 - the last resort: no traceback for users
        if {"-v", "--verbose"} & set(sys.argv):
            traceback.print_exc()
        what = f"prjury: a bug of ours: {type(bug).__name__}: {bug}."
        return _told(f"{what} Run it with -v and report the traceback.", ExitCode.BUG)


def _told(line: str, code: int) -> int:
    print(" ".join(line.split()).encode(errors="backslashreplace").decode(), file=sys.stderr)
    return int(code)
