from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.roots import touching
from prjury.judges.builds.plan import BuildScope
from prjury.judges.builds.systems.workspace_graph import (
    Member,
    WorkspaceGraph,
    matching,
    needed_first,
    with_dependents,
    with_needs,
)

BECAUSE = "packages that the change touches, and those that depend on them"


def member(name: str, *needs: str, directory: str | None = None) -> Member:
    place = f"p/{name}" if directory is None else directory
    return Member(name, place, f"{place}/m.toml".removeprefix("/"), frozenset(needs))


CHAIN = WorkspaceGraph([member("a"), member("b", "a"), member("c", "b"), member("d")])


def scope_of(*paths: str, of: WorkspaceGraph = CHAIN) -> BuildScope:
    return of.scope(touching(*paths))


def test_what_the_change_touches_and_what_depends_on_it() -> None:
    assert scope_of("p/b/x.py") == BuildScope(("b", "c"), BECAUSE)
    assert scope_of("p/a/x.py", "p/d/deep/y.py") == BuildScope(("a", "b", "c", "d"), BECAUSE)
    assert scope_of("p/c/x.py") == BuildScope(("c",), BECAUSE)


def test_without_changes_everything_is_built() -> None:
    assert CHAIN.scope(None) == BuildScope()


def test_everything_and_why() -> None:
    assert scope_of("p/a/x", "lock") == BuildScope(because="lock belongs to no single package")
    assert scope_of("p/a/x", "p/gone/x") == BuildScope(
        because="p/gone/x belongs to no single package"
    )
    assert scope_of("p/a/m.toml") == BuildScope(
        because="p/a/m.toml changes, and with it the dependencies between packages"
    )
    unreadable = WorkspaceGraph((), unreadable="m.toml cannot be read")
    assert scope_of("p/a/x", of=unreadable) == BuildScope(because="m.toml cannot be read")
    assert scope_of("a\u202e", of=CHAIN).because == "a\\u202e belongs to no single package"


def test_documentation_counts_only_where_it_lies_in_a_member() -> None:
    assert scope_of("p/d/x.py", "p/c/README.md", "README.md") == BuildScope(("c", "d"), BECAUSE)


def test_the_root_owns_what_is_its_own_by_name() -> None:
    workspace = WorkspaceGraph(
        [member("r", "a", directory=""), member("a")], own=("src", "build.rs")
    )
    assert scope_of("src/x.rs", of=workspace) == BuildScope(("r",), BECAUSE)
    assert scope_of("build.rs", of=workspace) == BuildScope(("r",), BECAUSE)
    assert scope_of("p/a/x.rs", of=workspace) == BuildScope(("r", "a"), BECAUSE)
    assert scope_of("srcs/x.rs", of=workspace).because == "srcs/x.rs belongs to no single package"
    assert scope_of("m.toml", of=workspace).modules == ()
    assert scope_of("p/a/x.rs", "README.md", of=workspace).modules == ("r", "a")


def test_too_many_to_name() -> None:
    few = WorkspaceGraph([member(f"m{number:03}") for number in range(200)])
    many = WorkspaceGraph([member(f"m{number:03}") for number in range(201)])
    paths = [f"p/m{number:03}/x" for number in range(201)]
    assert len(scope_of(*paths[:200], of=few).modules) == 200
    assert scope_of(*paths, of=many) == BuildScope(
        because="the change affects more than 200 packages"
    )


NEEDS = st.dictionaries(st.sampled_from("abcdef"), st.frozensets(st.sampled_from("abcdef")))


@given(NEEDS, st.frozensets(st.sampled_from("abcdef")))
def test_dependents_are_closed(needs: dict[str, frozenset[str]], names: frozenset[str]) -> None:
    found = with_dependents(names, needs)
    assert names <= found
    assert not [user for user, needed in needs.items() if needed & found and user not in found]
    upon = with_needs(names, needs)
    assert names <= upon
    assert not [name for name in upon if needs.get(name, frozenset()) - upon]


@given(NEEDS, st.frozensets(st.sampled_from("abcdef")))
def test_every_name_is_ordered_once(
    needs: dict[str, frozenset[str]], names: frozenset[str]
) -> None:
    assert sorted(needed_first(names, needs)) == sorted(names)


def test_what_is_needed_comes_first() -> None:
    needs = {"a": frozenset("cz"), "b": frozenset(), "c": frozenset("b")}
    assert needed_first("abc", needs) == ("b", "c", "a")
    assert needed_first("ab", {"a": frozenset("b"), "b": frozenset("a")}) == ("b", "a")


DIRECTORIES = ("", "packages", "packages/a", "packages/b/c", "apps/x", "apps/.h", "a b")


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], set()),
        (["packages/*"], {"packages/a"}),
        (["./packages/*/"], {"packages/a"}),
        (["packages/**"], {"packages/a", "packages/b/c"}),
        (["**/c"], {"packages/b/c"}),
        (["packages/**/c"], {"packages/b/c"}),
        (["{apps,packages}/*"], {"apps/x", "apps/.h", "packages/a"}),
        (["packages/*", "!packages/a"], set()),
        (["!packages/a", "packages/*"], {"packages/a"}),
        (["."], {""}),
        (["a b"], {"a b"}),
        (["apps/?"], {"apps/x"}),
        (["packages/[ab]"], {"packages/a"}),
        (["packages/[!b]"], {"packages/a"}),
        (["apps/x.*"], set()),
        (["packages"], {"packages"}),
    ],
)
def test_what_patterns_name(patterns: list[str], chosen: set[str]) -> None:
    assert matching(patterns, DIRECTORIES) == frozenset(chosen)


@pytest.mark.parametrize("pattern", ["a/+(b)", "!(a)", "[z-a]", "a\\*", "{a,b}" * 20, "[", "{a"])
def test_what_is_not_understood(pattern: str) -> None:
    assert matching([pattern, "packages/*"], DIRECTORIES) is None


def test_hostile_patterns_take_linear_time() -> None:
    started = time.process_time()
    assert matching(["**/" * 40 + "*a" * 40 + "b"], ["x/" * 200 + "a" * 200]) == frozenset()
    assert time.process_time() - started < 2
