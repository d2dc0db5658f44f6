"""Versions that published parents and BOMs manage."""

from __future__ import annotations

import pytest

from prjury.manifests.lineage import find_managed, maven_chain
from prjury.manifests.maven import read_pom

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
    managed = find_managed(name, version).get(BOOT, "")
    assert managed.startswith(f"{boot}." if boot else managed)
    assert bool(managed) is (boot is not None)


def test_a_bom_by_a_property_counts_too() -> None:
    chain = maven_chain("pom.xml", {"pom.xml": read_pom(IMPORT.encode())})
    names = {str(one): one.version or "" for one in chain.list_declared()}
    assert names["jakarta.persistence:jakarta.persistence-api"].startswith("3.")


def test_what_the_tree_says_is_nearer() -> None:
    own = (
        "<dependencyManagement><dependencies><dependency>"
        "<groupId>org.springframework.boot</groupId><artifactId>spring-boot</artifactId>"
        "<version>2.7.0</version></dependency></dependencies></dependencyManagement>"
    )
    chain = maven_chain("pom.xml", {"pom.xml": read_pom(PARENT.format("4.0.6", own).encode())})
    versions = [one for one in chain.list_declared() if str(one) == BOOT]
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
    chain = maven_chain("b/pom.xml", shelf)
    assert [str(one) for one in chain.list_own()] == ["org.junit.vintage:junit-vintage-engine"]
    assert chain.name == "below"
