"""What a file is written in, by its name, and how comments and strings are told in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from prjury.code.names import python

# Utility rules that every pack may use (``matches: qualified-name``):
#   qualified-name    a dotted name as a whole, wherever it stands (import, type, expression,
#                     annotation); neither its inner parts nor a package header
#   annotation-name   the simple name of an annotation
#   method-name       the name of a method that is called on something
#   attribute-name    the name of a member of something (Python, JavaScript)
#   keyword-name      the name of a keyword argument in Python
#   key-name          the name of a key of an object in JavaScript
#   guarded           code under a condition on a version, or beside a failed import (Python)
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
        family: whose build files say which versions hold for its files; empty for nobody's.
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
    family: str = ""
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


def _importing(top: str, *kinds: str) -> Callable[[str], Mapping[str, Any]]:
    """The importing rule of a language whose imports may stand anywhere in a file."""

    def rule(regex: str) -> Mapping[str, Any]:
        statement = {"stopBy": "end", **_kinds(*kinds), "regex": regex}
        return {"inside": {"kind": top, "stopBy": "end", "has": statement}}

    return rule


def _script_import(regex: str) -> Mapping[str, Any]:
    """ECMAScript's imports, and calls of ``require`` and ``import``."""
    loads = {
        "kind": "call_expression",
        "has": {"field": "function", "regex": "^(?:require|import)$"},
    }
    statements = {"any": [{"kind": "import_statement"}, loads], "regex": regex}
    return {"inside": {"kind": "program", "stopBy": "end", "has": {"stopBy": "end", **statements}}}


_JAVA_NAMES = ("scoped_identifier", "scoped_type_identifier", "field_access")
_JAVA = Language(
    "java",
    "Sample.java",
    family="jvm",
    parser="java",
    comments=("line_comment", "block_comment"),
    strings=("string_literal", "character_literal"),
    utils={
        "qualified-name": _outermost(_JAVA_NAMES, "package_declaration"),
        "method-name": {
            "kind": "identifier",
            "inside": {"kind": "method_invocation", "field": "name"},
        },
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
    family="jvm",
    parser="kotlin",
    comments=("line_comment", "multiline_comment"),
    strings=("string_content", "character_literal"),
    utils={
        "qualified-name": _outermost(_KOTLIN_NAMES, "package_header"),
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
_C_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)"
_C_STRING = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_XML_COMMENT = r"<!--(?s:.*?)(?:-->|\z)"
_HASH_COMMENT = r"(?m:(?:^|[ \t])#[^\n]*)"
_HASH_LINE = r"(?m:^[ \t]*#[^\n]*)"

_PYTHON = Language(
    "python",
    "sample.py",
    parser="python",
    comments=("comment",),
    strings=("string_content",),
    family="python",
    utils={
        "guarded": python.GUARDED,
        "attribute-name": {
            "kind": "identifier",
            "inside": {"kind": "attribute", "field": "attribute"},
        },
        "method-name": {
            "kind": "identifier",
            "inside": {
                "kind": "attribute",
                "field": "attribute",
                "inside": {"kind": "call", "field": "function"},
            },
        },
        "keyword-name": {
            "kind": "identifier",
            "inside": {"kind": "keyword_argument", "field": "name"},
        },
    },
    importing=_importing("module", "import_statement", "import_from_statement"),
)
_JAVASCRIPT, _TYPESCRIPT, _TSX = (
    Language(
        name,
        sample,
        parser=name,
        comments=("comment",),
        strings=("string_fragment",),
        family="node",
        utils={
            "attribute-name": {
                "kind": "property_identifier",
                "inside": {"kind": "member_expression", "field": "property"},
            },
            "method-name": {
                "kind": "property_identifier",
                "inside": {
                    "kind": "member_expression",
                    "field": "property",
                    "inside": {"kind": "call_expression", "field": "function"},
                },
            },
            "key-name": {
                "kind": "property_identifier",
                "inside": {"kind": "pair", "field": "key"},
            },
        },
        importing=_script_import,
    )
    for name, sample in (
        ("javascript", "sample.js"),
        ("typescript", "sample.ts"),
        ("tsx", "sample.tsx"),
    )
)
_GO = Language(
    "go",
    "sample.go",
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
    importing=_importing("source_file", "import_declaration"),
)
_RUST = Language(
    "rust",
    "sample.rs",
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
    importing=_importing("source_file", "use_declaration"),
)
_BUILD_FILES = (
    Language("maven", "pom.xml", comment=_XML_COMMENT, declares=True, family="jvm"),
    Language(
        "gradle",
        "build.gradle",
        comment=_C_COMMENT,
        string=_C_STRING,
        declares=True,
        family="jvm",
    ),
    Language("pypi", "pyproject.toml", comment=_HASH_COMMENT, declares=True, family="python"),
    Language("npm", "package.json", parser="json", declares=True, family="node"),
    Language("gomod", "go.mod", comment=r"//[^\n]*", declares=True, family="go"),
    Language("cargo", "Cargo.toml", comment=_HASH_COMMENT, declares=True, family="rust"),
    Language("nuget", "Sample.csproj", comment=_XML_COMMENT, declares=True, family="dotnet"),
    Language(
        "workflow",
        ".github/workflows/sample.yml",
        parser="yaml",
        comments=("comment",),
        declares=True,
    ),
)
_TEXTS = (
    Language("xml", "sample.xml", comment=_XML_COMMENT, family="jvm"),
    Language("jsp", "sample.jsp", comment=_XML_COMMENT + r"|<%--(?s:.*?)(?:--%>|\z)", family="jvm"),
    Language("yaml", "sample.yml", parser="yaml", comments=("comment",)),
    Language("json", "sample.json", parser="json", comments=("comment",), family="node"),
    Language("docker", "Dockerfile", comment=_HASH_LINE),
    Language(
        "shell",
        "sample.sh",
        parser="bash",
        comments=("comment",),
        strings=("raw_string", "heredoc_body"),
    ),
    Language("properties", "sample.properties", comment=_HASH_LINE, family="jvm"),
)

LANGUAGES: Mapping[str, Language] = {
    language.name: language
    for language in (
        _JAVA,
        _KOTLIN,
        _PYTHON,
        _JAVASCRIPT,
        _TYPESCRIPT,
        _TSX,
        _GO,
        _RUST,
        *_BUILD_FILES,
        *_TEXTS,
    )
}

_BY_NAME = {
    "pom.xml": "maven",
    "libs.versions.toml": "gradle",
    "pyproject.toml": "pypi",
    "setup.cfg": "pypi",
    "pipfile": "pypi",
    "package.json": "npm",
    "go.mod": "gomod",
    "cargo.toml": "cargo",
    "directory.packages.props": "nuget",
    "directory.build.props": "nuget",
    "action.yml": "workflow",
    "action.yaml": "workflow",
    "dockerfile": "docker",
    "containerfile": "docker",
}
_BY_SUFFIX = {
    ".java": "java",
    ".kt": "kotlin",
    ".kts": "kotlin",
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".xml": "xml",
    ".gradle": "gradle",
    ".csproj": "nuget",
    ".fsproj": "nuget",
    ".vbproj": "nuget",
    ".jsp": "jsp",
    ".jspf": "jsp",
    ".jspx": "jsp",
    ".tag": "jsp",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".json": "json",
    ".jsonc": "json",
    ".sh": "shell",
    ".bash": "shell",
    ".dockerfile": "docker",
    ".properties": "properties",
}


@cache
def language_of(path: str) -> Language | None:
    """The language of the file, or None for one that no rule can name; case does not matter."""
    lower = PurePosixPath(path.lower())
    name = lower.name
    if name.endswith(".gradle.kts"):
        return LANGUAGES["gradle"]
    if name.startswith(("dockerfile.", "containerfile.")):
        return LANGUAGES["docker"]
    if lower.suffix in {".yml", ".yaml"} and lower.parent.parts[-2:] == (".github", "workflows"):
        return LANGUAGES["workflow"]
    if lower.suffix == ".txt" and (
        "requirements" in name or "constraints" in name or lower.parent.name == "requirements"
    ):
        return LANGUAGES["pypi"]
    return LANGUAGES.get(_BY_NAME.get(name) or _BY_SUFFIX.get(lower.suffix, ""))
