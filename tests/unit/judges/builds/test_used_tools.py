"""The versions of the tools that a build used."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.judges.builds.judge import make
from prjury.judges.builds.lent_tools import python_of, read_versions, version_script
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.jury.judge import ask
from prjury.policy.load import read_options
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports


def plan(*lines: str) -> BuildPlan:
    return BuildPlan("tool", tuple(BuildStep("test", line) for line in lines))


#: What the tools print, by their programs.
PRINTED = {
    "mvn": "Apache Maven 3.8.7\nMaven home: /usr/share/maven\nJava version: 17.0.19\n",
    "java": 'openjdk version "25" 2025-09-16\nOpenJDK Runtime Environment\n',
    "node": "v20.20.2\n",
    "python3": "Python 3.11.7\n",
    "uv": "uv 0.9.1 (abc 2026-01-01)\n",
    "go": "go version go1.26.8 linux/amd64\n",
    "rustc": "rustc 1.95.0 (59807616e 2026)\n",
    "bun": "1.3.1\n",
    "php": "PHP 8.2.3 (cli)\n",
    "cmake": "cmake version 3.25.1\n\nCMake suite maintained and supported by Kitware\n",
}


def asked(place: Path, line: str, printed: Mapping[str, str], *, brought: bool) -> dict[str, str]:
    """The versions that are read where these programs are on the machine."""
    (place / "bin").mkdir()
    for name, text in printed.items():
        stream = ">&2" if name == "java" else ""
        (place / "bin" / name).write_text(f"#!/bin/sh\ncat <<'END' {stream}\n{text}END\n")
        (place / "bin" / name).chmod(0o755)
    for name in ("sed", "head", "cat"):
        (place / "bin" / name).symlink_to(shutil.which(name) or "")
    used = plan(line)
    script = version_script(used, brought=brought)
    env = {"PATH": str(place / "bin")}
    ran = subprocess.run(
        ["/bin/sh", "-c", script], cwd=place, env=env, capture_output=True, text=True, check=False
    )
    return dict(read_versions(used, ran.stdout, brought=brought))


@pytest.mark.parametrize(
    ("line", "versions"),
    [
        ("mvn -q verify", {"Maven": "3.8.7", "JDK": "25"}),
        ("./mvnw -q verify", {"Maven": "4.0.0-rc-2", "JDK": "25"}),
        ("./gradlew build", {"JDK": "25"}),
        ("npm ci", {"Node": "20.20.2"}),
        ("uv run --frozen pytest -q", {"Python": "3.11.7", "uv": "0.9.1"}),
        ("npm ci && go test ./...; (php x)", {"Node": "20.20.2", "Go": "1.26.8", "PHP": "8.2.3"}),
        ("cmake -B b", {"CMake": "3.25.1"}),
    ],
)
def test_what_the_tools_say(tmp_path: Path, line: str, versions: dict[str, str]) -> None:
    wrapper = tmp_path / ".mvn/wrapper/maven-wrapper.properties"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text("distributionUrl=https\\://r.example/4/apache-maven-4.0.0-rc-2-bin.zip\n")
    assert asked(tmp_path, line, PRINTED, brought=False) == versions


@pytest.mark.parametrize("line", ["mvn test", "./mvnw test", "go test", "python3 -m pytest"])
def test_a_tool_that_is_not_there_has_no_version(tmp_path: Path, line: str) -> None:
    assert asked(tmp_path, line, {}, brought=False) == {}


@pytest.mark.parametrize(
    ("line", "versions"), [("cargo test", {"Rust": "1.95.0"}), ("bun test", {"Bun": "1.3.1"})]
)
def test_a_tool_that_the_build_may_download_is_asked_afterwards(
    tmp_path: Path, line: str, versions: dict[str, str]
) -> None:
    assert not version_script(plan(line))
    assert asked(tmp_path, line, PRINTED, brought=True) == versions


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
    options = read_options({"command": "npm test", "compare": "on_failure"}, BuildOptions)
    judgment = ask(make(options, Ports(trees, shell, SilentProgress())), pull_context())
    assert judgment.reasoning.startswith(words)
    assert "with Node 20.20.2" in judgment.reasoning
    assert judgment.metadata["versions"] == {"Node": "20.20.2"}
