"""JavaScript and TypeScript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prjury.code.languages.language import Language


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
