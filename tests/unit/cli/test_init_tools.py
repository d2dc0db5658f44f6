"""Tools, versions and caches in what `prjury init` writes, by the kind of repository."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from yaml import safe_load

from prjury.app.setup_steps import PINS
from prjury.cli.init import init
from prjury.cli.output import Terminal

RELEASE = "<maven.compiler.release>21</maven.compiler.release>"
POM = f"<project><properties>{RELEASE}</properties></project>"
GRADLE = "java { toolchain { languageVersion = JavaLanguageVersion.of(21) } }\n"
PACKAGE = json.dumps(
    {
        "packageManager": "pnpm@10.1.0",
        "engines": {"node": ">=20"},
        "scripts": {"test": "node --test"},
    }
)
JAVA = {"distribution": "temurin", "java-version": "21"}
#: Files of a repository, and what is set up, by the action.
KINDS: dict[str, tuple[Mapping[str, str], Mapping[str, Mapping[str, object]]]] = {
    "maven": ({"pom.xml": POM}, {"actions/setup-java": {**JAVA, "cache": "maven"}}),
    "gradle": (
        {"settings.gradle": "", "build.gradle": GRADLE},
        {"actions/setup-java": {**JAVA, "cache": "gradle"}},
    ),
    "dotnet": (
        {"a.csproj": "<Project/>", "global.json": "{}"},
        {"actions/setup-dotnet": {"global-json-file": "global.json"}},
    ),
    "pnpm": (
        {"package.json": PACKAGE, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"},
        {
            "pnpm/action-setup": {},
            "actions/setup-node": {"node-version": ">=20", "cache": "pnpm"},
        },
    ),
    "npm without a lock file": (
        {"package.json": '{"scripts": {"test": "node --test"}}', ".nvmrc": "22\n"},
        {"actions/setup-node": {"node-version": "22"}},
    ),
    "uv": (
        {"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n', "uv.lock": "version = 1\n"},
        {"astral-sh/setup-uv": {"enable-cache": True}},
    ),
    "pytest": (
        {"test_a.py": "", ".python-version": "3.13\n"},
        {"actions/setup-python": {"python-version": "3.13"}},
    ),
    "cargo": ({"Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\n'}, {}),
    "go": (
        {"go.mod": "module x\n\ngo 1.22\n", "x.go": "package x\n"},
        {"actions/setup-go": {"go-version": "1.22"}},
    ),
}


class _Context:
    obj = Terminal()


def steps_of(root: Path, **options: bool) -> dict[str, Mapping[str, Any]]:
    """The inputs of the job's steps before ours, by their actions without commits."""
    off = ("forks", "queue", "backport", "from_ci", "no_comments", "build")
    given = {**dict.fromkeys(off, False), **options}
    assert init(context=_Context(), repo=root, action=None, force=False, **given) == 0
    name = "prjury-build" if options.get("forks") else "prjury"
    (job,) = safe_load((root / f".github/workflows/{name}.yml").read_text())["jobs"].values()
    ours = next(i for i, step in enumerate(job["steps"]) if "pr-jury" in step["uses"])
    return {step["uses"].partition("@")[0]: step.get("with", {}) for step in job["steps"][:ours]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "shop")], check=True)
    return tmp_path / "shop"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forks", [False, True], ids=["alone", "forks"])
def test_what_the_repository_declares_is_set_up(root: Path, kind: str, *, forks: bool) -> None:
    files, expected = KINDS[kind]
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    found = steps_of(root, forks=forks)
    if expected:
        assert found.pop("actions/checkout") == {"persist-credentials": False}
    assert found == expected


def test_where_the_checks_of_the_ci_count_nothing_is_set_up(root: Path) -> None:
    (root / "pom.xml").write_text(POM)
    assert steps_of(root, from_ci=True) == {}


def test_every_action_is_pinned_by_a_commit() -> None:
    assert all(len(commit) == 40 and version[0] == "v" for commit, version in PINS.values())
