from __future__ import annotations

from collections.abc import Callable

import pytest

from fakes.roots import package, root_of, touching
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems import gradle, node, python
from prjury.judges.builds.systems.projects import leads_out
from prjury.judges.builds.systems.source_tree import Changes, SourceTree
from prjury.ports.types import TreeEntry

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
