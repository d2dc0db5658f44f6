"""Versions that a Gradle build names by dotted keys of a catalog, or by constants of buildSrc."""

from __future__ import annotations

import pytest

from fakes.repository import BASE, FakeRepository, Files
from prjury.manifests.tree import BuildTree, build_files

CATALOG = """[versions]
sb.version = "3.5.1"
[libraries]
boot.bom.module = "org.springframework.boot:spring-boot-dependencies"
boot.bom.version.ref = "sb.version"
"""
CONSTANTS = 'object Versions {\n    const val KOTLIN_VERSION = "2.1.0"\n    val BOOT = "4.0.0"\n}\n'


def versions_in(files: Files) -> dict[str, str | None]:
    repository = FakeRepository({BASE: files})
    tree = BuildTree(repository, build_files(repository.files(BASE)))
    tree.load(["build.gradle.kts"])
    return {str(one): one.version for one in tree.chain("build.gradle.kts").list_declared()}


def test_dotted_keys_of_a_catalog_are_one_name() -> None:
    script = "dependencies { implementation(platform(libs.boot.bom)) }\n"
    files = {"build.gradle.kts": script, "gradle/libs.versions.toml": CATALOG}
    name = "org.springframework.boot:spring-boot-dependencies"
    assert versions_in(files)[name] == "3.5.1"


@pytest.mark.parametrize("folder", ["kotlin", "java"])
def test_constants_of_the_build_are_known(folder: str) -> None:
    script = (
        'plugins {\n  kotlin("jvm") version Versions.KOTLIN_VERSION\n'
        '  id("org.springframework.boot") version Versions.BOOT\n}\n'
        'dependencies { implementation("a:b:${Versions.BOOT}")\n }\n'
    )
    files = {"build.gradle.kts": script, f"buildSrc/src/main/{folder}/Versions.kt": CONSTANTS}
    versions = versions_in(files)
    assert versions["kotlin"] == "2.1.0"
    assert versions["a:b"] == "4.0.0"
    assert versions["org.springframework.boot:org.springframework.boot.gradle.plugin"] == "4.0.0"


def test_a_constant_that_nobody_defines_is_unknown() -> None:
    script = 'plugins { kotlin("jvm") version Versions.KOTLIN_VERSION }\n'
    assert versions_in({"build.gradle.kts": script})["kotlin"] is None
