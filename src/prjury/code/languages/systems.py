"""Go, Rust, C and its kin, C#, Swift, Dart and PHP."""

from __future__ import annotations

from prjury.code.languages.jvm import C_COMMENT, C_STRING
from prjury.code.languages.language import (
    ImportSyntax,
    Language,
    Layout,
    either,
    importing_rule,
    listed,
)

_GO_PATH = r"""([\w.]+ )?"(?!C")[^"\\`]+\""""

GO = Language(
    "go",
    "sample.go",
    (".go",),
    kin="go",
    imports=ImportSyntax(
        either(rf"import {_GO_PATH}"),
        ((either(r"import \("), either(rf"[ \t]*{_GO_PATH}"), either(r"\)")),),
        header=r"package \w+",
        names=r"(?:import )?(.+)",
    ),
    layout=Layout(texts="`", refused=r'\+build|import "C"'),
    parser="go",
    comments=("comment",),
    strings=("interpreted_string_literal", "raw_string_literal", "rune_literal"),
    family="go",
    utils={
        "method-name": {
            "kind": "field_identifier",
            "inside": {
                "kind": "selector_expression",
                "inside": {"kind": "call_expression", "field": "function"},
            },
        },
    },
    importing=importing_rule("source_file", "import_declaration"),
)
RUST = Language(
    "rust",
    "sample.rs",
    (".rs",),
    kin="rust",
    imports=ImportSyntax(
        either(r"use [\w:{}*, ]+;", r"extern crate \w+( as \w+)?;"),
        ((either(r"use ([\w:]+::)?\{"), listed(r"[\w:{}*, ]+"), either(r"\};")),),
        header=either(
            r"(pub(\(\w+\))? )?mod \w+;", r"pub(\(\w+\))? use [\w:{}*, ]+;", r"#!\[[\w(), ]+\]"
        ),
        names=r"(?:use|extern crate) (.+);",
    ),
    layout=Layout(texts='"'),
    parser="rust",
    comments=("line_comment", "block_comment"),
    strings=("string_literal", "raw_string_literal", "char_literal"),
    family="rust",
    utils={
        "method-name": {
            "kind": "field_identifier",
            "inside": {
                "kind": "field_expression",
                "inside": {"kind": "call_expression", "field": "function"},
            },
        },
    },
    importing=importing_rule("source_file", "use_declaration"),
)
C = Language(
    "c",
    "sample.c",
    (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".mm", ".inc"),
    comment=C_COMMENT,
    string=r'"(?:[^"\\\n]|\\.)*"',
    kin="c",
    imports=ImportSyntax(
        either(r"""[ \t]*# *(include|import) *(<[^<>"\\]+>|"[^"\\]+")"""),
        header=r"#pragma once|#(ifndef|define) \w+_H\w*",
        ordered=True,
    ),
    layout=Layout(refused=r'R"|\?\?/'),
)
C_SHARP = Language(
    "csharp",
    "Sample.cs",
    (".cs",),
    comment=C_COMMENT,
    string=r'@"(?:[^"]|"")*"|' + C_STRING,
    family="dotnet",
    kin="dotnet",
    imports=ImportSyntax(
        either(r"(global )?using (static )?[\w.]+;", r"(global )?using \w+ = [\w.<>, ]+;"),
        header=r"#nullable \w+|namespace [\w.]+;",
        names=r"(?:global )?using (\w+) =.*",
    ),
    layout=Layout(refused=r'"{3}|@\$?"'),
)
SWIFT = Language(
    "swift",
    "sample.swift",
    (".swift",),
    comment=C_COMMENT,
    string=r'"{3}(?s:.*?)"{3}|"(?:[^"\\\n]|\\.)*"',
    kin="swift",
    imports=ImportSyntax(
        either(r"(@\w+ )*import ((struct|class|enum|protocol|typealias|func|let|var) )?[\w.]+"),
        names=r"(?:@\w+ )*import (.+)",
    ),
    layout=Layout(refused='"{3}|#"'),
)
_DART_STRING = r"""("[^"\\`]*"|'[^'\\`]*')"""
DART = Language(
    "dart",
    "sample.dart",
    (".dart",),
    comment=C_COMMENT,
    string=C_STRING,
    kin="dart",
    imports=ImportSyntax(
        either(
            rf"import {_DART_STRING}( deferred)?( as \w+)?( (show|hide) \w+(, \w+)*)*;",
        ),
        header=r"library( [\w.]+)?;",
        names=r".* (?:as|show) (\w+(?:, \w+)*)[ ;].*",
    ),
    layout=Layout(refused=r"""\"{3}|'{3}"""),
)
PHP = Language(
    "php",
    "sample.php",
    (".php",),
    comment=rf"{C_COMMENT}|#[^\n]*",
    string=C_STRING,
    kin="php",
    imports=ImportSyntax(
        either(r"use (function |const )?[\w\\]+( as \w+)?;", r"use [\w\\]+\{[\w\\, ]+\};"),
        (
            (
                either(r"use (function |const )?[\w\\]+\\\{"),
                listed(r"[\w\\]+( as \w+)?"),
                either(r"\};"),
            ),
        ),
        header=r"<\?php|declare\(strict_types ?= ?1\);|namespace [\w\\]+;",
        names=r"use (?:function |const )?(.+);",
        comment=r"//.*|#(?!\[).*",
        refused=r"\?>",
    ),
    layout=Layout(refused=r"""\A(?!<\?php)|\?>|<<<|[\"'`]"""),
)
SYSTEMS = (GO, RUST, C, C_SHARP, SWIFT, DART, PHP)
