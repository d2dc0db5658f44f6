"""What a Go package offers: names with a capital letter."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.code.publics.declared import Tree
from prjury.code.publics.model import Parameter, Publics, Symbol, SymbolKind

_LISTS = ("ERROR", "type_declaration", "const_declaration", "var_declaration", "var_spec_list")
_WORDS = {"struct_type": "struct", "interface_type": "interface"}


def read(root: Tree) -> Publics:
    """The public names of a file; a program's own package offers none."""
    if root.child("package_clause").child("package_identifier").text == "main":
        return Publics()
    symbols = _find_go_declarations(root)
    return Publics(tuple(s for s in symbols if all(p[:1].isupper() for p in s.name.split("."))))


def _find_go_declarations(root: Tree) -> Iterator[Symbol]:
    for child in root.open_children(*_LISTS):
        if child.kind in {"type_spec", "type_alias"}:
            yield from _read_go_type_and_members(child)
        elif child.kind == "function_declaration":
            yield from _read_go_function(child, "")
        elif child.kind == "method_declaration":
            type_ = child.field("receiver").child("parameter_declaration").field("type").text
            yield from _read_go_function(child, f"{type_.lstrip('*').partition('[')[0]}.")
        elif child.kind in {"const_spec", "var_spec"}:
            yield from _list_values(child, "")


def _read_go_type_and_members(tree: Tree) -> Iterator[Symbol]:
    name, type_ = tree.field("name"), tree.field("type")
    if not name or not type_:
        return
    sign = "=" if tree.kind == "type_alias" else ""
    parts = ["type", tree.field("type_parameters").text, sign, _WORDS.get(type_.kind) or type_.text]
    yield Symbol(name.text, SymbolKind.TYPE, name.line, result=" ".join(filter(None, parts)))
    for field in type_.child("field_declaration_list").children("field_declaration"):
        yield from _list_values(field, f"{name.text}.")
    for method in type_.children("method_elem"):
        yield from _read_go_function(method, f"{name.text}.")


def _read_go_function(tree: Tree, prefix: str) -> Iterator[Symbol]:
    name, result = tree.field("name"), tree.field("result")
    if name:
        parameters = tuple(Parameter("", type_) for type_ in _types(tree.field("parameters")))
        several = result.kind == "parameter_list"
        text = f"({', '.join(_types(result))})" if several else result.text
        yield Symbol(prefix + name.text, SymbolKind.CALLABLE, name.line, parameters, text)


def _types(parameters: Tree) -> Iterator[str]:
    """The types in a list of parameters; ``a, b int`` are two of the same type."""
    for child in parameters.children("parameter_declaration", "variadic_parameter_declaration"):
        dots = "..." if child.kind == "variadic_parameter_declaration" else ""
        type_ = dots + child.field("type").text
        yield from [type_] * max(1, len(child.children("identifier")))


def _list_values(tree: Tree, prefix: str) -> Iterator[Symbol]:
    """The names of a constant, a variable or a field; an embedded field is called as its type."""
    type_, names = tree.field("type"), tree.children("identifier", "field_identifier")
    for name in names:
        yield Symbol(prefix + name.text, SymbolKind.VALUE, name.line, result=type_.text)
    if type_ and not names:
        embedded = type_.text.lstrip("*").partition("[")[0].rpartition(".")[2]
        result = f"*{type_.text}" if tree.child("*") else type_.text
        yield Symbol(prefix + embedded, SymbolKind.VALUE, type_.line, result=result)
