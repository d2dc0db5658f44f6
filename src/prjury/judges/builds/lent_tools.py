"""Tools of Python and Node that are lent to a build where the machine has none of its own.

Each is a script at the end of PATH, so that a tool of the machine always comes first. uv is the one
of this installation, named by ``PRJURY_UV``; other tools of Python are run by uv in environments of
their own, package managers of Node by npx, or by Corepack, from npm's registry alone. pnpm finds
the version that the project names only where it is that one itself; without one it is pnpm 10, for
newer ones refuse Node 20. A modern Yarn has another name in the registry.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.python_environment import LENT


class VersionQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A way to learn the version of one tool: a row of ``version_queries.yml``."""

    tool: str
    programs: str
    command: str
    brought: bool = False


_QUERIES = Path(__file__).with_name("version_queries.yml").read_bytes()


@cache
def read_queries() -> tuple[VersionQuery, ...]:
    """The table."""
    return msgspec.yaml.decode(_QUERIES, type=tuple[VersionQuery, ...])


_NUMBER = re.compile(r"\d+(?:\.\d+)*[\w.+-]*")


def words_of(plan: BuildPlan) -> frozenset[str]:
    """The words of its commands, among them the programs that they start."""
    text = plan.text
    for mark in ";&|()":
        text = text.replace(mark, " ")
    return frozenset(word.rpartition("/")[2] for word in text.split())


def version_script(plan: BuildPlan, *, brought: bool = False) -> str:
    """A shell script that prints the versions of the tools in a plan; empty if none is known."""
    queries = enumerate(_select_queries(plan, brought=brought))
    return "\n".join(f"echo '@ {n}'; ({query.command}) 2>/dev/null" for n, query in queries)


def read_versions(plan: BuildPlan, printed: str, *, brought: bool = False) -> Mapping[str, str]:
    """The versions by the names of the tools, from what the script printed."""
    answers = printed.split("@ ")[1:]
    versions: dict[str, str] = {}
    for query, answer in zip(_select_queries(plan, brought=brought), answers, strict=False):
        if number := _NUMBER.search(answer.partition("\n")[2]):
            versions.setdefault(query.tool, number[0])
    return versions


def _select_queries(plan: BuildPlan, *, brought: bool) -> Iterator[VersionQuery]:
    words = words_of(plan)
    for query in read_queries():
        if query.brought == brought and not words.isdisjoint(query.programs.split()):
            yield query


def python_of(directory: Path) -> Mapping[str, str]:
    """The version of the Python in the environment that the build has made, if it has."""
    try:
        with (directory / ".venv" / "pyvenv.cfg").open(encoding="utf-8", errors="replace") as file:
            lines = file.read(4096).splitlines()
    except OSError:
        return {}
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() in {"version", "version_info"}:
            numbers = value.strip().split(".")[:3]
            return {"Python": ".".join(filter(str.isdigit, numbers))}
    return {}


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
export COREPACK_ENABLE_DOWNLOAD_PROMPT=0
export COREPACK_NPM_REGISTRY="${{COREPACK_NPM_REGISTRY:-${{npm_config_registry:-https://registry.npmjs.org}}}}"
for lender in {lenders}; do
  command -v $lender >/dev/null 2>&1 || continue
  [ $lender = npx ] && exec npx --yes {package} "$@"
  exec corepack {name} "$@"
done
echo "{name}: command not found" >&2
exit 127
"""
#: By what each is lent, what is tried first first, and the version without a named one.
_LENDERS = {"pnpm": ("npx corepack", "@10"), "yarn": ("npx corepack", ""), "bun": ("npx", "")}


def lend_tools(
    words: frozenset[str],
    place: Path,
    env: Mapping[str, str],
    versions: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    """The variables with the tools among the words at the end of PATH."""
    first, last = dict[str, str](), dict[str, str]()
    for name in _LENDERS.keys() & words:
        lenders, usual = _LENDERS[name]
        number = (versions or {}).get(name, "")
        version = f"@{number}" if number.replace(".", "").isdigit() else usual
        modern = name == "yarn" and version.partition(".")[0] not in {"", "@1"}
        package = f"{'@yarnpkg/cli-dist' if modern else name}{version}"
        script = _MANAGER.format(name=name, lenders=lenders, package=package)
        (first if modern else last)[name] = script
    if tools := LENT & words:
        packages = {name: "" if name == "uvx" else name for name in tools}
        last |= {name: _TOOL.format(name=name, tool=tool) for name, tool in packages.items()}
        last["uv"] = _UV
    if not (first or last):
        return env
    for directory, scripts in ((place / "first", first), (place, last)):
        for name, text in scripts.items():
            directory.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text, "utf-8")
            (directory / name).chmod(0o755)
    path = f"{env.get('PATH', os.defpath)}{os.pathsep}{place}"
    return {**env, "PATH": f"{place / 'first'}{os.pathsep}{path}" if first else path}


_VERSION = re.compile(r"(?:^|[^\d.])(\d+(?:\.\d+)*(?:[-._]?(?:a|b|rc|post|dev)[-._]?\d+)?)$")


def version_of(tag: str) -> str:
    """The version in the name of a tag; a small one for names without any."""
    match = _VERSION.search(tag)
    return match[1] if match else "0.1"
