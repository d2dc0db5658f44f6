"""``python -I -m prjury.action``: the entry point of `action.yml`."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from prjury.errors import PrJuryError
from prjury.secret_env import hide_secrets_by_reexec

#: How this program is started: isolated from the environment and the directory.
_COMMAND = [sys.executable, "-I", "-m", "prjury.action"]
#: What a runner sends where a job is cancelled, seconds apart, before it kills.
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def hide_secrets_and_run() -> NoReturn:
    """Starts over without secrets in the environment, then runs the action."""
    try:
        environ = hide_secrets_by_reexec(os.environ, _COMMAND)
    except PrJuryError as error:
        sys.stderr.write(f"prjury: {error}\n")
        sys.exit(error.exit_code)
    from prjury.action import main  # noqa: PLC0415 - the first of the two starts is a short one

    heed_endings()
    code = main(environ, sys.stdout)
    sys.stderr.flush()
    atexit._run_exitfuncs()  # noqa: SLF001 - scratch directories are removed there
    # Threads of judges that hang are abandoned, not waited for.
    os._exit(code)


def heed_endings() -> None:
    """Treat the runner's first signal that the job is cancelled as an interruption."""
    for each in _ENDINGS:
        signal.signal(each, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    for each in _ENDINGS:
        signal.signal(each, _ignore)
    raise KeyboardInterrupt


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """A runner that cancels says so twice; what is being ended after the first is not cut short."""


if __name__ == "__main__":
    hide_secrets_and_run()
