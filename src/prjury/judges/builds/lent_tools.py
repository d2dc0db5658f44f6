"""Tools of Python and Node that are lent to a build where the machine has none of its own.

Each is a script at the end of PATH; ``PRJURY_UV`` names the uv of this installation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.python import LENT


def words_of(plan: BuildPlan) -> frozenset[str]:
    """The words of its commands, among them the programs that they start."""
    text = plan.text
    for mark in ";&|()":
        text = text.replace(mark, " ")
    return frozenset(word.rpartition("/")[2] for word in text.split())


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
exec uv tool run {tool} "$@"
"""
_MANAGER = """#!/bin/sh
command -v npx >/dev/null 2>&1 || {{ echo "{name}: command not found" >&2; exit 127; }}
exec npx --yes {package} "$@"
"""
#: The version of each that is lent without a named one; newer ones of pnpm refuse Node 20.
_MANAGERS = {"pnpm": "@10", "yarn": "", "bun": ""}


def lend_tools(
    words: frozenset[str], place: Path, env: Mapping[str, str], versions: Mapping[str, str]
) -> Mapping[str, str]:
    """The variables with the tools at the end of PATH, a modern Yarn before a Yarn 1."""
    scripts = dict[Path, str]()
    path = env.get("PATH", os.defpath)
    for name in _MANAGERS.keys() & words:
        number = versions.get(name, "")
        version = f"@{number}" if number.replace(".", "").isdigit() else _MANAGERS[name]
        modern = name == "yarn" and version.partition(".")[0] not in {"", "@1"}
        package = f"{'@yarnpkg/cli-dist' if modern else name}{version}"
        script = _MANAGER.format(name=name, package=package)
        scripts[place / ("first" if modern else "") / name] = script
        path = f"{place / 'first'}{os.pathsep}{path}" if modern else path
    tools = LENT & words
    for name in tools:
        scripts[place / name] = _TOOL.format(name=name, tool="" if name == "uvx" else name)
    if tools:
        scripts[place / "uv"] = _UV
    for file, text in scripts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        file.chmod(0o755)
    return {**env, "PATH": f"{path}{os.pathsep}{place}"} if scripts else env
