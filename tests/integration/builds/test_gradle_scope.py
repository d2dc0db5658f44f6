"""What Gradle really runs, beside what the recognition of builds tells of."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.roots import plans_of, root_of, touching
from integration.builds.court import Court
from integration.builds.toolbox import Toolbox
from prjury.judges.builds.plan import BuildPlan

pytestmark = pytest.mark.nightly

_TASK = re.compile(r"^(?:> Task )?:((?:\w+:)*)(\w+)", re.MULTILINE)
_CASE = re.compile(r'<testcase name="([^"]*)" classname="([^"]*)"')

SHOP: Mapping[str, str] = {
    "settings.gradle": "include 'core', ':mid'\ninclude(':group:x',\n    ':group:y') // two\n",
    "build.gradle": """
        subprojects {
            apply plugin: 'java'
            repositories { maven { url 'https://repo.maven.apache.org/maven2' } }
            dependencies { testCompile 'junit:junit:4.13.2' }
        }
    """,
    "core/build.gradle": "",
    "core/src/main/resources/a.txt": "",
    "mid/build.gradle": "dependencies { compile project(':core') }\n",
    "mid/src/main/resources/a.txt": "",
    "group/x/src/main/resources/a.txt": "",
    "group/y/build.gradle": "dependencies { compile project(path: ':group:x') }\n",
    "group/y/src/main/resources/a.txt": "",
}


@dataclass(frozen=True)
class Checkout:
    place: Path
    toolbox: Toolbox

    def plan(self, files: Mapping[str, str], *paths: str) -> BuildPlan:
        for path, text in files.items():
            (self.place / path).parent.mkdir(parents=True, exist_ok=True)
            (self.place / path).write_text(text)
        (plan,) = plans_of("gradle", root_of(files), touching(*paths) if paths else None)
        return plan

    def run(self, command: Sequence[str] | str) -> tuple[int, set[str]]:
        """The exit code, and the projects with a task ``build`` or ``test``."""
        words = [word for word in command if word != "-q"]
        done = subprocess.run(
            words,
            cwd=self.place,
            env=self.toolbox.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if "Could not resolve" in done.stderr:
            pytest.skip("the registry of Maven cannot be reached")
        tasks = _TASK.findall(done.stdout)
        return done.returncode, {
            f":{path}{task}" for path, task in tasks if task in {"build", "test"}
        }

    def tests(self) -> set[str]:
        """The tests in the reports, which are removed."""
        found = set()
        for report in self.place.rglob("test-results/*/*.xml"):
            found |= {f"{owner}#{name}" for name, owner in _CASE.findall(report.read_text())}
            report.unlink()
        return found


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    toolbox = Court.at(tmp_path).toolbox
    if not toolbox.has("gradle"):
        pytest.skip("Gradle is not installed")
    return Checkout(tmp_path, toolbox)


def test_everything(checkout: Checkout) -> None:
    plan = checkout.plan(SHOP, "gradle.properties")
    code, tasks = checkout.run(plan.steps[0].command)
    assert code == 0
    assert {f":{name}:build" for name in ("core", "mid", "group", "group:x", "group:y")} <= tasks


def java_class(name: str, *methods: str) -> str:
    """A class of tests, each of which fails if its name says so."""
    bodies = "".join(
        f"@org.junit.Test public void {method}() "
        f"{{ org.junit.Assert.assertFalse({str('fails' in method).lower()}); }}\n"
        for method in methods
    )
    return f"package p;\n\npublic class {name} {{\n{bodies}}}\n"


def test_going_on_after_failures(checkout: Checkout) -> None:
    files = {
        **SHOP,
        "core/src/test/java/p/CoreTest.java": java_class("CoreTest", "works", "fails", "failsToo"),
        "mid/src/test/java/p/MidTest.java": java_class("MidTest", "works", "failsAsWell"),
    }
    plan = checkout.plan(files, "core/src/main/resources/a.txt")
    code, tasks = checkout.run(plan.steps[0].command)
    assert code == 1
    assert {":core:test", ":mid:test"} <= tasks
    assert checkout.tests() == {
        "p.CoreTest#works", "p.CoreTest#fails", "p.CoreTest#failsToo",
        "p.MidTest#works", "p.MidTest#failsAsWell",
    }  # fmt: skip
