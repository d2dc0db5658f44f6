"""Projects that need another version than this machine has, with the tools themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from integration.builds.court import Court
from integration.builds.sample import Tree
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status

CARGO: Tree = {
    "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nrust-version = "1.999"\n',
    "src/lib.rs": "",
}
GO: Tree = {"go.mod": "module a\n\ngo 1.999\n", "a.go": "package a\n", "a_test.go": "package a\n"}
JAVA: Tree = {"A.java": "class A {}\n"}


@pytest.mark.parametrize(
    ("program", "tree", "change", "command"),
    [
        ("cargo", CARGO, {"src/lib.rs": "fn a() {}\n"}, "auto"),
        ("go", GO, {"a.go": "package a\n\nfunc a() {}\n"}, "auto"),
        ("javac", JAVA, {"A.java": "class A { }\n"}, "javac --release 99 A.java"),
    ],
)
def test_it_could_not_be_judged_and_how_it_can_be(
    tmp_path: Path, program: str, tree: Tree, change: Tree, command: str
) -> None:
    if not shutil.which(program):
        pytest.skip(f"not installed: {program}")
    court = Court.at(tmp_path)
    court.environ["GOTOOLCHAIN"] = "local"
    judged = court.judge(tree, change, command=command)

    assert judged.build.status is Status.ERROR, judged.build.reasoning
    assert judged.build.metadata["reason"] == "environment"
    assert judged.build.metadata["remedy"] in judged.build.reasoning
    assert judged.report.gate is Gate.ACTION_REQUIRED
    assert judged.report.headline.startswith("⚪ Could not be judged: build (environment)")
