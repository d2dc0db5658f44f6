"""Names in Java: imports of types, of packages and static ones, and names written in full."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.code.names import Binding, Chain, Node, Rule, any_kind, inside, match_chains, match_one

SEPARATORS = "."
ABSOLUTE = True

_IMPORT = re.compile(r"import\s+(?:static\s+)?([\w$.\s]+?)\s*(\.\s*\*)?\s*;")
_DECLARED = (
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
)
_QUALIFIED = ("scoped_identifier", "scoped_type_identifier", "field_access")


def _inside_of(*kinds: str, **more: object) -> Rule:
    return {"inside": {**any_kind(*kinds), **more}}


_OUT_OF_IMPORTS = {"not": _inside_of("import_declaration", "package_declaration", stopBy="end")}


def find_bindings(root: Node, _names: Sequence[str]) -> Iterator[Binding]:
    """The names that a file's imports bind; its own types hide those of a wildcard."""
    declared = frozenset(
        node.field("name").text() for kind in _DECLARED for node in root.find_all(kind=kind)
    )
    for node in root.find_all(kind="import_declaration"):
        match = _IMPORT.match(node.text())
        if match:
            target = "".join(match[1].split())
            local = "" if match[2] else target.rpartition(".")[2]
            yield Binding(local, target, frozenset() if local else declared)


def match_references(chains: Sequence[Chain]) -> Rule:
    """Types, annotations, and names before a member; methods by their static import or type."""
    single = [chain[0] for chain in chains if len(chain) == 1]
    longer = [chain for chain in chains if len(chain) > 1]
    rules: list[Rule] = []
    if single:
        rules += _match_unqualified(match_one(single))
    if longer:
        rules.append({**any_kind(*_QUALIFIED), "regex": match_chains(longer), **_OUT_OF_IMPORTS})
        rules += map(_method, longer)
    return {"any": rules}


def _match_unqualified(regex: str) -> list[Rule]:
    has_object = {"kind": "method_invocation", "has": {"field": "object", "regex": "."}}
    places = [
        inside("method_invocation.object"),
        inside("field_access.object"),
        inside("marker_annotation.name"),
        inside("annotation.name"),
        {"inside": {"kind": "method_invocation", "field": "name"}, "not": {"inside": has_object}},
        {"nthChild": 1, **_inside_of("method_reference")},
        {"nthChild": 1, **_inside_of("scoped_identifier"), **_OUT_OF_IMPORTS},
    ]
    types = [
        {"not": _inside_of("scoped_type_identifier")},
        {"nthChild": 1, **_inside_of("scoped_type_identifier")},
    ]
    identifier = {"kind": "identifier", "regex": regex, "any": places}
    return [identifier, {"kind": "type_identifier", "regex": regex, "any": types}]


def _method(chain: Chain) -> Rule:
    owner = {"field": "object", "regex": match_chains([chain[:-1]])}
    call = {"kind": "method_invocation", "field": "name", "has": owner}
    return {"kind": "identifier", "regex": match_one([chain[-1]]), "inside": call}


def match_imports(names: Sequence[str]) -> Rule:
    """The name in an import, of the type itself or of something inside of it."""
    pattern = "|".join(r"\s*\.\s*".join(map(re.escape, name.split("."))) for name in names)
    return {
        "any": [{"kind": "scoped_identifier"}, {"kind": "identifier"}],
        "regex": rf"^(?:{pattern})(?:\s*\.|$)",
        **_inside_of("import_declaration"),
    }
