"""Names in Kotlin: imports with and without aliases, of packages, and names written in full."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.code.names import (
    Binding,
    Chain,
    Node,
    Rule,
    any_kind,
    list_places,
    match_any,
    match_chain,
    match_chains,
    match_one,
    somewhere_in,
)

SEPARATORS = "."
ABSOLUTE = True

_IMPORT = re.compile(r"import\s+([\w`]+(?:\.[\w`]+)*)(\.\*)?(?:\s+as\s+(\w+))?")
_HEADERS = any_kind("import_header package_header")


def find_import_bindings(root: Node, _names: Sequence[str]) -> Iterator[Binding]:
    for node in root.find_all(kind="import_header"):
        match = _IMPORT.match(node.text().strip())
        if match:
            target = match[1].replace("`", "")
            yield Binding("" if match[2] else match[3] or target.rpartition(".")[2], target)


def match_references(simple_names: Sequence[str], chains: Sequence[Chain]) -> Rule:
    """Types, annotations, calls, and names before a member."""
    rules: list[Rule] = []
    if simple_names:
        regex = match_one(simple_names)
        places = list_places("call_expression navigation_expression callable_reference")
        name = {"kind": "simple_identifier", "regex": regex, "any": places}
        head = {"kind": "type_identifier", "regex": regex, "nthChild": 1}
        rules += [{**head, "inside": {"kind": "user_type"}}, {**name, "nthChild": 1}]
    if chains:
        outside = {"not": somewhere_in(_HEADERS)}
        typed = match_any(match_chain(chain) + r"(?:\s*\.\s*\w+)*" for chain in chains)
        rules.append({"kind": "user_type", "regex": typed, **outside})
        rules.append({"kind": "navigation_expression", "regex": match_chains(chains), **outside})
    return {"any": rules}


def match_imports(names: Sequence[str]) -> Rule:
    """The name in an import, of the thing itself or of something inside of it."""
    pattern = "|".join(map(re.escape, names))
    return {
        "kind": "identifier",
        "regex": rf"^(?:{pattern})(?:\.|$)",
        "inside": {"kind": "import_header"},
    }
