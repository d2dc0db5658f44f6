"""Languages of the Java virtual machine."""

from __future__ import annotations

from typing import Any

from prjury.code.languages.language import (
    ImportSyntax,
    Language,
    Layout,
    either,
    listed,
    outermost,
)
from prjury.code.names.binding import any_kind


def _java_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_declaration", "regex": regex}
    return {"inside": {"kind": "program", "stopBy": "end", "has": imported}}


def _kotlin_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_list", "has": {"kind": "import_header", "regex": regex}}
    return {"inside": {"kind": "source_file", "stopBy": "end", "has": imported}}


C_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)"
C_STRING = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_PACKAGE = r"package [\w.]+;?"
_PATH = r"import (?:static )?(.+?) ?;?"
GROOVY_IMPORTS = ImportSyntax(
    either(r"import (static )?[\w.$]+(\.\*)?( as \w+)?;?"), header=_PACKAGE, names=_PATH
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
        either(r"import (static )?[\w.$]+(\.\*)? ?;"), header=_PACKAGE, names=_PATH
    ),
    layout=Layout(texts='"""'),
    parser="java",
    comments=("line_comment", "block_comment"),
    strings=("string_literal", "character_literal"),
    utils={
        "qualified-name": outermost(_JAVA_NAMES, "package_declaration"),
        "method-name": {
            "kind": "identifier",
            "inside": {"kind": "method_invocation", "field": "name"},
        },
        "annotation-name": {
            "kind": "identifier",
            "inside": any_kind("marker_annotation", "annotation"),
        },
        "type-name": {
            "any": [
                {"kind": "type_identifier", "not": {"inside": {"kind": "scoped_type_identifier"}}},
                {"kind": "identifier", "inside": {"kind": "method_invocation", "field": "object"}},
                {"kind": "identifier", "inside": {"kind": "field_access", "field": "object"}},
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
        either(r"import [\w.$]+(\.\*)?( as \w+)?;?"), header=_PACKAGE, names=_PATH
    ),
    layout=Layout(texts='"""'),
    parser="kotlin",
    comments=("line_comment", "multiline_comment"),
    strings=("string_content", "character_literal"),
    utils={
        "qualified-name": outermost(_KOTLIN_NAMES, "package_header"),
        "method-name": {
            "kind": "simple_identifier",
            "inside": {
                "kind": "navigation_suffix",
                "inside": {
                    "kind": "navigation_expression",
                    "inside": {"kind": "call_expression"},
                },
            },
        },
        "annotation-name": {
            "kind": "user_type",
            "inside": {
                "any": [
                    {"kind": "annotation"},
                    {"kind": "constructor_invocation", "inside": {"kind": "annotation"}},
                ]
            },
        },
        "type-name": {
            "any": [
                {"kind": "user_type"},
                {"kind": "simple_identifier", "inside": {"kind": "navigation_expression"}},
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
        header=_PACKAGE,
        names=_PATH,
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
JVM = (JAVA, KOTLIN, SCALA, GROOVY)
