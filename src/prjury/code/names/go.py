"""Names in Go: packages by their import path, under the last part of it or under an alias."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.code.names import Binding, Chain, Node, Rule, any_kind, inside, match_any, match_chain

SEPARATORS = "/."
ABSOLUTE = False

_MAJOR = re.compile(r"(?:^|[/.])v\d+$")
_AFFIXES = re.compile(r"^go-|[-.]go$")


def find_import_bindings(root: Node, _removed_names: Sequence[str]) -> Iterator[Binding]:
    for spec in root.find_all(kind="import_spec"):
        path = spec.field("path").text()[1:-1]
        name = spec.field("name")
        if name is None:
            # The most likely names of a package of this path.
            last = _MAJOR.sub("", path).rpartition("/")[2]
            usual = sorted({last, _AFFIXES.sub("", last).replace("-", "_")})
            yield from (Binding(local, path) for local in usual)
        elif name.text() != "_":
            yield Binding("" if name.text() == "." else name.text(), path)


def match_references(single: Sequence[str], longer: Sequence[Chain]) -> Rule:
    """``pkg.Name``; for a whole package each use of it."""
    members = [*map(match_chain, longer), *(re.escape(name) + r"\s*\.\s*\w+" for name in single)]
    kinds = any_kind("selector_expression qualified_type")
    firsts = sorted({*single, *(chain[0] for chain in longer)})
    shadows = [{"not": _match_shadowed_uses(name)} for name in firsts]
    return {"all": [{**kinds, "regex": match_any(members)}, *shadows]}


def _match_shadowed_uses(name: str) -> Rule:
    """A use of the name in a function that has a parameter or a variable of that name."""
    variable = {
        "kind": "identifier",
        "regex": f"^{re.escape(name)}$",
        "any": [
            inside("parameter_declaration.name"),
            inside("var_spec.name"),
            inside("expression_list", "short_var_declaration.left"),
            inside("expression_list", "range_clause.left"),
        ],
    }
    functions = any_kind("function_declaration method_declaration func_literal")
    scope = {"stopBy": "end", **functions, "has": {"stopBy": functions, **variable}}
    return {"all": [{"regex": rf"^{re.escape(name)}\b"}, {"inside": scope}]}


def match_imports(names: Sequence[str]) -> Rule:
    """The path in an import; that of a package whose member is named is no use of the member."""
    paths = "|".join(map(re.escape, names))
    return {
        **any_kind("interpreted_string_literal raw_string_literal"),
        "regex": rf"^.(?:{paths})(?:/.*)?.$",
        "inside": {"kind": "import_spec"},
    }
