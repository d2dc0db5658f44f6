from __future__ import annotations

import time

import pytest

from prjury.judges.builds.systems.workspace_graph import matching

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


def test_a_pattern_made_to_take_long_does_not() -> None:
    started = time.process_time()
    assert matching(["**/" * 40 + "*a" * 40 + "b"], ["x/" * 200 + "a" * 200]) == frozenset()
    assert time.process_time() - started < 2
