from __future__ import annotations

import pytest

from fakes.maven import coordinates, dependencies, modules, pom, profile, project
from prjury.manifests import maven
from prjury.manifests.manifest import ManifestError
from prjury.manifests.maven import MavenName, Pom, PomPath, Profile

OWN = coordinates("a", "<version>1</version>")
PLUGINS = "org.apache.maven.plugins"


def read_pom(text: str) -> Pom:
    return maven.read_pom(text.encode())


def read(content: str) -> Pom:
    return read_pom(project(OWN + content))


def mentioned(content: str) -> set[str]:
    return {f"{found.group}:{found.artifact}" for found in read(content).mentions}


def test_a_build_file_by_itself() -> None:
    found = read("")
    assert (found.itself, found.packaging, found.parent_name) == (("shop", "a"), "jar", None)
    assert (found.mentions, found.places, found.profiles) == (frozenset(), frozenset(), ())
    assert (found.searches, found.aggregates) == (False, False)


def test_group_and_parent() -> None:
    read_ = read_pom(pom("b", ["c"], parent="p"))
    assert read_.itself == MavenName("shop", "b")
    assert (read_.parent_name, read_.parent_path) == (MavenName("shop", "p"), "../pom.xml")
    assert read_.mentions == {MavenName("shop", "p"), MavenName("shop", "c")}
    for written, path in (("../x", "../x"), ("", None), (" ", None)):
        assert read_pom(pom("b", path=written)).parent_path == path


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", '<?xml version="1.0" encoding="ISO-8859-1"?>'])
def test_what_surrounds_a_project(start: str, newline: str) -> None:
    text = start + project(OWN + "<!-- ä -->\n<name>é</name>").replace("\n", newline)
    assert read_pom(text).itself == MavenName("shop", "a")


def test_a_project_without_a_namespace() -> None:
    text = f"<project>{OWN}{modules('x')}</project>"
    assert read_pom(text).members == ("x",)


def test_modules_of_both_names_and_of_profiles() -> None:
    read_ = read(
        f"{modules('x', ' y/z ')}<subprojects><subproject>s</subproject></subprojects>"
        + profile("p", modules("in"))
    )
    assert read_.members == ("x", "y/z", "s")
    assert read_.profiles == (Profile("p", "off", ("in",)),)
    assert read_.aggregates
    assert read(profile("p", modules("in"))).aggregates
    assert not read(profile("p", "")).aggregates


@pytest.mark.parametrize(
    ("activation", "state", "switch"),
    [
        ("", "off", ""),
        ("<activeByDefault>false</activeByDefault>", "off", ""),
        ("<activeByDefault>true</activeByDefault>", "default", ""),
        ("<property><name>it</name></property>", "off", "it"),
        ("<property><name>it</name><value>yes</value></property>", "off", "it"),
        (
            "<activeByDefault>true</activeByDefault><property><name>it</name></property>",
            "default",
            "it",
        ),
        ("<property><name>it</name><value>!no</value></property>", "unknown", "it"),
        ("<property><name>!it</name></property>", "unknown", "!it"),
        ("<property><name>env.CI</name></property>", "unknown", "env.CI"),
        ("<property><name>java.version</name></property>", "unknown", "java.version"),
        ("<property><name>maven.x</name></property>", "unknown", "maven.x"),
        ("<property><name>${x}</name></property>", "unknown", "${x}"),
        ("<property/>", "unknown", ""),
        ("<jdk>[9,)</jdk>", "unknown", ""),
        ("<os><family>unix</family></os>", "unknown", ""),
        ("<file><exists>x</exists></file>", "unknown", ""),
        ("<activeByDefault>true</activeByDefault><jdk>9</jdk>", "unknown", ""),
    ],
)
def test_whether_a_profile_is_used(activation: str, state: str, switch: str) -> None:
    (found,) = read(profile("p", "", activation)).profiles
    assert (found.name, found.state, found.switch) == ("p", state, switch)


def test_everything_that_it_builds_with() -> None:
    jar = coordinates("tests", "<type>test-jar</type><scope>test</scope>")
    path = f"<annotationProcessorPaths><p>{coordinates('processor')}</p></annotationProcessorPaths>"
    item = f"<artifactItems><artifactItem>{coordinates('item')}</artifactItem></artifactItems>"
    plugin = (
        f"<plugin><artifactId>maven-x-plugin</artifactId>{dependencies('rules')}"
        f"<configuration>{path}</configuration><executions><execution><configuration>{item}"
        "</configuration></execution></executions></plugin>"
    )
    extension = f"<extensions><extension>{coordinates('wagon')}</extension></extensions>"
    assert mentioned(
        f"<dependencies><dependency>{jar}</dependency></dependencies><build>{extension}<plugins>{plugin}</plugins></build>"
        + profile("p", dependencies("late"))
    ) == {
        "shop:tests",
        f"{PLUGINS}:maven-x-plugin",
        "shop:rules",
        "shop:processor",
        "shop:item",
        "shop:wagon",
        "shop:late",
    }


def test_what_is_only_managed_is_not_built_with() -> None:
    managed = (
        f"<dependency>{coordinates('managed')}</dependency>"
        f"<dependency>{coordinates('bom', '<type>pom</type><scope>import</scope>')}</dependency>"
    )
    plugin = f"<plugin>{coordinates('own-plugin')}{dependencies('rules')}</plugin>"
    assert mentioned(
        f"<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>"
        f"<build><pluginManagement><plugins>{plugin}</plugins></pluginManagement></build>"
    ) == {"shop:bom", "shop:rules"}


def test_what_is_excluded_is_not_built_with() -> None:
    out = f"<exclusions><exclusion>{coordinates('out')}</exclusion></exclusions>"
    assert mentioned(
        f"<dependencies><dependency>{coordinates('in', out)}</dependency></dependencies>"
    ) == {"shop:in"}


def test_an_element_without_a_group() -> None:
    assert mentioned("<build><x><y><artifactId>any</artifactId></y></x></build>") == {":any"}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("../b/src", {PomPath("module", "../b/src")}),
        ("${project.basedir}/../b", {PomPath("module", "../b")}),
        ("${basedir}/../b", {PomPath("module", "../b")}),
        ("..\\b\\src", {PomPath("module", "../b/src")}),
        ("../b/${x}/c", {PomPath("module", "../b")}),
        ("${maven.multiModuleProjectDirectory}/b/c.xml", {PomPath("root", "b/c.xml")}),
        ("${session.executionRootDirectory}/b", {PomPath("root", "b")}),
        ("${project.parent.basedir}/b", {PomPath("parent", "b")}),
        ("-Da=../a -Db=../b,../c", {PomPath("module", f"../{name}") for name in "abc"}),
        ("src/main", set()),
        ("${project.basedir}/src", set()),
        ("${project.build.directory}/../x", set()),
        ("${maven.multiModuleProjectDirectory}", set()),
        ("${maven.multiModuleProjectDirectory}/${x}", set()),
        ("a..b/c", set()),
    ],
)
def test_places_outside_of_the_module(text: str, places: set[PomPath]) -> None:
    assert read(f"<build><x>{text}</x></build>").places == places
    assert read(f"<properties><x>{text}</x></properties>").places == places
    assert read(profile("p", f"<build><x>{text}</x></build>")).places == places
    assert read(f"<url>{text}</url>").places == set()


@pytest.mark.parametrize(
    ("version", "content", "searches"),
    [
        ("4.0.0", "<packaging>pom</packaging>", False),
        ("4.1.0", "<packaging>pom</packaging>", True),
        ("5.0", "<packaging>pom</packaging>", True),
        ("4.1.0", "", False),
        ("4.1.0", f"<packaging>pom</packaging>{modules('x')}", False),
        ("x", "<packaging>pom</packaging>", False),
        ("²", "<packaging>pom</packaging>", False),
    ],
)
def test_a_version_that_searches_for_modules(version: str, content: str, *, searches: bool) -> None:
    text = project(OWN + content).replace("4.0.0</modelVersion>", f"{version}</modelVersion>")
    assert read_pom(text).searches is searches


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not XML: .*"),
        ("<project>", "not XML: .*"),
        ("<project>&nbsp;</project>", "not XML: .*"),
        ("<html></html>", "it has no <project>"),
        ("<!DOCTYPE project><project/>", "it has a DTD or entities, which are refused"),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]><project>&a;</project>',
            "it has a DTD or entities, which are refused",
        ),
        (f"<project>{'<a>' * 101}{'</a>' * 101}</project>", "nested deeper than 60 levels"),
        (f"<project>{'<a>' * 9**5}{'</a>' * 9**5}</project>", "nested deeper than 60 levels"),
    ],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(ManifestError, match=f"^{why}$"):
        read_pom(text)


def test_the_deepest_that_is_read() -> None:
    inner = "<a>" * 57 + "</a>" * 57
    assert read(f"<properties>{inner}</properties>").itself == MavenName("shop", "a")
