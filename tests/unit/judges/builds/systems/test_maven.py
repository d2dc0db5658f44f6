from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.maven import SHOP, coordinates, modules, parent_pom, pom, profile, project
from fakes.roots import failing, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.maven import plans
from prjury.judges.builds.systems.source_tree import SourceTree

FLAGS = "-q -B -ntp --fail-at-end"
WHOLE = f"mvn {FLAGS} verify"
BECAUSE = "modules that the change touches, and those that depend on them"
SETTINGS = ".mvn/wrapper/maven-wrapper.properties"
SINGLE = {"pom.xml": project(coordinates("a", "<version>1</version>"))}


def plan_of(files: Mapping[str, str], *paths: str, executable: str = "") -> BuildPlan:
    (plan,) = plans(root_of(files, executable), touching(*paths) if paths else None)
    return plan


def scope_of(files: Mapping[str, str], *paths: str) -> BuildScope:
    return plan_of(files, *paths).scope


def test_a_project_by_itself() -> None:
    plan = plan_of(SINGLE, "src/main/java/A.java")
    assert (plan.system, plan.text, plan.scope) == ("maven", WHOLE, BuildScope())
    assert plan.reasons == ("pom.xml is there", "no mvnw, so the installed `mvn` is used")
    assert (plan.all_ran, plan.reported, plan.notes, plan.tests) == (None, False, (), True)


def test_going_on_after_failures() -> None:
    plan = plan_of(SHOP, "mid/src/A.java")
    assert plan.text == f"mvn {FLAGS} -pl mid,leaf -am verify"
    assert plan.keep_going is not None
    assert plan.keep_going.text == (
        f"mvn {FLAGS} -Dmaven.test.failure.ignore=true -pl mid,leaf -am verify"
    )
    assert (plan.keep_going.all_ran, plan.keep_going.keep_going) == (0, None)
    assert plan.keep_going.scope == plan.scope


@pytest.mark.parametrize(
    ("paths", "named"),
    [
        (["leaf/src/A.java"], ("leaf",)),
        (["mid/src/A.java"], ("mid", "leaf")),
        (["core/src/A.java"], ("core", "mid", "leaf")),
        (["tools/pom.xml"], ("leaf", "tools")),
        (["mid/src/A.java", "tools/x"], ("mid", "leaf", "tools")),
        (["group/x/src/A.java"], ("group/x", "group/y")),
        (["group/y/src/A.java", "group/y/pom.xml"], ("group/y",)),
        (["group/rules.xml"], ("group", "group/x", "group/y")),
        (["leaf/src/it/some/pom.xml"], ("leaf",)),
        (["leaf/README.md", "group/y/src/A.java"], ()),
        (["README.md", "leaf/src/A.java"], ("leaf",)),
        (["leaf/README.md", "tools/x"], ("leaf", "tools")),
    ],
)
def test_modules_that_a_change_affects(paths: list[str], named: tuple[str, ...]) -> None:
    plan = plan_of(SHOP, *paths)
    assert plan.scope.modules == named
    if named:
        assert plan.text == f"mvn {FLAGS} -pl {','.join(named)} -am verify"
        assert plan.scope.because == BECAUSE
    else:
        assert plan.text == WHOLE
        assert plan.scope.because == "all modules are affected, or needed by those that are"


@pytest.mark.parametrize(
    ("path", "because"),
    [
        ("pom.xml", "pom.xml changes, which says what modules there are"),
        ("group/pom.xml", "group/pom.xml changes, which says what modules there are"),
        (".mvn/jvm.config", ".mvn/jvm.config belongs to no single module"),
        ("mvnw", "mvnw belongs to no single module"),
        ("config/checkstyle.xml", "config/checkstyle.xml belongs to no single module"),
        ("src/site/x.xml", "src/site/x.xml belongs to no single module"),
        ("gone/pom.xml", "gone/pom.xml belongs to no single module"),
        ("corel/x", "corel/x belongs to no single module"),
        ("odd\u202e", "odd\\u202e belongs to no single module"),
    ],
)
def test_changes_that_may_affect_everything(path: str, because: str) -> None:
    plan = plan_of(SHOP, "leaf/src/A.java", path)
    assert (plan.text, plan.scope) == (WHOLE, BuildScope(because=because))


def test_what_cannot_be_told_is_everything() -> None:
    files = {**SHOP, "core/pom.xml": "<"}
    assert scope_of(files, "leaf/src/A.java") == BuildScope(
        because="core/pom.xml cannot be read: not XML: <unknown>:1:0: unclosed token"
    )
    assert plan_of(files).scope == BuildScope()
    because = scope_of({"pom.xml": ""}, "a").because
    assert because == "pom.xml cannot be read: not XML: <unknown>:1:0: no element found"


def test_nearly_everything_is_everything() -> None:
    names = [f"m{number}" for number in range(20)]
    files = {f"{name}/pom.xml": pom(name, ["m0"]) for name in names[1:]}
    files |= {"pom.xml": parent_pom("root", *names, "rest"), "rest/pom.xml": pom("rest")}
    files["m0/pom.xml"] = pom("m0")
    because = "nearly all modules are affected, or needed by those that are"
    assert scope_of(files, "m0/x") == BuildScope(because=because)
    assert scope_of(files, "m1/x").modules == ("m1",)
    few = {**files, "pom.xml": parent_pom("root", *names[:8], "rest")}
    assert scope_of(few, "m0/x").because == because
    fewer = {**files, "pom.xml": parent_pom("root", *names[:7], "rest")}
    assert len(scope_of(fewer, "m0/x").modules) == 7


def test_too_many_to_name() -> None:
    names = [f"m{number}" for number in range(500)]
    files = {
        f"{name}/pom.xml": pom(name, ["m0"] if number < 201 else [])
        for number, name in enumerate(names)
    }
    files["pom.xml"] = parent_pom("root", *names)
    assert scope_of(files, "m0/x") == BuildScope(because="the change affects more than 200 modules")
    files["m200/pom.xml"] = pom("m200")
    assert len(scope_of(files, "m0/x").modules) == 200


@pytest.mark.parametrize(
    ("directory", "artifact", "selector"),
    [
        ("a", "x", "a"),
        ("a-b_c.d/e", "x", "a-b_c.d/e"),
        (".a", "x", ".a"),
        ("-a", "x", ":x"),
        ("!a", "x", ":x"),
        ("+a", "x", ":x"),
        ("?a", "x", ":x"),
        ("a,b", "x", ":x"),
        ("a b", "x", ":x"),
        ("a:b", "x", ":x"),
        ("ä", "x", ":x"),
        ("a\nb", "x", ":x"),
        ("a,b", "x_${v}", ""),
        ("a,b", "-x", ":-x"),
        ("a,b", "y", ""),
        ("a,b", "x,y", ""),
    ],
)
def test_how_a_module_is_named_to_maven(directory: str, artifact: str, selector: str) -> None:
    files = {
        "pom.xml": parent_pom("root", directory, "other", "third"),
        f"{directory}/pom.xml": pom(artifact),
        "other/pom.xml": pom("y"),
        "third/pom.xml": pom("z"),
    }
    plan = plan_of(files, f"{directory}/src/A.java")
    if selector:
        assert plan.steps == (
            BuildStep("test", ("mvn", *FLAGS.split(), "-pl", selector, "-am", "verify")),
        )
        assert plan.scope.modules == (directory,)
    else:
        assert plan.text == WHOLE
        assert plan.scope.because == f"Maven has no way to build only {directory}/pom.xml"


def test_modules_in_one_directory_are_named_by_their_files() -> None:
    files = {
        "pom.xml": parent_pom("root", "one/a.xml", "one/b.xml", "two"),
        "one/a.xml": pom("a"),
        "one/b.xml": pom("b"),
        "two/pom.xml": pom("two"),
    }
    assert scope_of(files, "one/src/A.java").modules == ("one/a.xml", "one/b.xml")


def test_modules_that_only_a_profile_has() -> None:
    def with_profile(activation: str) -> dict[str, str]:
        more = profile("p", modules("late"), activation)
        names = ("core", "mid", "leaf", "tools", "group")
        return {
            **SHOP,
            "pom.xml": parent_pom("root", *names, more=more),
            "late/pom.xml": pom("late", ["core"]),
        }

    on, off, unknown = map(
        with_profile, ("<activeByDefault>true</activeByDefault>", "", "<jdk>17</jdk>")
    )
    assert scope_of(on, "core/x").modules == ("core", "mid", "leaf", "late")
    assert scope_of(off, "core/x").modules == ("core", "mid", "leaf")
    assert scope_of(unknown, "core/x") == BuildScope(
        because="late is only in the profile p, which may or may not be active here"
    )
    assert scope_of(unknown, "leaf/x").modules == ("leaf",)
    assert scope_of(off, "late/x") == BuildScope(
        because="late/x belongs to no single module but to one that is only in the profile p"
    )


def test_places_that_a_build_file_names() -> None:
    build = "<build><x>../shared/a.xml</x><y>${project.basedir}/..</y></build>"
    files = {
        "pom.xml": parent_pom("root", "a", "b", "shared", "c"),
        "a/pom.xml": pom("a", more=build),
        "b/pom.xml": pom("b", parent="a", path="../a", more=modules()),
        "c/pom.xml": pom("c"),
        "shared/pom.xml": pom("shared", more=modules()),
    }
    assert scope_of(files, "shared/a.xml").modules == ("a", "b", "shared")
    assert scope_of(files, "shared/b.xml").modules == ("shared",)
    files["a/pom.xml"] = pom("a", more=build.replace("/a.xml", ""))
    assert scope_of(files, "shared/b.xml").modules == ("a", "b", "shared")
    root = f"<properties><x>{'${maven.multiModuleProjectDirectory}'}/shared/a.xml</x></properties>"
    files["a/pom.xml"] = pom("a", more=root)
    assert scope_of(files, "shared/a.xml").modules == ("a", "b", "shared")
    files["a/pom.xml"] = pom(
        "a", more=root.replace("maven.multiModuleProjectDirectory", "parent.basedir")
    )
    assert scope_of(files, "shared/a.xml").modules == ("a", "b", "shared")
    files["b/pom.xml"] = pom("b")
    assert scope_of(files, "shared/a.xml").modules == ("a", "shared")


@given(
    st.lists(st.sets(st.integers(0, 7), max_size=3), min_size=1, max_size=8),
    st.sets(st.integers(0, 7), min_size=1),
)
def test_all_dependents_are_built_and_nothing_else(wanted: list[set[int]], hit: set[int]) -> None:
    needs = {
        number: {one for one in some if one < number} for number, some in enumerate(wanted)
    } | {99: set()}
    touched = hit & needs.keys() or {0}
    affected = set(touched)
    for number in sorted(needs):
        if needs[number] & affected:
            affected.add(number)
    files = {
        f"m{number}/pom.xml": pom(f"m{number}", [f"m{one}" for one in some])
        for number, some in needs.items()
    }
    files["pom.xml"] = parent_pom("root", *(f"m{number}" for number in needs))
    scope = scope_of(files, *(f"m{number}/src/A.java" for number in touched))
    if scope.modules:
        assert set(scope.modules) == {f"m{number}" for number in affected}
    else:
        assert scope.because.endswith("all modules are affected, or needed by those that are")


def test_a_module_whose_name_has_changed() -> None:
    files = {**SHOP, "tools/pom.xml": pom("new-tools")}
    assert scope_of(files, "tools/pom.xml").modules == ("leaf", "tools")
    assert scope_of(files, "tools/src/A.java").modules == ("tools",)


def test_options_that_the_tree_gives_to_maven() -> None:
    files = {**SHOP, ".mvn/maven.config": "-pl\ncore\n"}
    because = ".mvn chooses the modules that Maven builds"
    assert scope_of(files, "leaf/x") == BuildScope(because=because)
    profiled = {
        **SHOP,
        "pom.xml": parent_pom(
            "root",
            "core",
            "mid",
            "leaf",
            "tools",
            more=profile(
                "p",
                modules("group"),
            ),
        ),
    }
    assert scope_of(profiled, "group/x/a").because.endswith("only in the profile p")
    profiled[".mvn/maven.config"] = "-P p"
    assert scope_of(profiled, "group/x/a").because.startswith("group/x is only in the profile p,")


@pytest.mark.parametrize(
    ("url", "flags"),
    [
        ("https://x/apache-maven-3.9.9-bin.zip", FLAGS),
        ("https://x/apache-maven-3.6.1-bin.zip", FLAGS),
        ("https://x/apache-maven-4.0.0-rc-3-bin.zip", FLAGS),
        ("https://x/apache-maven-3.6.0-bin.zip", "-q -B --fail-at-end"),
        ("https://x/apache-maven-3.6-bin.zip", "-q -B --fail-at-end"),
        ("https://x/apache-maven-2.2.1-bin.zip", "-q -B --fail-at-end"),
        ("https://x/mvnd-1.0.zip", FLAGS),
    ],
)
def test_the_wrapper_and_its_version(url: str, flags: str) -> None:
    files = {**SINGLE, "mvnw": "", SETTINGS: f"distributionUrl={url}\n"}
    plan = plan_of(files, executable="mvnw")
    assert plan.text == f"./mvnw {flags} verify"
    assert plan.reasons == ("pom.xml is there", "mvnw is there")
    assert plan_of(files).text == f"sh mvnw {flags} verify"


def test_a_wrapper_without_its_settings() -> None:
    plan = plan_of({**SINGLE, "mvnw": ""}, executable="mvnw")
    assert plan.text == WHOLE
    assert plan.reasons[1] == (f"mvnw is there without {SETTINGS}, so the installed `mvn` is used")


SUREFIRE, FAILSAFE = "target/surefire-reports", "target/failsafe-reports"
NO_MATTER = (
    "-DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false "
    "-Dfailsafe.failIfNoSpecifiedTests=false -Dit.failIfNoSpecifiedTests=false"
)


def alone(plan: BuildPlan, *failures: tuple[str, str]) -> str | None:
    assert plan.rerun_failed is not None
    steps = plan.rerun_failed([failing(name, suite=suite) for name, suite in failures])
    if steps is None:
        return None
    (step,) = steps
    return step.text


@pytest.mark.parametrize("change", [[], ["leaf/src/A.java"]])
def test_failing_tests_again(change: list[str]) -> None:
    found = alone(
        plan_of(SHOP, *change),
        ("p.B#one", f"leaf/{SUREFIRE}"),
        ("p.A#two(int)[1]", f"leaf/{SUREFIRE}"),
        ("p.A#one", f"group/x/{SUREFIRE}"),
        ("p.A#many[0]", f"leaf/{SUREFIRE}"),
    )
    assert found == (
        f"mvn {FLAGS} -Dmaven.test.failure.ignore=true "
        "'-Dtest=p.A#one+many+many[*]+two,p.B#one' -Dit.test=prjury.NoSuchTest -DskipITs "
        f"{NO_MATTER} -pl group/x,leaf -am verify"
    )


def test_failing_integration_tests_again() -> None:
    found = alone(plan_of(SHOP), ("p.AIT#one", f"leaf/{FAILSAFE}"))
    assert found == (
        f"mvn {FLAGS} -Dmaven.test.failure.ignore=true -Dtest=prjury.NoSuchTest "
        f"'-Dit.test=p.AIT#one' {NO_MATTER} -pl leaf -am verify"
    )
    both = alone(plan_of(SHOP), ("p.AIT#one", f"leaf/{FAILSAFE}"), ("p.A#a", f"leaf/{SUREFIRE}"))
    assert both is not None
    assert "'-Dtest=p.A#a' '-Dit.test=p.AIT#one' -DfailIfNoTests=false" in both


def test_a_report_by_its_file() -> None:
    found = alone(plan_of(SHOP), ("p.A#a", f"leaf/{SUREFIRE}/TEST-p.A.xml"))
    assert found == alone(plan_of(SHOP), ("p.A#a", f"leaf/{SUREFIRE}"))
    assert found is not None


def test_where_modules_cannot_be_chosen_all_are_gone_through() -> None:
    for files in (SINGLE, {**SHOP, "core/pom.xml": "<"}):
        found = alone(plan_of(files), ("p.A#a", SUREFIRE))
        assert found is not None
        assert f"-DskipITs {NO_MATTER} verify" in found
    odd = {
        "pom.xml": parent_pom("root", "a,b", "c"),
        "a,b/pom.xml": pom("${x}"),
        "c/pom.xml": pom("c"),
    }
    found = alone(plan_of(odd), ("p.A#a", f"a,b/{SUREFIRE}"), ("p.C#c", f"c/{SUREFIRE}"))
    assert found is not None
    assert f"{NO_MATTER} -pl .,c -am verify" in found


def test_tests_that_cannot_be_named() -> None:
    plan = plan_of(SHOP)
    assert alone(plan, ("p.A#a", f"leaf/{SUREFIRE}"), ("p.A#b c", f"leaf/{SUREFIRE}")) is None
    assert alone(plan, ("p.A#a", "leaf/target/other-reports")) is None
    assert alone(plan, ("p.A#a", "leaf/target/surefire-reports2")) is None
    assert alone(plan) is None


def below(directory: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{directory}/{path}": text for path, text in files.items()}


def test_reactors_below_the_root() -> None:
    files = {**below("back", SHOP), **below("tool", SINGLE), "front/package.json": "{}"}
    root = root_of(files)
    assert texts(plans(root, None)) == [f"cd back && {WHOLE}", f"cd tool && {WHOLE}"]
    assert texts(plans(root, touching("back/leaf/x", "front/x"))) == [
        f"cd back && mvn {FLAGS} -pl leaf -am verify"
    ]
    (plan,) = plans(root, touching("back/leaf/x"))
    assert plan.keep_going is not None
    assert plan.keep_going.directory == "back"
    found = alone(plan, ("p.A#a", f"back/leaf/{SUREFIRE}"))
    assert found is not None
    assert found.endswith(f"{NO_MATTER} -pl leaf -am verify")
    assert plans(root, touching("front/x")) == ()


def test_the_wrapper_and_the_options_of_the_root_count_below_it() -> None:
    files = {
        **below("back", SHOP), "mvnw": "", SETTINGS: "", ".mvn/maven.config": "-pl core\n",
    }  # fmt: skip
    root = root_of(files, executable="mvnw")
    (plan,) = plans(root, touching("back/leaf/x"))
    assert plan.text == f"cd back && ../mvnw {FLAGS} verify"
    assert plan.scope.because == ".mvn chooses the modules that Maven builds"
    (plan,) = plans(root, touching(".mvn/maven.config"))
    assert plan.scope.because == ".mvn changes, on which it depends"


def test_a_parent_that_only_is_inherited_from() -> None:
    files = {
        "pom.xml": parent_pom("root"),
        "back/pom.xml": pom("back"),
        "tool/pom.xml": pom("tool", path=""),
    }
    root = root_of(files)
    assert [plan.directory for plan in plans(root, None)] == ["", "back", "tool"]
    assert [plan.directory for plan in plans(root, touching("pom.xml"))] == ["", "back"]


def test_projects_that_no_reactor_has() -> None:
    files = {
        **SHOP,
        "own/pom.xml": pom("own", path=""),
        "bench/pom.xml": pom("bench", ["core"]),
        "bench/deep/pom.xml": pom("deep", ["bench"]),
        "core/src/main/some/pom.xml": pom("some", path=""),
        "samples/one/pom.xml": pom("one", path=""),
    }
    root = root_of(files)
    assert [plan.directory for plan in plans(root, None)] == ["", "own"]
    assert texts(plans(root, touching("own/x"))) == [f"cd own && {WHOLE}"]
    assert texts(plans(root, touching("bench/x"))) == [WHOLE]
    assert texts(plans(root, touching("core/src/main/some/pom.xml"))) == [
        f"mvn {FLAGS} -pl core,mid,leaf -am verify"
    ]
    unreadable = root_of({**files, "core/pom.xml": "<"})
    assert [plan.directory for plan in plans(unreadable, None)] == [""]


def test_a_flat_layout() -> None:
    files = {
        "main/pom.xml": parent_pom("root", "../core", "../mid"),
        "core/pom.xml": pom("core", path="../main/pom.xml"),
        "core/inner/pom.xml": pom("inner", parent="core"),
        "mid/pom.xml": pom("mid", ["core"], path="../main/pom.xml"),
    }
    root = root_of(files)
    assert texts(plans(root, None)) == [f"cd main && {WHOLE}"]
    (plan,) = plans(root, touching("core/x"))
    assert (plan.text, plan.scope.because) == (
        f"cd main && {WHOLE}", "core changes, on which it depends",
    )  # fmt: skip
    assert plans(root, touching("other/x")) == ()


def test_modules_of_a_profile_are_no_projects_of_their_own() -> None:
    files = {
        "pom.xml": parent_pom("root", "a", more=profile("p", modules("late"))),
        "a/pom.xml": pom("a"),
        "late/pom.xml": pom("late", path=""),
        "late/more/pom.xml": pom("more", path=""),
    }
    assert [plan.directory for plan in plans(root_of(files), None)] == [""]


def test_modules_are_not_read_where_everything_is_built() -> None:
    read: list[str] = []
    root = root_of({"pom.xml": parent_pom("root", "a"), "b.txt": ""})

    def reading(path: str) -> str:
        read.append(path)
        return ""

    (plan,) = plans(SourceTree(root.entries, lambda entry: reading(entry.path)), None)
    assert (plan.text, read) == (WHOLE, ["pom.xml"])


def test_modules_of_a_profile_below_a_parent_that_builds_nothing() -> None:
    files = {
        "pom.xml": parent_pom("root", more=profile("p", modules("late"))),
        "late/pom.xml": pom("late", path=""),
        "late/more/pom.xml": pom("more", path=""),
        "own/pom.xml": pom("own", path=""),
    }
    assert [plan.directory for plan in plans(root_of(files), None)] == ["", "own"]
