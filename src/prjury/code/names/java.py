"""Names in Java: imports of types, of packages and static ones, and names written in full."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.code.names import (
    Binding,
    Chain,
    Node,
    Rule,
    any_kind,
    has_field,
    inside,
    list_places,
    match_chains,
    match_one,
    somewhere_in,
)

SEPARATORS = "."
ABSOLUTE = True

_IMPORT = re.compile(r"import\s+(?:static\s+)?([\w$.\s]+?)\s*(\.\s*\*)?\s*;")
_DECLARED = any_kind(
    "class_declaration interface_declaration enum_declaration record_declaration"
    " annotation_type_declaration"
)
_QUALIFIED = any_kind("scoped_identifier scoped_type_identifier field_access")
_OUT_OF_IMPORTS = {"not": somewhere_in(any_kind("import_declaration package_declaration"))}


def find_import_bindings(root: Node, _removed_names: Sequence[str]) -> Iterator[Binding]:
    """The names that a file's imports bind; its own types hide those of a wildcard."""
    declared = frozenset(node.field("name").text() for node in root.find_all({"rule": _DECLARED}))
    for node in root.find_all(kind="import_declaration"):
        match = _IMPORT.match(node.text())
        if match:
            target = "".join(match[1].split())
            local = "" if match[2] else target.rpartition(".")[2]
            yield Binding(local, target, frozenset() if local else declared)


def match_references(simple_names: Sequence[str], chains: Sequence[Chain]) -> Rule:
    """Types, annotations, and names before a member; methods by their static import or type."""
    rules: list[Rule] = []
    if simple_names:
        rules += _match_unqualified_names(match_one(simple_names))
    if chains:
        rules.append({**_QUALIFIED, "regex": match_chains(chains), **_OUT_OF_IMPORTS})
        rules += map(_match_method, chains)
    return {"any": rules}


def _match_unqualified_names(regex: str) -> list[Rule]:
    has_object = {"kind": "method_invocation", **has_field("object", ".")}
    places = [
        *list_places(
            "method_invocation.object field_access.object marker_annotation.name annotation.name"
        ),
        {**inside("method_invocation.name"), "not": {"inside": has_object}},
        {"nthChild": 1, **inside("method_reference")},
        {"nthChild": 1, **inside("scoped_identifier"), **_OUT_OF_IMPORTS},
    ]
    scoped = inside("scoped_type_identifier")
    types = [{"not": scoped}, {"nthChild": 1, **scoped}]
    identifier = {"kind": "identifier", "regex": regex, "any": places}
    return [identifier, {"kind": "type_identifier", "regex": regex, "any": types}]


def _match_method(chain: Chain) -> Rule:
    owner = has_field("object", match_chains([chain[:-1]]))
    call = {"kind": "method_invocation", "field": "name", **owner}
    return {"kind": "identifier", "regex": match_one([chain[-1]]), "inside": call}


def match_imports(names: Sequence[str]) -> Rule:
    """The name in an import, of the type itself or of something inside of it."""
    pattern = "|".join(r"\s*\.\s*".join(map(re.escape, name.split("."))) for name in names)
    return {
        **any_kind("scoped_identifier identifier"),
        "regex": rf"^(?:{pattern})(?:\s*\.|$)",
        **inside("import_declaration"),
    }
