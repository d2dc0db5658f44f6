"""Reading Gradle builds, as far as that is possible without running them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from fakes.repository import BASE, FakeRepository, Files
from prjury.manifests.gradle import (
    Catalog,
    read_catalog,
    read_catalog_bytes,
    read_offered,
    read_script,
)
from prjury.manifests.manifest import ManifestError, Role
from prjury.manifests.tree import BuildTree, build_files
from unit.judges.patterns.bench import found, judged

TEXTS = yaml.safe_load(Path(__file__).with_name("gradle.yml").read_text())
ENTITY = "import javax.persistence.Entity;\n"
FINDING = [("jakarta/persistence", "error", 1)]
HINT = [("jakarta/persistence", "hint", 1)]


def told(text: str) -> list[tuple[Role, str, str | None]]:
    return [(c.role, str(c), c.version) for c in read_script(text, Catalog()).coordinates]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("id 'a.b' version '1.2'", (Role.PLUGIN, "a.b:a.b.gradle.plugin", "1.2")),
        ('id("a.b") version "1.2"', (Role.PLUGIN, "a.b:a.b.gradle.plugin", "1.2")),
        ("implementation 'g:a:1'", (Role.DEPENDENCY, "g:a", "1")),
        ('implementation("g:a")', (Role.DEPENDENCY, "g:a", None)),
        ('implementation("g:a:1:sources@jar")', (Role.DEPENDENCY, "g:a", "1")),
        ('implementation(platform("g:bom:1"))', (Role.BOM, "g:bom", "1")),
        ('mavenBom "g:bom:${v}"', (Role.BOM, "g:bom", "${v}")),
        ("api group: 'g', name: 'a', version: '1'", (Role.DEPENDENCY, "g:a", "1")),
        ('api(group = "g", name = "a")', (Role.DEPENDENCY, "g:a", None)),
        ('implementation("g", "a", "1")', (Role.DEPENDENCY, "g:a", "1")),
        ('testRuntimeOnly("g", "a")', (Role.DEPENDENCY, "g:a", None)),
        ('api("g", "a", someVersion)', (Role.DEPENDENCY, "g:a", "${someVersion}")),
    ],
)
def test_declarations(line: str, expected: tuple[Role, str, str | None]) -> None:
    assert told(line) == [expected]


@pytest.mark.parametrize("line", TEXTS["nothing"])
def test_what_declares_nothing(line: str) -> None:
    assert told(line) == []


def test_lines_are_those_of_git() -> None:
    [coordinate] = read_script("x\ny\rimplementation 'g:a:1'\n", Catalog()).coordinates
    assert coordinate.lines == (2,)


def test_a_catalog() -> None:
    catalog = read_catalog(TEXTS["catalog"])
    versions = {
        alias.removeprefix("libs."): (str(c), c.version) for alias, (c,) in catalog.entries.items()
    }
    assert versions["short"] == ("g:a", "1")
    assert versions["jackson.databind"] == ("c:d", "1.2")
    assert versions["parts"] == ("e:f", "2")
    assert versions["bare"] == ("h:i", None)
    assert versions["plugins.spring.boot"][1] == "4.0.0"
    assert versions["plugins.plug"][1] == "3"


@pytest.mark.parametrize(
    "entry",
    [
        '[libraries]\nx.module = "org.jetbrains.kotlin:kotlin-gradle-plugin"\nx.version.ref = "k"',
        '[plugins]\nx = { id = "org.jetbrains.kotlin.jvm", version.ref = "k" }',
    ],
)
def test_a_catalog_says_which_kotlin_compiles(entry: str) -> None:
    manifest = read_catalog_bytes(f'[versions]\nk = "2.2.21"\n{entry}\n'.encode())
    kotlin = [each for each in manifest.coordinates if each.ecosystem == "runtime"]
    assert [(each.artifact, each.version) for each in kotlin] == [("kotlin", "2.2.21")]


@pytest.mark.parametrize("text", ["[", "a = " + "[" * 5000])
def test_a_catalog_that_is_no_toml(text: str) -> None:
    with pytest.raises(ManifestError, match="not TOML"):
        read_catalog(text)


@pytest.mark.parametrize("text", ["versions = 3", "libraries = []", "[libraries]\na = 3"])
def test_a_catalog_without_anything_in_it(text: str) -> None:
    assert read_catalog(text).entries == {}


BOOT = 'plugins { id("org.springframework.boot") version "%s" }\n'


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ({"build.gradle.kts": BOOT % "4.0.0"}, FINDING),
        ({"build.gradle.kts": BOOT % "2.7.0"}, []),
        ({"build.gradle": "ext { v = '3.1.0' }\n" + BOOT % "${v}"}, FINDING),
        ({"build.gradle": BOOT % "$v", "gradle.properties": "v=3.1.0\n"}, FINDING),
        ({"build.gradle": BOOT % "$unknown"}, HINT),
        ({"build.gradle": "", "settings.gradle": BOOT % "4.0.0"}, FINDING),
        (
            {
                "build.gradle.kts": "plugins { alias(libs.plugins.boot) }",
                "gradle/libs.versions.toml": '[plugins]\nboot = "org.springframework.boot:4.0.0"\n',
            },
            FINDING,
        ),
        ({"build.gradle": "", "gradle/libs.versions.toml": "["}, HINT),
        ({"build.gradle": BOOT % "4.0.0", "app/build.gradle": "dependencies {}\n"}, FINDING),
        (
            {
                "build.gradle": BOOT % "4.0.0",
                "app/build.gradle": "api 'javax.persistence:javax.persistence-api:2.2'",
            },
            [],
        ),
    ],
)
def test_the_version_of_a_gradle_project(base: Files, expected: list[tuple[str, str, int]]) -> None:
    assert found(judged(base, {**base, "app/src/A.java": ENTITY})) == expected


OLD = "api 'javax.persistence:javax.persistence-api:2.2'\n"
SET = "dependency 'org.springframework.boot:spring-boot:%s'\n"


@pytest.mark.parametrize(
    "script", ["app/app.gradle", "app/app.gradle.kts", "gradle/old.gradle", "app/gradle/a.gradle"]
)
def test_no_new_script_exempts_its_own_pull_request(script: str) -> None:
    base = {"build.gradle": BOOT % "4.0.0", "app/src/B.java": "class B {}\n"}
    after = {**base, script: OLD, "app/src/A.java": ENTITY}
    assert FINDING[0] in found(judged(base, after))


def test_no_new_shared_script_hides_the_version_of_another() -> None:
    base = {"build.gradle": "", "gradle/a.gradle": SET % "3.1.0"}
    after = {**base, "gradle/b.gradle": SET % "2.7.0", "app/src/A.java": ENTITY}
    assert found(judged(base, after)) == FINDING


def test_modules_share_the_aliases_of_a_catalog() -> None:
    catalog = '[libraries]\nx = "g:a:1"\n'
    scripts = {f"{module}/build.gradle": "api(libs.x)" for module in "ab"}
    repository = FakeRepository({"tree": {"gradle/libs.versions.toml": catalog, **scripts}})
    tree = BuildTree(repository, build_files(repository.files("tree")))
    tree.load_with_inherited(scripts)
    for script in scripts:
        chain = tree.make_chain(script)
        assert [str(each) for each in chain.list_own(chain.list_resolved())] == ["g:a"]


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
    tree.load_with_inherited(["build.gradle.kts"])
    return {str(one): one.version for one in tree.make_chain("build.gradle.kts").list_resolved()}


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


def test_a_version_of_a_catalog_may_stand_in_a_script() -> None:
    script = (
        'plugins { id("org.springframework.boot") version libs.versions.boot.get() }\n'
        "java { toolchain { languageVersion = JavaLanguageVersion.of(libs.versions.jdk.get()) } }\n"
        'dependencies { implementation("a:b:${libs.versions.boot.get()}") }\n'
    )
    catalog = '[versions]\nboot = "4.0.0"\njdk = "21"\n'
    versions = versions_in({"build.gradle.kts": script, "gradle/libs.versions.toml": catalog})
    assert versions["org.springframework.boot:org.springframework.boot.gradle.plugin"] == "4.0.0"
    assert versions["a:b"] == "4.0.0"
    assert versions["java"] == "21"


def test_a_bundle_of_a_catalog_is_what_is_in_it() -> None:
    catalog = '[libraries]\na = "g:a:1"\nb-c = "g:b:2"\n[bundles]\nall-of = ["a", "b-c"]\n'
    script = "dependencies { implementation(libs.bundles.all.of) }\n"
    files = {"build.gradle.kts": script, "gradle/libs.versions.toml": catalog}
    assert list(asked(files, "build.gradle.kts").items()) == [("g:a", "1"), ("g:b", "2")]


def test_a_catalog_of_another_name() -> None:
    catalog = '[libraries]\nboot = "org.springframework.boot:spring-boot-dependencies:3.5.1"\n'
    base = {"gradle/deps.versions.toml": catalog, "gradle/libs.versions.toml": ""}
    for call in ("platform(deps.boot)", 'platform(deps.findLibrary("boot").get())'):
        script = f"dependencies {{ implementation({call}) }}\n"
        files = {**base, "build.gradle.kts": script}
        assert found(judged(files, {**files, "src/A.java": ENTITY})) == FINDING
    files = {**base, "build.gradle.kts": "dependencies { implementation(libs.boot) }\n"}
    assert "org.springframework.boot:spring-boot" not in versions_in(files)


CONVENTIONS = (
    "plugins { id 'java-library' }\n"
    "dependencies { api(platform('org.springframework.boot:spring-boot-dependencies:%s')) }\n"
)


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("buildSrc/src/main/groovy/shop.java.gradle", "plugins { id 'shop.java' }\n"),
        ("build-logic/src/main/kotlin/shop.java.gradle.kts", "plugins {\n  `shop.java`\n}\n"),
        ("build-logic/src/main/kotlin/shop/java.gradle.kts", 'plugins { id("shop.java") }\n'),
        ("build-logic/src/main/groovy/shop.java.gradle", "apply plugin: 'shop.java'\n"),
    ],
)
def test_a_plugin_of_the_build_declares_for_those_who_apply_it(path: str, script: str) -> None:
    base = {path: CONVENTIONS % "3.1.0", "app/build.gradle": script, "build.gradle": ""}
    assert found(judged(base, {**base, "app/src/A.java": ENTITY})) == FINDING
    other = {**base, "app/build.gradle": "plugins { id 'java' }\n", "build.gradle": script}
    assert found(judged(other, {**other, "app/src/A.java": ENTITY})) == []


def test_a_plugin_of_the_build_may_apply_another() -> None:
    sources = "buildSrc/src/main/groovy"
    base = {
        f"{sources}/shop.base.gradle": CONVENTIONS % "3.1.0",
        f"{sources}/shop.web.gradle": "plugins { id 'shop.base' }\n",
        "app/build.gradle": "plugins { id 'shop.web' }\n",
    }
    assert found(judged(base, {**base, "app/src/A.java": ENTITY})) == FINDING
    base[f"{sources}/shop.base.gradle"] = "plugins { id 'shop.web' }\n"
    assert found(judged(base, {**base, "app/src/A.java": ENTITY})) == []


JUNIT_4 = "import org.junit.Test;\n"


def asked(files: Files, script: str) -> dict[str, str | None]:
    repository = FakeRepository({BASE: files})
    tree = BuildTree(repository, build_files(repository.files(BASE)))
    tree.load_with_inherited([script])
    chain = tree.make_chain(script)
    return {str(each): each.version for each in chain.list_own(chain.list_resolved())}


def test_maps_offer_what_scripts_ask_for() -> None:
    base = {
        "build.gradle": TEXTS["for_all"],
        "libraries.gradle": TEXTS["libraries"],
        "retry/build.gradle": TEXTS["of_one"],
    }
    assert asked(base, "retry/build.gradle") == {
        "org.slf4j:slf4j-api": "1.7.30",
        "junit:junit": "4.12",
        "org.springframework.boot:spring-boot-starter-test": "3.2.0",
    }
    path = "retry/src/test/java/A.java"
    assert found(judged(base, {**base, path: JUNIT_4})) == []
    base["build.gradle"] = TEXTS["for_all"].replace("testImplementation (libraries.junit)", "")
    assert [name for name, *_ in found(judged(base, {**base, path: JUNIT_4}))] == [
        "junit-6/junit4-test"
    ]


@pytest.mark.parametrize(
    "call", ["libs.junitJupiter", 'libs["junitJupiter"]', "rootProject.ext.libs.junitJupiter"]
)
def test_versions_may_be_a_map_too(call: str) -> None:
    script = f"dependencies {{ testImplementation {call} }}\n"
    files = {"build.gradle": script, "gradle/dependencies.gradle": TEXTS["kafka"]}
    assert asked(files, "build.gradle") == {"org.junit.jupiter:junit-jupiter": "5.10.2"}


def test_a_settings_script_describes_catalogs() -> None:
    script = """
subprojects {
    dependencies {
        implementation libs.spring.core
        testImplementation testLibs.bundles.junit
    }
}
"""
    own = "dependencies {\n api libs.commons.io\n api more.slf4j\n}\n"
    files = {"settings.gradle": TEXTS["settings"], "build.gradle": script, "a/build.gradle": own}
    assert asked(files, "a/build.gradle") == {
        "commons-io:commons-io": "2.15.1",
        "org.slf4j:slf4j-api": "2.0.6",
        "org.springframework:spring-core": "5.3.28",
        "org.junit.jupiter:junit-jupiter": "5.8.2",
        "org.junit.jupiter:junit-jupiter-params": "5.8.2",
    }
    path = "a/src/test/java/A.java"
    assert found(judged(files, {**files, path: JUNIT_4})) == [("junit-6/junit4-test", "error", 1)]


DESCRIBED = "versionCatalogs {\n create('libs') {\n%s\n}\n}\n"


@pytest.mark.parametrize(("entries", "version"), TEXTS["described"])
def test_versions_of_described_catalogs(entries: str, version: str | None) -> None:
    script = 'dependencies {\n api libs.a\n api "h:b:${libs.versions.v.get()}"\n}\n'
    files = {"settings.gradle": DESCRIBED % entries, "build.gradle": script}
    named = version if "version('v'" in entries else None
    assert asked(files, "build.gradle") == {"g:a": version, "h:b": named}


@pytest.mark.parametrize(("name", "call"), [("context", "context.a"), ("ext.libs", "libs.a")])
def test_only_whole_words_of_a_maps_name_are_left_out(name: str, call: str) -> None:
    files = {"gradle/a.gradle": f"{name} = [\n a: 'g:a:1'\n]\n"}
    files["build.gradle"] = f"dependencies {{\n api {call}\n}}\n"
    assert asked(files, "build.gradle") == {"g:a": "1"}


def test_only_scripts_offer_libraries() -> None:
    files = {"build.gradle": "dependencies {\n api libs.a\n}\n", "Dockerfile": "ENV libs.a='g:a:1'"}
    assert asked(files, "build.gradle") == {}


ASKING = "%s {\n dependencies {\n  api 'g:a:1'\n }\n}\n"


@pytest.mark.parametrize(("head", "for_all"), TEXTS["heads"])
def test_what_a_script_asks_for_in_the_name_of_others(head: str, for_all: bool) -> None:
    files = {"build.gradle": ASKING % head, "a/build.gradle": ""}
    assert asked(files, "a/build.gradle") == ({"g:a": "1"} if for_all else {})


def test_what_a_project_asks_for_in_the_name_of_all_it_hands_on() -> None:
    files = {"settings.gradle": "", "core/build.gradle": ASKING % "allprojects"}
    files["build.gradle.kts"] = "dependencies {\n api(project(':core'))\n}\n".replace("'", '"')
    assert versions_in(files) == {"g:a": "1"}


def test_objects_in_the_build_offer_libraries() -> None:
    constants = (
        'object Deps {\n    private object Versions { const val boot = "3.1.0" }\n'
        "    object Boot {\n        const val web =\n"
        '            "org.springframework.boot:spring-boot-starter-web:${Versions.boot}"\n'
        "    }\n}\n"
    )
    files = {"buildSrc/src/main/kotlin/Deps.kt": constants}
    files["build.gradle.kts"] = "dependencies { implementation(Deps.Boot.web) }\n"
    assert asked(files, "build.gradle.kts") == {
        "org.springframework.boot:spring-boot-starter-web": "3.1.0"
    }


@pytest.mark.parametrize(
    "text",
    [
        "a = [\n" * 60_000,
        "{\n" * 120_000 + "a.b = 'x'\n" * 20_000,
        "versionCatalogs {\n" + "library('a',\n" * 15_000 + "\n" * 15_000,
    ],
)
def test_deep_maps_take_no_time(text: str) -> None:
    started = time.process_time()
    read_script(text, Catalog())
    read_offered(text)
    assert time.process_time() - started < 10
