"""What repairs a failure is kept: the compiler's whole message, the assertion with its values."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from integration.builds.court import Court
from integration.builds.sample import text
from prjury.jury.judgment import Status

JAVA = """
class Price {
    int total(String name) { return name; }
    Missing other;
    void call() { total(1, 2); }
}
"""
RUST = 'fn total() -> i32 {\n    "a"\n}\n\nfn main() {\n    total();\n}\n'
GO = "package main\n\nfunc total() (int, string) {\n\treturn 1\n}\n\nfunc main() { total() }\n"
C = "int total(int a) { return a; }\nint main(void) { return total(1, 2); }\n"
ASSERTION = "def test_total():\n    total = [1, 2]\n    assert total == [1, 3]\n"


@pytest.mark.parametrize(
    ("program", "command", "path", "content", "words"),
    [
        (
            "javac", "javac Price.java", "Price.java", JAVA,
            ["String cannot be converted to int", "symbol:   class Missing",
             "location: class Price", "required: String", "found:    int,int",
             "reason: actual and formal argument lists differ in length"],
        ),
        (
            "rustc", "rustc main.rs", "main.rs", RUST,
            ["expected `i32`, found `&str`", "expected `i32` because of return type"],
        ),
        ("go", "go vet main.go", "main.go", GO, ["have (number)", "want (int, string)"]),
        ("gcc", "gcc -c main.c", "main.c", C, ["too many arguments", "note: declared here"]),
        (
            "python3", "python3 -m pytest -q --junitxml=junit.xml", "test_total.py", ASSERTION,
            [">       assert total == [1, 3]", "At index 1 diff: 2 != 3"],
        ),
    ],
    ids=["javac", "rustc", "go", "gcc", "pytest"],
)  # fmt: skip
def test_a_failure_keeps_all_that_its_tool_says(
    tmp_path: Path, program: str, command: str, path: str, content: str, words: list[str]
) -> None:
    if not shutil.which(program):
        pytest.skip(f"not installed: {program}")
    judged = Court.at(tmp_path).judge({}, {path: text(content)}, command=command)

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    causes = [check for check in judged.causes if check.location]
    told = "\n".join(check.evidence or "" for check in causes)
    listed = [failure.get("details", "") for failure in judged.build.metadata["failures"]]
    for word in words:
        assert word in told
        assert any(word in details for details in listed)
    (executed,) = [check for check in judged.build.checks if check.name == "build-executed"]
    assert words[0] in (executed.evidence or "")


def test_a_command_whose_failure_cannot_be_read_shows_no_passing_tests(tmp_path: Path) -> None:
    lines = "echo 'Bang: the widget broke'; for i in 1 2 3 4 5; do echo 'PASS: part'; done; exit 3"
    judged = Court.at(tmp_path).judge({}, {"a.c": "int a;\n"}, command=lines)
    (executed,) = [check for check in judged.build.checks if check.name == "build-executed"]
    assert executed.evidence == "Bang: the widget broke"
