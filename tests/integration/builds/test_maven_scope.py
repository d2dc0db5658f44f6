"""Which modules Maven really builds, beside those that the recognition of builds tells of."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.maven import SHOP, coordinates, modules, parent_pom, pom, profile, project, without
from fakes.roots import plans_of, root_of, touching
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.jvm import narrow_maven_to_affected

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not shutil.which("mvn"), reason="Maven is not installed"),
]

_BUILT = re.compile(r"^\[INFO\] -+< [\w.-]+:([\w.-]+) >-+$", re.MULTILINE)
_CASE = re.compile(r'<testcase (?=[^>]*\bname="([^"]*)")(?=[^>]*\bclassname="([^"]*)")')
_JUNIT = (
    f"<dependencies><dependency>{coordinates('junit', group='junit')}"
    "<version>4.13.2</version><scope>test</scope></dependency></dependencies>"
)
_JAVA = (
    "<properties><maven.compiler.source>11</maven.compiler.source>"
    "<maven.compiler.target>11</maven.compiler.target></properties>"
)
#: What Maven 3.8 binds by itself, and a recent one.
_SUREFIRES = ("2.12.4", "3.2.5")


@dataclass(frozen=True)
class Ran:
    exit_code: int
    log: str

    @property
    def built(self) -> set[str]:
        return set(_BUILT.findall(self.log))


@dataclass(frozen=True)
class Checkout:
    place: Path

    def plan(self, files: Mapping[str, str], *paths: str) -> BuildPlan:
        for path, text in files.items():
            (self.place / path).parent.mkdir(parents=True, exist_ok=True)
            (self.place / path).write_text(text)
        (plan,) = plans_of("maven", root_of(files), touching(*paths) if paths else None)
        return narrow_maven_to_affected(plan)

    def run(self, plan: BuildPlan, command: Sequence[str] | str = ()) -> Ran:
        asked = command or plan.steps[0].command
        text = asked if isinstance(asked, str) else shlex.join(asked)
        done = subprocess.run(
            ["/bin/sh", "-c", text.replace(" -q ", " ")],
            cwd=self.place / plan.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if "Could not transfer" in done.stdout:
            pytest.skip("Maven's registry cannot be reached")
        return Ran(done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout))

    def tests(self) -> set[str]:
        """The tests in the reports, which are removed."""
        found = set()
        for report in self.place.rglob("*-reports/*.xml"):
            found |= {f"{owner}#{name}" for name, owner in _CASE.findall(report.read_text())}
            report.unlink()
        return found


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    ("path", "built"),
    [
        ("leaf/src/main/resources/a.txt", {"root", "core", "mid", "tools", "leaf"}),
        ("mid/src/main/resources/a.txt", {"root", "core", "mid", "tools", "leaf"}),
        ("group/y/a.txt", {"root", "group", "x", "y"}),
        ("group/rules.xml", {"root", "group", "x", "y"}),
    ],
)
def test_affected_modules_and_what_they_need(
    checkout: Checkout, path: str, built: set[str]
) -> None:
    plan = checkout.plan({**SHOP, path: ""}, path)
    ran = checkout.run(plan)
    assert (ran.exit_code, ran.built) == (0, built), ran.log


def test_why_maven_is_asked_for_the_dependents_first(checkout: Checkout) -> None:
    checkout.plan(SHOP)
    for flags in (("-amd",), ("-am", "-amd")):
        (plan,) = plans_of("maven", root_of(SHOP))
        ran = checkout.run(plan, ["mvn", "-B", "-ntp", "-pl", "mid", *flags, "validate"])
        assert "leaf" in ran.built
        assert "tools" not in ran.built


@pytest.mark.parametrize(
    ("files", "paths", "built"),
    [
        (SHOP, ("pom.xml",), {"root", "core", "mid", "leaf", "tools", "group", "x", "y"}),
        (
            {**SHOP, "group/z/pom.xml": pom("z", parent="group")}
            | {
                "group/pom.xml": pom(
                    "group", more=f"<packaging>pom</packaging>{modules('x', 'y', 'z')}"
                )
            },
            ("group/pom.xml", "group/z/pom.xml"),
            {"root", "core", "mid", "leaf", "tools", "group", "x", "y", "z"},
        ),
        (
            without(SHOP, "leaf")
            | {"pom.xml": parent_pom("root", "core", "mid", "tools", "group")},
            ("pom.xml", "leaf/pom.xml", "leaf/src/main/java/A.java"),
            {"root", "core", "mid", "tools", "group", "x", "y"},
        ),
    ],
    ids=["root", "new module", "deleted module"],
)
def test_everything(
    checkout: Checkout, files: dict[str, str], paths: tuple[str, ...], built: set[str]
) -> None:
    plan = checkout.plan(files, *paths)
    assert plan.modules == ()
    ran = checkout.run(plan)
    assert (ran.exit_code, ran.built) == (0, built), ran.log


def test_a_module_of_a_profile_that_is_off_is_no_reason_to_build_less(checkout: Checkout) -> None:
    off = profile("off", modules("bench"), "<property><name>bench</name></property>")
    files = {
        "pom.xml": parent_pom("root", "core", "mid", more=off),
        "core/pom.xml": pom("core"),
        "mid/pom.xml": pom("mid"),
        "bench/pom.xml": pom("bench", ["core"]),
    }
    ran = checkout.run(checkout.plan(files, "core/src/A.java"))
    assert (ran.exit_code, ran.built) == (0, {"root", "core"}), ran.log
    ran = checkout.run(checkout.plan(files, "bench/src/A.java"))
    assert (ran.exit_code, ran.built) == (0, {"root", "core", "mid"}), ran.log


def java_class(name: str, *methods: str) -> str:
    """A class of tests, each of which fails if its name says so."""
    bodies = "".join(
        f"@org.junit.Test public void {method}() "
        f"{{ org.junit.Assert.assertFalse({str('fails' in method).lower()}); }}\n"
        for method in methods
    )
    return f"package p;\n\npublic class {name} {{\n{bodies}}}\n"


def with_tests(surefire: str) -> dict[str, str]:
    plugin = (
        "<build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId>"
        f"<version>{surefire}</version></plugin></plugins></build>"
    )
    own = coordinates("root", "<version>1</version><packaging>pom</packaging>")
    root = f"{own}{modules('core', 'mid', 'tools')}{_JAVA}{_JUNIT}{plugin}"
    return {
        "pom.xml": project(root),
        "core/pom.xml": pom("core"),
        "core/src/test/java/p/CoreTest.java": java_class("CoreTest", "works", "fails", "failsToo"),
        "mid/pom.xml": pom("mid", ["core"]),
        "mid/src/test/java/p/MidTest.java": java_class("MidTest", "works", "failsAsWell"),
        "tools/pom.xml": pom("tools"),
        "tools/src/test/java/p/ToolsTest.java": java_class("ToolsTest", "fails"),
    }


EVERY_TEST = {
    "p.CoreTest#works", "p.CoreTest#fails", "p.CoreTest#failsToo",
    "p.MidTest#works", "p.MidTest#failsAsWell",
}  # fmt: skip


@pytest.mark.parametrize("surefire", _SUREFIRES)
def test_going_on_after_failures(checkout: Checkout, surefire: str) -> None:
    plan = checkout.plan(with_tests(surefire), "core/src/A.java")
    ran = checkout.run(plan)
    assert (ran.exit_code, plan.steps[-1].all_ran) == (0, 0)
    assert checkout.tests() == EVERY_TEST
