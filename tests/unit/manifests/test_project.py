"""Modules, parents, properties: which version holds for a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.repository import BASE, FakeRepository, Files, blob_of, pull_between
from prjury.manifests.lineage import find_bom_versions, make_maven_chain
from prjury.manifests.maven import read_pom
from prjury.manifests.module import ManifestModule, Requirement, Truth
from prjury.manifests.project import NOWHERE, Project
from prjury.manifests.syntax import fill_properties
from unit.judges.patterns.bench import dependency, pom

FOUR = Requirement.parse("maven:org.springframework.boot >=4.0")
FILE = "m/src/A.java"


def module_of(
    base: Files, after: Files | None = None, path: str = FILE, gone: set[str] | None = None
) -> ManifestModule:
    head = {**(base if after is None else after), path: "x"}
    repository = FakeRepository({BASE: base}, gone=gone or set())
    project = Project.read(pull_between(base, head), _with(repository, head), [path])
    return project.of_file[path].head


def _with(repository: FakeRepository, head: Files) -> FakeRepository:
    return FakeRepository({**repository.commits, "head": head}, gone=repository.gone)


def child(name: str = "m", parent: str = "app", more: str = "", where: str | None = None) -> str:
    place = "" if where is None else f"<relativePath>{where}</relativePath>"
    return (
        f"<project><parent><groupId>g</groupId><artifactId>{parent}</artifactId>"
        f"<version>1</version>{place}</parent><artifactId>{name}</artifactId>{more}</project>"
    )


def root(version: str = "4.1.1", more: str = "") -> str:
    bom = dependency(
        f"org.springframework.boot:spring-boot-dependencies:{version}", "<scope>import</scope>"
    )
    return (
        "<project><groupId>g</groupId><artifactId>app</artifactId><version>1</version>"
        "<dependencyManagement><dependencies>"
        f"{bom}</dependencies></dependencyManagement>{more}</project>"
    )


def properties(**values: str) -> str:
    inside = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    return f"<properties>{inside}</properties>"


@pytest.mark.parametrize(
    ("base", "truth"),
    [
        ({"pom.xml": root()}, Truth.YES),
        ({"pom.xml": root(), "m/pom.xml": child()}, Truth.YES),
        ({"pom.xml": root("3.5.0"), "m/pom.xml": child()}, Truth.NO),
        ({"pom.xml": root("${v}", properties(v="4.0.0")), "m/pom.xml": child()}, Truth.YES),
        (
            {
                "pom.xml": root("${v}", properties(v="3.0.0")),
                "m/pom.xml": child(more=properties(v="4.0.0")),
            },
            Truth.YES,
        ),
        ({"pom.xml": root("${v}", properties(v="${w}", w="4.0.0"))}, Truth.YES),
        ({"pom.xml": root("${v}", properties(v="${w}", w="${v}"))}, Truth.UNKNOWN),
        ({"pom.xml": root("${v}")}, Truth.UNKNOWN),
        ({"pom.xml": root("${project.version}")}, Truth.NO),
        ({"pom.xml": pom("4.0.0")}, Truth.YES),
        ({"up/pom.xml": root(), "m/pom.xml": child(where="../up")}, Truth.YES),
        ({"up/pom.xml": root(), "m/pom.xml": child(where="../up/pom.xml")}, Truth.YES),
        ({"pom.xml": root(), "m/pom.xml": child(where="")}, Truth.ABSENT),
        ({"pom.xml": root(), "m/pom.xml": child(parent="other")}, Truth.ABSENT),
        ({"pom.xml": root(), "m/pom.xml": child(where="../../../etc/passwd")}, Truth.ABSENT),
        ({"pom.xml": root(), "m/pom.xml": child(where="/etc/passwd.xml")}, Truth.ABSENT),
        ({"pom.xml": child("app"), "m/pom.xml": child()}, Truth.ABSENT),
        ({"pom.xml": "<project>", "m/pom.xml": child()}, Truth.UNKNOWN),
        ({"m/pom.xml": "junk"}, Truth.UNKNOWN),
        ({}, Truth.ABSENT),
    ],
)
def test_what_a_module_says_of_boot_4(base: Files, truth: Truth) -> None:
    assert module_of(base).truth(FOUR) is truth


def test_no_build_file_is_nowhere() -> None:
    assert module_of({}) is NOWHERE


def test_a_ring_of_parents_ends() -> None:
    ring = {"pom.xml": child("app", "m", where="m/pom.xml"), "m/pom.xml": child()}
    module = module_of(ring)
    assert module.broken
    assert "is its own ancestor" in module.notes[0]


def test_a_missing_object_is_noted() -> None:
    module = module_of({"pom.xml": root()}, gone={blob_of(root())})
    assert module.broken
    assert module.notes == ("pom.xml: its content is missing from this clone (partial or damaged)",)


def test_a_symbolic_link_is_no_build_file() -> None:
    base = {"pom.xml": root(), "m/pom.xml": "../elsewhere"}
    repository = FakeRepository({BASE: base}, modes={"m/pom.xml": "120000"})
    project = Project.read(pull_between(base, {**base, FILE: "x"}), repository, [FILE])
    assert project.of_file[FILE].head.path == "pom.xml"


def test_a_build_file_that_goes_away_counts_no_more() -> None:
    base = {"pom.xml": root(), "m/pom.xml": child(where="")}
    after = {"pom.xml": root()}
    module = module_of(base, after)
    assert (module.path, module.truth(FOUR), module.at) == ("pom.xml", Truth.YES, "base")


NAMES = st.sampled_from(["a", "b", "c"])


@given(
    st.dictionaries(
        NAMES, st.lists(NAMES.map(lambda n: f"${{{n}}}") | st.just("1"), max_size=9).map("".join)
    )
)
def test_properties_always_come_to_an_end(values: dict[str, str]) -> None:
    result = fill_properties("${a}-${b}", values)
    assert result is None or "$" not in result


BOM = "dependencies { api platform('org.springframework.boot:spring-boot-dependencies:4.1.1') }\n"
OLD_BOM = BOM.replace("4.1.1", "3.5.0")


PLATFORM = "dependencies { implementation platform(project(':deps')) }\n"


@pytest.mark.parametrize(
    ("base", "truth"),
    [
        ({"m/build.gradle": PLATFORM, "deps/build.gradle": BOM}, Truth.YES),
        ({"m/build.gradle": PLATFORM, "deps/build.gradle.kts": OLD_BOM}, Truth.NO),
        ({"m/build.gradle": PLATFORM, "platform/deps.gradle": BOM}, Truth.YES),
        (
            {"m/build.gradle": PLATFORM, "platform/deps.gradle": BOM, "b/deps.gradle": BOM},
            Truth.ABSENT,
        ),
        (
            {
                "m/build.gradle": PLATFORM,
                "deps/build.gradle": PLATFORM.replace("deps", "a:b"),
                "a/b/build.gradle": BOM,
            },
            Truth.YES,
        ),
        ({"m/build.gradle": PLATFORM + OLD_BOM, "m/deps/build.gradle": BOM}, Truth.NO),
        ({"m/build.gradle": PLATFORM}, Truth.ABSENT),
        ({"m/build.gradle": PLATFORM.replace(":deps", ":m")}, Truth.ABSENT),
        (
            {
                "m/build.gradle": PLATFORM,
                "deps/build.gradle": "dependencies { api platform(libs.boot) }\n",
                "gradle/libs.versions.toml": (
                    '[libraries]\nboot = "org.springframework.boot:spring-boot-dependencies:4.1"\n'
                ),
            },
            Truth.YES,
        ),
    ],
)
def test_the_platform_of_another_project_is_followed(base: Files, truth: Truth) -> None:
    module = module_of({"settings.gradle": "include 'm', 'deps'\n", **base})

    assert module.truth(FOUR) is truth


def test_a_changed_platform_moves_the_module() -> None:
    base = {"m/build.gradle": PLATFORM, "deps/build.gradle": OLD_BOM}

    module = module_of(base, {**base, "deps/build.gradle": BOM})

    assert (module.truth(FOUR), module.at) == (Truth.YES, "head")


BOOT = "org.springframework.boot:spring-boot"
PARENT = (
    "<project><parent><groupId>org.springframework.cloud</groupId>"
    "<artifactId>spring-cloud-build</artifactId><version>{}</version><relativePath/></parent>"
    "<artifactId>a</artifactId>{}</project>"
)
IMPORT = (
    "<project><artifactId>a</artifactId><properties><v>3.20.1</v></properties>"
    "<dependencyManagement><dependencies><dependency><groupId>io.quarkus.platform</groupId>"
    "<artifactId>quarkus-bom</artifactId><version>${v}</version><type>pom</type>"
    "<scope>import</scope></dependency></dependencies></dependencyManagement></project>"
)


@pytest.mark.parametrize(
    ("name", "version", "boot"),
    [
        ("org.springframework.cloud:spring-cloud-build", "3.1.2", "2.6"),
        ("org.springframework.cloud:spring-cloud-build", "4.0.6", "3.0"),
        ("org.springframework.cloud:spring-cloud-build", "5.0.1", "4.0"),
        ("org.springframework.cloud:spring-cloud-build", "5.9.0-SNAPSHOT", "4.0"),
        ("org.springframework.cloud:spring-cloud-build", "5.0.0-RC1", "4.0"),
        ("org.springframework.cloud:spring-cloud-build", "5.0.0-SNAPSHOT", "[3.5"),
        ("org.springframework.cloud:spring-cloud-build", "5.0.0-M2", "[3.5"),
        ("org.springframework.cloud:spring-cloud-build", "5.0.1-SNAPSHOT", "4.0"),
        ("org.springframework.cloud:spring-cloud-build", "3.1.0-SNAPSHOT", "2.6"),
        ("org.springframework.cloud:spring-cloud-build", "6.0.0", None),
        ("org.springframework.cloud:spring-cloud-build", "${v}", None),
        ("org.springframework.cloud:spring-cloud-build", None, None),
        ("org.acme:parent", "4.0.6", None),
    ],
)
def test_a_version_stands_for_its_minor_line_or_the_last_before(
    name: str, version: str | None, boot: str | None
) -> None:
    managed = find_bom_versions(name, version).get(BOOT, "")
    assert managed.startswith(f"{boot}." if boot else managed)
    assert bool(managed) is (boot is not None)


def test_a_bom_by_a_property_counts_too() -> None:
    chain = make_maven_chain("pom.xml", {"pom.xml": read_pom(IMPORT.encode())})
    names = {str(one): one.version or "" for one in chain.list_resolved()}
    assert names["jakarta.persistence:jakarta.persistence-api"].startswith("3.")


def test_what_the_tree_says_is_nearer() -> None:
    own = (
        "<dependencyManagement><dependencies><dependency>"
        "<groupId>org.springframework.boot</groupId><artifactId>spring-boot</artifactId>"
        "<version>2.7.0</version></dependency></dependencies></dependencyManagement>"
    )
    chain = make_maven_chain("pom.xml", {"pom.xml": read_pom(PARENT.format("4.0.6", own).encode())})
    versions = [one for one in chain.list_resolved() if str(one) == BOOT]
    assert min(versions).version == "2.7.0"


def test_dependencies_of_a_parent_in_the_tree_are_asked_for() -> None:
    above = (
        "<project><groupId>a</groupId><artifactId>above</artifactId><version>1</version>"
        "<dependencies><dependency><groupId>org.junit.vintage</groupId>"
        "<artifactId>junit-vintage-engine</artifactId></dependency></dependencies></project>"
    )
    below = (
        "<project><parent><groupId>a</groupId><artifactId>above</artifactId><version>1</version>"
        "</parent><artifactId>below</artifactId></project>"
    )
    shelf = {"pom.xml": read_pom(above.encode()), "b/pom.xml": read_pom(below.encode())}
    chain = make_maven_chain("b/pom.xml", shelf)
    [own] = chain.list_own(chain.list_resolved())
    assert str(own) == "org.junit.vintage:junit-vintage-engine"
    assert chain.name == "below"


OLD = "com.fasterxml.jackson.core:jackson-databind"
INCLUDES = {"settings.gradle": "include 'm', 'a', 'b', 'data-api'\n"}


def script(*lines: str) -> str:
    return "\n".join(["dependencies {", *lines, "}", ""])


def member(name: str, *dependencies: str) -> str:
    return child(name, more=f"<dependencies>{''.join(dependencies)}</dependencies>")


@pytest.mark.parametrize(
    ("base", "main", "tests"),
    [
        (
            {
                "m/build.gradle": script("implementation project(':a')"),
                "a/build.gradle": script(f"api '{OLD}'"),
            },
            True,
            True,
        ),
        (
            {
                "m/build.gradle": script("implementation project(path: ':a')"),
                "a/build.gradle": script("api(project(':b'))"),
                "b/build.gradle": script("api libs.old.one"),
                "gradle/libs.versions.toml": (f'[libraries]\nold-one = "{OLD}:2"\n'),
            },
            True,
            True,
        ),
        (
            {
                "m/build.gradle": script("implementation project(':a')"),
                "a/build.gradle": script(f"implementation '{OLD}'"),
            },
            False,
            False,
        ),
        (
            {
                "m/build.gradle.kts": script("implementation(projects.dataApi)"),
                "data-api/build.gradle.kts": script(f'api("{OLD}")'),
            },
            True,
            True,
        ),
        (
            {
                "m/build.gradle": script("testImplementation project(':a')"),
                "a/build.gradle": script(f"api '{OLD}'"),
            },
            False,
            False,
        ),
        (
            {
                "m/build.gradle": script("runtimeOnly project(':a')"),
                "a/build.gradle": script(f"api '{OLD}'"),
            },
            False,
            False,
        ),
        ({"m/build.gradle": script(f"testImplementation '{OLD}'")}, False, True),
        ({"build.gradle": script(f"compile '{OLD}'"), "m/build.gradle": ""}, False, False),
        (
            {
                "pom.xml": root(),
                "m/pom.xml": member("m", dependency(f"{OLD}:2", "<scope>test</scope>")),
            },
            False,
            True,
        ),
    ],
)
def test_what_other_projects_bring_along(base: Files, main: bool, tests: bool) -> None:
    places = ["m/src/main/java/A.java", "m/src/test/java/ATest.java"]
    modules = [module_of({**INCLUDES, **base}, path=path) for path in places]

    asked = [OLD in map(str, module.requested) for module in modules]

    assert asked == [main, tests]


def test_a_sibling_whose_dependencies_change_moves_the_module() -> None:
    base = {
        "m/build.gradle": script("implementation project(':a')"),
        "a/build.gradle": script("api 'org.springframework.boot:a:3.5'"),
    }
    after = {**base, "a/build.gradle": script("api 'org.springframework.boot:a:4.1'")}

    module = module_of({**INCLUDES, **base}, {**INCLUDES, **after})

    assert (module.truth(FOUR), module.at) == (Truth.YES, "head")
