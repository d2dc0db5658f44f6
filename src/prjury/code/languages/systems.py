"""Go and Rust."""

from __future__ import annotations

from prjury.code.languages.language import Language, importing_rule

GO = Language(
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
    importing=importing_rule("source_file", "import_declaration"),
)
RUST = Language(
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
    importing=importing_rule("source_file", "use_declaration"),
)
