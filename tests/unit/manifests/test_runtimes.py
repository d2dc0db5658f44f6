"""Which Java, Kotlin and Gradle a build asks for."""

from __future__ import annotations

import pytest

from prjury.manifests.gradle import read_script
from prjury.manifests.manifest import Manifest
from prjury.manifests.maven import read_pom


def runtimes(manifest: Manifest) -> list[tuple[str, str | None]]:
    return [(c.artifact, c.version) for c in manifest.coordinates if c.ecosystem == "runtime"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("sourceCompatibility = JavaVersion.VERSION_17", [("java", "17")]),
        ("sourceCompatibility = JavaVersion.VERSION_1_8", [("java", "1.8")]),
        ("sourceCompatibility = '11'", [("java", "11")]),
        ("sourceCompatibility 1.8", [("java", "1.8")]),
        ("languageVersion = JavaLanguageVersion.of(21)", [("java", "21")]),
        ("kotlin { jvmToolchain(17) }", [("java", "17")]),
        ("options.release = 11\nlanguageVersion = JavaLanguageVersion.of(21)", [("java", "11")]),
        ("options.release.set(11)", [("java", "11")]),
        ("// sourceCompatibility = '11'", []),
        ('kotlin("jvm") version "2.0.21"', [("kotlin", "2.0.21")]),
        ("id 'org.jetbrains.kotlin.jvm' version '1.9.0'", [("kotlin", "1.9.0")]),
        ("sourceCompatibility = javaVersion", []),
    ],
)
def test_a_gradle_script(script: str, expected: list[tuple[str, str]]) -> None:
    assert runtimes(read_script(script, {})) == expected


def project(inside: str) -> Manifest:
    return read_pom(f"<project><artifactId>a</artifactId>{inside}</project>".encode())


def test_a_pom() -> None:
    java = "<properties><java.version>17</java.version><kotlin.version>2.0.0</kotlin.version>"
    assert runtimes(project(f"{java}</properties>")) == [
        ("java", "${java.version}"),
        ("kotlin", "${kotlin.version}"),
    ]
    release = "<maven.compiler.release>21</maven.compiler.release></properties>"
    assert runtimes(project(f"{java}{release}"))[0] == ("java", "${maven.compiler.release}")


def test_the_plugins_of_a_pom() -> None:
    compiler = (
        "<plugin><artifactId>maven-compiler-plugin</artifactId>"
        "<configuration><source>8</source><release>11</release></configuration></plugin>"
    )
    kotlin = (
        "<plugin><groupId>org.jetbrains.kotlin</groupId>"
        "<artifactId>kotlin-maven-plugin</artifactId><version>1.9.0</version></plugin>"
    )
    found = project(f"<build><plugins>{compiler}{kotlin}</plugins></build>")
    assert runtimes(found) == [("java", "11"), ("kotlin", "1.9.0")]
