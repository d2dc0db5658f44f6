"""The versions of the tools that a build used."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.judges.builds.judge import make
from prjury.judges.builds.lent_tools import python_of, read_versions, version_script
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.jury.judge import ask
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports

MAVEN = """Apache Maven 3.8.7
Maven home: /usr/share/maven
Java version: 17.0.19, vendor: Debian, runtime: /usr/lib/jvm/java-17-openjdk-amd64
Default locale: en, platform encoding: UTF-8
"""


def plan(*lines: str) -> BuildPlan:
    return BuildPlan("tool", tuple(BuildStep("test", line) for line in lines))


@pytest.mark.parametrize(
    ("lines", "printed", "versions"),
    [
        (["mvn -q verify"], f"@ 0\n{MAVEN}", {"Maven": "3.8.7", "JDK": "17.0.19"}),
        (
            ["./mvnw -q verify"],
            (
                '@ 0\nopenjdk version "17.0.19"\n@ 1\n'
                "distributionUrl=https\\://repo.example/4/apache-maven-4.0.0-rc-2-bin.zip\n"
            ),
            {"JDK": "17.0.19", "Maven": "4.0.0-rc-2"},
        ),
        (["./mvnw test"], '@ 0\nopenjdk version "25" 2025\n@ 1\nNo such file\n', {"JDK": "25"}),
        (["./gradlew build"], '@ 0\nopenjdk version "21.0.2" 2024\n', {"JDK": "21.0.2"}),
        (["npm ci", "npm run test"], "@ 0\nv20.20.2\n", {"Node": "20.20.2"}),
        (
            ["uv run --frozen pytest -q"],
            "@ 0\nPython 3.11.7\n@ 1\nuv 0.9.1 (abc 2026-01-01)\n",
            {"Python": "3.11.7", "uv": "0.9.1"},
        ),
        (["go test ./..."], "@ 0\ngo version go1.26.8 linux/amd64\n", {"Go": "1.26.8"}),
        (["python3 -m pytest"], "@ 0\nsh: 1: python3: not found\n", {}),
        (["npm ci && go test"], "@ 0\nnot here\n@ 1\ngo version go1.26\n", {"Go": "1.26"}),
        (["npm ci"], "", {}),
    ],
)
def test_what_the_tools_say(lines: list[str], printed: str, versions: dict[str, str]) -> None:
    used = plan(*lines)
    assert version_script(used).count("@ ") == max(1, printed.count("@ "))
    assert read_versions(used, printed) == versions


@pytest.mark.parametrize(
    ("line", "command", "printed", "versions"),
    [
        ("cargo test", "rustc --version", "rustc 1.95.0 (59807616e 2026)\n", {"Rust": "1.95.0"}),
        ("bun test", "bun --version", "1.3.1\n", {"Bun": "1.3.1"}),
    ],
)
def test_a_tool_that_the_build_may_download_is_asked_afterwards(
    line: str, command: str, printed: str, versions: dict[str, str]
) -> None:
    used = plan(line)
    assert not version_script(used)
    assert command in version_script(used, brought=True)
    assert read_versions(used, f"@ 0\n{printed}", brought=True) == versions


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("home = /usr/bin\nversion_info = 3.12.1\n", {"Python": "3.12.1"}),  # uv
        ("home = /usr/bin\nversion = 3.11.7\nexecutable = x\n", {"Python": "3.11.7"}),  # venv
        ("version_info = 3.10.2.final.0\n", {"Python": "3.10.2"}),  # virtualenv
        ("home = /usr/bin\n", {}),
        (None, {}),
    ],
)
def test_the_python_of_the_environment(
    tmp_path: Path, text: str | None, versions: dict[str, str]
) -> None:
    if text is not None:
        (tmp_path / ".venv").mkdir()
        (tmp_path / ".venv" / "pyvenv.cfg").write_text(text)
    assert python_of(tmp_path) == versions


def test_nothing_is_asked_where_no_tool_is_known() -> None:
    assert not version_script(plan("sh build.sh", "./go.sh", "make go-all"))


@pytest.mark.parametrize(("code", "words"), [(0, "passed in"), (1, "failed with exit code 1")])
def test_the_report_names_them(code: int, words: str) -> None:
    shell = ScriptedShell([Scripted(code, "1 passed\n"), Scripted(0)], answer="@ 0\nv20.20.2\n")
    trees = TreeRepository({"merged": {"a.js": ""}, "base": {"a.js": ""}})
    options = BuildOptions.model_validate({"command": "npm test", "compare": "on_failure"})
    judgment = ask(make(options, Ports(trees, shell, SilentProgress())), pull_context())
    assert judgment.reasoning.startswith(words)
    assert "with Node 20.20.2" in judgment.reasoning
    assert judgment.metadata["versions"] == {"Node": "20.20.2"}
