from __future__ import annotations

from collections.abc import Mapping

import pytest

from fakes.roots import failing, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope
from prjury.judges.builds.systems.gradle import plans

FLAGS = "--no-daemon -q --continue"
WHOLE = f"gradle {FLAGS} build"
BECAUSE = "projects that the change touches, and those that depend on them"
JAVA = "plugins { id 'java' }\n"
SHOP: Mapping[str, str] = {
    "settings.gradle": "include 'core', 'mid', 'leaf', 'tools', 'group:x', 'group:y'\n",
    "build.gradle": "allprojects { repositories { mavenCentral() } }\n",
    "core/build.gradle": JAVA,
    "mid/build.gradle": JAVA + "dependencies { implementation project(':core') }\n",
    "leaf/build.gradle": JAVA
    + "dependencies { implementation projects.mid; api projects.tools }\n",
    "tools/build.gradle": JAVA,
    "group/x/build.gradle": JAVA,
    "group/y/build.gradle": JAVA + "dependencies { testImplementation(project(':group:x')) }\n",
    "group/rules.xml": "",
}


def plan_of(files: Mapping[str, str], *paths: str, executable: str = "") -> BuildPlan:
    (plan,) = plans(root_of(files, executable), touching(*paths) if paths else None)
    return plan


def scope_of(files: Mapping[str, str], *paths: str) -> BuildScope:
    return plan_of(files, *paths).scope


@pytest.mark.parametrize("script", ["build.gradle", "build.gradle.kts"])
def test_a_project_by_itself(script: str) -> None:
    plan = plan_of({script: JAVA}, "src/main/java/A.java")
    assert (plan.system, plan.text, plan.scope) == ("gradle", WHOLE, BuildScope())
    assert plan.reasons == (f"{script} is there", "no gradlew, so the installed `gradle` is used")
    assert (plan.all_ran, plan.reported, plan.thorough, plan.tests) == (None, False, None, True)


@pytest.mark.parametrize("settings", ["settings.gradle", "settings.gradle.kts"])
def test_settings_without_projects(settings: str) -> None:
    assert (
        scope_of({settings: "rootProject.name = 'x'\n", "build.gradle": JAVA}, "x") == BuildScope()
    )


@pytest.mark.parametrize(
    ("paths", "named"),
    [
        (["leaf/src/A.java"], (":leaf",)),
        (["mid/src/A.java"], (":mid", ":leaf")),
        (["core/src/A.java"], (":core", ":mid", ":leaf")),
        (["tools/build.gradle"], (":leaf", ":tools")),
        (["tools/README.md", "mid/x"], (":mid", ":leaf", ":tools")),
        (["README.md", "mid/x"], (":mid", ":leaf")),
        (["group/x/src/A.java"], (":group:x", ":group:y")),
        (["group/y/src/A.java"], (":group:y",)),
        (["group/rules.xml"], (":group:x", ":group:y")),
        (["leaf/buildSrc/x"], (":leaf",)),
    ],
)
def test_projects_that_a_change_affects(paths: list[str], named: tuple[str, ...]) -> None:
    plan = plan_of(SHOP, *paths)
    assert plan.scope == BuildScope(named, BECAUSE)
    assert plan.text == f"gradle {FLAGS} {' '.join(f'{path}:build' for path in named)}"


@pytest.mark.parametrize(
    "path",
    [
        "build.gradle", "settings.gradle", "gradle.properties", "gradle/libs.versions.toml",
        "gradlew", "buildSrc/src/main/groovy/conventions.gradle", "src/main/java/A.java",
        "config/rules.xml",
    ],
)  # fmt: skip
def test_changes_that_may_affect_everything(path: str) -> None:
    plan = plan_of(SHOP, "leaf/src/A.java", path)
    assert plan.text == WHOLE
    assert plan.scope == BuildScope(because=f"{path} belongs to no single project")


@pytest.mark.parametrize(
    ("settings", "because"),
    [
        ("include name", "settings.gradle includes projects in a way that has to be run"),
        ("include 'a'", "settings.gradle has a project in a, which is not there"),
        (
            "include 'core', 'mid'\nproject(':mid').projectDir = file('core')",
            "settings.gradle has more than one project in `core`",
        ),
        (
            "include 'core'\nproject(':core').projectDir = file('.')",
            "settings.gradle has more than one project in `.`",
        ),
    ],
)
def test_what_cannot_be_told_is_everything(settings: str, because: str) -> None:
    files = {**SHOP, "settings.gradle": settings}
    assert scope_of(files, "core/x") == BuildScope(because=because)
    assert plan_of(files).scope == BuildScope()


def test_projects_that_plugins_of_the_settings_may_add() -> None:
    added = {**SHOP, "settings.gradle": f"plugins {{ id 'x' }}\n{SHOP['settings.gradle']}"}
    assert scope_of(added, "leaf/x").modules == (":leaf",)
    late = {**added, "late/build.gradle": JAVA}
    assert scope_of(late, "leaf/x") == BuildScope(
        because="a plugin of the settings may include late, which they do not name"
    )
    named = {**late, "late/settings.gradle": ""}
    (plan, _) = plans(root_of(named), touching("leaf/x", "late/x"))
    assert plan.scope.because == "late/x belongs to no single project"
    assert scope_of({**added, "buildSrc/build.gradle": ""}, "leaf/x").modules == (":leaf",)
    assert scope_of({**SHOP, "late/build.gradle": JAVA}, "leaf/x").modules == (":leaf",)


def test_scripts_of_the_whole_build_that_name_projects() -> None:
    needing = "subprojects { dependencies { testImplementation project(':tools') } }"
    files = {**SHOP, "build.gradle": needing}
    because = "the scripts of the whole build name :tools"
    assert scope_of(files, "tools/x") == BuildScope(because=because)
    assert scope_of(files, "core/x").modules == (":core", ":mid", ":leaf")
    open_ = "subprojects { dependencies { api project(name) } }"
    assert scope_of({**SHOP, "gradle/all.gradle": open_}, "core/x") == BuildScope(
        because="the scripts of the whole build may name any project"
    )
    plugin = {**SHOP, "buildSrc/src/main/java/A.java": 'project.project(":tools");'}
    assert scope_of(plugin, "tools/x").because == because
    ours = {**SHOP, "core/src/main/java/A.java": 'project.project(":tools");'}
    assert scope_of(ours, "tools/x").modules == (":leaf", ":tools")
    other = {**SHOP, "core/build.gradle": JAVA + f"project(':mid') {{ {needing} }}"}
    assert scope_of(other, "tools/x").because == because


def test_a_project_that_may_need_any_other() -> None:
    files = {**SHOP, "leaf/build.gradle": "plugins { }\ndependencies { all.each { api it } }"}
    assert scope_of(files, "group/y/x").modules == (":leaf", ":group:y")


def test_projects_without_anything_to_build() -> None:
    bare = {**SHOP, "tools/build.gradle": "", "leaf/build.gradle": JAVA}
    assert scope_of(bare, "tools/x") == BuildScope(
        because="what the change affects has no build of its own"
    )
    assert scope_of(bare, "tools/x", "leaf/x").modules == (":leaf",)
    set_up = {**bare, "build.gradle": "subprojects { apply plugin: 'java' }"}
    assert scope_of(set_up, "tools/x").because == "what the change affects has no build of its own"
    set_up["tools/src/main/java/A.java"] = ""
    assert scope_of(set_up, "tools/x").modules == (":tools",)
    above = {**SHOP, "group/build.gradle": "subprojects { apply plugin: 'java' }"}
    above |= {"group/y/build.gradle": "", "group/y/src/A.java": ""}
    assert scope_of(above, "group/y/x").modules == (":group:y",)


def test_nearly_everything_is_everything() -> None:
    names = [f"p{number}" for number in range(20)]
    files = {f"{name}/build.gradle": f"{JAVA}project(':p0')" for name in names}
    files["settings.gradle"] = "\n".join(f"include '{name}'" for name in (*names, "rest", "more"))
    files |= {"rest/build.gradle": JAVA, "more/build.gradle": JAVA}
    assert scope_of(files, "p0/x") == BuildScope(because="nearly all projects are affected")
    assert scope_of(files, "p0/x", "rest/x", "more/x").because == "all projects are affected"
    assert scope_of(files, "p1/x").modules == (":p1",)


def test_too_many_to_name() -> None:
    names = [f"p{number}" for number in range(400)]
    files = {
        f"{name}/build.gradle": JAVA + ("project(':p0')" if number < 201 else "")
        for number, name in enumerate(names)
    }
    files["settings.gradle"] = "\n".join(f"include '{name}'" for name in names)
    assert scope_of(files, "p0/x") == BuildScope(
        because="the change affects more than 200 projects"
    )
    files["p200/build.gradle"] = JAVA
    assert len(scope_of(files, "p0/x").modules) == 200


WRAPPER = {
    "gradlew": "",
    "gradle/wrapper/gradle-wrapper.properties": "",
    "gradle/wrapper/gradle-wrapper.jar": "",
}


def test_the_wrapper() -> None:
    plan = plan_of({"build.gradle": "", **WRAPPER}, executable="gradlew")
    assert plan.text == f"./gradlew {FLAGS} build"
    assert plan.reasons == ("build.gradle is there", "gradlew is there")
    assert plan_of({"build.gradle": "", **WRAPPER}).text == f"sh gradlew {FLAGS} build"
    bare = plan_of({"build.gradle": "", "gradlew": ""}, executable="gradlew")
    assert bare.reasons[1] == (
        "gradlew is there without gradle/wrapper/gradle-wrapper.properties, "
        "so the installed `gradle` is used"
    )


def alone(plan: BuildPlan, *failures: tuple[str, str]) -> str | None:
    assert plan.alone is not None
    steps = plan.alone([failing(name, suite=suite) for name, suite in failures])
    if steps is None:
        return None
    (step,) = steps
    return step.text


def report(project: str, task: str = "test") -> str:
    return f"{project}/build/test-results/{task}".lstrip("/")


def test_failing_tests_again() -> None:
    found = alone(
        plan_of(SHOP, "leaf/x"),
        ("p.B#one", report("leaf")),
        ("p.A$In#two(int)[1]", report("leaf")),
        ("p.A$In#two(int)[2]", report("leaf")),
        ("p.A#one", report("group/x", "integrationTest")),
        ("p.A#many[0]", report("leaf")),
    )
    assert found == (
        f"gradle {FLAGS} --no-build-cache :group:x:integrationTest --tests p.A.one "
        ":leaf:test --tests 'p.A.many[*' --tests 'p.A$In.two' --tests p.B.one"
    )


def test_failing_tests_of_a_single_project_and_of_unknown_ones() -> None:
    single = plan_of({"build.gradle": JAVA})
    assert alone(single, ("p.A#a", report(""))) == (
        f"gradle {FLAGS} --no-build-cache :test --tests p.A.a"
    )
    unknown = plan_of({**SHOP, "settings.gradle": "include x"})
    assert alone(unknown, ("p.A#a", report("core")), ("p.B#b", report("mid"))) == (
        f"gradle {FLAGS} --no-build-cache test --tests p.A.a --tests p.B.b"
    )


@pytest.mark.parametrize(
    "failure",
    [
        ("p.A#a b", report("leaf")),
        ("p.A#a", report("unknown")),
        ("p.A#a", "leaf/target/test-results/test/x.xml"),
        ("p.A#a", "leaf/build/test-results"),
        ("p.A#a", "leaf/build/test-results/test/more"),
        ("p.A#a", report("leaf", "-x")),
        ("p.A#a", report("leaf", "a b")),
    ],
)
def test_tests_that_cannot_be_named(failure: tuple[str, str]) -> None:
    assert alone(plan_of(SHOP), ("p.A#a", report("leaf")), failure) is None


def test_a_report_by_its_file() -> None:
    found = alone(plan_of(SHOP), ("p.A#a", f"{report('leaf')}/TEST-p.A.xml"))
    assert found == alone(plan_of(SHOP), ("p.A#a", report("leaf")))


def test_no_tests_to_run_again() -> None:
    assert alone(plan_of(SHOP)) is None


def below(directory: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{directory}/{path}": text for path, text in files.items()}


def test_builds_below_the_root() -> None:
    root = root_of({**below("back", SHOP), "tool/build.gradle": JAVA, **WRAPPER}, "gradlew")
    assert texts(plans(root, None)) == [
        f"cd back && ../gradlew {FLAGS} build", f"cd tool && ../gradlew {FLAGS} build",
    ]  # fmt: skip
    (plan,) = plans(root, touching("back/leaf/x", "front/x"))
    assert plan.text == f"cd back && ../gradlew {FLAGS} :leaf:build"
    assert alone(plan, ("p.A#a", report("back/leaf"))) == (
        f"../gradlew {FLAGS} --no-build-cache :leaf:test --tests p.A.a"
    )


def test_what_belongs_to_the_build_in_the_root() -> None:
    files = {
        **SHOP,
        "orphan/build.gradle": JAVA,
        "buildSrc/settings.gradle": "",
        "buildSrc/sub/build.gradle": "",
        "own/settings.gradle": "",
    }
    assert [plan.directory for plan in plans(root_of(files), None)] == ["", "own"]


def test_a_build_that_takes_part() -> None:
    files = {
        **SHOP,
        "settings.gradle": f"includeBuild 'logic'\n{SHOP['settings.gradle']}",
        "logic/settings.gradle": "",
        "logic/build.gradle": JAVA,
        "logic/src/main/kotlin/Logic.kt": 'project(":tools")',
    }
    root = root_of(files)
    (whole, logic) = plans(root, touching("logic/x"))
    assert (whole.scope.because, logic.text) == (
        "logic changes, on which it depends",
        f"cd logic && {WHOLE}",
    )
    assert scope_of(files, "tools/x").because == "the scripts of the whole build name :tools"
    assert scope_of(files, "core/x").modules == (":core", ":mid", ":leaf")
