"""What a Rust module offers: ``pub`` items, the members of public traits, and variants of enums."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.code.names import Node
from prjury.code.publics.declared import (
    child_of,
    children_at,
    children_of,
    line_of,
    text_of,
    words_of,
)
from prjury.code.publics.model import Parameter, Publics, Symbol, SymbolKind

_TYPES = {
    "struct_item": "struct",
    "enum_item": "enum",
    "union_item": "union",
    "trait_item": "trait",
    "mod_item": "mod",
}
_VALUES = {
    "const_item": "const",
    "static_item": "static",
    "type_item": "type",
    "associated_type": "type",
}
_BODIES = ("field_declaration_list", "enum_variant_list", "declaration_list")
_WORDS = frozenset({"async", "unsafe", "const"})


def read(root: Node) -> Publics:
    return Publics(tuple(_find_rust_members(root, "", 0, free=False)))


def _find_rust_members(node: Node, prefix: str, depth: int, *, free: bool) -> Iterator[Symbol]:
    """The public names in a module or a type; free ones are public without a word, as in traits."""
    for child in children_at(node, depth):
        kind = child.kind()
        if kind == "ERROR":
            yield from _find_rust_members(child, prefix, depth + 1, free=free)
        elif kind == "impl_item":
            owner, body = child.field("type"), child.field("body")
            if owner and body and child.field("trait") is None:
                name = text_of(owner).partition("<")[0].rpartition("::")[2]
                yield from _find_rust_members(body, f"{prefix}{name}::", depth + 1, free=False)
        elif free or text_of(child_of(child, "visibility_modifier")) == "pub":
            yield from _list_symbols(child, prefix, depth)


def _list_symbols(node: Node, prefix: str, depth: int) -> Iterator[Symbol]:
    kind = node.kind()
    name = node.field("name")
    if kind == "use_declaration":
        for leaf in _find_used(node.field("argument")):
            yield Symbol(prefix + leaf, SymbolKind.ALIAS, line_of(node))
        return
    if name is None:
        return
    path, line = prefix + name.text(), line_of(name)
    variables = text_of(node.field("type_parameters"))
    if kind in _TYPES:
        yield from _read_rust_type(node, path, depth)
    elif kind in {"function_item", "function_signature_item"}:
        modifiers = child_of(node, "function_modifiers")
        words = words_of(modifiers, _WORDS) if modifiers else frozenset[str]()
        listed = children_of(
            node.field("parameters"), "parameter", "self_parameter", "variadic_parameter"
        )
        types = (text_of(p.field("type")) or text_of(p).removeprefix("mut ") for p in listed)
        parameters = tuple(Parameter("", type_) for type_ in types)
        where = text_of(child_of(node, "where_clause"))
        result = " ".join(filter(None, [variables + text_of(node.field("return_type")), where]))
        yield Symbol(path, SymbolKind.CALLABLE, line, parameters, result, words)
    elif kind in _VALUES:
        word = _VALUES[kind]
        type_ = node.field("type") or node.field("bounds")
        symbol = SymbolKind.TYPE if word == "type" else SymbolKind.VALUE
        yield Symbol(path, symbol, line, result=f"{word} {variables}{text_of(type_)}".strip())
    elif kind == "field_declaration":
        yield Symbol(path, SymbolKind.VALUE, line, result=text_of(node.field("type")))
    elif kind == "enum_variant":
        yield Symbol(path, SymbolKind.VALUE, line, result=text_of(node.field("body")))


def _read_rust_type(node: Node, path: str, depth: int) -> Iterator[Symbol]:
    word, variables = _TYPES[node.kind()], text_of(node.field("type_parameters"))
    fields = text_of(child_of(node, "ordered_field_declaration_list"))
    result = f"{word} {variables}{fields}".strip()
    yield Symbol(path, SymbolKind.TYPE, line_of(node.field("name")), result=result)
    if body := child_of(node, *_BODIES):
        free = word in {"trait", "enum"}
        yield from _find_rust_members(body, f"{path}::", depth + 1, free=free)


def _find_used(node: Node | None, outer: str = "") -> Iterator[str]:
    """The names at the leaves of a ``use``; a star brings names that this text does not hold."""
    if node is None:
        return
    kind = node.kind()
    if kind == "use_list":
        for child in node.children():
            if child.is_named():
                yield from _find_used(child, outer)
    elif kind == "scoped_use_list":
        yield from _find_used(node.field("list"), text_of(node.field("path")))
    elif kind == "use_as_clause":
        yield text_of(node.field("alias"))
    elif kind == "self":
        yield outer.rpartition("::")[2]
    elif kind in {"identifier", "scoped_identifier"}:
        yield text_of(node).rpartition("::")[2]
