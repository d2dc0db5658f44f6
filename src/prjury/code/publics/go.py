"""What a Go package offers: names with a capital letter."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.code.names import Node
from prjury.code.publics.declared import child_of, children_at, children_of, line_of, text_of
from prjury.code.publics.model import Parameter, Publics, Symbol, SymbolKind

_LISTS = frozenset(
    {"ERROR", "type_declaration", "const_declaration", "var_declaration", "var_spec_list"}
)
_NAMES = ("identifier", "field_identifier")


def read(root: Node) -> Publics:
    """The public names of a file; a program's own package offers none."""
    package = child_of(root, "package_clause")
    if package and text_of(child_of(package, "package_identifier")) == "main":
        return Publics()
    symbols = _find_go_members(root, 0)
    return Publics(tuple(s for s in symbols if all(p[:1].isupper() for p in s.name.split("."))))


def _find_go_members(node: Node, depth: int) -> Iterator[Symbol]:
    for child in children_at(node, depth):
        kind = child.kind()
        if kind in _LISTS:
            yield from _find_go_members(child, depth + 1)
        elif kind in {"type_spec", "type_alias"}:
            yield from _read_go_type(child)
        elif kind == "function_declaration":
            yield from _read_go_function(child, "")
        elif kind == "method_declaration":
            receiver = child_of(child.field("receiver"), "parameter_declaration")
            type_ = text_of(receiver.field("type")) if receiver else ""
            yield from _read_go_function(child, f"{type_.lstrip('*').partition('[')[0]}.")
        elif kind in {"const_spec", "var_spec"}:
            yield from _list_values(child, "")


def _read_go_type(node: Node) -> Iterator[Symbol]:
    name, type_ = node.field("name"), node.field("type")
    if name is None or type_ is None:
        return
    words = {"struct_type": "struct", "interface_type": "interface"}
    sign = "=" if node.kind() == "type_alias" else ""
    what = words.get(type_.kind()) or text_of(type_)
    parts = ["type", text_of(node.field("type_parameters")), sign, what]
    result = " ".join(filter(None, parts))
    yield Symbol(name.text(), SymbolKind.TYPE, line_of(name), result=result)
    prefix = f"{name.text()}."
    for field in children_of(child_of(type_, "field_declaration_list"), "field_declaration"):
        yield from _list_values(field, prefix)
    for method in children_of(type_, "method_elem"):
        yield from _read_go_function(method, prefix)


def _read_go_function(node: Node, prefix: str) -> Iterator[Symbol]:
    name = node.field("name")
    if name is None:
        return
    parameters = tuple(Parameter("", type_) for type_ in _types(node.field("parameters")))
    result = node.field("result")
    result_text = text_of(result)
    if result and result.kind() == "parameter_list":
        result_text = f"({', '.join(_types(result))})"
    yield Symbol(prefix + name.text(), SymbolKind.CALLABLE, line_of(name), parameters, result_text)


def _types(node: Node | None) -> Iterator[str]:
    """The types in a list of parameters; ``a, b int`` are two of the same type."""
    for child in children_of(node, "parameter_declaration", "variadic_parameter_declaration"):
        dots = "..." if child.kind() == "variadic_parameter_declaration" else ""
        type_ = dots + text_of(child.field("type"))
        yield from [type_] * max(1, len(children_of(child, "identifier")))


def _list_values(node: Node, prefix: str) -> Iterator[Symbol]:
    """The names of a constant, a variable or a field; an embedded field is called as its type."""
    type_ = node.field("type")
    result = text_of(type_)
    for name in children_of(node, *_NAMES):
        yield Symbol(prefix + name.text(), SymbolKind.VALUE, line_of(name), result=result)
    if type_ and not children_of(node, *_NAMES):
        name = result.lstrip("*").partition("[")[0].rpartition(".")[2]
        pointer = "*" if child_of(node, "*") else ""
        yield Symbol(prefix + name, SymbolKind.VALUE, line_of(type_), result=pointer + result)
