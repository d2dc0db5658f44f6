from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from fakes.roots import failing, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.gradle import plans

FLAGS = "--no-daemon -q --continue"
WHOLE = f"gradle {FLAGS} build"
AGAIN = f"gradle {FLAGS} --no-build-cache"
BECAUSE = "a Gradle build is always run as a whole"
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


@pytest.mark.parametrize("script", ["build.gradle", "build.gradle.kts"])
def test_a_project_by_itself(script: str) -> None:
    plan = plan_of({script: JAVA}, "src/main/java/A.java")
    assert (plan.system, plan.text, plan.scope) == ("gradle", WHOLE, BuildScope())
    assert plan.reasons == (f"{script} is there", "no gradlew, so the installed `gradle` is used")
    assert (plan.all_ran, plan.reported, plan.keep_going, plan.tests) == (None, False, None, True)


@pytest.mark.parametrize("settings", ["settings.gradle", "settings.gradle.kts"])
@pytest.mark.parametrize("path", ["leaf/src/A.java", "core/build.gradle", "gradlew", "x"])
def test_a_build_of_several_projects_is_run_as_a_whole(settings: str, path: str) -> None:
    files = {settings: "include 'core', 'leaf'\n", "core/build.gradle": JAVA, "leaf/x": ""}
    plan = plan_of(files, path)
    assert (plan.text, plan.scope) == (WHOLE, BuildScope(because=BECAUSE))
    assert plan_of(files).scope == BuildScope()


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


def alone(plan: BuildPlan, *failures: tuple[str, str]) -> list[str] | None:
    assert plan.rerun_failed is not None
    steps = plan.rerun_failed([failing(name, suite=suite) for name, suite in failures])
    return None if steps is None else texts_of(steps)


def texts_of(steps: Sequence[BuildStep]) -> list[str]:
    return [step.text for step in steps]


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
    assert found == [
        f"{AGAIN} -p group/x integrationTest --tests p.A.one",
        f"{AGAIN} -p leaf test --tests 'p.A.many[*' --tests 'p.A$In.two' --tests p.B.one",
    ]


def test_failing_tests_of_a_single_project() -> None:
    single = plan_of({"build.gradle": JAVA})
    assert alone(single, ("p.A#a", report(""))) == [f"{AGAIN} :test --tests p.A.a"]


@pytest.mark.parametrize(
    "failure",
    [
        ("p.A#a b", report("leaf")),
        ("p.A#a", report("unknown")),
        ("p.A#a", report("../core")),
        ("p.A#a", report("-x")),
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
    assert plan.text == f"cd back && ../gradlew {FLAGS} build"
    again = f"../gradlew {FLAGS} --no-build-cache"
    assert alone(plan, ("p.A#a", report("back/leaf"))) == [f"{again} -p leaf test --tests p.A.a"]
    assert alone(plan, ("p.A#a", report("back"))) == [f"{again} :test --tests p.A.a"]
    assert alone(plan, ("p.A#a", report("tool"))) is None


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
    }
    (whole, logic) = plans(root_of(files), touching("logic/x"))
    assert (whole.scope.because, logic.text) == (
        "logic changes, on which it depends",
        f"cd logic && {WHOLE}",
    )


@pytest.mark.parametrize(
    ("script", "built"),
    [
        ("includeBuild('../lib')", True),
        ('includeBuild "../lib"', True),
        ("includeBuild('../other')", False),
        ("includeBuild(name)", True),
        ('includeBuild("$place/lib")', True),
        ("apply from: '../lib/shared.gradle'", True),
        ("project(':x').projectDir = file('../lib/x')", True),
        ("include 'x'", False),
    ],
)
def test_a_build_that_uses_what_lies_outside(script: str, built: bool) -> None:
    files = {"app/settings.gradle": script, "lib/settings.gradle": ""}
    found = [plan.directory for plan in plans(root_of(files), touching("lib/x"))]
    assert found == (["app", "lib"] if built else ["lib"])


def test_hostile_scripts_take_linear_time() -> None:
    for text in (
        "includeBuild" * 80_000,
        "includeBuild" + " " * 900_000,
        "includeBuild('" * 70_000,
    ):
        files = {"app/settings.gradle": text, "lib/settings.gradle": ""}
        assert len(plans(root_of(files), touching("lib/x"))) >= 1
