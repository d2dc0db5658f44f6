from __future__ import annotations

import pytest

from prjury.judges.builds.systems.gradle_settings import (
    GradleSettings,
    SettingsError,
    read_settings,
)


def projects_of(text: str) -> list[str]:
    return list(read_settings(text).projects)


@pytest.mark.parametrize(
    "text",
    [
        "include 'a', 'b:c'",
        "include ':a', ':b:c'\n",
        'include("a", ":b:c")',
        "include 'a'\ninclude 'b:c'\n",
        "include('a')\r\ninclude(\r\n  'b:c',\r\n)\r\n",
        "include 'a', // the first\n    'b:c' /* and the\n last */\n",
        "include 'a'; include 'b:c'",
        "include 'a' ,\n\n  'b:c'\nrootProject.name = 'x'",
        "settings.include('a', 'b:c')",
        "// include 'z'\n/* include 'y' */\ninclude 'a', 'b:c'",
        "include(\"\"\"a\"\"\")\ninclude '''b:c'''",
        "rootProject.name = \"${x}\"\ninclude 'a', 'b:c'",
        "def x = \"it's\" // ' \" \ninclude 'a', 'b:c'",
    ],
)
def test_projects_by_name(text: str) -> None:
    assert read_settings(text) == GradleSettings({":a": "a", ":b": "b", ":b:c": "b/c"})


def test_no_projects() -> None:
    for text in ("", "rootProject.name = 'x'", "includeGroup('x')"):
        assert read_settings(text) == GradleSettings()


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("project(':a').projectDir = file('libs/a')", "libs/a"),
        ("project(':a').projectDir = new File(settingsDir, 'libs/a')", "libs/a"),
        ("project(':a').projectDir = new File(rootDir, './libs/x/../a')", "libs/a"),
        ('project(":a").projectDir = File(settingsDir, "libs/a")', "libs/a"),
        ('project(":a").projectDir = file("$rootDir/libs/a")', "libs/a"),
        ('project("a").projectDir = file("${settingsDir}/libs/a") // there', "libs/a"),
        ("project(':a').projectDir = file('libs/a'); x = 1", "libs/a"),
        ("project(':a').projectDir = 'libs/a' as File", None),
        ("project(':a').projectDir = file('../a')", None),
        ("project(':a').projectDir = file('/a')", None),
        ("project(':a').projectDir = file(place)", None),
        ('project(":a").projectDir = file("$place/a")', None),
        ('project(":a").projectDir = file("$rootDirs/a")', None),
        ("project(':a').projectDir = new File('x', 'a')", None),
        ("project(name).projectDir = file('a')", None),
        ('project(":$x").projectDir = file("a")', None),
        ("it.projectDir = file('a')", None),
    ],
)
def test_projects_that_lie_elsewhere(line: str, place: str | None) -> None:
    text = f"include 'a:b'\n{line}\n"
    if place:
        assert read_settings(text).projects == {":a": place, ":a:b": "a/b"}
    else:
        with pytest.raises(SettingsError, match=r"^moves projects in a way that has to be run$"):
            read_settings(text)


def test_reading_a_directory_moves_nothing() -> None:
    assert projects_of("include 'a'\nif (x.projectDir == y) { println projectDir }") == [":a"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("include name", "includes projects in a way that has to be run"),
        ("include", "includes projects in a way that has to be run"),
        ("include()", "includes projects in a way that has to be run"),
        ("include 'a', name", "includes projects in a way that has to be run"),
        ('include("a-$x")', "includes projects in a way that has to be run"),
        ("include 'a' + x", "includes projects in a way that has to be run"),
        ("include('a' 'b')", "includes projects in a way that has to be run"),
        ("include(*x)", "includes projects in a way that has to be run"),
        ("if (x) { include 'a' }", "includes projects in a way that has to be run"),
        ("['a'].each { include it }", "includes projects in a way that has to be run"),
        ('listOf("a").forEach(::include)', "includes projects in a way that has to be run"),
        ("include 'a\\b'", "includes projects in a way that has to be run"),
        ("include 'a/b'", "includes `a/b`, which is no plain name"),
        ("include ''", "includes ``, which is no plain name"),
        ("include 'a::b'", "includes `a::b`, which is no plain name"),
        ("include 'a b'", "includes `a b`, which is no plain name"),
        ("include '\u202e'", "includes `\\\\u202e`, which is no plain name"),
        ("includeFlat 'a'", "uses `includeFlat`, which has to be run"),
        ("apply from: 'x.gradle'", "uses `apply`, which has to be run"),
        ('apply(from = "x.gradle.kts")', "uses `apply`, which has to be run"),
        ("include 'a'\nproject(':a').name = 'b'", "renames projects"),
        ("rootProject.children.each { it.name = 'x' }", "renames projects"),
        ("project(':b').projectDir = file('b')", "moves :b, which it does not include"),
        ("includeBuild(x)", "includes builds in a way that has to be run"),
        ('includeBuild "$x"', "includes builds in a way that has to be run"),
        ("\n".join(f"include 'a{n}'" for n in range(5_001)), "includes more than 5000 projects"),
        (" " * 1024**2 + " ", "is too large to be read"),
    ],
)  # fmt: skip
def test_what_has_to_be_run(text: str, why: str) -> None:
    with pytest.raises(SettingsError, match=f"^{why}$"):
        read_settings(text)


def test_other_builds() -> None:
    text = """
        pluginManagement { includeBuild('build-logic') }
        includeBuild "../other"
        includeBuild("libs/x") { name = "y" }
    """
    assert read_settings(text).builds == {"build-logic", "../other", "libs/x"}


@pytest.mark.parametrize(
    ("text", "extended"),
    [
        ("plugins { id 'com.gradle.develocity' version '4' }", False),
        ('plugins { id("org.gradle.toolchains.foojay-resolver-convention") version "1" }', False),
        ("pluginManagement { plugins { id 'x' version '1' } }", False),
        ("plugins { id 'x' }", True),
        ("plugins { id(name) }", True),
        ("apply plugin: 'x'", True),
        ('apply(plugin = "x")', True),
        ("apply plugin: 'com.gradle.enterprise'", False),
        ("pluginManagement { { } }\nplugins { id 'x' }", True),
    ],
)  # fmt: skip
def test_plugins_that_may_add_projects(text: str, *, extended: bool) -> None:
    assert read_settings(text).extended is extended


@pytest.mark.parametrize("text", ["/*" * 200_000, '"""' * 100_000, "'" * 500_000, "{" * 500_000])
def test_odd_scripts_are_read_in_time(text: str) -> None:
    assert read_settings(text) == GradleSettings()
