"""Names in Rust: ``use a::b``, ``use a::{b, c as d}``, ``use a::*``, and full paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prjury.code.names import Binding, Chain, Node, Rule, list_places, match_chains, match_one

SEPARATORS = "::"
ABSOLUTE = True

_IN_USE: Rule = {"inside": {"stopBy": "end", "kind": "use_declaration"}}
_NAMES = [{"kind": "identifier"}, {"kind": "type_identifier"}]
_NAME_OR_ALIAS = {"any": list_places("scoped_identifier.name use_as_clause.alias")}
_PLACES = (
    "let_declaration.pattern parameter.pattern function_item.name struct_item.name enum_item.name"
    " trait_item.name type_item.name mod_item.name macro_definition.name scoped_identifier.name"
    " scoped_type_identifier.name"
)
_BINDS = {"any": [*list_places(_PLACES), _IN_USE]}


def find_import_bindings(root: Node, _names: Sequence[str]) -> Iterator[Binding]:
    for declaration in root.find_all(kind="use_declaration"):
        argument = declaration.field("argument")
        if argument is not None:
            yield from read_use(argument)


def read_use(node: Node, prefix: str = "") -> Iterator[Binding]:
    """The names at the leaves of a ``use``; none of a star, which brings others."""
    kind = node.kind()
    if kind == "use_list":
        for child in node.children():
            if child.is_named():
                yield from read_use(child, prefix)
    elif kind == "scoped_use_list":
        path = node.field("path")
        yield from read_use(node.field("list"), prefix + (f"{_path_of(path)}::" if path else ""))
    elif kind == "use_as_clause":
        yield Binding(node.field("alias").text(), prefix + _path_of(node.field("path")))
    elif kind == "use_wildcard":
        yield Binding("", prefix + _path_of(node).removesuffix("::*"))
    else:
        target = prefix.removesuffix("::") if kind == "self" else prefix + _path_of(node)
        yield Binding(target.rpartition("::")[2], target)


def _path_of(node: Node) -> str:
    return "".join(node.text().split()).removeprefix("::")


def match_references(simple_names: Sequence[str], chains: Sequence[Chain]) -> Rule:
    """Identifiers, types, macros and paths; not what binds them, nor parts of other paths."""
    rules: list[Rule] = []
    if simple_names:
        rules.append({"any": _NAMES, "regex": match_one(simple_names), "not": _BINDS})
    if chains:
        paths = [{"kind": "scoped_identifier"}, {"kind": "scoped_type_identifier"}]
        regex = match_chains(chains, "::").replace("^", r"^(?:::)?", 1)
        rules.append({"any": paths, "regex": regex, "not": _IN_USE})
    return {"any": rules}


def match_imports(names: Sequence[str]) -> Rule:
    """The last part of the name in a ``use`` declaration whose text holds all parts before it."""
    return {"any": [_match_imported(name.split("::")) for name in names]}


def _match_imported(parts: list[str]) -> Rule:
    *before, last = parts
    crate = r"\b[\s\S]*?\b".join(before) or last
    rule: Rule = {"any": _NAMES, "regex": match_one([last])}
    use = {**_IN_USE["inside"], "regex": rf"\buse\s+(?:::)?\s*{crate}\b"}
    path = {"has": {"field": "path", "regex": rf"(?:^|::\s*){''.join(before[-1:])}$"}}
    listed = {"kind": "use_list", "inside": {"kind": "scoped_use_list", **path}}
    alone = {"inside": {**listed, "stopBy": {"kind": "use_list"}}, "not": _NAME_OR_ALIAS}
    scoped = {"inside": {"kind": "scoped_identifier", "field": "name", **path}}
    return {"all": [rule, {"any": [scoped, alone]} if before else rule], "inside": use}
