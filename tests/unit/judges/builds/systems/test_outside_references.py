from __future__ import annotations

import pytest

from fakes.roots import package, root_of, touching
from prjury.judges.builds.systems import node, python
from prjury.judges.builds.systems.outside_references import (
    beside,
    changes_in,
    make_references,
    node_references,
    python_references,
    upward_paths,
)
from prjury.judges.builds.systems.source_tree import SourceTree
from prjury.ports.types import TreeEntry

PROJECT = '[project]\nname = "p"\n'


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('require("../lib")', ["../lib"]),
        ('import x from "../../lib/y.js";', ["../../lib/y.js"]),
        ('join(__dirname, "..", "..", "lib")', ["../../lib"]),
        ("cd ../a && cd ../b", ["../a", "../b"]),
        ("$(CURDIR)/../lib/x.c", ["../lib/x.c"]),
        ("src/../x", ["src/../x"]),
        ("f(...args, a..b, 1..2, ..x)", []),
        ("/..", [".."]),
        ("", []),
    ],
)
def test_paths_that_lead_upwards(text: str, paths: list[str]) -> None:
    assert list(upward_paths(text)) == paths


def test_a_text_made_to_take_long_does_not() -> None:
    for text in ("../" * 100_000, ".. " * 100_000, "a/" * 200_000 + "..", '","' * 100_000):
        assert len(list(upward_paths(text))) <= 100_000


@pytest.mark.parametrize(
    ("place", "target", "found"),
    [
        ("app", "lib/src/y", "lib"),
        ("p/app", "p/lib/y", "p/lib"),
        ("p/app", "q/y", "q"),
        ("app", "x.json", "x.json"),
        ("p/app", "p", "p"),
        ("app", "", ""),
    ],
)
def test_what_lies_beside_a_target_may_be_taken_with_it(
    place: str, target: str, found: str
) -> None:
    assert beside(place, target) == found


def test_what_changes_in_a_place() -> None:
    changes = touching("lib/x.c", "app/y.c", "z.mk")
    assert changes_in(changes, "lib", "app")
    assert changes_in(changes, "z.mk", "app")
    assert changes_in(changes, "", "app")
    assert not changes_in(changes, "li", "app")
    assert not changes_in(touching("app/y.c"), "", "app")


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
        ("app/x.js", 'require("../other")', False),
    ],
)
def test_what_sources_of_node_take(path: str, text: str, built: bool) -> None:
    files = {**NODE, path: text, "lib/src/y.ts": ""}
    found = node.plans(root_of(files), touching("lib/src/y.ts"))
    assert [plan.directory for plan in found] == (["app", "lib"] if built else ["lib"])
    if built:
        assert found[0].scope.because == "lib changes, on which it depends"
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


@pytest.mark.parametrize("taken", [node_references, python_references, make_references])
def test_too_many_files_may_take_anything(taken: object) -> None:
    suffix = {node_references: "js", python_references: "py", make_references: "c"}[taken]  # type: ignore[index]
    files = {f"app/{number}.{suffix}": "" for number in range(2_001)}
    assert taken(root_of(files).below("app")) == {""}  # type: ignore[operator]
    assert taken(root_of(files)) == frozenset()  # type: ignore[operator]
    del files[f"app/0.{suffix}"]
    assert taken(root_of(files).below("app")) == frozenset()  # type: ignore[operator]


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
