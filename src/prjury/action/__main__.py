"""``python -I -m prjury.action``: the entry point of `action.yml`."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from prjury.action.handover import is_handed_over, own_command, start_again, take_over
from prjury.errors import PrJuryError


def start() -> NoReturn:
    """Starts over without secrets in the environment, then runs the action."""
    try:
        if not is_handed_over(os.environ):
            start_again(os.environ, own_command())
        environ = take_over(os.environ)
    except PrJuryError as error:
        sys.stderr.write(f"prjury: {error}\n")
        sys.exit(error.exit_code)
    from prjury.action import main  # noqa: PLC0415 - the first of the two starts is a short one

    signal.signal(signal.SIGTERM, _interrupt)
    code = main(environ, sys.stdout)
    sys.stderr.flush()
    # Threads of judges that hang are abandoned, not waited for.
    os._exit(code)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    start()
