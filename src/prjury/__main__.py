"""``prjury`` and ``python -m prjury``: the entry point of the command line."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

from prjury.errors import PrJuryError

#: Objects between two collections: imports make many that stay.
_MOST_NEW = 200_000


def main() -> NoReturn:
    """Start over without secrets in the environment if there are any, then run the command."""
    if sys.argv[1:] in (["--version"], ["-V"], ["--help"], ["-h"]):
        with suppress(OSError):  # standard output is full, which the ordinary start tells
            from prjury.resources import help_text, program_version  # noqa: PLC0415 - others need more

            asks_help = sys.argv[1] in {"--help", "-h"}
            sys.stdout.write(help_text() if asks_help else f"prjury {program_version()}\n")
            sys.stdout.flush()
            sys.exit()
    from prjury.secret_env import hide_secrets_by_reexec  # noqa: PLC0415 - as above

    try:
        environ = hide_secrets_by_reexec(os.environ, [sys.executable, *sys.orig_argv[1:]])
    except PrJuryError as error:
        sys.stderr.write(f"prjury: {error}\n")
        sys.exit(error.exit_code)
    gc.set_threshold(_MOST_NEW)
    from prjury.cli import main as run  # noqa: PLC0415 - the first of two starts is a short one

    run(environ)


if __name__ == "__main__":
    main()
