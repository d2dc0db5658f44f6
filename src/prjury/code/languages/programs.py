"""Languages in which programs are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prjury.code.languages.language import (
    ImportSyntax,
    Language,
    Layout,
    either,
    importing_rule,
    listed,
    outermost,
)
from prjury.code.names.binding import any_kind, inside, within
from prjury.code.names.python import GUARDED


def _java_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_declaration", "regex": regex}
    return {"inside": {"kind": "program", "stopBy": "end", "has": imported}}


def _kotlin_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_list", "has": {"kind": "import_header", "regex": regex}}
    return {"inside": {"kind": "source_file", "stopBy": "end", "has": imported}}


C_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)"
C_STRING = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_JVM_PACKAGE = r"package [\w.]+;?"
_JVM_PATH = r"import (?:static )?(.+?) ?;?"
GROOVY_IMPORTS = ImportSyntax(
    either(r"import (static )?[\w.$]+(\.\*)?( as \w+)?;?"), header=_JVM_PACKAGE, names=_JVM_PATH
)
GROOVY_LAYOUT = Layout(texts=r"""\"{3}|'{3}|\$/|(?<![/*:])/(?![/*])""")
_SCALA_NAME = r"\w+( (=>|as) \w+)?"

_JAVA_NAMES = ("scoped_identifier", "scoped_type_identifier", "field_access")
JAVA = Language(
    "java",
    "Sample.java",
    (".java",),
    family="jvm",
    kin="jvm",
    imports=ImportSyntax(
        either(r"import (static )?[\w.$]+(\.\*)? ?;"), header=_JVM_PACKAGE, names=_JVM_PATH
    ),
    layout=Layout(texts='"""'),
    parser="java",
    comments=("line_comment", "block_comment"),
    strings=("string_literal", "character_literal"),
    utils={
        "qualified-name": outermost(_JAVA_NAMES, "package_declaration"),
        "method-name": within("identifier", "method_invocation.name"),
        "annotation-name": {
            "kind": "identifier",
            "inside": any_kind("marker_annotation", "annotation"),
        },
        "type-name": {
            "any": [
                {"kind": "type_identifier", "not": inside("scoped_type_identifier")},
                within("identifier", "method_invocation.object"),
                within("identifier", "field_access.object"),
            ]
        },
    },
    importing=_java_import,
)
_KOTLIN_NAMES = ("identifier", "user_type", "navigation_expression")
KOTLIN = Language(
    "kotlin",
    "Sample.kt",
    (".kt", ".kts"),
    family="jvm",
    kin="jvm",
    imports=ImportSyntax(
        either(r"import [\w.$]+(\.\*)?( as \w+)?;?"), header=_JVM_PACKAGE, names=_JVM_PATH
    ),
    layout=Layout(texts='"""'),
    parser="kotlin",
    comments=("line_comment", "multiline_comment"),
    strings=("string_content", "character_literal"),
    utils={
        "qualified-name": outermost(_KOTLIN_NAMES, "package_header"),
        "method-name": within(
            "simple_identifier", "navigation_suffix", "navigation_expression", "call_expression"
        ),
        "annotation-name": {
            "kind": "user_type",
            "inside": {
                "any": [
                    {"kind": "annotation"},
                    within("constructor_invocation", "annotation"),
                ]
            },
        },
        "type-name": {
            "any": [
                {"kind": "user_type"},
                within("simple_identifier", "navigation_expression"),
            ]
        },
    },
    importing=_kotlin_import,
)
SCALA = Language(
    "scala",
    "Sample.scala",
    (".scala", ".sc"),
    comment=C_COMMENT,
    string=r'"(?:[^"\\\n]|\\.)*"',
    family="jvm",
    kin="jvm",
    imports=ImportSyntax(
        either(
            rf"import [\w.]+(\.[_*]|\.\{{ ?{_SCALA_NAME}(, {_SCALA_NAME})* ?\}})?",
            r"import [\w.]+\.\*",
        ),
        ((either(r"import [\w.]+\.\{"), listed(_SCALA_NAME), either(r"\}")),),
        header=_JVM_PACKAGE,
        names=_JVM_PATH,
    ),
)
GROOVY = Language(
    "groovy",
    "Sample.groovy",
    (".groovy",),
    comment=C_COMMENT,
    string=C_STRING,
    family="jvm",
    kin="jvm",
    imports=GROOVY_IMPORTS,
    layout=GROOVY_LAYOUT,
)
_PYTHON_REMARK = r"( *#.*)?"
_PYTHON_NAME = r"\w+( as \w+)?"
_PYTHON_NAMES = rf"{_PYTHON_NAME}(, ?{_PYTHON_NAME})*"
_PYTHON_IMPORTS = ImportSyntax(
    either(
        r"import [\w.]+( as \w+)?(, ?[\w.]+( as \w+)?)*",
        rf"from [\w.]+ import (\*|{_PYTHON_NAMES}|\({_PYTHON_NAMES},?\))",
        remark=_PYTHON_REMARK,
    ),
    (
        (
            either(r"from [\w.]+ import \(", remark=_PYTHON_REMARK),
            listed(_PYTHON_NAME, _PYTHON_REMARK),
            either(r"\)", remark=_PYTHON_REMARK),
        ),
    ),
    header=r"if (typing\.|t\.)?TYPE_CHECKING:",
    names=r".*?\bimport (.+)",
    comment="#.*",
    docstring=True,
)
_PYTHON_LAYOUT = Layout(free=False, texts=r"""\"{3}|'{3}""")

PYTHON = Language(
    "python",
    "sample.py",
    (".py", ".pyi"),
    kin="python",
    imports=_PYTHON_IMPORTS,
    layout=_PYTHON_LAYOUT,
    parser="python",
    comments=("comment",),
    strings=("string_content",),
    family="python",
    utils={
        "guarded": GUARDED,
        "attribute-name": within("identifier", "attribute.attribute"),
        "method-name": within("identifier", "attribute.attribute", "call.function"),
        "keyword-name": within("identifier", "keyword_argument.name"),
    },
    importing=importing_rule("module", "import_statement", "import_from_statement"),
)
CYTHON = Language(
    "cython",
    "sample.pyx",
    (".pyx", ".pxd"),
    comment=r"#[^\n]*",
    string=r"""\"{3}(?s:.*?)\"{3}|'{3}(?s:.*?)'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    family="python",
    kin="python",
    imports=_PYTHON_IMPORTS,
)
_SCRIPT_STRING = r"""("[^"\\`]*"|'[^'\\`]*')"""
_SCRIPT_FROM = rf" from {_SCRIPT_STRING};?"
_SCRIPT_REQUIRE = rf" = require\({_SCRIPT_STRING}\);?"
_SCRIPT_IMPORTS = ImportSyntax(
    either(
        rf"import {_SCRIPT_STRING};?",
        rf"import (type )?[\w$*{{}}, ]+{_SCRIPT_FROM}",
        rf"(const|let|var) [\w$]+{_SCRIPT_REQUIRE}",
        rf"(const|let|var) \{{[\w$:, ]+\}}{_SCRIPT_REQUIRE}",
        rf"import [\w$]+{_SCRIPT_REQUIRE}",
    ),
    (
        (
            either(r"import (type )?([\w$]+, )?\{"),
            listed(r"(type )?[\w$]+( as [\w$]+)?"),
            either(rf"\}}{_SCRIPT_FROM}"),
        ),
        (
            either(r"(const|let|var) \{"),
            listed(r"[\w$]+(: [\w$]+)?"),
            either(rf"\}}{_SCRIPT_REQUIRE}"),
        ),
    ),
    header=r"""['"]use (strict|client|server)['"];?""",
    names=r"(?:import|const|let|var) (?:type )?(.*?)(?: from |=).*",
    effects=r"import (['\"]|\{ *\}).*",
)
#: Parts of their files are HTML.
_COMPONENT = r"<!--(?s:.*?)(?:-->|\z)|/\*(?s:.*?)(?:\*/|\z)|(?m:(?:^|[ \t;{}])//[^\n]*)"


def _script_import(regex: str) -> Mapping[str, Any]:
    """ECMAScript's imports, and calls of ``require`` and ``import``."""
    loads = {
        "kind": "call_expression",
        "has": {"field": "function", "regex": "^(?:require|import)$"},
    }
    statements = {"any": [{"kind": "import_statement"}, loads], "regex": regex}
    return {"inside": {"kind": "program", "stopBy": "end", "has": {"stopBy": "end", **statements}}}


JAVASCRIPT, TYPESCRIPT, TSX = (
    Language(
        name,
        sample,
        suffixes,
        kin="script",
        imports=_SCRIPT_IMPORTS,
        layout=Layout(texts="`"),
        parser=name,
        comments=("comment",),
        strings=("string_fragment",),
        family="node",
        utils={
            "attribute-name": within("property_identifier", "member_expression.property"),
            "method-name": within(
                "property_identifier", "member_expression.property", "call_expression.function"
            ),
            "key-name": within("property_identifier", "pair.key"),
        },
        importing=_script_import,
    )
    for name, sample, suffixes in (
        ("javascript", "sample.js", (".js", ".jsx", ".mjs", ".cjs")),
        ("typescript", "sample.ts", (".ts", ".mts", ".cts")),
        ("tsx", "sample.tsx", (".tsx",)),
    )
)
VUE, SVELTE = (
    Language(name, f"sample.{name}", (f".{name}",), comment=_COMPONENT, family="node", kin="script")
    for name in ("vue", "svelte")
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
        "method-name": within(
            "field_identifier", "selector_expression", "call_expression.function"
        ),
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
        "method-name": within("field_identifier", "field_expression", "call_expression.function"),
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
DART = Language(
    "dart",
    "sample.dart",
    (".dart",),
    comment=C_COMMENT,
    string=C_STRING,
    kin="dart",
    imports=ImportSyntax(
        either(
            rf"import {_SCRIPT_STRING}( deferred)?( as \w+)?( (show|hide) \w+(, \w+)*)*;",
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
PROGRAMS = (
    *(JAVA, KOTLIN, SCALA, GROOVY, PYTHON, CYTHON),
    *(JAVASCRIPT, TYPESCRIPT, TSX, VUE, SVELTE),
    *(GO, RUST, C, C_SHARP, SWIFT, DART, PHP),
)
