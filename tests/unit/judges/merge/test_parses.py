"""Which changed files do not parse, who is sure of it, and what readers of a change do not see."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.repository import BASE, MERGED, FakeRepository, Files, pull_between
from fakes.shell import ScriptedShell
from prjury.deadline import Deadline
from prjury.judges.merge.judge import decide
from prjury.judges.merge.parses import check_changed_syntax, list_doubts, warn_of_hidden_characters
from prjury.judges.workspace.program_judges import make_shell
from prjury.jury.judgment import Check, Location, Status
from prjury.ports import Ports, Shell, SilentProgress
from prjury.report.judge_facts import LeftOut, MergeFacts
from prjury.snapshot.merge_style import Habit, Way
from prjury.snapshot.model import Conflict, ConflictType, MergeTrial

PYPROJECT = '[project]\nname = "p"\nversion = "1"\nrequires-python = ">={}"\n'
NODE = shutil.which("node")
with_node = pytest.mark.skipif(NODE is None, reason="needs node")


def look(
    before: Files, after: Files, shell: Shell | None = None, **changes: str
) -> tuple[list[Check], Sequence[LeftOut]]:
    pull = pull_between(before, {**before, **after}, tree=MERGED)
    pull = replace(pull, files=tuple(replace(file, **changes) for file in pull.files))
    repository = FakeRepository({BASE: before, MERGED: {**before, **after}})
    ports = Ports(repository, shell or ScriptedShell(), SilentProgress())
    checks = check_changed_syntax(pull, ports, Deadline.after(60))
    return checks, list_doubts(checks)


def severities(before: Files, after: Files, shell: Shell | None = None) -> Mapping[str, str]:
    checks, _ = look(before, after, shell)
    return {
        check.location.path: check.severity
        for check in checks
        if not check.passed and check.location
    }


#: A path, a right and a wrong text, and the line of the fault.
EXACT = [
    ("a.py", "def f():\n    return 1\n", "x = 1\ndef f(:\n    return 1\n", 2),
    ("a.py", "def f():\n    a()\n", "def f():\n    a()\n  b()\n", 3),
    ("a.py", "x = 1\n", "try:\n    x = 1\ny = 2\n", 3),
    ("a.pyi", "def f() -> int: ...\n", "def f() -> : ...\n", 1),
    ("package.json", '{"a": 1}', '{\n"a": 1,\n}', 3),
    ("data.json", '{"a": 1}', '{"a": 1', 1),
    ("book.ipynb", '{"cells": []}', '{"cells": [}', 1),
    ("a.toml", "a = 1\n", "a = 1\nb = \n", 2),
    ("a.yml", "a: [1]\n", "a: [1\nb: 2\n", 2),
    (".github/workflows/ci.yml", "on: push\n", "on: push\na: ${{ x }}\n b: c\n", 3),
    ("A.java", "class A {}\n", "class A {\n  int x = ;\n}\n", 2),
    ("A.java", "class A {}\n", "class A {\n  void f() { int x = 1 }\n}\n", 2),
    ("a.go", "package a\n", "package a\nfunc f() { x := }\n", 2),
]


def number(rows: Iterable[tuple[str, *tuple[Any, ...]]]) -> list[tuple[str, *tuple[Any, ...]]]:
    """Give each file a directory of its own, so that all are judged at once."""
    return [(f"{at}/{path}", *rest) for at, (path, *rest) in enumerate(rows)]


@pytest.mark.slow
def test_exact_parsers_decide() -> None:
    rows = number(EXACT)
    right = {path: text for path, text, _, _ in rows}
    wrong = {path: text for path, _, text, _ in rows}
    checks, doubts = look(right, wrong)

    assert not doubts
    assert {(check.name, check.passed, check.severity) for check in checks} == {
        ("parses", False, "error")
    }
    assert {str(check.location) for check in checks} == {
        f"{path}:{line}" for path, _, _, line in rows
    }
    assert severities({}, wrong) == dict.fromkeys(wrong, "error")
    assert severities(wrong, {path: f"{text} " for path, text in wrong.items()}) == {}
    [fine] = look(wrong, right)[0]
    assert (fine.passed, fine.message) == (True, "13 changed files without a syntax error")


RIGHT = [
    ("tsconfig.json", '{\n// strict\n"a": [1,],\n}'),
    (".vscode/settings.json", '{"a": /* b */ "//c"}'),
    ("events.json", '{"a": 1}\n{"b": 2}\n'),
    ("a.yml", "a: !Ref b\nc: &x [1]\nd: *x\n---\ne: f\n"),
    ("workflow.yml", "if: ${{ a }}\nb: ${{ c }}\n"),
    ("A.java", "import module java.base;\nclass A {}\n"),
    ("B.java", "class B extends A {\n  B(int x) {\n    check(x);\n    super(x);\n  }\n}\n"),
    ("a.c", "FOO_BEGIN(x) int f(void) { return 1 }\n"),
    ("page.php", "<p><?= $x ?></p><?php if ($a): ?> b <?php endif;"),
    ("a.py", '# -*- coding: latin-1 -*-\nx = "\xe9"\n'.encode("latin-1")),
    ("b.py", "\ufeffx = 1\n"),
]


def test_right_files_that_parsers_could_be_mistaken_about() -> None:
    assert severities({}, dict(number(RIGHT))) == {}


DOUBTFUL = [
    ("a.c", "int f(void { return 1; }\n"),
    ("a.cpp", "class A { int x }\n"),
    ("a.ts", "let x: number = ;\n"),
    ("a.rs", "fn f() {\n"),
    ("a.kt", "fun f() { val x = }\n"),
    ("a.rb", "def f\n  1\n"),
    ("a.php", "<?php\n$x = [1, 2;\n"),
    ("chart.yaml", "a: {{ .Values.x }}\n{{- if .Values.y }}\nb: c\n"),
    ("view.py", "class A:\n    {% if x %}\n    y = 1\n"),
    ("old.py", 'print "two"\n'),
    ("gen.go", "package {{ .Name }}\n"),
    ("Gen.java", "class {{ name }} {}\n"),
    ("new.py", "type X = int\n"),
    ("a.js", "let x = ;\n"),
]


def test_a_doubt_asks_and_the_file_counts_as_not_read() -> None:
    files = dict(number(DOUBTFUL))
    _, doubts = look({}, files)

    assert severities({}, files) == dict.fromkeys(files, "warning")
    assert {each.path for each in doubts} == set(files)


TEST_DATA = [
    "testdata/a.py",
    "tests/fixtures/a.py",
    "src/__fixtures__/a.py",
    "tests/data/a.py",
    "tests/invalid_syntax/a.py",
    "tests/bad_a.py",
    "spec/broken/a.py",
]
OTHERS = ["src/bad_request.py", "src/data/a.py", "tests/test_a.py"]


def test_test_data_may_be_broken_on_purpose() -> None:
    files = dict.fromkeys([*TEST_DATA, *OTHERS], "def f(:\n")
    _, doubts = look({}, files)

    assert severities({}, files) == {
        **dict.fromkeys(TEST_DATA, "hint"),
        **dict.fromkeys(OTHERS, "error"),
    }
    assert not doubts


@pytest.mark.parametrize(
    ("declared", "path", "text", "severity"),
    [
        ("3.9", "a.py", "match x:\n    case 1: pass\n", "error"),
        ("3.10", "a.py", "match x:\n    case 1: pass\n", None),
        ("3.9", "a_py310.py", "match x:\n    case 1: pass\n", None),
        ("3.9", "tests/test_a.py", "match x:\n    case 1: pass\n", None),
        ("3.99", "a.py", "type X = int\n", None),
        ("3.99", "a.py", "def f(:\n", "warning"),
        ("2.7", "a.py", 'print "two"\n', "warning"),
    ],
)
def test_the_declared_python_counts(
    declared: str, path: str, text: str, severity: str | None
) -> None:
    found = severities({"pyproject.toml": PYPROJECT.format(declared)}, {path: text})

    assert found.get(path) == severity


SCRIPTS = [
    ("a.js", "let x = ;\n", "error"),
    ("a.js", "function f() { await x }\n", "error"),
    ("a.js", "const a = 1; const a = 2;\n", "error"),
    ("a.mjs", "import x from 'y'\nf(1, 2\n", "error"),
    ("a.cjs", "module.exports = {\n", "error"),
    ("a.js", "import x from 'y'\nexport default await x\n", None),
    ("a.js", "const x = require('y')\nreturn\n", None),
    ("a.js", "#!/usr/bin/env node\nwith (a) { b }\n", None),
    ("a.js", "const a = <A b='c'>text</A>\n", None),
    ("a.js", "@dec class A { @foo b() {} }\n", None),
    ("a.js", "// @flow\nconst a = (x: any)\n", "warning"),
    ("a.js", "const a = {% if x %}\n", "warning"),
    ("a.jsx", "const a = <A>;\n", "warning"),
]


@pytest.mark.slow
@with_node
def test_node_knows_its_language() -> None:
    rows = number(SCRIPTS)
    found = severities({}, {path: text for path, text, _ in rows}, make_shell())
    assert found == {path: severity for path, _, severity in rows if severity}


@pytest.mark.slow
@with_node
def test_with_babel_a_fault_is_a_doubt() -> None:
    base = {"babel.config.js": "module.exports = {}\n"}

    assert severities(base, {"a.js": "let x = ;\n"}, make_shell()) == {"a.js": "warning"}


def scripted(tmp_path: Path, name: str, script: str) -> Shell:
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return make_shell({"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("program", "script", "path", "text", "severity"),
    [
        ("ruby", 'echo "$2:1: syntax error, unexpected end"; exit 1', "a.rb", "def f\n", "error"),
        ("ruby", 'echo "$2:1: syntax error, unexpected end"; exit 1', "a.rb", "x = 1\n", "warning"),
        ("ruby", "exit 0", "a.rb", "def f\n", None),
        ("ruby", "echo 'library not found'; exit 127", "a.rb", "x = 1\n", None),
        ("ruby", "echo 'library not found'; exit 127", "a.rb", "def f\n", "warning"),
        (
            "php",
            'echo "PHP Parse error:  x in $3 on line 2"; exit 255',
            "a.php",
            "<?php f(",
            "error",
        ),
        ("gofmt", 'echo "$2:2:3: expected x"; exit 2', "a.go", "package a\n", "error"),
        ("gofmt", 'echo "$2:1:9: expected x"; exit 2', "a.go", "package {{ .N }}\n", "warning"),
    ],
)
def test_the_tool_s_own_word(
    tmp_path: Path, program: str, script: str, path: str, text: str, severity: str | None
) -> None:
    assert severities({}, {path: text}, scripted(tmp_path, program, script)).get(path) == severity


@pytest.mark.slow
@pytest.mark.parametrize("script", ["kill -9 $$", "sleep 1; kill -9 $PPID", "rm -f ./*"])
def test_a_tool_that_breaks_decides_nothing(tmp_path: Path, script: str) -> None:
    shell = scripted(tmp_path, "gofmt", script)

    assert severities({}, {"a.go": "package a\n"}, shell) == {}
    assert severities({}, {"a.go": "package a\nfunc {\n"}, shell) in ({}, {"a.go": "error"})


@pytest.mark.parametrize("text", ["[" * 200_000, "{" * 200_000])
def test_hostile_text_is_not_parsed_and_that_is_told(text: str) -> None:
    checks, _ = look({}, {"a.json": text})

    assert all(not check.passed for check in checks)


def test_too_many_files_are_not_passed_over_in_silence() -> None:
    [check], _ = look({}, {f"{number}.py": "x = 1\n" for number in range(2_001)})

    assert (check.passed, check.message) == (False, "2,001 changed files are too many to parse")


def test_git_lfs_pointers_and_large_files_are_not_parsed() -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"

    assert severities({}, {"a.py": pointer, "b.py": "(" * (1024**2 + 1)}) == {}


def test_the_verdict_of_the_judge() -> None:
    clean, merging = pull_between({}, {}, tree=MERGED), Habit(Way.MERGE, "as usual")
    broken, _ = look({}, {"a.py": "def f(:\n", "b.json": "{"})
    doubt = Check.bad("parses", "why", Location("c.c", 2), severity="warning")
    judgment = decide(clean, merging, syntax=[*broken, doubt])

    assert judgment.status is Status.FAIL
    assert judgment.reasoning.startswith("a.py:1 does not parse: invalid syntax, and 1 more file")
    assert MergeFacts.parse(judgment) == MergeFacts({}, (LeftOut("c.c", "why"),))
    hint = [Check.bad("parses", "x", severity="hint")]
    assert decide(clean, merging, syntax=hint).status is Status.PASS
    conflict = Conflict("f.py", ConflictType.CONTENT, mechanical=False, reason="why")
    unmerged = replace(clean, merge=MergeTrial(None, (conflict,)))
    judgment = decide(unmerged, merging, syntax=broken)
    assert judgment.reasoning == "conflicts in 1 file, up to date"


@pytest.mark.parametrize(
    ("line", "point"),
    [
        ("if access != 'user\u202e \u2066// admin\u2069 \u2066':", "U+202E"),  # reads backwards
        ("is_admin\u200b = True", "U+200B"),
        ("x = 'a\u2060b'", "U+2060"),
        ("pass\u00adword = 1", "U+00AD"),
        ("na\u200dme = 1", "U+200D"),
        ("x = 1 \ufeff# y", "U+FEFF"),
        ("# fine \U000e0041\U000e0042", "U+E0041"),
        ("a\u200f = b", "U+200F"),
    ],
)
def test_a_character_that_nobody_sees_is_told(line: str, point: str) -> None:
    pull = pull_between({"a.py": "x = 1\n"}, {"a.py": f"x = 1\n{line}\n"})
    [check] = warn_of_hidden_characters(pull.files)

    assert (check.name, check.severity, check.passed) == ("hidden-characters", "warning", False)
    assert point in check.message
    assert check.location is not None
    assert (check.location.path, check.location.line) == ("a.py", 2)
    assert line not in str(check.evidence)
    assert str(check.evidence).isascii()


@pytest.mark.parametrize(
    "text",
    [
        "x = 'ä ø 你好'",
        "# 👩\u200d💻 did it",
        "می\u200cخواهم",
        "\ufeffimport os",
        "# café – “quote”",
    ],
)
def test_what_languages_and_symbols_need_is_not(text: str) -> None:
    assert warn_of_hidden_characters(pull_between({}, {"a.py": text}).files) == []


def test_lines_that_were_there_are_not_and_many_are_cut() -> None:
    there = "a\u202e\n"
    assert warn_of_hidden_characters(pull_between({"a": there}, {"a": there + "b\n"}).files) == []
    assert len(warn_of_hidden_characters(pull_between({}, {"a": there * 99}).files)) == 20


@pytest.mark.parametrize(
    ("content", "hides"),
    [
        (b"# coding: utf-7\nx = '+ACc-; import os #'\n", True),
        (b"# -*- coding: shift_jis -*-\nx = '\x83\\'\nimport os #'\n", True),
        (b"# coding: utf-16\nx = 1\n", False),  # the parser calls that an error
        (b"# coding: latin-1\nx = '\xe4'\n", False),
        (b"# coding: cp1252\nx = '\x93'\n", False),
        (b"# coding: utf-8\nx = '\xc3\xa4'\n", False),
        (b"\xef\xbb\xbfx = 1\n", False),
        (b"# coding: no-such-thing\nx = 1\n", False),
        (b"# coding: undefined\nx = 1\n", False),
        (b"# coding: punycode\nx = '\xe9'\n", False),
        (b"x = '\xff'\n", False),
    ],
)
def test_an_encoding_that_hides_code_makes_the_file_unread(content: bytes, *, hides: bool) -> None:
    files = {"a.py": content}
    ports = Ports(FakeRepository({BASE: {}, MERGED: files}), ScriptedShell(), SilentProgress())
    checks = check_changed_syntax(pull_between({}, files, tree=MERGED), ports, Deadline.after(60))
    doubts = list_doubts(checks)
    assert any("it is other code" in doubt.reason for doubt in doubts) is hides
