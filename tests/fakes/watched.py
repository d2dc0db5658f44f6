"""Runs a program and writes down what it loads after the first build has begun.

``python -P watched.py FILE PROGRAM [ARGUMENT...]``, where PROGRAM is ``prjury`` or ``action``. The
file gets the line ``begun``, and one for each module that is looked for and was not read before,
each file of an installation that is opened, and each Python that is started.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

LISTED, PROGRAM = Path(sys.argv[1]), sys.argv[2]
ROOT = Path(__file__).resolve().parents[2]
OURS = tuple(
    map(str, (ROOT / "src", ROOT / "templates", sys.prefix, sys.base_prefix + "/lib/python"))
)
begun = False


def heard(event: str, args: tuple[Any, ...]) -> None:
    global begun  # noqa: PLW0603 - a hook has nothing else to remember by
    if event == "prjury.launch" and args[0] and not begun:
        begun = True
        noted("begun", "")
    elif begun and event == "subprocess.Popen" and str(args[0]) == sys.executable:
        noted("started", " ".join(map(str, args[1])))
    elif begun and event == "import" and not held(args[0]):
        noted("imported", args[0])
    elif begun and event == "open" and str(args[0]).startswith(OURS):
        noted("opened", str(args[0]))


def held(name: str) -> bool:
    """Whether this module's text was read before."""
    return any(name in getattr(finder, "files", ()) for finder in sys.meta_path)


def noted(what: str, about: str) -> None:
    descriptor = os.open(LISTED, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{what} {about}\n".encode())
    os.close(descriptor)


def act() -> int:
    """The action, with a repository on this machine in place of the server's."""
    from prjury.action import main  # noqa: PLC0415 - the hook comes first
    from prjury.action.dependencies import make_dependencies  # noqa: PLC0415 - as above
    from prjury.action.job import GitAccess  # noqa: PLC0415 - as above
    from prjury.report.sanitise import Redactor  # noqa: PLC0415 - as above

    git = GitAccess("file", lambda _event: os.environ["SERVER_REPOSITORY"])
    stream = io.StringIO()
    dependencies = make_dependencies(os.environ, stream, Redactor(), git)
    code = main(os.environ, stream, dependencies)
    sys.stderr.write(stream.getvalue())
    return code


if __name__ == "__main__":
    sys.addaudithook(heard)
    if PROGRAM == "action":
        sys.exit(act())
    from prjury.__main__ import main

    sys.argv = [sys.argv[0], *sys.argv[3:]]
    main()
