"""Conflicts among imports, and code that only looks like them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.threeway import three_way
from prjury.code.imports import ImportHead, import_head
from prjury.code.languages import language_of
from prjury.judges.merge.conflict_class import only_imports
from prjury.snapshot.threeway import lines_of

BOTH = "imports only: keep both sides'"
EITHER = "imports only: keep what either side adds, leave out what either removes"


def told(path: str, base: str, ours: str, theirs: str) -> bool:
    """Whether the conflict, which has to be one, is among imports only."""
    found = only_imports(path, three_way(base, ours, theirs))
    assert found
    return all(one is not None for one in found)


def head(path: str, lines: Sequence[str]) -> ImportHead:
    language = language_of(path)
    assert language
    assert language.imports
    return import_head(language.imports, lines)


def around(frame: str, ours: str, theirs: str, base: str = "") -> tuple[str, str, str]:
    """The three versions of a file that differ at the ``@``."""
    return frame.replace("@", base), frame.replace("@", ours), frame.replace("@", theirs)


JAVA = "/*\n * Licence\n */\n\npackage a.b;\n\nimport java.util.List;\n@\n/** Doc. */\nclass A {}\n"
PYTHON = '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"""What it is.\n\nMore.\n"""\n\n@x = 1\n'


@pytest.mark.parametrize(
    ("path", "frame", "ours", "theirs"),
    [
        ("A.java", JAVA, "import a.B;\n", "import a.C;\n"),
        ("A.java", JAVA, "import a.B;\nimport static a.B.e;\n", "import static a.C.d;\n"),
        ("A.java", JAVA, "import a.D ;\n", "import a.B; // why\n"),
        ("A.java", "\ufeffpackage a;\r\n@class A {}\r\n", "import b.C;\r\n", "import b.D;\r\n"),
        ("a.kt", "package a\n\n@", "import a.b.C\n", "import a.b.C as D\n"),
        ("a.scala", "package a\n@", "import a.{B, C => D}\n", "import a.C\n"),
        ("a.scala", "@\nclass A\n", "import a.{\n  B,\n  C\n}\n", "import a.b.{D, B => _}\n"),
        ("a.groovy", "@\nclass A {}\n", "import a.B\n", "import static a.C as D\n"),
        ("build.gradle", "@\nplugins {}\n", "import a.B\n", "import a.C\n"),
        ("a.py", PYTHON, "import b\n", "from c import d\n"),
        ("a.py", PYTHON, "import b.c as d, e\n", "from .f import (g, h as i)  # noqa: F401\n"),
        ("a.py", PYTHON, "from b import (\n    c,\n    d as e,\n)\n", "from b import d\n"),
        ("a.py", "'''Doc.'''\n@", "import b\n", "import c\n"),
        (
            "a.py",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from a import A\n@\nx()\n",
            "    from b import B\n",
            "    from c import (\n        C,\n    )\n",
        ),
        ("a.js", "'use strict';\n@\nrun()\n", "const a = require('a');\n", "import b from 'b'\n"),
        ("a.ts", "@\nf()\n", "import type { A, B as C } from './a';\n", "import * as d from 'd'\n"),
        (
            "a.tsx",
            "@\nf()\n",
            "import D, {\n  type A,\n  B as C,\n} from 'x';\n",
            "import B from 'y';\n",
        ),
        ("a.mjs", "@\nf()\n", "const {\n  a,\n  b: c\n} = require('x')\n", "import {b} from 'y'\n"),
        ("a.ts", "@\nf()\n", "import a = require('a');\n", "let {b, c} = require('d');\n"),
        (
            "a.go",
            'package a\n\nimport (\n\t"fmt"\n@)\n\nfunc f() {}\n',
            '\t"os"\n',
            '\tx "a/b" // c\n',
        ),
        ("a.go", "package a\n@func f() {}\n", 'import "os"\n', 'import _ "io"\n'),
        (
            "a.rs",
            "//! Doc\n@\nfn f() {}\n",
            "use a::{b, c as d};\n",
            "use e::c;\nextern crate f;\n",
        ),
        (
            "a.rs",
            "mod x;\npub use x::Y;\n@\nfn f() {}\n",
            "use a::{\n    b,\n    c::{d, e},\n};\n",
            "use g;\n",
        ),
        (
            "a.c",
            "#ifndef A_H\n#define A_H\n@int f();\n#endif\n",
            "#include <a.h>\n",
            '#include "b.h"\n',
        ),
        ("a.hpp", "#pragma once\n@\nvoid f();\n", "#  include <a/b.h> // c\n", '#include "c.h"\n'),
        ("a.cs", "#nullable enable\n@\nclass A {}\n", "using A.B;\n", "using static C.D;\n"),
        ("a.cs", "@\nclass A {}\n", "global using A = B.C<D, E>;\n", "using A.C;\n"),
        (
            "a.php",
            "<?php\nnamespace A\\B;\n\n@\nclass C {}\n",
            "use D\\E;\n",
            "use function F\\g as h;\n",
        ),
        (
            "a.php",
            "<?php\n\n@\nclass C {}\n",
            "use D\\{E, F};\n",
            "use D\\{\n    X,\n    G as H,\n};\n",
        ),
        ("a.swift", "// Doc\n@\nclass A {}\n", "import B\n", "@testable import struct C.D\n"),
        (
            "a.dart",
            "library a;\n@\nvoid f() {}\n",
            "import 'a.dart' show B, C;\n",
            'import "b.dart" as b;\n',
        ),
    ],
)
def test_imports_of_both_sides(path: str, frame: str, ours: str, theirs: str) -> None:
    assert told(path, *around(frame, ours, theirs))


def test_imports_that_one_side_removes_and_the_other_leaves_alone() -> None:
    base = "import a;\nimport b;\nimport c;\n"
    frame = "@class A {}\n"

    file = three_way(*around(frame, "import a;\nimport c;\n", f"{base}import d;\n", base))
    assert set(only_imports("A.java", file)) <= {BOTH, EITHER}
    file = three_way(*around(frame, "", f"import d;\n{base}", base))
    assert only_imports("A.java", file) == [EITHER]


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs"),
    [
        ("a.py", "from a import load\n", "from b import load\n", "from c import load\n"),
        ("a.py", "from a import x\n", "from a import x, y\n", "from a import x, z\n"),
        ("a.py", "import a\n", "", "import b\n"),
        ("a.py", "import a\n", "import b\n", ""),
        ("A.java", "import a;\nimport b;\n", "import c;\nimport a;\n", "import d;\n"),
        ("A.java", "import a;\nimport b;\n", "import a;\n", "import a;\nimport c;\n"),
        (
            "a.py",
            "from a import (\n    b,\n)\n",
            "from c import (\n    b,\n)\n",
            "from a import (\n    d,\n    b,\n)\n",
        ),
    ],
)
def test_what_one_side_removes_and_the_other_changes(
    path: str, base: str, ours: str, theirs: str
) -> None:
    assert not told(path, base, ours, theirs)


@pytest.mark.parametrize(
    ("path", "frame", "ours", "theirs"),
    [
        ("a.py", "@", "from b import load\n", "from c import load\n"),
        ("a.py", "@", "from b import load\n", "from c import x as load\n"),
        ("a.py", "@", "import load.x\n", "from c import load\n"),
        ("a.py", "@", "from b import (\n    c,\n)\n", "from d import (\n    c,\n)\n"),
        ("a.py", "@", "from b import c\n", "from d import *\n"),
        ("a.py", "from z import c\n@", "from b import c\n", "from d import e\n"),
        ("a.py", "@from z import e\n", "from b import c\n", "from d import e\n"),
        ("A.java", JAVA, "import java.util.Date;\n", "import java.sql.Date;\n"),
        ("A.java", JAVA, "import java.awt.List;\n", "import a.B;\n"),
        ("A.java", JAVA, "import java.awt.*;\n", "import java.sql.Date;\n"),
        ("A.java", JAVA, "import module java.base;\n", "import java.sql.Date;\n"),
        ("A.java", JAVA, "import static a.B.of;\n", "import static a.C.of;\n"),
        ("a.kt", "@", "import a.B\n", "import c.B\n"),
        ("a.kt", "@", "import a.B as X\n", "import c.D as X\n"),
        ("a.groovy", "@", "import a.B\n", "import c.D as B\n"),
        ("a.scala", "@", "import a.{B => X}\n", "import c.{D as X}\n"),
        ("a.scala", "@", "import a.B\n", "import c._\n"),
        ("a.scala", "@", "import a.B\n", "import c.given\n"),
        ("a.ts", "@", "import {x} from 'a'\n", "import {x} from 'b'\n"),
        ("a.ts", "@", "import {y as x} from 'a'\n", "import x from 'b'\n"),
        ("a.ts", "@", "import * as x from 'a'\n", "const {y: x} = require('b')\n"),
        ("a.ts", "@", "import {\n  type x,\n} from 'a'\n", "import {\n  x,\n} from 'b'\n"),
        ("a.go", "package a\n@", 'import "text/template"\n', 'import "html/template"\n'),
        ("a.go", "package a\n@", 'import x "a/b"\n', 'import x "a/c"\n'),
        ("a.go", "package a\n@", 'import "a/yaml"\n', 'import "gopkg.in/go-yaml.v3"\n'),
        ("a.go", "package a\n@", 'import "a/b"\n', 'import . "a/c"\n'),
        ("a.rs", "@", "use a::{b, c};\n", "use d::{e::{self, c}};\n"),
        ("a.rs", "@", "use a::{b::{self}};\n", "use d::b;\n"),
        ("a.rs", "@", "use a::b;\n", "use d::*;\n"),
        ("a.rs", "@", "use a::{\n    b::{\n    c,\n    },\n};\n", "use d::e;\n"),
        ("a.cs", "@", "using A = B.C;\n", "using A = B.D;\n"),
        ("a.php", "<?php\n@", "use A\\B;\n", "use C\\D as b;\n"),
        ("a.php", "<?php\n@", "use A\\{B, C};\n", "use D\\C;\n"),
        ("a.swift", "@", "import struct A.B\n", "import class C.B\n"),
        ("a.dart", "@", "import 'a' as x;\n", "import 'b' as x;\n"),
        ("a.dart", "@", "import 'a' show X, Y;\n", "import 'b' show Y;\n"),
    ],
)
def test_a_name_that_would_stand_for_two_things(
    path: str, frame: str, ours: str, theirs: str
) -> None:
    assert not told(path, *around(frame, ours, theirs))
    assert not told(path, *around(frame, theirs, ours))


def test_modules_of_one_package_share_its_name() -> None:
    assert told("a.py", "", "import os.path\n", "import os.a, os\n")
    assert told("a.rs", "", "use a::{b, b::{c}};\n", "use d::e as f;\n")


@pytest.mark.parametrize(
    "line", ["import './a.css'", 'import "x";', "import {} from 'x'", "import { } from 'x';"]
)
def test_imports_for_their_effects_are_kept_in_an_order_that_somebody_knows(line: str) -> None:
    assert not told("a.ts", "", f"{line}\n", "import {b} from 'b'\n")
    assert not told("a.ts", "", "import {b} from 'b'\n", f"{line}\n")
    assert not told("a.js", f"{line}\n", "import 'z'\n", f"{line}\nimport {{b}} from 'b'\n")


def test_the_order_of_includes() -> None:
    a, b, x, y = (f"#include <{name}.h>\n" for name in "abxy")

    assert told("a.c", a + b, x + a + b, y + a + b)
    assert not told("a.c", a + b, b + a + x, a + y + b)
    assert not told("a.c", a + b, a + y + b, b + a + x)
    assert told("A.java", "", "import a;\nimport b;\n", "import b;\nimport a;\nimport c;\n")


def test_items_of_one_list() -> None:
    frame = "from x import (\n    a,\n    b@\n)\n"

    assert told("a.py", *around(frame, ",\n    c", ",\n    d"))
    assert not told("a.py", *around(frame, ",\n    c", ",\n    d as c"))


def test_a_list_that_has_become_another_one() -> None:
    frame = "from {} import (\n    a,\n    b,\n{})\n"
    sides = frame.format("x", ""), frame.format("y", "    c,\n"), frame.format("x", "    d,\n")

    assert not told("a.py", *sides)


def test_a_comment_among_imports_has_to_be_the_same_on_all_sides() -> None:
    base = "// those\nimport a;\n"

    assert told("A.java", *around("@", "import b;\n// x\n", "import c;\n// x\n", "// x\n"))
    assert not told("A.java", base, f"// these\nimport b;\n{base}", f"// th\nimport c;\n{base}")
    assert not told("A.java", base, "import b;\n", "import c;\n")


def test_a_header_is_no_import() -> None:
    assert not told("A.java", "package a;\n", "package b;\n", "package c;\n")
    assert not told("a.rs", "mod a;\n", "mod b;\n", "use c;\n")
    assert not told("A.java", "// a\n", "// b\n", "// c\n")
    assert not told("A.java", "a\n", "\n", "\n\n\n")


@pytest.mark.parametrize(
    ("path", "frame", "ours", "theirs"),
    [
        ("a.py", "@", "import b\n", "import b; os.system('x')\n"),
        ("a.py", "@", "import b\n", "from b import c; d()\n"),
        ("a.py", "@", "import b\n", "__import__('c')\n"),
        ("a.py", "@", "import b\n", "import c \\\n; d()\n"),
        ("a.py", "def f():\n@", "    import b\n", "    import c\n"),
        ("a.py", "def f(): pass\n@", "import b\n", "import c\n"),
        ("a.py", "x = '''\n@'''\n", "import b\n", "import c\n"),
        ("a.py", '"""a""" + f()\n@', "import b\n", "import c\n"),
        ("a.py", '"""a"""; f("""\n@""")\n', "import b\n", "import c\n"),
        ("a.py", '"""a\nb"""; f("""\n@""")\n', "import b\n", "import c\n"),
        ("a.py", 'import a\n"""text"""\n@', "import b\n", "import c\n"),
        ("a.py", "# coding: utf-7\n# +AAo-f()\n@", "import b\n", "import c\n"),
        ("a.py", "if TYPE_CHECKING:\n    import a\nelse:\n@", "    import b\n", "    import c\n"),
        (
            "a.py",
            "if TYPE_CHECKING:\n    import a\nimport z\n@",
            "    import b\n",
            "    import c\n",
        ),
        ("a.py", "try:\n@except E:\n    pass\n", "    import b\n", "    import c\n"),
        ("a.py", "@", "from b import (\n    c,\n)\n", "from b import (\n    c(),\n)\n"),
        ("a.py", "@", "from b import (\n    c,\n)\n", "from b import (\n    c,\nf()\n"),
        ("A.java", 'class A { String s = """\n@"""; }\n', "import a.B;\n", "import a.C;\n"),
        ("A.java", "@", "import a.B;\n", "import a.C; static { f(); }\n"),
        ("A.java", "@", "import a.B;\n", "import a.C; // \\u000a f();\n"),
        (
            "A.java",
            '// \\u000a class A { String s = \\u0022""\n@',
            "import a.B;\n",
            "import a.C;\n",
        ),
        ("A.java", "@", "import a.B;\n", "import a.C;\rclass D {}\n"),
        ("A.java", "// a\rclass D {}\n@", "import a.B;\n", "import a.C;\n"),
        ("A.java", "/* a */ class D {}\n@", "import a.B;\n", "import a.C;\n"),
        ("A.java", "/* a\n*/ class D { /*\n@*/}\n", "import a.B;\n", "import a.C;\n"),
        ("A.java", "/* a\n@", "import a.B;\n", "import a.C;\n"),
        ("a.kt", "/* /* a */\n@*/\n", "import a.B\n", "import a.C\n"),
        ("a.js", "@", "import 'a';\n", "import('b').then(run)\n"),
        ("a.js", "@", "import 'a';\n", "import a from 'b'; run()\n"),
        ("a.js", "@", "import 'a';\n", "const a = require('a')(1);\n"),
        ("a.js", "@", "import 'a';\n", "const a = require(`${x}`);\n"),
        ("a.js", "@", "import 'a';\n", "import a from 'b'\u2028run()\n"),
        ("a.js", "@", "import 'a';\n", "const {\n  a = run(),\n} = require('b');\n"),
        ("a.js", "@", "import 'a';\n", "const {\n  a,\n} = run();\n"),
        ("a.js", "x = `\n@`\n", "import 'a';\n", "import 'b';\n"),
        ("a.go", "@", 'import "os"\n', 'import "C"\n'),
        ("a.go", "package a\nimport (\n@)\n", '\t"os"\n', '\t"C"\n'),
        ("a.go", "package a\nimport (\n@)\n", '\t"os"\n', "\tf()\n"),
        ("a.go", "var x = `\n@`\n", 'import "a"\n', 'import "b"\n'),
        ("a.rs", "@", "use a;\n", "pub use b;\n"),
        ("a.rs", "@", "use a;\n", "use_it(1);\n"),
        ("a.c", "@", "#include <a.h>\n", "#include <a.h>\nint f(void);\n"),
        ("a.c", "// a \\\n@", "#include <a.h>\n", "#include <b.h>\n"),
        ("a.c", "// a ??/\n@", "#include <a.h>\n", "#include <b.h>\n"),
        ("a.c", "#ifdef A\n@#endif\n", "#include <a.h>\n", "#include <b.h>\n"),
        ("a.cs", "@", "using A;\n", "using var x = Open(2);\n"),
        ("a.cs", "@", "using A;\n", "using (Open(2)) {\n"),
        ("a.php", "<?php\n// ?><script>\n@", "use A;\n", "use B;\n"),
        ("a.php", "<?php\n#[X] class A {\n@}\n", "use A;\n", "use B;\n"),
        ("a.php", "<?php\nclass A {\n@}\n", "use A;\n", "use B;\n"),
        ("a.php", "@", "use A;\n", "require 'b.php';\n"),
        ("a.dart", "@", "import 'a.dart';\n", "export 'b.dart';\n"),
        ("a.swift", "@", "import A\n", "import B; f()\n"),
        ("a.rb", "@", "require 'a'\n", "require 'b'\n"),
        ("a", "@", "import a\n", "import b\n"),
        ("a.py", "@", "import b\n", "import " + "c" * 1_000 + "\n"),
        ("a.py", "@", "import b\n", "import c\u200b\n"),
    ],
)
def test_code_is_never_taken_for_imports(path: str, frame: str, ours: str, theirs: str) -> None:
    assert not told(path, *around(frame, ours, theirs))


def test_code_that_both_sides_replace_by_imports() -> None:
    assert not told("a.py", "f()\n", "import a\n", "import b\n")


def test_letters_that_are_not_utf_8_may_stand_in_a_comment_and_not_in_an_import() -> None:
    assert told("A.java", *around("// J\udcfcrgen\n@", "import a.B;\n", "import a.C;\n"))
    assert not told("A.java", *around("@", "import a.\udcfc;\n", "import a.C;\n"))


def test_regions_are_told_apart() -> None:
    frame = "import a;\n\nclass A {{\n  f({0});\n}}\n"
    ours = frame.format(1).replace("import a;\n", "import a;\nimport b;\n")
    theirs = frame.format(2).replace("import a;\n", "import a;\nimport c;\n")

    assert only_imports("A.java", three_way(frame.format(0), ours, theirs)) == [BOTH, None]


def test_files_that_both_add_have_no_base_to_agree_with() -> None:
    ours, theirs = "// x\nimport a;\nf();\n", "// x\nimport b;\nf();\n"

    assert only_imports("A.java", three_way(None, ours, theirs)) == [BOTH]
    assert only_imports("A.java", three_way(None, ours, theirs.replace("x", "y"))) == [None]


def test_a_second_string_is_no_docstring() -> None:
    one = '"""What it is."""\n@'

    assert told("a.py", *around(one, "import b\n", "import c\n"))
    assert not told("a.py", *around(f'"""More."""\n{one}', "import b\n", "import c\n"))


def test_reading_ends_where_the_code_begins() -> None:
    found = head("A.java", lines_of(b"// a\n\nimport b;\nclass C {}\nimport d;\n"))

    assert len(found.entries) == 3
    assert [entry.text for entry in found.imports()] == ["import b;"]


LANGUAGES = [".java", ".kt", ".scala", ".groovy", ".py", ".ts", ".go", ".rs", ".c", ".cs", ".php"]
PIECES = [
    "import a;",
    "import a",
    "from a import (",
    ")",
    "import {",
    "} from 'b';",
    "use a;",
    "/*",
    "*/",
    '"""',
    "'''",
    "//",
    "# x",
    "{",
    "}",
    "f()",
    "",
    "import (",
    '"a"',
    "package a",
    "\\",
    "\r",
    "if TYPE_CHECKING:",
    "    import a",
    "<?php",
    "#include <a>",
    "using A;",
]


@given(
    st.sampled_from(LANGUAGES),
    st.lists(st.sampled_from(PIECES), max_size=8),
    st.lists(st.sampled_from(PIECES), max_size=3),
)
def test_below_the_first_line_of_code_nothing_is_an_import(
    suffix: str, before: list[str], after: list[str]
) -> None:
    above = [f"{piece}\n" for piece in before]
    found = head(f"a{suffix}", [*above, "f(1);\n", *(f"{piece}\n" for piece in after)])

    # An open comment or list is not known to end; then all that follows is code as well.
    assert (
        len(found.entries) <= len(above)
        or "/*" in before
        or any(q in before for q in ('"""', "'''"))
    )


@pytest.mark.parametrize(
    "line", ["import " + "a," * 400, "import " + "a.b " * 200, "use " + "{" * 900, "import a" * 120]
)
def test_odd_lines_are_read_at_once(line: str) -> None:
    for suffix in LANGUAGES:
        assert not told(f"a{suffix}", "", f"{line}!\n", "x\n")
