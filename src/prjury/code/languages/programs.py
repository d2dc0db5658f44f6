"""Languages whose programs are parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prjury.code.languages.language import Language, importing_rule, outermost
from prjury.code.names.binding import any_kind, inside, within
from prjury.code.names.python import GUARDED


def _java_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_declaration", "regex": regex}
    return {"inside": {"kind": "program", "stopBy": "end", "has": imported}}


def _kotlin_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_list", "has": {"kind": "import_header", "regex": regex}}
    return {"inside": {"kind": "source_file", "stopBy": "end", "has": imported}}


_JAVA_NAMES = ("scoped_identifier", "scoped_type_identifier", "field_access")
JAVA = Language(
    "java",
    "Sample.java",
    (".java",),
    family="jvm",
    kin="jvm",
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
                "any": [{"kind": "annotation"}, within("constructor_invocation", "annotation")]
            },
        },
        "type-name": {
            "any": [{"kind": "user_type"}, within("simple_identifier", "navigation_expression")]
        },
    },
    importing=_kotlin_import,
)
PYTHON = Language(
    "python",
    "sample.py",
    (".py", ".pyi"),
    kin="python",
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
GO = Language(
    "go",
    "sample.go",
    (".go",),
    kin="go",
    parser="go",
    comments=("comment",),
    strings=("interpreted_string_literal", "raw_string_literal", "rune_literal"),
    family="go",
    utils={
        "method-name": within("field_identifier", "selector_expression", "call_expression.function")
    },
    importing=importing_rule("source_file", "import_declaration"),
)
RUST = Language(
    "rust",
    "sample.rs",
    (".rs",),
    kin="rust",
    parser="rust",
    comments=("line_comment", "block_comment"),
    strings=("string_literal", "raw_string_literal", "char_literal"),
    family="rust",
    utils={
        "method-name": within("field_identifier", "field_expression", "call_expression.function")
    },
    importing=importing_rule("source_file", "use_declaration"),
)
PROGRAMS = (JAVA, KOTLIN, PYTHON, JAVASCRIPT, TYPESCRIPT, TSX, GO, RUST)
