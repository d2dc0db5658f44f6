from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.maven import SHOP, coordinates, modules, parent_pom, pom, profile, project
from fakes.roots import plans_of, root_of, touching
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.jvm import narrow_maven_to_affected, with_goals

FLAGS = "-q -B --fail-at-end -Dmaven.test.failure.ignore=true"
WHOLE = f"mvn {FLAGS} verify"
SINGLE = {"pom.xml": project(coordinates("a", "<version>1</version>"))}


def plan_of(files: Mapping[str, str], *paths: str) -> BuildPlan:
    (plan,) = plans_of("maven", root_of(files), touching(*paths) if paths else None)
    return plan


def test_a_project_by_itself() -> None:
    plan = plan_of(SINGLE, "src/main/java/A.java")
    assert (plan.system, plan.text, plan.modules) == ("maven", WHOLE, ())
    assert plan.reasons == ("pom.xml is there", "no mvnw, so the installed `mvn` is used")
    assert plan.steps[-1].all_ran == 0
    assert with_goals(plan, ["deploy"]).text == "mvn -q -B --fail-at-end deploy"


@pytest.mark.parametrize(
    ("paths", "named"),
    [
        (["leaf/src/A.java"], ("leaf",)),
        (["mid/src/A.java", "tools/x"], ("mid", "tools")),
        (["group/x/src/A.java"], ("group/x",)),
        (["group/rules.xml"], ("group",)),
        (["README.md", "leaf/src/A.java", "tools/README.md"], ("leaf", "tools")),
    ],
)
def test_modules_that_a_change_touches(paths: list[str], named: tuple[str, ...]) -> None:
    plan = plan_of(SHOP, *paths)
    assert (plan.modules, plan.text) == (named, WHOLE)


@pytest.mark.parametrize(
    "path", ["pom.xml", "leaf/pom.xml", ".mvn/jvm.config", "config/checkstyle.xml", "corel/x"]
)
def test_changes_that_may_affect_everything(path: str) -> None:
    assert plan_of(SHOP, "leaf/src/A.java", path).modules == ()


@pytest.mark.parametrize("directory", ["-a", "!a", "+a", "?a", "a,b", "a:b", "a\nb"])
def test_a_module_that_maven_cannot_be_told(directory: str) -> None:
    files = {
        "pom.xml": parent_pom("root", "other"),
        "other/pom.xml": pom("y", more=modules(f"../{directory}")),
        f"{directory}/pom.xml": pom("x"),
    }
    if directory.isprintable():  # a line break is no part of a name in XML
        assert plan_of(files, f"{directory}/A.java").modules == ()


def test_options_that_choose_modules_are_the_projects_own_word() -> None:
    files = {**SHOP, ".mvn/maven.config": "-pl\nleaf\n"}
    assert plan_of(files, "leaf/x").modules == ()
    assert plan_of({**SHOP, ".mvn/maven.config": "-T2\n"}, "leaf/x").modules == ("leaf",)


def directories(files: Mapping[str, str], *paths: str) -> list[str]:
    return [
        one.directory
        for one in plans_of("maven", root_of(files), touching(*paths) if paths else None)
    ]


def test_builds_of_one_tree() -> None:
    lone = {"pom.xml": parent_pom("root"), "a/pom.xml": pom("a"), "b/pom.xml": pom("b")}
    assert directories(lone) == ["", "a", "b"]
    assert directories({**SHOP, "leaf/src/it/x/pom.xml": pom("x")}) == [""]
    own = project(coordinates("own", "<version>1</version>", group="else"))
    assert directories({**SHOP, "own/pom.xml": own, "tests/t/pom.xml": own}) == ["", "own"]
    off = parent_pom("root", more=profile("p", modules("late")))
    assert directories({"pom.xml": off, "late/pom.xml": own}) == [""]


def test_a_flat_layout_is_one_build() -> None:
    files = {
        "parent/pom.xml": parent_pom("parent", "../core", "../web"),
        "core/pom.xml": pom("core", parent="parent", path="../parent"),
        "web/pom.xml": pom("web", ["core"], parent="parent", path="../parent"),
    }
    plan = plan_of(files, "core/src/A.java")
    assert plan.directory == "parent"


def test_what_cannot_be_read_is_left_to_maven() -> None:
    assert plan_of({"pom.xml": "<"}, "a").text == WHOLE
    cyclic = {"pom.xml": parent_pom("root", "a"), "a/pom.xml": pom("a", more=modules(".."))}
    assert directories(cyclic) in ([], [""])


MAVEN = """#!/bin/sh
echo "$@" >>calls
case "$*" in
  *pre-clean*) [ -e broken ] && exit 1
    echo "[INFO] ------------------------< shop:mid >-------------------------"
    echo "[INFO] Building mid 1"
    echo "[INFO] ------------------------< shop:leaf >------------------------" ;;
  *) exit 3 ;;
esac
"""


@pytest.mark.parametrize(("broken", "chosen"), [(False, " -pl shop:mid,shop:leaf -am"), (True, "")])
def test_maven_is_asked_who_depends_on_the_changed_modules(
    tmp_path: Path, broken: bool, chosen: str
) -> None:
    (tmp_path / "mvn").write_text(MAVEN)
    (tmp_path / "mvn").chmod(0o755)
    if broken:
        (tmp_path / "broken").touch()
    plan = narrow_maven_to_affected(plan_of(SHOP, "mid/src/A.java"))
    ran = subprocess.run(
        ["/bin/sh", "-c", plan.text],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=False,
    )
    assert ran.returncode == 3
    ignore = "-Dmaven.test.failure.ignore=true"
    assert (tmp_path / "calls").read_text().splitlines() == [
        f"-B {ignore} -pl mid -amd pre-clean",
        f"{FLAGS} verify{chosen}",
    ]
    assert plan.covers(narrow_maven_to_affected(plan_of(SHOP, "mid/src/B.java")))
