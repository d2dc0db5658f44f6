"""The definitions of a text, read off the parser's tree; runs in the parser's own process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from prjury.code.names import Node, any_kind

CLOSURES = frozenset({"arrow_function", "function_expression", "generator_function"})
#: Names of functions of test frameworks, which define a test or a group of tests.
_TESTS = frozenset("it test before after beforeEach afterEach beforeAll afterAll".split())
_GROUPS = frozenset("describe suite context".split())
#: What stands before a definition without being part of it, and what may stand between.
_LEADING = frozenset({"decorator", "attribute_item"})
_BETWEEN = frozenset({"export", "default"})
#: Bodies, where the grammar has no field for them.
_BODIES = frozenset(
    {"block", "function_body", "class_body", "enum_class_body", "field_declaration_list"}
    | {"interface_type", "macro_rule", "statements"}
)


#: The kinds of nodes that are functions, those that are classes, and those that define what they
#: hold if that is one.
_Outline: TypeAlias = tuple[str, str, str]


def _outline_script(classes: str, field: str) -> _Outline:
    return (
        "function_declaration generator_function_declaration method_definition class_static_block",
        f"class_declaration class {classes}",
        f"variable_declarator assignment_expression pair call_expression {field}",
    )


_TYPESCRIPT = _outline_script(
    "abstract_class_declaration interface_declaration enum_declaration internal_module module",
    "public_field_definition",
)
_CONSTRUCTORS = "constructor_declaration compact_constructor_declaration"
_JAVA_TYPES = "enum_declaration record_declaration annotation_type_declaration"
#: By the parser's word for the language.
OUTLINES: Mapping[str, _Outline] = {
    "java": (
        f"method_declaration {_CONSTRUCTORS} static_initializer",
        f"class_declaration interface_declaration {_JAVA_TYPES}",
        "",
    ),
    "kotlin": (
        "function_declaration secondary_constructor anonymous_initializer getter setter",
        "class_declaration object_declaration companion_object",
        "",
    ),
    "python": ("function_definition", "class_definition", ""),
    "javascript": _outline_script("", "field_definition"),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": ("function_declaration method_declaration", "", "type_spec"),
    "rust": (
        "function_item function_signature_item macro_definition",
        "struct_item enum_item union_item trait_item impl_item mod_item",
        "",
    ),
    "bash": ("function_definition", "", ""),
}


def measure_definitions_and_bodies(root: Node, language: str) -> list[tuple[bool, int, int, int]]:
    """Rows: is it a function, the offsets where it and its body begin, and where it ends."""
    functions, classes, _ = (kinds.split() for kinds in OUTLINES[language])
    rows = []
    for node in root.find_all({"rule": any_kind(" ".join(OUTLINES[language]))}):
        kind = node.kind()
        if kind in functions or kind in classes:
            rows.append(_measure_with_body(node, node, is_function=kind in functions))
        else:
            rows.extend(_measure_type_closure_or_test(node))
    return rows


def _measure_type_closure_or_test(node: Node) -> Iterator[tuple[bool, int, int, int]]:
    if node.kind() == "type_spec":
        value = node.field("type")
        if value and value.kind() in {"struct_type", "interface_type"}:
            yield _measure_with_body(node, value, is_function=False)
        return
    if node.kind() == "call_expression":
        called = node.field("function").text().partition("(")[0].partition("`")[0].split(".")[0]
        arguments = node.field("arguments")
        value = next((each for each in arguments.children() if each.kind() in CLOSURES), None)
        if value and called in _TESTS | _GROUPS:
            yield _measure_with_body(node, value, is_function=called in _TESTS)
        return
    value = node.field("value") or node.field("right")
    if value and value.kind() in CLOSURES:
        yield _measure_with_body(node, value, is_function=True)


def _measure_with_body(node: Node, owner: Node, *, is_function: bool) -> tuple[bool, int, int, int]:
    first, place = node, node.range()
    for before in node.prev_all():
        if before.kind() in _LEADING:
            first = before
        elif before.kind() not in _BETWEEN:
            break
    body = owner.field("body")
    if body is None:
        parts = [owner, *owner.children()]
        body = next((each for each in parts if each.kind() in _BODIES), None)
    end = place.end.index
    return is_function, first.range().start.index, body.range().start.index if body else end, end
