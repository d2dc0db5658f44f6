"""The table of languages: everything that a reader of code has to know of one is in its row.

The rows are in ``languages.json``; where texts are searched, they name patterns of RE2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import splitext
from typing import Any, TypeAlias

from msgspec import Struct, convert, field, structs

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


_TABLE: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def _make_language(row: Mapping[str, Any]) -> Language:
    patterns = {
        key: "|".join(_TABLE["patterns"][name] for name in row.get(key, ()))
        for key in ("comment", "string")
    }
    name = row["name"]
    own = {"utils": _UTILS.get(name, {}), "importing": _IMPORTING.get(name)}
    return structs.replace(convert({**row, **patterns}, Language), **own)


LANGUAGES: Mapping[str, Language] = {
    row["name"]: _make_language(row) for row in _TABLE["languages"]
}
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
    language = LANGUAGE_BY_SUFFIX.get(splitext(path)[1].lower())
    return language.kin or None if language else None
