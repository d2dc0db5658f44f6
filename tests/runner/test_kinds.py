"""What `prjury init` writes for a repository, played by a real runner as it is written.

The actions that set tools up are stubs: they write down what they were asked for, and lead to
what this machine has.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from fakes.github import running
from fakes.history import Files
from integration.builds.samples import SAMPLES
from integration.builds.toolbox import Toolbox
from prjury.cli.init import Situation, init
from prjury.cli.output import Terminal
from runner.conftest import Chosen
from runner.git_server import serving
from runner.ran import Ran
from runner.shop import Shop
from runner.site import Runner, Site
from runner.surroundings import cache_directory

pytestmark = pytest.mark.nightly


def asked_for(*command: str) -> str:
    """What a program prints; nothing where it is not here."""
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


JAVA = {"distribution": "temurin", "java-version": "21"}
JAVA_17 = {**JAVA, "java-version": "17"}  # the newest for the Gradle that is to be had here
#: The version of Node that is here.
NODE = asked_for("node", "--version").removeprefix("v").partition(".")[0]
#: What each kind declares beside its sample, and what its workflow sets up by that.
KINDS: Mapping[str, tuple[Files, Mapping[str, Mapping[str, str]]]] = {
    "maven": ({}, {"actions/setup-java": {**JAVA, "cache": "maven"}}),
    "gradle": ({}, {"actions/setup-java": {**JAVA_17, "cache": "gradle"}}),
    "pnpm": (
        {".nvmrc": f"{NODE}\n"},
        {
            "pnpm/action-setup": {"version": "10"},
            "actions/setup-node": {"node-version": NODE, "cache": "pnpm"},
        },
    ),
    "uv": ({}, {"astral-sh/setup-uv": {"enable-cache": "true"}}),
    "cargo": ({}, {}),
    "go": ({}, {"actions/setup-go": {"go-version": "1.21"}}),
}
_LEVEL = re.compile(r"<maven.compiler.(source|target|release)>[^<]+")


class _Context:
    obj = Terminal()


def project(kind: str) -> Files:
    (sample,) = [one for one in SAMPLES if one.name == kind]
    tree: dict[Any, Any] = {**sample.tree, **KINDS[kind][0]}
    if kind == "maven":
        tree["pom.xml"] = _LEVEL.sub(r"<maven.compiler.\1>21", tree["pom.xml"])
    if kind == "gradle":
        plugin = "apply plugin: 'java'\n"
        level = "sourceCompatibility = 17\n"
        tree["build.gradle"] = tree["build.gradle"].replace(plugin, plugin + level)
    if kind == "uv":
        tree["uv.lock"] = _locked(tree)
    return tree


def _locked(tree: Mapping[Any, Any]) -> str:
    with TemporaryDirectory() as place:
        for name, text in tree.items():
            Path(place, name).parent.mkdir(parents=True, exist_ok=True)
            Path(place, name).write_text(text)
        subprocess.run(["uv", "lock", "--quiet"], cwd=place, check=True)
        return Path(place, "uv.lock").read_text()


def jdk(version: int) -> Path | None:
    """The oldest JDK here that compiles for this version of Java."""
    found = [
        (int(number[1]), path)
        for path in Path("/usr/lib/jvm").glob("*")
        if (number := re.search(r"-(\d\d)\b", path.name)) and (path / "bin" / "javac").exists()
    ]
    return next((path for number, path in sorted(found) if number >= version), None)


def stub(place: Path, action: str, inputs: Mapping[str, Any], record: Path, path: Path) -> None:
    """An action that writes down its inputs."""
    java = jdk(int(inputs.get("java-version", 0)))
    leads = {
        "actions/setup-java": f'echo "JAVA_HOME={java}" >> "$GITHUB_ENV"\n'
        f'echo "{path}" >> "$GITHUB_PATH"',  # where Gradle is, as on runners of GitHub
        "actions/setup-go": f'echo "GOCACHE={path.parent}/go-build" >> "$GITHUB_ENV"',
        "pnpm/action-setup": f'echo "{path}" >> "$GITHUB_PATH"',
    }
    given = {f"GIVEN_{n}": f"${{{{ inputs.{name} }}}}" for n, name in enumerate(inputs)}
    words = " ".join(f'"{name}=$GIVEN_{n}"' for n, name in enumerate(inputs))
    lines = [f"printf '%s\\n' {action} {words} '' >> {record}", leads.get(action, "")]
    place.mkdir(parents=True)
    step = {"shell": "bash", "env": given, "run": "\n".join(lines)}
    document = {
        "name": action,
        "inputs": {name: {"description": name, "required": False} for name in inputs},
        "runs": {"using": "composite", "steps": [step]},
    }
    (place / "action.yml").write_text(yaml.safe_dump(document))


def recorded(record: Path) -> Mapping[str, Mapping[str, str]]:
    """The inputs of each action, in the order of the steps."""
    blocks = record.read_text().strip().split("\n\n") if record.exists() else []
    lines = (block.split("\n") for block in blocks)
    return {first: dict(one.split("=", 1) for one in rest) for first, *rest in lines}


@dataclass(frozen=True)
class WithRust:
    """A runner on which Rust is installed, as on those of GitHub."""

    runner: Runner
    name = "a runner with Rust"

    def run(
        self,
        workflow: Path,
        event: str,
        payload: Mapping[str, Any],
        env: Mapping[str, str],
        secrets: Mapping[str, str],
    ) -> Ran:
        home = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
        return self.runner.run(workflow, event, payload, {**env, "RUSTUP_HOME": home}, secrets)


@pytest.mark.parametrize("kind", KINDS)
def test_what_init_writes_is_green_without_an_edit(
    kind: str, tmp_path: Path, chosen: Chosen, repositories: Mapping[str, Path]
) -> None:
    toolbox = Toolbox(cache_directory() / "toolbox")
    (sample,) = [one for one in SAMPLES if one.name == kind]
    if missing := toolbox.lacks(sample):
        pytest.skip(missing)
    java = KINDS[kind][1].get("actions/setup-java", {}).get("java-version")
    if java and jdk(int(java)) is None:
        pytest.skip(f"no JDK that compiles for Java {java}")
    with running() as fake, serving(tmp_path / "git", tmp_path / "certificates") as git:
        shop = Shop.founded(tmp_path / "git", fake, git, project(kind))
        clone = shop.history.clone(tmp_path / "clone")
        usual = {one.name: False for one in fields(Situation)}
        init(context=_Context(), repo=clone.path, action=None, force=False, **usual)
        written = clone.path / ".github" / "workflows" / "prjury.yml"
        policy = (clone.path / ".github" / "prjury.yml").read_bytes()
        shop.move_base(
            {".github/prjury.yml": policy, ".github/workflows/prjury.yml": written.read_bytes()}
        )
        shop.history.branch("cart", at="main")
        (job,) = yaml.safe_load(written.read_text())["jobs"].values()
        record = tmp_path / "recorded"
        stubs = dict(repositories)
        for step in job["steps"]:
            if step["uses"] not in stubs:
                place = tmp_path / "stubs" / step["uses"].replace("/", "-")
                stub(
                    place,
                    step["uses"].partition("@")[0],
                    step.get("with", {}),
                    record,
                    toolbox.place / "bin",
                )
                stubs[step["uses"]] = place
        runs = tmp_path / "runs"
        runs.mkdir()
        site = Site(shop, fake, WithRust(chosen.make(stubs, runs)), tmp_path / "artifacts")
        ran = site.run(written, "pull_request", shop.push(sample.harmless, "opened"))
    asked = dict(recorded(record))
    assert ran.jobs == {"prjury": "success"}, ran.log[-6_000:]
    (report,) = [one for one in site.artifacts if one.name == "prjury-report"]
    first, *_ = json.loads(report.file("report.json"))["tiers"]
    assert {one["judge"]: one["status"] for one in first["judgments"]}["build"] == "pass"
    asked.pop("actions/checkout", None)
    assert asked == KINDS[kind][1]
