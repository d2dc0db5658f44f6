"""Python."""

from __future__ import annotations

from prjury.code.languages.language import Language, importing_rule
from prjury.code.names.guards import GUARDED

PYTHON = Language(
    "python",
    "sample.py",
    parser="python",
    comments=("comment",),
    strings=("string_content",),
    family="python",
    utils={
        "guarded": GUARDED,
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
    importing=importing_rule("module", "import_statement", "import_from_statement"),
)
