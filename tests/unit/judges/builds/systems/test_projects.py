from __future__ import annotations

from collections.abc import Mapping

import pytest

from fakes.roots import package, plans_of, root_of, touching
from prjury.judges.builds.source_tree import expand_braces, match_workspace_members


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
    assert match_workspace_members(patterns.split(), places) == frozenset(members.split())


def test_hostile_patterns_end() -> None:
    places = ["/".join("a" * 60)]
    for pattern in ("**/" * 50 + "b", "{a,b}" * 50, "*" * 2_000 + "b", "{" * 5_000):
        assert match_workspace_members([pattern], places) == frozenset()
    assert expand_braces("{a,b}{c,d}") == ["ac", "ad", "bc", "bd"]


@pytest.mark.parametrize(
    ("system", "app", "lib"),
    [
        (
            "cargo",
            {"Cargo.toml": '[package]\nname = "a"\n[dependencies]\nl = { path = "../lib" }\n'},
            {"Cargo.toml": '[package]\nname = "l"\n'},
        ),
        (
            "go",
            {"go.mod": "module a\n\nreplace l => ../lib\n"},
            {"go.mod": "module l\n"},
        ),
        ("gradle", {"settings.gradle": 'includeBuild("../lib")'}, {"settings.gradle": ""}),
        (
            "maven",
            {
                "pom.xml": "<project><artifactId>a</artifactId><parent><artifactId>l</artifactId>"
                "<relativePath>../lib/pom.xml</relativePath></parent></project>"
            },
            {"pom.xml": "<project><artifactId>l</artifactId></project>"},
        ),
        (
            "node",
            {"package.json": package("a", dependencies={"l": "link:../lib"})},
            {"package.json": package("l")},
        ),
        (
            "python",
            {
                "pyproject.toml": '[project]\nname = "a"\n'
                '[tool.uv.sources]\nl = { path = "../lib" }\n'
            },
            {"pyproject.toml": '[project]\nname = "l"\n'},
        ),
    ],
)
def test_what_manifests_name_beside_them(
    system: str, app: Mapping[str, str], lib: Mapping[str, str]
) -> None:
    files = {f"app/{path}": text for path, text in app.items()}
    root = root_of(files | {f"lib/{path}": text for path, text in lib.items()})
    built = plans_of(system, root, touching("lib/x"))
    assert [plan.directory for plan in built] == ["app", "lib"]
    assert [plan.directory for plan in plans_of(system, root, touching("app/x"))] == ["app"]
