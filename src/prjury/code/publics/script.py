"""What JavaScript and TypeScript export: names, and public members of exported classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from prjury.code.names import Node
from prjury.code.publics.declared import (
    child_of,
    children_at,
    children_of,
    line_of,
    text_of,
    tidy,
    words_of,
)
from prjury.code.publics.model import Parameter, Passing, Publics, Symbol, SymbolKind

_TYPES = {
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "class": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "internal_module": "namespace",
    "module": "module",
}
_FUNCTIONS = frozenset(
    {"function_declaration", "generator_function_declaration", "function_signature"}
    | {"method_definition", "method_signature", "abstract_method_signature"}
)
_CLOSURES = frozenset({"arrow_function", "function_expression", "generator_function"})
_VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
_FIELDS = frozenset({"public_field_definition", "field_definition", "property_signature"})
_BODIES = ("class_body", "interface_body", "object_type", "enum_body", "statement_block")
_HERITAGE = ("class_heritage", "extends_clause", "implements_clause", "extends_type_clause")
_MATTERING = frozenset({"static", "abstract", "readonly"})
_NAMES = ("property_identifier", "identifier", "type_identifier", "string", "number")


class _Export(Struct, frozen=True):
    """A name in a list of exports, and what this text calls it, if it defines it."""

    local: str
    public: str
    line: int
    defined: bool = False


def read(root: Node) -> Publics:
    symbols = list(_find_script_members(root, "", 0))
    return Publics(tuple(_list_exported(symbols, _list_exports(root))))


def _list_exported(symbols: Sequence[Symbol], exports: Iterable[_Export]) -> Iterator[Symbol]:
    """The symbols, of which members belong to a type that is exported, and the lists' names."""
    offered = {symbol.name for symbol in symbols if symbol.offered and "." not in symbol.name}
    yield from (symbol for symbol in symbols if symbol.name.partition(".")[0] in offered)
    for export in exports:
        own = [
            symbol
            for symbol in symbols
            if export.defined and symbol.name.partition(".")[0] == export.local
        ]
        for symbol in own:
            name = export.public + symbol.name[len(export.local) :]
            yield replace(symbol, name=name, offered=True)
        if not own:
            yield Symbol(export.public, SymbolKind.ALIAS, export.line)


def _list_exports(root: Node) -> Iterator[_Export]:
    """The names in lists of exports; a star brings names that this text does not hold."""
    for statement in children_of(root, "export_statement"):
        line, default = line_of(statement), child_of(statement, "default", "=")
        value = statement.children()[-1] if default else None
        if value and value.kind() == ";":
            value = statement.children()[-2]
        if space := child_of(statement, "namespace_export"):
            yield _Export("", text_of(child_of(space, "identifier")), line)
        elif value and value.kind() == "identifier":
            yield _Export(value.text(), "default", line, defined=True)
        elif value and value.kind() not in {*_TYPES, *_FUNCTIONS, *_CLOSURES}:
            yield _Export("", "default", line)
        own = child_of(statement, "from") is None
        for each in children_of(child_of(statement, "export_clause"), "export_specifier"):
            local = each.field("name").text()
            alias = each.field("alias")
            yield _Export(local, alias.text() if alias else local, line, own)


def _find_script_members(
    node: Node, prefix: str, depth: int, *, space: bool = False, exported: bool = False
) -> Iterator[Symbol]:
    """The names that a text, a class or a namespace declares; a space offers what it exports."""
    for child in children_at(node, depth):
        kind = child.kind()
        if kind in {"ERROR", "ambient_declaration", "expression_statement"}:
            yield from _find_script_members(
                child, prefix, depth + 1, space=space, exported=exported
            )
        elif kind == "export_statement":
            yield from _find_script_members(child, prefix, depth + 1, space=space, exported=True)
        elif not space or exported:
            default = "default" if child_of(node, "default", "=") else ""
            for symbol in _list_symbols(child, prefix, depth, default):
                if not prefix or not symbol.name.startswith((f"{prefix}_", f"{prefix}#")):
                    yield replace(symbol, offered=bool(prefix) or exported)


def _list_symbols(node: Node, prefix: str, depth: int, default: str) -> Iterator[Symbol]:
    """The names of one declaration; ``default`` is what one without a name is called."""
    kind = node.kind()
    if text_of(child_of(node, "accessibility_modifier")) in {"private", "protected"}:
        return
    if kind in _VARIABLES:
        for declarator in children_of(node, "variable_declarator"):
            yield from _variables(declarator)
    elif kind in {"property_identifier", "string", "enum_assignment"}:
        if prefix:
            name = node.field("name") or node
            member = prefix + name.text().strip("'\"")
            yield Symbol(member, SymbolKind.VALUE, line_of(name))
    else:
        yield from _list_declared(node, prefix, depth, default)


def _list_declared(node: Node, prefix: str, depth: int, default: str) -> Iterator[Symbol]:
    kind, name = node.kind(), node.field("name") or child_of(node, *_NAMES)
    path = prefix + (name.text().strip("'\"") if name else default)
    line = line_of(name or node)
    if kind in _TYPES:
        yield from _read_script_type(node, path, depth)
    elif path == prefix or (name and name.kind() == "computed_property_name"):
        return
    elif kind in _FUNCTIONS or (default and kind in _CLOSURES):
        yield from _read_script_function(node, path, line)
    elif kind in _FIELDS:
        yield _make_value(node, path, line)
    elif kind == "type_alias_declaration":
        variables, value = text_of(node.field("type_parameters")), text_of(node.field("value"))
        yield Symbol(path, SymbolKind.TYPE, line, None, f"type {variables}= {value}")
    elif kind == "import_alias":
        yield Symbol(path, SymbolKind.VALUE, line)


def _modifiers(node: Node) -> frozenset[str]:
    optional = frozenset({"optional"} if child_of(node, "?") else ())
    return words_of(node, _MATTERING) | optional


def _read_script_type(node: Node, path: str, depth: int) -> Iterator[Symbol]:
    word, name = _TYPES[node.kind()], node.field("name")
    if not path or path.endswith(".") or path == "global" or (name and name.kind() == "string"):
        return
    variables = text_of(node.field("type_parameters"))
    line = line_of(name or node)
    what = f"{word} {variables}".strip()
    yield Symbol(path, SymbolKind.TYPE, line, None, what, _modifiers(node), tuple(_bases(node)))
    if body := child_of(node, *_BODIES):
        space = word in {"namespace", "module"}
        yield from _find_script_members(body, f"{path}.", depth + 1, space=space)


def _bases(node: Node) -> Iterator[str]:
    for clause in children_of(node, *_HERITAGE):
        yield from _bases(clause)
        for child in clause.children():
            if child.is_named() and child.kind() not in {*_HERITAGE, "type_arguments"}:
                yield text_of(child).partition("<")[0].rpartition(".")[2]


def _read_script_function(node: Node, path: str, line: int) -> Iterator[Symbol]:
    words, result = _modifiers(node), _annotation(node.field("return_type"))
    if child_of(node, "get"):
        yield Symbol(path, SymbolKind.PROPERTY, line, None, result, words)
    elif not child_of(node, "set"):
        parameters = tuple(_read_script_parameters(node))
        yield Symbol(path, SymbolKind.CALLABLE, line, parameters, result, words)


def _annotation(node: Node | None) -> str:
    return text_of(node).removeprefix(":").strip()


def _make_value(node: Node, path: str, line: int) -> Symbol:
    """A variable or a field; one that holds a function is a function to callers."""
    annotation, value, words = node.field("type"), node.field("value"), _modifiers(node)
    type_ = annotation.children()[-1] if annotation else None
    value = type_ or value
    if value is not None and value.kind() in {*_CLOSURES, "function_type"}:
        result = _annotation(value.field("return_type"))
        return Symbol(
            path, SymbolKind.CALLABLE, line, tuple(_read_script_parameters(value)), result, words
        )
    return Symbol(path, SymbolKind.VALUE, line, None, text_of(type_), words)


def _variables(declarator: Node) -> Iterator[Symbol]:
    name = declarator.field("name")
    if name is not None and name.kind() == "identifier":
        yield _make_value(declarator, name.text(), line_of(name))
    elif name is not None:
        for each in _find_destructured(name):
            yield Symbol(each.text(), SymbolKind.VALUE, line_of(each))


def _find_destructured(pattern: Node) -> Iterator[Node]:
    """The names in a pattern such as ``{ a, b: c }``."""
    for child in pattern.children():
        if child.kind() in {"shorthand_property_identifier_pattern", "identifier"}:
            yield child
        elif child.kind() == "pair_pattern":
            value = child.field("value")
            yield from [value] if value.kind() == "identifier" else _find_destructured(value)
        elif child.kind() in {"object_assignment_pattern", "assignment_pattern"}:
            target = child.field("left")
            yield from [target] if "identifier" in target.kind() else _find_destructured(target)
        elif child.kind() in {"rest_pattern", "object_pattern", "array_pattern"}:
            yield from _find_destructured(child)


def _read_script_parameters(function: Node) -> Iterator[Parameter]:
    single, listed = function.field("parameter"), function.field("parameters")
    for child in [single] if single else listed.children() if listed else ():
        if child.is_named() and child.kind() != "comment":
            pattern = child.field("pattern") or child.field("left") or child
            if pattern.kind() != "this":
                yield _parameter(child, pattern)


def _parameter(node: Node, pattern: Node) -> Parameter:
    rest = pattern.kind() == "rest_pattern"
    default = node.field("value") is not None or node.kind() == "assignment_pattern"
    optional = default or rest or node.kind() == "optional_parameter"
    passing = Passing.REST if rest else Passing.POSITION
    name = text_of(pattern).removeprefix("...")
    return Parameter(tidy(name.strip(".")), _annotation(node.field("type")), optional, passing)
