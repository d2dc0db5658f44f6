"""Tools of Python and Node that are lent to a build where the machine has none of its own.

Each is a script at the end of PATH, so that a tool of the machine always comes first. uv is the one
of this installation, named by ``PRJURY_UV``; other tools of Python are run by uv in environments of
their own, package managers of Node by npx, or by Corepack. pnpm finds the version that the project
names only where it is that one itself; Yarn leaves that to Corepack.
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
_MANAGER = """#!/bin/sh
export COREPACK_ENABLE_DOWNLOAD_PROMPT=0
for lender in {lenders}; do
  command -v $lender >/dev/null 2>&1 || continue
  [ $lender = npx ] && exec npx --yes {name}{version} "$@"
  exec corepack {name} "$@"
done
echo "{name}: command not found" >&2
exit 127
"""
_EXACT = re.compile(r"\d+\.\d+\.\d+")
#: By what each is lent, what is tried first first.
_LENDERS = {"pnpm": "npx corepack", "yarn": "corepack npx", "bun": "npx"}


def lend_tools(
    words: frozenset[str],
    place: Path,
    env: Mapping[str, str],
    versions: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    """The variables with the tools among the words at the end of PATH.

    Args:
        words: of the commands that are run.
        place: a directory for the scripts, beside the tree.
        versions: that the project wants, by tool; only whole ones are asked for.
    """
    exact = {
        name: f"@{version}"
        for name, version in (versions or {}).items()
        if _EXACT.fullmatch(version)
    }
    managers, tools = _LENDERS.keys() & words, LENT & words
    if not (managers or tools):
        return env
    texts = {
        name: _MANAGER.format(name=name, lenders=_LENDERS[name], version=exact.get(name, ""))
        for name in managers
    }
    if tools:
        texts |= {name: _TOOL.format(name=name) for name in tools} | {"uv": _UV}
    place.mkdir(exist_ok=True)
    for name, text in texts.items():
        (place / name).write_text(text, "utf-8")
        (place / name).chmod(0o755)
    return {**env, "PATH": f"{env.get('PATH', os.defpath)}{os.pathsep}{place}"}


_VERSION = re.compile(r"(?:^|[^\d.])(\d+(?:\.\d+)*(?:[-._]?(?:a|b|rc|post|dev)[-._]?\d+)?)$")


def version_of(tag: str) -> str:
    """The version in the name of a tag; a small one for names without any."""
    found = _VERSION.search(tag)
    return found[1] if found else "0.1"
