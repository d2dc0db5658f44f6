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
from dataclasses import dataclass
from pathlib import Path

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.python_environment import LENT

_NUMBER = r"(\d+(?:\.\d+)+[\w.+-]*)"


@dataclass(frozen=True, slots=True)
class VersionQuery:
    """How to learn the version of one tool.

    Attributes:
        programs: the words in a step that say that it is used.
        command: prints the version, whatever else; without one the answer before is read again.
        brought: whether the build may download the tool: it is asked afterwards, since two
            downloads at once disturb each other.
    """

    tool: str
    programs: frozenset[str]
    command: str
    version: str = _NUMBER
    brought: bool = False


def _query(
    tool: str, programs: str, command: str, version: str = _NUMBER, *, brought: bool = False
) -> VersionQuery:
    return VersionQuery(tool, frozenset(programs.split()), command, version, brought)


#: In the order in which they are named. Gradle itself would take a second to answer,
#: Maven's wrapper a fifth of one.
QUERIES = (
    _query(
        "JDK",
        "gradle gradlew mvnw java javac sbt",
        '"${JAVA_HOME:+$JAVA_HOME/bin/}java" -version',
        r'version "(\d[\w.+-]*)"',  # the first release of a line is 25, not 25.0
    ),
    _query("Maven", "mvn", "mvn --version", rf"Apache Maven {_NUMBER}"),
    _query("JDK", "mvn", "", r"Java version: (\d[\w.+-]*)"),
    _query(
        "Maven",
        "mvnw",
        "cat .mvn/wrapper/maven-wrapper.properties",
        rf"distributionUrl\s*=.*/apache-maven-{_NUMBER}-bin\.",
    ),
    _query("Node", "node npm npx pnpm yarn corepack", "node --version"),
    _query("Bun", "bun bunx", "bun --version", brought=True),
    _query("Deno", "deno", "deno --version"),
    _query(
        "Python",
        "python python3 pytest uv tox nox poetry pdm hatch pipenv pip",
        "python3 --version",
    ),
    _query("uv", "uv uvx", "uv --version"),
    _query("Rust", "cargo rustc", "rustc --version", brought=True),
    _query("Go", "go", "go version", rf"go{_NUMBER}"),
    _query("CMake", "cmake ctest", "cmake --version"),
    _query("Meson", "meson", "meson --version"),
    _query("Ruby", "ruby bundle rake", "ruby --version"),
    _query("PHP", "php composer phpunit", "php --version"),
    _query("Elixir", "mix", "elixir --short-version"),
    _query(".NET", "dotnet", "dotnet --version"),
)
_WORD = re.compile(r"[\w+-]+(?=\s|$|[;&|])")


def words_of(plan: BuildPlan) -> frozenset[str]:
    """The words of its commands, among them the programs that they start."""
    return frozenset(_WORD.findall(plan.text))


def version_script(plan: BuildPlan, *, brought: bool = False) -> str:
    """A shell script that prints the versions of the tools in a plan; empty if none is known.

    Args:
        brought: of the tools that the build has downloaded, not of those of the machine.
    """
    commands = dict.fromkeys(query.command for query in _asked(plan, brought) if query.command)
    return "\n".join(f"echo '@ {n}'; ({text}) 2>&1" for n, text in enumerate(commands))


def read_versions(plan: BuildPlan, printed: str, *, brought: bool = False) -> Mapping[str, str]:
    """The versions by the names of the tools, from what the script printed."""
    answers = re.split(r"^@ \d+$", printed, flags=re.MULTILINE)[1:]
    return dict(_read(_asked(plan, brought), answers))


def _asked(plan: BuildPlan, brought: bool) -> list[VersionQuery]:  # noqa: FBT001
    words = words_of(plan)
    return [one for one in QUERIES if one.programs & words and one.brought == brought]


def _read(queries: list[VersionQuery], answers: list[str]) -> Iterator[tuple[str, str]]:
    answer = ""
    for query in queries:
        if query.command:
            answer = answers.pop(0) if answers else ""
        if found := re.search(query.version, answer):
            yield query.tool, found[1]


_OF_ENVIRONMENT = re.compile(r"^version(?:_info)? *= *(\d+(?:\.\d+){1,2})", re.MULTILINE)


def python_of(directory: Path) -> Mapping[str, str]:
    """The version of the Python in the environment that the build has made, if it has."""
    try:
        with (directory / ".venv" / "pyvenv.cfg").open(encoding="utf-8", errors="replace") as file:
            found = _OF_ENVIRONMENT.search(file.read(4096))
    except OSError:
        return {}
    return {"Python": found[1]} if found else {}


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
export COREPACK_NPM_REGISTRY="${{COREPACK_NPM_REGISTRY:-${{npm_config_registry:-https://registry.npmjs.org}}}}"
for lender in {lenders}; do
  command -v $lender >/dev/null 2>&1 || continue
  [ $lender = npx ] && exec npx --yes {package}{version} "$@"
  exec corepack {name} "$@"
done
echo "{name}: command not found" >&2
exit 127
"""
_EXACT = re.compile(r"\d+(?:\.\d+){0,2}")
_OTHERWISE = {"pnpm": "@10"}
#: By what each is lent, what is tried first first.
_LENDERS = {"pnpm": "npx corepack", "yarn": "npx corepack", "bun": "npx"}


def lend_tools(
    words: frozenset[str],
    place: Path,
    env: Mapping[str, str],
    versions: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    """The variables with the tools among the words at the end of PATH.

    Yarn comes first where the project names a modern one, which Yarn 1 refuses to be.

    Args:
        words: of the commands that are run.
        place: a directory for the scripts, beside the tree.
        versions: that the project wants, by tool; ranges are not asked for.
    """
    exact = {name: f"@{v}" for name, v in (versions or {}).items() if _EXACT.fullmatch(v)}
    managers, tools = _LENDERS.keys() & words, LENT & words
    if not (managers or tools):
        return env
    modern = exact.get("yarn", "@1").partition(".")[0] != "@1"
    packages = {"yarn": "@yarnpkg/cli-dist"} if modern else {}
    texts = {
        name: _MANAGER.format(
            name=name,
            lenders=_LENDERS[name],
            package=packages.get(name, name),
            version=exact.get(name) or _OTHERWISE.get(name, ""),
        )
        for name in managers
    }
    if tools:
        texts |= {name: _TOOL.format(name=name) for name in tools} | {"uv": _UV}
    first = place / "first"
    for name, text in texts.items():
        _write_program(first / name if name in packages else place / name, text)
    path = f"{env.get('PATH', os.defpath)}{os.pathsep}{place}"
    return {**env, "PATH": f"{first}{os.pathsep}{path}" if first.exists() else path}


def _write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)


_VERSION = re.compile(r"(?:^|[^\d.])(\d+(?:\.\d+)*(?:[-._]?(?:a|b|rc|post|dev)[-._]?\d+)?)$")


def version_of(tag: str) -> str:
    """The version in the name of a tag; a small one for names without any."""
    found = _VERSION.search(tag)
    return found[1] if found else "0.1"
