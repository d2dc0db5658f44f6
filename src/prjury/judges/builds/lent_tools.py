"""Tools of Python that are lent to a build where the machine has none of its own.

Each is a script at the end of PATH, so that a tool of the machine always comes first. uv is the one
of this installation, named by ``PRJURY_UV``; the others are run by uv in environments of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from prjury.judges.builds.systems.python_environment import LENT

#: uv, and venv and pip in its place for all that an environment needs.
_UV = """#!/bin/sh
[ -n "$PRJURY_UV" ] && [ -x "$PRJURY_UV" ] && exec "$PRJURY_UV" "$@"
case "$1 $2" in
  "venv "*) for last; do :; done; exec python3 -m venv "$last" ;;
  "pip install") shift 2; exec python3 -m pip install --disable-pip-version-check "$@" ;;
esac
echo "uv: command not found" >&2
exit 127
"""
_TOOL = """#!/bin/sh
uv --version >/dev/null 2>&1 || {{ echo "{name}: command not found" >&2; exit 127; }}
exec uv tool run {name} "$@"
"""


def lend_tools(words: frozenset[str], place: Path, env: Mapping[str, str]) -> Mapping[str, str]:
    """The variables with the tools among the words at the end of PATH.

    Args:
        words: of the commands that are run.
        place: a directory for the scripts, beside the tree.
    """
    wanted = LENT & words
    if not wanted:
        return env
    place.mkdir(exist_ok=True)
    for name in wanted | {"uv"}:
        script = place / name
        script.write_text(_UV if name == "uv" else _TOOL.format(name=name), "utf-8")
        script.chmod(0o755)
    return {**env, "PATH": f"{env.get('PATH', os.defpath)}{os.pathsep}{place}"}


_VERSION = re.compile(r"(?:^|[^\d.])(\d+(?:\.\d+)*(?:[-._]?(?:a|b|rc|post|dev)[-._]?\d+)?)$")


def version_of(tag: str) -> str:
    """The version in the name of a tag; a small one for names without any."""
    found = _VERSION.search(tag)
    return found[1] if found else "0.1"
