"""What of a language is form only: tokens without a meaning, and what may stand in any order.

Everything else counts. A member's order is form where nothing is executed when it is declared:
methods, functions and types; not fields whose initial value could see another one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SyntaxForm:
    """Node kinds of a language, as ast-grep names them.

    Attributes:
        separators: tokens that end a statement or a member, wherever a line end can do that, too.
        counting: nodes in which such tokens do count.
        imports: statements of imports.
        holders: nodes whose members may stand in any order.
        members: those members.
        runs: whether members keep their place among the others, and only neighbours are sorted.
        blocks: blocks around a single statement, which may be left out.
        alike: kinds that mean the same as another one.
    """

    separators: frozenset[str] = frozenset()
    counting: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    holders: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    runs: bool = False
    blocks: frozenset[str] = frozenset()
    alike: Mapping[str, str] = field(default_factory=dict)


def _kinds(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Statements whose body is one statement or a block.
BODIED = _kinds(
    "if_statement else_clause for_statement for_in_statement enhanced_for_statement "
    "while_statement do_statement control_structure_body"
)

_SCRIPT = SyntaxForm(
    separators=_kinds("; ,"),
    counting=_kinds("for_statement"),
    imports=_kinds("import_statement"),
    holders=_kinds("class_body interface_body object_type"),
    members=_kinds(
        "method_definition method_signature property_signature abstract_method_signature"
    ),
    blocks=_kinds("statement_block"),
)

FORMS: Mapping[str, SyntaxForm] = {
    "java": SyntaxForm(
        imports=_kinds("import_declaration"),
        holders=_kinds(
            "program class_body interface_body enum_body_declarations annotation_type_body"
        ),
        members=_kinds(
            "method_declaration constructor_declaration compact_constructor_declaration "
            "class_declaration interface_declaration enum_declaration record_declaration "
            "annotation_type_declaration annotation_type_element_declaration field_declaration"
        ),
        blocks=_kinds("block"),
    ),
    "kotlin": SyntaxForm(
        separators=_kinds(";"),
        imports=_kinds("import_header"),
        holders=_kinds("source_file class_body"),
        members=_kinds(
            "function_declaration class_declaration object_declaration secondary_constructor "
            "type_alias"
        ),
    ),
    "go": SyntaxForm(
        separators=frozenset({";", "\n"}),
        counting=_kinds("for_clause if_statement expression_switch_statement"),
        imports=_kinds("import_declaration"),
        holders=_kinds("source_file"),
        members=_kinds("function_declaration method_declaration type_declaration"),
    ),
    "rust": SyntaxForm(
        imports=_kinds("use_declaration"),
        holders=_kinds("source_file declaration_list"),
        members=_kinds(
            "function_item function_signature_item struct_item enum_item union_item impl_item "
            "trait_item type_item associated_type const_item"
        ),
    ),
    "python": SyntaxForm(
        separators=_kinds(";"),
        imports=_kinds("import_statement import_from_statement"),
        holders=_kinds("module block"),
        members=_kinds("function_definition"),
        runs=True,
        alike={"tuple": "expression_list", "tuple_pattern": "pattern_list"},
    ),
    **dict.fromkeys(("javascript", "typescript", "tsx"), _SCRIPT),
}
