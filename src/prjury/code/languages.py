"""The table of languages: everything that a reader of code has to know of one is in its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from msgspec import Struct, field

from prjury.code.names import any_kind, has_field, inside, within
from prjury.code.names.python import GUARDED

# Utility rules that every pack may use (``matches: qualified-name``):
#   qualified-name    a dotted name as a whole, wherever it stands (import, type, expression,
#                     annotation); neither its inner parts nor a package header
#   annotation-name   the simple name of an annotation
#   method-name       the name of a method that is called on something
#   attribute-name    the name of a member of something (Python, JavaScript)
#   keyword-name      the name of a keyword argument in Python
#   key-name          the name of a key of an object in JavaScript
#   guarded           code under a condition on a version; imports that may fail (Python)
#   type-name         the simple name of a type, also before a static member


class Language(Struct, frozen=True):
    """A language that rules may name, and all that is known of it.

    Attributes:
        files: names of its files, in lower case, whatever their suffix.
        parser: its name in ast-grep, ``comments`` and ``strings`` its kinds of nodes.
        comment: RE2 pattern of one comment, and ``string`` of what hides one, without a parser.
        family: whose build files say which versions hold for its files; empty for none.
        kin: the group of languages that may use each other's names; empty for no code.
        utils: ast-grep utility rules that every pack may refer to.
        root: the kind of a whole text, and ``imports`` the rules of what imports there.
    """

    name: str
    sample: str
    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    family: str = ""
    kin: str = ""
    parser: str | None = None
    comments: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    comment: str = ""
    string: str = ""
    utils: Mapping[str, Any] = field(default_factory=dict)
    importing: _Importing | None = None

    def match_importing(self, regex: str) -> dict[str, Any]:
        """The ast-grep rule of a place in a file with an import that fits a regex."""
        root, stop, rules = self.importing or ("", "end", ())
        has = {"stopBy": stop, "any": list(rules), "regex": regex}
        return {"inside": {"kind": root, "stopBy": "end", "has": has}}


def outermost(kinds: str, package: str) -> dict[str, Any]:
    """The rule of a name of one of these kinds that is no part of another one."""
    return {"all": [any_kind(kinds), {"not": {"inside": any_kind(f"{kinds} {package}")}}]}


_JAVA_NAMES = "scoped_identifier scoped_type_identifier field_access"
_KOTLIN_NAMES = "identifier user_type navigation_expression"
_KOTLIN_METHOD = ("navigation_suffix", "navigation_expression", "call_expression")
_SCRIPTS = ("javascript", "typescript", "tsx")
_SCRIPT_UTILS = {
    "attribute-name": within("property_identifier", "member_expression.property"),
    "method-name": within(
        "property_identifier", "member_expression.property", "call_expression.function"
    ),
    "key-name": within("property_identifier", "pair.key"),
}
_UTILS: Mapping[str, Mapping[str, Any]] = {
    "java": {
        "qualified-name": outermost(_JAVA_NAMES, "package_declaration"),
        "method-name": within("identifier", "method_invocation.name"),
        "annotation-name": {
            "kind": "identifier",
            "inside": any_kind("marker_annotation annotation"),
        },
        "type-name": {
            "any": [
                {"kind": "type_identifier", "not": inside("scoped_type_identifier")},
                within("identifier", "method_invocation.object"),
                within("identifier", "field_access.object"),
            ]
        },
    },
    "kotlin": {
        "qualified-name": outermost(_KOTLIN_NAMES, "package_header"),
        "method-name": within("simple_identifier", *_KOTLIN_METHOD),
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
    "python": {
        "guarded": GUARDED,
        "attribute-name": within("identifier", "attribute.attribute"),
        "method-name": within("identifier", "attribute.attribute", "call.function"),
        "keyword-name": within("identifier", "keyword_argument.name"),
    },
    **dict.fromkeys(_SCRIPTS, _SCRIPT_UTILS),
    "go": {
        "method-name": within("field_identifier", "selector_expression", "call_expression.function")
    },
    "rust": {
        "method-name": within("field_identifier", "field_expression", "call_expression.function")
    },
}


#: The kind of a whole text, where a search in it ends, and the rules of what imports there.
_Importing: TypeAlias = tuple[str, Any, tuple[Mapping[str, Any], ...]]

#: ECMAScript has calls that import, too.
_LOADS = {"kind": "call_expression", **has_field("function", "^(?:require|import)$")}
_IMPORTING: Mapping[str, _Importing] = {
    "java": ("program", "neighbor", ({"kind": "import_declaration"},)),
    "kotlin": ("source_file", {"not": {"kind": "import_list"}}, ({"kind": "import_header"},)),
    "python": ("module", "end", ({"kind": "import_statement"}, {"kind": "import_from_statement"})),
    **dict.fromkeys(_SCRIPTS, ("program", "end", ({"kind": "import_statement"}, _LOADS))),
    "go": ("source_file", "end", ({"kind": "import_declaration"},)),
    "rust": ("source_file", "end", ({"kind": "use_declaration"},)),
}


_C_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)"
_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_C_STRING = _QUOTED + r"|'(?:[^'\\\n]|\\.)*'"
_LONG = r'"{3}(?s:.*?)"{3}|'
_PYTHON_STRING = _LONG + r"'{3}(?s:.*?)'{3}|" + _C_STRING
_VERBATIM = r'@"(?:[^"]|"")*"|' + _C_STRING
_C_FILES = ".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .inc"
_PHP_COMMENT = rf"{_C_COMMENT}|#[^\n]*"
_XML_COMMENT = r"<!--(?s:.*?)(?:-->|\z)"
#: Nothing in it opens a comment.
_CDATA = r"<!\[CDATA\[(?s:.*?)(?:\]\]>|\z)"
#: The server runs what stands in an XML comment.
_JSP_COMMENT = r"<%--(?s:.*?)(?:--%>|\z)"
#: Parts of their files are HTML.
_COMPONENT = _XML_COMMENT + r"|/\*(?s:.*?)(?:\*/|\z)|(?m:(?:^|[ \t;{}])//[^\n]*)"
_CSS_COMMENT = r"/\*(?s:.*?)(?:\*/|\z)"
_HASH_COMMENT = r"(?m:(?:^|[ \t])#[^\n]*)"
_HASH_LINE = r"(?m:^[ \t]*#[^\n]*)"
_INI_LINE = r"(?m:^[ \t]*[#;][^\n]*)"
_CATALOG = "libs.versions.toml"
_PYTHON_FILES = "pyproject.toml setup.cfg pipfile"
_NET_SUFFIXES = ".csproj .fsproj .vbproj"
_NET_FILES = "directory.packages.props directory.build.props"

#: Those without a parser: name, sample, suffixes, names, family, kin, nothing, comment and string.
_SEARCHED: Sequence[tuple[str, ...]] = (
    ("scala", "Sample.scala", ".scala .sc", "", "jvm", "jvm", "", _C_COMMENT, _QUOTED),
    ("groovy", "Sample.groovy", ".groovy", "", "jvm", "jvm", "", _C_COMMENT, _C_STRING),
    ("cython", "sample.pyx", ".pyx .pxd", "", "python", "python", "", r"#[^\n]*", _PYTHON_STRING),
    ("vue", "sample.vue", ".vue", "", "node", "script", "", _COMPONENT, ""),
    ("svelte", "sample.svelte", ".svelte", "", "node", "script", "", _COMPONENT, ""),
    ("c", "sample.c", _C_FILES, "", "", "c", "", _C_COMMENT, _QUOTED),
    ("csharp", "Sample.cs", ".cs", "", "dotnet", "dotnet", "", _C_COMMENT, _VERBATIM),
    ("swift", "sample.swift", ".swift", "", "", "swift", "", _C_COMMENT, _LONG + _QUOTED),
    ("dart", "sample.dart", ".dart", "", "", "dart", "", _C_COMMENT, _C_STRING),
    ("php", "sample.php", ".php", "", "", "php", "", _PHP_COMMENT, _C_STRING),
    ("maven", "pom.xml", "", "pom.xml", "jvm", "", "", _XML_COMMENT, _CDATA),
    ("gradle", "build.gradle", ".gradle", _CATALOG, "jvm", "", "", _C_COMMENT, _C_STRING),
    ("pypi", "pyproject.toml", "", _PYTHON_FILES, "python", "", "", _HASH_COMMENT, ""),
    ("gomod", "go.mod", "", "go.mod", "go", "", "", r"//[^\n]*", ""),
    ("cargo", "Cargo.toml", "", "cargo.toml", "rust", "", "", _HASH_COMMENT, ""),
    ("nuget", "Sample.csproj", _NET_SUFFIXES, _NET_FILES, "dotnet", "", "", _XML_COMMENT, _CDATA),
    ("xml", "sample.xml", ".xml", "", "jvm", "", "", _XML_COMMENT, _CDATA),
    ("jsp", "sample.jsp", ".jsp .jspf .jspx .tag", "", "jvm", "", "", _JSP_COMMENT, ""),
    ("docker", "Dockerfile", ".dockerfile", "dockerfile containerfile", "", "", "", _HASH_LINE, ""),
    ("properties", "sample.properties", ".properties", "", "jvm", "", "", _HASH_LINE, ""),
    ("toml", "sample.toml", ".toml", "", "", "", "", _HASH_COMMENT, ""),
    ("ini", "sample.ini", ".ini .cfg", "", "", "", "", _INI_LINE, ""),
    ("proto", "sample.proto", ".proto", "", "", "", "", _C_COMMENT, _C_STRING),
    ("css", "sample.css", ".css", "", "", "", "", _CSS_COMMENT, ""),
    ("scss", "sample.scss", ".scss .less", "", "", "", "", _C_COMMENT, _C_STRING + r"|://"),
)
_APPLICATION_FILES = "application.yml application.yaml bootstrap.yml bootstrap.yaml"
_WORKFLOW = ".github/workflows/sample.yml"
#: Those with a parser: name, sample, suffixes, names, family, kin and parser.
_PARSED: Sequence[tuple[str, ...]] = (
    ("java", "Sample.java", ".java", "", "jvm", "jvm", "java"),
    ("kotlin", "Sample.kt", ".kt .kts", "", "jvm", "jvm", "kotlin"),
    ("python", "sample.py", ".py .pyi", "", "python", "python", "python"),
    ("javascript", "sample.js", ".js .jsx .mjs .cjs", "", "node", "script", "javascript"),
    ("typescript", "sample.ts", ".ts .mts .cts", "", "node", "script", "typescript"),
    ("tsx", "sample.tsx", ".tsx", "", "node", "script", "tsx"),
    ("go", "sample.go", ".go", "", "go", "go", "go"),
    ("rust", "sample.rs", ".rs", "", "rust", "rust", "rust"),
    ("npm", "package.json", "", "package.json", "node", "", "json"),
    ("workflow", _WORKFLOW, "", "action.yml action.yaml", "", "", "yaml"),
    ("application", "application.yml", "", _APPLICATION_FILES, "jvm", "", "yaml"),
    ("yaml", "sample.yml", ".yml .yaml", "", "", "", "yaml"),
    ("json", "sample.json", ".json .jsonc", "", "node", "", "json"),
    ("shell", "sample.sh", ".sh .bash", "", "", "", "bash"),
)
#: The kinds of nodes that are comments, where not ``comment``, and by parser those of strings.
_COMMENTS = {
    "java": "line_comment block_comment",
    "kotlin": "line_comment multiline_comment",
    "rust": "line_comment block_comment",
    "npm": "",
}
_STRINGS = {
    "java": "string_literal character_literal",
    "kotlin": "string_content character_literal",
    "python": "string_content",
    "go": "interpreted_string_literal raw_string_literal rune_literal",
    "rust": "string_literal raw_string_literal char_literal",
    "bash": "raw_string heredoc_body",
    **dict.fromkeys(_SCRIPTS, "string_fragment"),
}


def _make_language(row: tuple[str, ...]) -> Language:
    name, sample, suffixes, files, family, kin, parser, comment, string = (*row, "", "")[:9]
    return Language(
        name,
        sample,
        tuple(suffixes.split()),
        tuple(files.split()),
        family,
        kin,
        parser or None,
        tuple(_COMMENTS.get(name, "comment").split()) if parser else (),
        tuple(_STRINGS.get(parser, "").split()),
        comment,
        string,
        _UTILS.get(name, {}),
        _IMPORTING.get(name),
    )


LANGUAGES: Mapping[str, Language] = {row[0]: _make_language(row) for row in (*_PARSED, *_SEARCHED)}
_BY_NAME = {name: language for language in LANGUAGES.values() for name in language.files}
LANGUAGE_BY_SUFFIX = {
    suffix: language for language in LANGUAGES.values() for suffix in language.suffixes
}


@cache
def language_of(path: str) -> Language | None:
    lower = PurePosixPath(path.lower())
    name = lower.name
    if name.endswith(".gradle.kts"):
        return LANGUAGES["gradle"]
    if name.startswith(("dockerfile.", "containerfile.")):
        return LANGUAGES["docker"]
    if lower.suffix in {".yml", ".yaml"} and lower.parent.parts[-2:] == (".github", "workflows"):
        return LANGUAGES["workflow"]
    if lower.suffix in {".yml", ".yaml"} and name.startswith(("application-", "bootstrap-")):
        return LANGUAGES["application"]
    if lower.suffix == ".txt" and (
        "requirements" in name or "constraints" in name or lower.parent.name == "requirements"
    ):
        return LANGUAGES["pypi"]
    return _BY_NAME.get(name) or LANGUAGE_BY_SUFFIX.get(lower.suffix)


def kin_of(path: str) -> str | None:
    """The group of languages that may use each other's names, by the suffix alone."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    language = LANGUAGE_BY_SUFFIX.get(name[dot:].lower()) if dot > 0 else None
    return language.kin or None if language else None
