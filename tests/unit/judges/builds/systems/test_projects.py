from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fakes.roots import root_of, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.projects import in_directory, is_below, plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, parent_of

PLAN = BuildPlan("x", (BuildStep("test", ("x",)),))


@dataclass(frozen=True)
class Declared:
    """A project whose manifest lists words: ``own:DIR``, ``needs:DIR``, ``loose``, ``empty``."""

    root: SourceTree

    def _words(self, kind: str) -> list[str]:
        words = self.root.text("m").split()
        return [word.removeprefix(f"{kind}:") for word in words if word.startswith(kind)]

    @property
    def outside(self) -> frozenset[str]:
        return frozenset("" if place == "." else place for place in self._words("needs"))

    @property
    def declares(self) -> bool:
        return not self._words("loose")

    def owns(self, directory: str) -> bool:
        return directory in self._words("own")

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        if self._words("empty"):
            return ()
        touched = tuple(sorted(changes.paths)) if changes else ()
        return (replace(PLAN, scope=BuildScope(touched)),)


def found(files: dict[str, str], *paths: str) -> list[tuple[str, tuple[str, ...], str]]:
    root = root_of(files)
    places: Iterable[str] = {parent_of(path) for path in files if path.endswith("m")}
    changes = touching(*paths) if paths else None
    plans = plans_of(root, changes, places, Declared)
    return [(plan.directory, plan.scope.modules, plan.scope.because) for plan in plans]


def test_every_project_that_nobody_owns() -> None:
    files = {"b/m": "own:x", "b/x/m": "", "b/y/m": "", "a/m": "", "tests/m": ""}
    assert found(files) == [("a", (), ""), ("b", (), ""), ("b/y", (), "")]


def test_those_that_the_change_touches() -> None:
    files = {"b/m": "own:x", "b/x/m": "", "b/y/m": "", "a/m": "", "ab/m": ""}
    assert found(files, "b/x/f.c", "a/f.c", "f.c") == [("a", ("f.c",), ""), ("b", ("x/f.c",), "")]
    assert found(files, "b/y/f.c") == [("b/y", ("f.c",), "")]
    assert found(files, "a/README.md", "ab/f.c") == [("ab", ("f.c",), "")]


def test_a_project_that_does_not_declare_its_needs_is_built_with_those_below() -> None:
    files = {"m": "loose", "a/m": ""}
    assert found(files, "a/f.c") == [("", ("a/f.c",), ""), ("a", ("f.c",), "")]
    assert found({"m": "", "a/m": ""}, "a/f.c") == [("a", ("f.c",), "")]


def test_what_lies_in_a_project_without_builds_belongs_to_the_one_above() -> None:
    assert found({"m": "", "a/m": "empty"}, "a/f.c") == [("", ("a/f.c",), "")]


def test_needs_are_followed_from_project_to_project() -> None:
    files = {"a/m": "needs:b", "b/m": "needs:c/lib", "c/m": "needs:d needs:a", "d/m": ""}
    because = "d changes, on which it depends"
    assert found(files, "d/f.c") == [
        ("a", (), because),
        ("b", (), because),
        ("c", (), because),
        ("d", ("f.c",), ""),
    ]
    assert found(files, "c/f.c") == [("c", ("f.c",), "")]
    assert [plan[0] for plan in found(files, "c/lib/f.c")] == ["a", "b", "c"]


def test_the_root_may_be_needed() -> None:
    files = {"m": "", "a/m": "needs:."}
    assert found(files, "f.c") == [
        ("", ("f.c",), ""),
        ("a", (), "the root changes, on which it depends"),
    ]


def test_a_plan_is_placed_with_its_thorough_form() -> None:
    plan = replace(PLAN, directory="x", keep_going=PLAN)
    moved = in_directory(plan, "a/b")
    assert moved.directory == "a/b/x"
    assert moved.keep_going is not None
    assert moved.keep_going.directory == "a/b"
    assert in_directory(plan, "") is plan


def test_what_lies_below() -> None:
    assert is_below("a/b", "a")
    assert is_below("a", "")
    assert not is_below("a", "a")
    assert not is_below("", "")
    assert not is_below("ab", "a")
