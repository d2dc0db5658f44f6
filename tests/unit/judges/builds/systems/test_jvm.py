from __future__ import annotations

from collections.abc import Mapping

import pytest

from fakes.roots import plans_of, root_of, texts, touching
from prjury.judges.builds.systems.jvm import choose_command_and_reason, with_goals

SCRIPT = ("toolw", "tool", ("wrap/settings", "wrap/tool.jar"))
BESIDE = {"wrap/settings": "version=1\n", "wrap/tool.jar": ""}
WITHOUT = "so the installed `tool` is used"
BY_SH = "toolw is there but not executable, so `sh` runs it"
LACKS = (("tool",), f"toolw is there without wrap/tool.jar, {WITHOUT}")


@pytest.mark.parametrize(
    ("text", "executable", "missing", "wrapper"),
    [
        ("#!/bin/sh\n", "toolw", "", (("./toolw",), "toolw is there")),
        (
            "#!/bin/sh\n",
            "",
            "",
            (("sh", "toolw"), "toolw is there but not executable, so `sh` runs it"),
        ),
        ("", "", "toolw", (("tool",), f"no toolw, {WITHOUT}")),
        ("", "", "wrap/settings", (("tool",), f"toolw is there without wrap/settings, {WITHOUT}")),
        ("", "", "wrap/tool.jar", (("tool",), f"toolw is there without wrap/tool.jar, {WITHOUT}")),
    ],
)
def test_the_script_or_the_installed_tool(
    text: str, executable: str, missing: str, wrapper: tuple[tuple[str, ...], str]
) -> None:
    files = {path: body for path, body in {"toolw": text, **BESIDE}.items() if path != missing}
    assert choose_command_and_reason(root_of(files, executable), "", *SCRIPT) == wrapper


def test_the_nearest_script_upwards() -> None:
    files = {"toolw": "", "a/toolw": "", **BESIDE, **{f"a/{path}": "" for path in BESIDE}}
    root = root_of(files, executable="toolw")
    places = {
        place: choose_command_and_reason(root, place, *SCRIPT)[0] for place in ("b/c", "a/c", "a")
    }
    assert places == {"b/c": ("../../toolw",), "a/c": ("sh", "../toolw"), "a": ("sh", "toolw")}


# Gradle

FLAGS = "--no-daemon -q --continue --rerun-tasks"
WHOLE = f"gradle {FLAGS} build"
JAVA = "plugins { id 'java' }\n"
SHOP: Mapping[str, str] = {
    "settings.gradle": "include 'core', 'leaf'\n",
    "build.gradle": "",
    "core/build.gradle": JAVA,
    "leaf/build.gradle": JAVA,
}


def test_a_build_of_gradle_is_run_whole() -> None:
    (plan,) = plans_of("gradle", root_of(SHOP), touching("leaf/src/A.java"))
    assert (plan.system, plan.text, plan.modules) == ("gradle", WHOLE, ())
    (single,) = plans_of("gradle", root_of({"build.gradle.kts": JAVA}), touching("src/A.java"))
    assert (single.modules, single.reasons[0]) == ((), "build.gradle.kts is there")
    assert with_goals(plan, ["check"]).text == "gradle --no-daemon -q --continue check"


def test_builds_of_gradle_beside_and_below_each_other() -> None:
    files = {
        **{f"back/{path}": text for path, text in SHOP.items()},
        "tool/build.gradle": JAVA,
        "gradlew": "",
        "gradle/wrapper/gradle-wrapper.properties": "",
        "gradle/wrapper/gradle-wrapper.jar": "",
        "back/buildSrc/settings.gradle": "",
        "back/own/settings.gradle": "",
    }
    assert texts(plans_of("gradle", root_of(files, "gradlew"))) == [
        f"cd back && ../gradlew {FLAGS} build",
        f"cd back/own && ../../gradlew {FLAGS} build",
        f"cd tool && ../gradlew {FLAGS} build",
    ]


def test_hostile_scripts_take_linear_time() -> None:
    for text in (
        "includeBuild" * 80_000,
        "includeBuild" + " " * 900_000,
        "includeBuild('" * 70_000,
    ):
        files = {"app/settings.gradle": text, "lib/settings.gradle": ""}
        assert len(plans_of("gradle", root_of(files), touching("lib/x"))) == 2
