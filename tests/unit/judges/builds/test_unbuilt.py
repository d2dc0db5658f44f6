from __future__ import annotations

import pytest

from fakes.llm import changed as change
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.unbuilt import find_unbuilt_files
from prjury.report.judge_facts import LeftOut


@pytest.mark.parametrize(
    ("path", "systems", "found"),
    [
        ("a.py", {"pytest"}, None),
        ("a.rb", {"npm"}, True),
        ("a.rb", {"npm", "make"}, None),
        ("a.rb", {"command"}, None),
        ("web/app.js", {"maven"}, False),
        ("tools/gen.py", {"go"}, False),
        ("main.c", {"pytest"}, True),
        ("main.c", {"cargo"}, None),
        ("Main.java", {"gradle"}, None),
        ("Main.java", {"npm"}, True),
        ("sep_windows.go", {"go"}, True),
        ("sep_windows_test.go", {"go"}, True),
        ("sep_linux_amd64.go", {"go"}, None),
        ("windows.go", {"go"}, None),
        ("README.md", {"npm"}, None),
        ("run.sh", {"npm"}, None),
    ],
)
def test_who_builds_what(path: str, systems: set[str], found: bool | None) -> None:
    listed = find_unbuilt_files([change(path)], [BuildPlan(one, ()) for one in systems], ())
    assert [entry.counts for entry in listed] == ([] if found is None else [found])
    assert {entry.path for entry in listed} <= {path}


@pytest.mark.parametrize(
    ("install", "left"),
    [("pip install --quiet -e '.[test]' pytest", 0), ("pip install -r requirements.txt", 1)],
)
def test_an_extension_is_built_where_the_project_is_installed(install: str, left: int) -> None:
    steps = (BuildStep("setup", f"uv {install}"), BuildStep("test", "pytest"))
    plan = BuildPlan("pytest", steps, ())
    assert len(find_unbuilt_files([change("pkg/_speedups.c")], [plan], ())) == left


def test_a_project_that_was_left_out() -> None:
    files = [change("examples/shop/a.py"), change("examples/shopping/a.py")]
    assert find_unbuilt_files(files, [BuildPlan("pytest", ())], ["examples/shop"]) == [
        LeftOut("examples/shop/a.py", "the project in examples/shop was not built")
    ]
