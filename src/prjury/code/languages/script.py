"""JavaScript, TypeScript and components written in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prjury.code.languages.language import ImportSyntax, Language, Layout, either, listed

_STRING = r"""("[^"\\`]*"|'[^'\\`]*')"""
_FROM = rf" from {_STRING};?"
_REQUIRE = rf" = require\({_STRING}\);?"
_IMPORTS = ImportSyntax(
    either(
        rf"import {_STRING};?",
        rf"import (type )?[\w$*{{}}, ]+{_FROM}",
        rf"(const|let|var) [\w$]+{_REQUIRE}",
        rf"(const|let|var) \{{[\w$:, ]+\}}{_REQUIRE}",
        rf"import [\w$]+{_REQUIRE}",
    ),
    (
        (
            either(r"import (type )?([\w$]+, )?\{"),
            listed(r"(type )?[\w$]+( as [\w$]+)?"),
            either(rf"\}}{_FROM}"),
        ),
        (
            either(r"(const|let|var) \{"),
            listed(r"[\w$]+(: [\w$]+)?"),
            either(rf"\}}{_REQUIRE}"),
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
        imports=_IMPORTS,
        layout=Layout(texts="`"),
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
SCRIPTS = (JAVASCRIPT, TYPESCRIPT, TSX, VUE, SVELTE)
