from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from fakes.roots import package, root_of, touching
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems import cargo, go, gradle, maven, node, python
from prjury.judges.builds.systems.projects import (
    FoundProject,
    expand_choices,
    is_below,
    match_members,
    select_affected,
)
from prjury.judges.builds.systems.source_tree import Changes, SourceTree

PLAN = BuildPlan("x", (BuildStep("test", ("x",)),))
Plans = Callable[[SourceTree, Changes | None], tuple[BuildPlan, ...]]


def affected(projects: Mapping[str, bool], *paths: str) -> list[str]:
    """The directories that are built, of projects that name places outside of them or not."""
    each = {place: FoundProject((PLAN,), leads_out) for place, leads_out in projects.items()}
    return [plan.directory for plan in select_affected(each, touching(*paths) if paths else None)]


def test_every_project_without_a_change() -> None:
    assert affected({"b": True, "a": False, "": False}) == ["", "a", "b"]


def test_a_project_is_built_for_what_lies_in_it() -> None:
    assert affected({"a": False, "ab": False}, "ab/x.c", "a/README.md") == ["ab"]
    assert affected({"": False, "a": False, "b": False}, "a/x.c") == ["", "a"]


def test_a_project_that_depends_on_something_outside_is_always_built() -> None:
    assert affected({"a": True, "b": False, "c": False}, "c/x.c") == ["a", "c"]


def test_what_lies_below() -> None:
    assert is_below("a/b", "a")
    assert not is_below("a", "a")
    assert not is_below("ab", "a")


@pytest.mark.parametrize(
    ("patterns", "members"),
    [
        ("packages/*", "packages/a packages/b"),
        ("./packages/a/", "packages/a"),
        ("packages/* !packages/b", "packages/a"),
        ("packages/** !**/deep", "packages packages/a packages/b"),
        ("{packages,apps}/[ac]", "packages/a apps/c"),
        ("*", "packages apps"),
        ("", ""),
        ("**/**/**/**", ""),
    ],
)
def test_the_members_that_patterns_name(patterns: str, members: str) -> None:
    places = "packages packages/a packages/b packages/a/deep apps apps/c".split()
    assert match_members(patterns.split(), places) == frozenset(members.split())


def test_hostile_patterns_end() -> None:
    places = ["/".join("a" * 60)]
    for pattern in ("**/" * 50 + "b", "{a,b}" * 50, "*" * 2_000 + "b", "{" * 5_000):
        assert match_members([pattern], places) == frozenset()
    assert expand_choices("{a,b}{c,d}") == ["ac", "ad", "bc", "bd"]


@pytest.mark.parametrize(
    ("plans", "app", "lib"),
    [
        (
            cargo.plans,
            {"Cargo.toml": '[package]\nname = "a"\n[dependencies]\nl = { path = "../lib" }\n'},
            {"Cargo.toml": '[package]\nname = "l"\n'},
        ),
        (
            go.plans,
            {"go.mod": "module a\n\nreplace l => ../lib\n"},
            {"go.mod": "module l\n"},
        ),
        (gradle.plans, {"settings.gradle": 'includeBuild("../lib")'}, {"settings.gradle": ""}),
        (
            maven.plans,
            {
                "pom.xml": "<project><artifactId>a</artifactId><parent><artifactId>l</artifactId>"
                "<relativePath>../lib/pom.xml</relativePath></parent></project>"
            },
            {"pom.xml": "<project><artifactId>l</artifactId></project>"},
        ),
        (
            node.plans,
            {"package.json": package("a", dependencies={"l": "link:../lib"})},
            {"package.json": package("l")},
        ),
        (
            python.plans,
            {
                "pyproject.toml": '[project]\nname = "a"\n'
                '[tool.uv.sources]\nl = { path = "../lib" }\n'
            },
            {"pyproject.toml": '[project]\nname = "l"\n'},
        ),
    ],
    ids=["cargo", "go", "gradle", "maven", "node", "python"],
)
def test_what_manifests_name_beside_them(
    plans: Plans, app: Mapping[str, str], lib: Mapping[str, str]
) -> None:
    files = {f"app/{path}": text for path, text in app.items()}
    root = root_of(files | {f"lib/{path}": text for path, text in lib.items()})
    built = plans(root, touching("lib/x"))
    assert [plan.directory for plan in built] == ["app", "lib"]
    assert built[0].scope.because == "it names places outside of it, on which it depends"
    assert [plan.directory for plan in plans(root, touching("app/x"))] == ["app"]
