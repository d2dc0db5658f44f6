from __future__ import annotations

import pytest

from prjury.judges.builds.systems.gradle_projects import Mentions, ProjectNames, accessor

NAMES = ProjectNames(frozenset({":a", ":b", ":b:c", ":my-lib", ":my-lib:core_api", ":other"}))


def mentions(text: str, own: str = ":other") -> Mentions:
    return NAMES.mentions(text, own)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("project(':a')", {":a"}),
        ('implementation(project(":b:c"))', {":b:c"}),
        ("api project(path: ':a', configuration: 'x')", {":a"}),
        ('api(project(path = ":a"))', {":a"}),
        ("project('a')", {":a"}),
        ("project(path: 'a')", {":a"}),
        ("evaluationDependsOn(':b')", {":b"}),
        ("check.dependsOn ':b:c:test'", {":b:c"}),
        ("x = ':my-lib:unknown:task'", set()),
        ("x = ':b:test'", {":b"}),
        ("projects.a", {":a"}),
        ("api(projects.b.c)", {":b", ":b:c"}),
        ("api(projects.myLib.coreApi)", {":my-lib", ":my-lib:core_api"}),
        ("projects.unknown", set()),
        ("rootProjects.a", set()),
        ("'com.x:a:1'", set()),
        ("x = 'a'", set()),
        ("// project(':a')\n/* project(':b') */", set()),
        ("project(':other')", set()),
        ("project()", set()),
    ],
)
def test_projects_that_a_script_names(text: str, named: set[str]) -> None:
    found = mentions(text)
    assert found.named == named
    assert not found.every


def test_paths_from_the_project_itself() -> None:
    assert mentions("project('c')", ":b").named == {":b:c"}
    assert mentions("project('b')", "").named == {":b"}


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("dependencies { api project(':a') }", {":a"}),
        ("dependencies {\n api(project(':a')) { transitive = false }\n}\nproject(':b')", {":a"}),
        ("project(':b') { dependencies { api project(':a') } }", {":a"}),
        ("check.dependsOn ':a:x'\ny = ':b'", {":a"}),
        ("project(':a') { x = 1 }", set()),
    ],
)
def test_projects_that_something_depends_on(text: str, needed: set[str]) -> None:
    assert mentions(text, "").needed == needed


@pytest.mark.parametrize(
    "text",
    [
        "project(name)",
        'project("$x")',
        'project(":a-${x}")',
        "project(path: x)",
        'x = ":$y:jar"',
        "findProject(':a')",
        "parent.childProjects.values()",
        "dependencies { rootProject.subprojects.each { api it } }",
        "dependencies { modules.each { api(it) } }",
        "dependencies { for (m in modules) { api(m) } }",
    ],
)
def test_any_project_may_be_meant(text: str) -> None:
    assert mentions(text).every
    assert mentions(text, "").every


def test_who_goes_through_all_projects_may_need_them() -> None:
    for text in ("rootProject.subprojects.each { x }", "task x { allprojects.collect { it } }"):
        assert mentions(text).every
        assert not mentions(text, "").every


@pytest.mark.parametrize(
    ("text", "configures"),
    [
        ("subprojects { apply plugin: 'java' }", True),
        ("allprojects {\n}", True),
        ("configure(subprojects.findAll { it }) { }", True),
        ("configure(project(':a')) { }", True),
        ("project(':a') { }", True),
        ("api(project(':a')) { }", False),
        ("rootProject.subprojects { }", False),
        ("dependencies { api project(':a') }", False),
    ],
)
def test_whether_other_projects_are_set_up(text: str, *, configures: bool) -> None:
    assert mentions(text, "").configures is configures


@pytest.mark.parametrize(
    ("text", "applies"),
    [
        ("plugins { id 'java' }", True),
        ("apply plugin: 'java'", True),
        ('apply(plugin = "java")', True),
        ("// apply\ndescription = 'plugins'", False),
    ],
)  # fmt: skip
def test_whether_plugins_are_applied(text: str, *, applies: bool) -> None:
    assert mentions(text).applies is applies


def test_both_together() -> None:
    one = Mentions(frozenset({":a"}), frozenset({":a"}), every=True)
    other = Mentions(frozenset({":b"}), configures=True, applies=True)
    assert one | other == Mentions(
        frozenset({":a", ":b"}), frozenset({":a"}), every=True, configures=True, applies=True
    )


@pytest.mark.parametrize(
    ("path", "name"),
    [(":a", "a"), (":a:b", "a.b"), (":my-lib:core_api", "myLib.coreApi"), (":a.b-c", "aBC")],
)
def test_accessors(path: str, name: str) -> None:
    assert accessor(path) == name
