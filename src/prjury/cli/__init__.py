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
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from prjury.cli.backport import backport
from prjury.cli.build import build
from prjury.cli.calibrate import calibrate
from prjury.cli.config import check_config, schema
from prjury.cli.demo import demo
from prjury.cli.doctor import doctor
from prjury.cli.evidence import evidence
from prjury.cli.help import EXAMPLES, GroupedCommands, replacement_of_option
from prjury.cli.improve import improve
from prjury.cli.init import init
from prjury.cli.journal import journal
from prjury.cli.judge import judge
from prjury.cli.mcp import mcp
from prjury.cli.output import CommandRun, Terminal, close_terminal
from prjury.cli.review import review
from prjury.cli.rules import explain, rules
from prjury.errors import ExitCode, PrJuryError

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
for _command in (
    *(review, backport, build, demo, judge, improve, mcp),
    *(init, doctor, check_config, schema, explain, calibrate),
):
    _name = _command.__name__.replace("_", "-")
    app.command(_name, epilog=f"Example: {EXAMPLES[_name]}")(_command)
app.add_typer(rules)
app.add_typer(evidence)
app.add_typer(journal)


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer hands the flag over like this
    if value:
        from prjury.resources import program_version

        print(f"prjury {program_version()}")
        raise typer.Exit


@app.callback()
def _globals(
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
    run = context.obj if isinstance(context.obj, CommandRun) else CommandRun(context.obj or {})
    run.command, environ = context.invoked_subcommand or "", run.environ
    colorless = no_color or bool(environ.get("NO_COLOR"))
    context.obj = Terminal(verbose=verbose, color=not colorless, environ=environ, run=run)
    if verbose:
        context.obj.show_tracebacks()


def main(environ: Mapping[str, str]) -> NoReturn:
    """Runs the command line and exits with one of the documented codes."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # such as below nohup
            signal.signal(ending, _interrupt)
    _open_streams()
    sys.argv += ["--help"] * (len(sys.argv) == 1)
    run = CommandRun(environ)
    code = _run_guarded(run)
    code = _flush(code)
    run.end(code)
    sys.stderr.flush()
    # Threads of judges that hang are abandoned, not waited for; what they left behind is removed.
    atexit._run_exitfuncs()  # noqa: SLF001 - os._exit skips them, and there is no public name
    os._exit(int(code))


def _flush(code: int) -> int:
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


def _open_streams() -> None:
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


def _run_guarded(run: CommandRun) -> int:  # noqa: PLR0911 - one for each way to end
    """The outermost handler: every way to fail ends in one line and a documented exit code."""
    try:
        code = int(app(standalone_mode=False, obj=run, prog_name="prjury") or ExitCode.OPEN)
        # Typer answers Ctrl-C with a number.
        return _end_interrupted() if code == ExitCode.INTERRUPTED else code
    except typer.TyperException as error:
        return _complain(_usage(error), ExitCode.USAGE)
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


def _usage(error: typer.TyperException) -> str:
    message = str(getattr(error, "format_message", error.__str__)())
    message = replacement_of_option(error) or message
    what = message.replace("Value error, ", "").rstrip(".")
    context = getattr(error, "ctx", None)
    end = "" if what.endswith("?") else "."
    return f"{what}{end} See: {context.command_path if context else 'prjury'} --help"


def _end_interrupted() -> int:
    return _complain("interrupted; nothing was published", ExitCode.INTERRUPTED)


def _complain(line: str, code: int) -> int:
    text = " ".join(line.split()).encode(errors="backslashreplace").decode()
    print(f"prjury: {text}", file=sys.stderr)
    return int(code)
