"""The versions of the tools that a build uses, asked of the tools themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prjury.judges.builds.plan import BuildPlan

_NUMBER = r"(\d+(?:\.\d+)+[\w.+-]*)"


@dataclass(frozen=True, slots=True)
class VersionQuery:
    """How to learn the version of one tool.

    Attributes:
        programs: the words in a step that say that it is used.
        command: prints the version, whatever else.
    """

    tool: str
    programs: frozenset[str]
    command: str
    version: str = _NUMBER


def _query(tool: str, programs: str, command: str, version: str = _NUMBER) -> VersionQuery:
    return VersionQuery(tool, frozenset(programs.split()), command, version)


#: In the order in which they are named. Gradle itself would take a second to answer.
QUERIES = (
    _query("JDK", "gradle gradlew java javac sbt", '"${JAVA_HOME:+$JAVA_HOME/bin/}java" -version'),
    _query("Maven", "mvn", "mvn --version", rf"Apache Maven {_NUMBER}"),
    _query("Maven", "mvnw", "./mvnw --version", rf"Apache Maven {_NUMBER}"),
    _query("JDK", "mvn mvnw", "", rf"Java version: {_NUMBER}"),
    _query("Node", "node npm npx pnpm yarn corepack", "node --version"),
    _query("Bun", "bun bunx", "bun --version"),
    _query("Deno", "deno", "deno --version"),
    _query(
        "Python",
        "python python3 pytest uv tox nox poetry pdm hatch pipenv pip",
        "if [ -x .venv/bin/python ]; then .venv/bin/python --version; else python3 --version; fi",
    ),
    _query("uv", "uv uvx", "uv --version"),
    _query("Rust", "cargo rustc", "rustc --version"),
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


def _asked(plan: BuildPlan) -> list[VersionQuery]:
    return [query for query in QUERIES if query.programs & words_of(plan)]


def version_script(plan: BuildPlan) -> str:
    """A shell script that prints the versions of the tools in a plan; empty if none is known."""
    commands = dict.fromkeys(query.command for query in _asked(plan) if query.command)
    return "\n".join(f"echo '@ {n}'; ({text}) 2>&1" for n, text in enumerate(commands))


def read_versions(plan: BuildPlan, printed: str) -> Mapping[str, str]:
    """The versions by the names of the tools, from what the script printed."""
    return dict(_read(plan, re.split(r"^@ \d+$", printed, flags=re.MULTILINE)[1:]))


def _read(plan: BuildPlan, answers: list[str]) -> Iterator[tuple[str, str]]:
    answer = ""
    for query in _asked(plan):
        if query.command:
            answer = answers.pop(0) if answers else ""
        if found := re.search(query.version, answer):
            yield query.tool, found[1]
