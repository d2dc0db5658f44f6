"""Commands that shells could not execute."""

from __future__ import annotations

import pytest

from prjury.judges.builds.results.build_errors import read_build_errors
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"run.sh", "ci/in.sh", "foo", "Makefile"}))
GAVE_UP = "make: *** [Makefile:3: test] Error 127"


def read(*lines: str) -> list[tuple[str, str, str]]:
    found = read_build_errors(LogSection(lines, range(len(lines)), TREE), tests=False)
    return [(failure.kind, failure.place, failure.message) for _, failure in found]


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("make: ./run.sh: Permission denied", "run.sh", "./run.sh: Permission denied"),
        ("make[1]: ./run.sh: Permission denied", "run.sh", "./run.sh: Permission denied"),
        ("/bin/sh: 1: ./run.sh: Permission denied", "run.sh", "./run.sh: Permission denied"),
        ("/bin/bash: line 1: ./run.sh: Permission denied", "run.sh", "./run.sh: Permission denied"),
        ("bash: ./run.sh: Permission denied", "run.sh", "./run.sh: Permission denied"),
        ("/bin/sh: 1: ./gone.sh: not found", "", "./gone.sh: not found"),
        (
            "bash: line 1: ./gone.sh: No such file or directory",
            "",
            "./gone.sh: No such file or directory",
        ),
        ("sh: 1: foo: not found", "", "foo: not found"),
        ("bash: foo: command not found", "", "foo: command not found"),
        ("make: foo: No such file or directory", "", "foo: No such file or directory"),
        ("ci/in.sh: line 3: foo: command not found", "ci/in.sh:3", "foo: command not found"),
        ("./ci/in.sh: 3: foo: not found", "ci/in.sh:3", "foo: not found"),
        ("/usr/bin/env: ‘nope’: No such file or directory", "", "nope: No such file or directory"),
        ("sh: 0: cannot open gone.sh: No such file", "", "cannot open gone.sh: No such file"),
        ("/bin/sh: 1: .: cannot open ./x: No such file", "", ".: cannot open ./x: No such file"),
        ("/bin/sh: 1: cd: can't cd to nope", "", "cd: can't cd to nope"),
        (
            "bash: line 1: cd: nope: No such file or directory",
            "",
            "cd: nope: No such file or directory",
        ),
    ],
)
@pytest.mark.parametrize("below", [[GAVE_UP], ["", GAVE_UP], []])
def test_what_the_shell_says(line: str, place: str, message: str, below: list[str]) -> None:
    assert read(line, *below) == [("error", place, message)]


@pytest.mark.parametrize(
    "line",
    [
        "cat: ./run.sh: Permission denied",
        "run.sh: Permission denied",
        "mkdir: cannot create directory 'x': Permission denied",
        "a.c:3:10: fatal error: gone.h: No such file or directory",
        "a/b.py:3: foo: not found anywhere",
    ],
)
def test_what_others_say(line: str) -> None:
    assert read(line, GAVE_UP) == []


def test_a_build_that_goes_on_has_not_failed_by_it() -> None:
    line = "sh: 1: ./run.sh: Permission denied"
    assert read(line, "compiling") == []
    assert read(line, "compiling", "make: *** [Makefile:3: test] Error 1") == []
    assert read(line, "make: *** [Makefile:3: test] Error 1") != []
    assert read(line, "an output in parallel", "make: *** [Makefile:3: test] Error 126") != []
    assert read("sh: 1: foo: not found", "compiling") != []
