from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pytest

from fakes.roots import package, root_of, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems import gradle, node, python
from prjury.judges.builds.systems.projects import in_directory, is_below, leads_out, plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, parent_of
from prjury.ports.types import TreeEntry

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


Plans = Callable[[SourceTree, Changes | None], tuple[BuildPlan, ...]]

PROJECT = '[project]\nname = "p"\n'
BECAUSE = "files outside of it change, and its own files name paths that lead there"


@pytest.mark.parametrize(
    ("text", "path", "out"),
    [
        ('require("../lib")', "x.js", True),
        ('require("../lib")', "src/x.js", False),
        ('import x from "../../lib/y.js";', "src/x.js", True),
        ('join(__dirname, "..", "..", "lib")', "src/x.js", True),
        ("cd ../a && cd ../b", "src/x.js", False),
        ('["../a", "../b"]', "src/x.json", False),
        ("../../a/../../..", "a/b/c/x.js", True),
        ("../../a/./../..", "a/b/c/x.js", False),
        ("..//..//lib", "src/x.js", True),
        ("$(CURDIR)/../lib/x.c", "Makefile", True),
        ("f(...args, a..b, 1..2, ..x)", "x.js", False),
        ("/..", "x.js", True),
        ("", "x.js", False),
    ],
)
def test_paths_that_lead_out_of_a_project(text: str, path: str, out: bool) -> None:
    assert leads_out(text, path) is out


def test_hostile_text_takes_linear_time() -> None:
    for text in ("../" * 100_000, ".. " * 100_000, "a/" * 200_000 + "..", '","' * 100_000):
        assert leads_out(text, "x.js") is (".." in text)


NODE = {"app/package.json": package("app"), "lib/package.json": package("lib")}


@pytest.mark.parametrize(
    ("path", "text", "built"),
    [
        ("app/x.js", 'const lib = require("../lib");', True),
        ("app/src/x.ts", 'import { y } from "../../lib/src/y";', True),
        ("app/tsconfig.json", '{"references": [{"path": "../lib"}]}', True),
        ("app/tsconfig.build.json", '{"extends": "../lib/tsconfig.json"}', True),
        ("app/package.json", package("app", scripts={"test": "node ../lib/run.js"}), True),
        ("app/src/x.ts", 'import { y } from "../lib/y";', False),
        ("app/x.md", "see ../lib", False),
        ("app/node_modules/m/x.js", 'require("../../../lib")', False),
        ("app/x.js", 'require("../other")', True),
    ],
)
def test_what_sources_of_node_take(path: str, text: str, built: bool) -> None:
    files = {**NODE, path: text, "lib/src/y.ts": ""}
    found = node.plans(root_of(files), touching("lib/src/y.ts"))
    assert [plan.directory for plan in found] == (["app", "lib"] if built else ["lib"])
    if built:
        assert found[0].scope.because == BECAUSE
    inside = node.plans(root_of(files), touching("app/src/z.ts"))
    assert [plan.directory for plan in inside] == ["app"]


PYTHON = {
    "app/pyproject.toml": PROJECT,
    "app/test_a.py": "",
    "lib/pyproject.toml": PROJECT,
    "lib/test_l.py": "",
}


@pytest.mark.parametrize(
    ("path", "text", "built"),
    [
        (
            "app/pyproject.toml",
            f'{PROJECT}[tool.pytest.ini_options]\npythonpath = ["../lib", "."]\n',
            True,
        ),
        ("app/pytest.ini", "[pytest]\npythonpath = ../lib .\n", True),
        ("app/setup.cfg", "[tool:pytest]\npythonpath =\n    ../lib\n", True),
        ("app/tox.ini", "[tox]\n[testenv]\ndeps = -e ../lib\n", True),
        ("app/requirements.txt", "-e ../lib\n", True),
        ("app/requirements/dev.in", "../lib\n", False),
        ("app/requirements/dev.in", "../../lib\n", True),
        ("app/requirements-dev.txt", "../lib[extra]\n", True),
        ("app/conftest.py", 'import sys\nsys.path.insert(0, "../lib")\n', True),
        (
            "app/tests/conftest.py",
            "sys.path.append(str(Path(__file__).resolve().parents[2] / 'lib'))\n",
            True,
        ),
        (
            "app/conftest.py",
            'sys.path.append(os.path.join(os.path.dirname(__file__), "..", "lib"))\n',
            True,
        ),
        (
            "app/tests/conftest.py",
            'sys.path.append(os.path.join(os.path.dirname(__file__), ".."))\n',
            False,
        ),
        ("app/tests/conftest.py", "sys.path.append(str(Path(__file__).parent.parent))\n", False),
        ("app/deep/x.py", "from .. import y\n", False),
        ("app/requirements.txt", "lib\n", False),
    ],
)
def test_what_projects_of_python_take(path: str, text: str, built: bool) -> None:
    files = {**PYTHON, path: text}
    found = python.plans(root_of(files), touching("lib/x.py"))
    assert [plan.directory for plan in found] == (["app", "lib"] if built else ["lib"])


def test_what_is_taken_through_another_project_counts() -> None:
    files = {
        **NODE,
        "app/x.js": 'require("../lib")',
        "lib/x.js": 'require("../core/x")',
        "core/package.json": package("core"),
    }
    found = node.plans(root_of(files), touching("core/y.js"))
    assert [plan.directory for plan in found] == ["app", "core", "lib"]


@pytest.mark.parametrize("plans", [node.plans, python.plans, gradle.plans])
def test_a_project_with_too_many_files_to_read_is_built(plans: Plans) -> None:
    manifests = ("package.json", "setup.py", "build.gradle")
    files = {f"{place}/{name}": "" for place in ("app", "lib") for name in manifests}
    files |= {f"{place}/package.json": package(place) for place in ("app", "lib")}
    many = {f"app/{number}.{end}": "" for number in range(2_001) for end in ("js", "py", "gradle")}
    changes = touching("lib/x")
    assert [plan.directory for plan in plans(root_of(files), changes)] == ["lib"]
    assert [plan.directory for plan in plans(root_of(files | many), changes)] == ["app", "lib"]


def test_nothing_is_read_where_only_the_project_itself_changes() -> None:
    asked: list[str] = []

    def read(entry: TreeEntry) -> str:
        asked.append(entry.path)
        return package("x") if entry.path.endswith("package.json") else ""

    entries = [
        TreeEntry(path, "100644", path)
        for path in ("app/package.json", "app/x.js", "lib/package.json", "lib/y.js")
    ]
    node.plans(SourceTree(entries, read), touching("app/x.js"))
    assert "app/x.js" not in asked
    assert "lib/y.js" in asked
