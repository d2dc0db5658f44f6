"""What a file is written in, by its name, and how comments and strings are told in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

# Utility rules that every pack may use (``matches: qualified-name``):
#   qualified-name    a dotted name as a whole, wherever it stands (import, type, expression,
#                     annotation); neither its inner parts nor a package header
#   annotation-name   the simple name of an annotation
#   type-name         the simple name of a type, also before a static member


@dataclass(frozen=True)
class Language:
    """A language that rules may name.

    Attributes:
        parser: the language's name in ast-grep; None where text is only searched with RE2.
        comments: node kinds of comments, for parsed languages.
        strings: node kinds of string content, for parsed languages.
        comment: RE2 pattern of one comment, for the others.
        string: RE2 pattern of one string in which that comment would be none.
        declares: whether its files declare dependencies.
        utils: ast-grep utility rules that every pack may refer to.
        importing: the ast-grep rule of a place in a file with an import that fits a regex.
        sample: a file name of this language, for rule tests.
    """

    name: str
    sample: str
    parser: str | None = None
    comments: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    comment: str = ""
    string: str = ""
    declares: bool = False
    utils: Mapping[str, Any] = field(default_factory=dict)
    importing: Callable[[str], Mapping[str, Any]] | None = None


def _kinds(*kinds: str) -> dict[str, Any]:
    return {"any": [{"kind": kind} for kind in kinds]}


def _outermost(kinds: tuple[str, ...], package: str) -> dict[str, Any]:
    return {"all": [_kinds(*kinds), {"not": {"inside": _kinds(*kinds, package)}}]}


def _java_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_declaration", "regex": regex}
    return {"inside": {"kind": "program", "stopBy": "end", "has": imported}}


def _kotlin_import(regex: str) -> dict[str, Any]:
    imported = {"kind": "import_list", "has": {"kind": "import_header", "regex": regex}}
    return {"inside": {"kind": "source_file", "stopBy": "end", "has": imported}}


_JAVA_NAMES = ("scoped_identifier", "scoped_type_identifier", "field_access")
_JAVA = Language(
    "java",
    "Sample.java",
    parser="java",
    comments=("line_comment", "block_comment"),
    strings=("string_literal", "character_literal"),
    utils={
        "qualified-name": _outermost(_JAVA_NAMES, "package_declaration"),
        "annotation-name": {
            "kind": "identifier",
            "inside": _kinds("marker_annotation", "annotation"),
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
_KOTLIN = Language(
    "kotlin",
    "Sample.kt",
    parser="kotlin",
    comments=("line_comment", "multiline_comment"),
    strings=("string_content", "character_literal"),
    utils={
        "qualified-name": _outermost(_KOTLIN_NAMES, "package_header"),
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
_C_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)"
_C_STRING = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_XML_COMMENT = r"<!--(?s:.*?)(?:-->|\z)"

LANGUAGES: Mapping[str, Language] = {
    language.name: language
    for language in (
        _JAVA,
        _KOTLIN,
        Language("maven", "pom.xml", comment=_XML_COMMENT, declares=True),
        Language("gradle", "build.gradle", comment=_C_COMMENT, string=_C_STRING, declares=True),
        Language("xml", "sample.xml", comment=_XML_COMMENT),
        Language("jsp", "sample.jsp", comment=_XML_COMMENT + r"|<%--(?s:.*?)(?:--%>|\z)"),
    )
}

_BY_SUFFIX = {
    ".java": "java",
    ".kt": "kotlin",
    ".kts": "kotlin",
    ".xml": "xml",
    ".gradle": "gradle",
    ".jsp": "jsp",
    ".jspf": "jsp",
    ".jspx": "jsp",
    ".tag": "jsp",
}


def language_of(path: str) -> Language | None:
    """The language of the file, or None for one that no rule can name; case does not matter."""
    name = PurePosixPath(path).name.lower()
    if name == "pom.xml":
        return LANGUAGES["maven"]
    if name.endswith(".gradle.kts"):
        return LANGUAGES["gradle"]
    return LANGUAGES.get(_BY_SUFFIX.get(PurePosixPath(name).suffix, ""))
