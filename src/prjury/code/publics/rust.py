"""What a Rust module offers: ``pub`` items, the members of public traits, and variants of enums."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.code.names.rust import read_use
from prjury.code.publics.declared import Tree
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
    "field_declaration": "",
    "enum_variant": "",
}
_BODIES = ("field_declaration_list", "enum_variant_list", "declaration_list")
_WORDS = frozenset({"async", "unsafe", "const"})


def read(root: Tree) -> Publics:
    return Publics(tuple(_find_public_members(root, "", public_anyway=False)))


def _find_public_members(tree: Tree, prefix: str, *, public_anyway: bool) -> Iterator[Symbol]:
    """The public names in a module or a type; free ones are public without a word, as in traits."""
    for child in tree.open_children("ERROR"):
        if child.kind == "impl_item":
            if not child.field("trait"):
                name = child.field("type").text.partition("<")[0].rpartition("::")[2]
                body = child.field("body")
                yield from _find_public_members(body, f"{prefix}{name}::", public_anyway=False)
        elif public_anyway or child.child("visibility_modifier").text == "pub":
            yield from _read_rust_item_and_members(child, prefix)


def _read_rust_item_and_members(tree: Tree, prefix: str) -> Iterator[Symbol]:
    name = tree.field("name")
    path, variables = prefix + name.text, tree.field("type_parameters").text
    if tree.kind == "use_declaration":
        for binding in read_use(tree.field("argument").node):
            if binding.local:
                yield Symbol(prefix + binding.local, SymbolKind.ALIAS, tree.line)
    elif not name:
        return
    elif tree.kind in _TYPES:
        word, fields = _TYPES[tree.kind], tree.child("ordered_field_declaration_list").text
        result = f"{word} {variables}{fields}".strip()
        yield Symbol(path, SymbolKind.TYPE, name.line, result=result)
        free, body = word in {"trait", "enum"}, tree.child(*_BODIES)
        yield from _find_public_members(body, f"{path}::", public_anyway=free)
    elif tree.kind in {"function_item", "function_signature_item"}:
        words = tree.child("function_modifiers").words(_WORDS)
        parameters = tuple(Parameter("", type_) for type_ in _types(tree.field("parameters")))
        parts = [variables + tree.field("return_type").text, tree.child("where_clause").text]
        result = " ".join(filter(None, parts))
        yield Symbol(path, SymbolKind.CALLABLE, name.line, parameters, result, words)
    elif tree.kind in _VALUES:
        word = _VALUES[tree.kind]
        type_ = tree.field("type") or tree.field("bounds") or tree.field("body")
        kind = SymbolKind.TYPE if word == "type" else SymbolKind.VALUE
        yield Symbol(path, kind, name.line, result=f"{word} {variables}{type_.text}".strip())


def _types(parameters: Tree) -> Iterator[str]:
    for each in parameters.children("parameter", "self_parameter", "variadic_parameter"):
        yield each.field("type").text or each.text.removeprefix("mut ")
