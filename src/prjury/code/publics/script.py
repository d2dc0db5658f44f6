"""What JavaScript and TypeScript export: names, and public members of exported classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from prjury.code.outline import CLOSURES
from prjury.code.publics.declared import Tree, tidy
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


def read(root: Tree) -> Publics:
    symbols = list(_find_script_members(root, ""))
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


def _list_exports(root: Tree) -> Iterator[_Export]:
    """The names in lists of exports; a star brings names that this text does not hold."""
    for statement in root.children("export_statement"):
        line = statement.line
        default = bool(statement.child("default", "="))
        value = [child for child in statement.children() if child.kind != ";"][-1]
        if space := statement.child("namespace_export"):
            yield _Export("", space.child("identifier").text, line)
        elif default and value.kind == "identifier":
            yield _Export(value.raw, "default", line, defined=True)
        elif default and value.kind not in {*_TYPES, *_FUNCTIONS, *CLOSURES}:
            yield _Export("", "default", line)
        own = not statement.child("from")
        for each in statement.child("export_clause").children("export_specifier"):
            local = each.field("name").raw
            yield _Export(local, each.field("alias").raw or local, line, own)


def _find_script_members(
    tree: Tree, prefix: str, *, namespaced: bool = False, exported: bool = False
) -> Iterator[Symbol]:
    """The names that a text, a class or a namespace declares; a space offers what it exports."""
    for child in tree.open_children():
        exports = child.kind == "export_statement"
        if exports or child.kind in {"ERROR", "ambient_declaration", "expression_statement"}:
            offers = exported or exports
            yield from _find_script_members(child, prefix, namespaced=namespaced, exported=offers)
        elif not namespaced or exported:
            default = "default" if tree.child("default", "=") else ""
            for symbol in _list_symbols_unless_private(child, prefix, default):
                if not prefix or not symbol.name.startswith((f"{prefix}_", f"{prefix}#")):
                    yield replace(symbol, offered=bool(prefix) or exported)


def _list_symbols_unless_private(tree: Tree, prefix: str, default_name: str) -> Iterator[Symbol]:
    """The names of one declaration; ``default_name`` is what one without a name is called."""
    if tree.child("accessibility_modifier").text in {"private", "protected"}:
        return
    if tree.kind in _VARIABLES:
        for declarator in tree.children("variable_declarator"):
            yield from _read_variables(declarator)
    elif tree.kind in {"property_identifier", "string", "enum_assignment"}:
        if prefix:
            name = tree.field("name") or tree
            yield Symbol(prefix + name.raw.strip("'\""), SymbolKind.VALUE, name.line)
    else:
        yield from _read_declaration_and_members(tree, prefix, default_name)


def _read_declaration_and_members(tree: Tree, prefix: str, default_name: str) -> Iterator[Symbol]:
    label = tree.field("name") or tree.child(*_NAMES)
    path, line = prefix + (label.raw.strip("'\"") or default_name), (label or tree).line
    if tree.kind in _TYPES:
        yield from _read_script_type_and_members(tree, path)
    elif path == prefix or label.kind == "computed_property_name":
        return
    elif tree.kind in _FUNCTIONS or (default_name and tree.kind in CLOSURES):
        yield from _read_script_function(tree, path, line)
    elif tree.kind in _FIELDS:
        yield _make_value_or_function(tree, path, line)
    elif tree.kind == "type_alias_declaration":
        result = f"type {tree.field('type_parameters').text}= {tree.field('value').text}"
        yield Symbol(path, SymbolKind.TYPE, line, None, result)
    elif tree.kind == "import_alias":
        yield Symbol(path, SymbolKind.VALUE, line)


def _modifiers(tree: Tree) -> frozenset[str]:
    return tree.words(_MATTERING) | frozenset({"optional"} if tree.child("?") else ())


def _read_script_type_and_members(tree: Tree, full_name: str) -> Iterator[Symbol]:
    word, name = _TYPES[tree.kind], tree.field("name")
    if not full_name or full_name.endswith(".") or full_name == "global" or name.kind == "string":
        return
    line, result = (name or tree).line, f"{word} {tree.field('type_parameters').text}".strip()
    bases = tuple(_bases(tree))
    yield Symbol(full_name, SymbolKind.TYPE, line, None, result, _modifiers(tree), bases)
    is_space = word in {"namespace", "module"}
    yield from _find_script_members(tree.child(*_BODIES), f"{full_name}.", namespaced=is_space)


def _bases(tree: Tree) -> Iterator[str]:
    for clause in tree.children(*_HERITAGE):
        yield from _bases(clause)
        for child in clause.named_children():
            if child.kind not in {*_HERITAGE, "type_arguments"}:
                yield child.text.partition("<")[0].rpartition(".")[2]


def _read_script_function(tree: Tree, path: str, line: int) -> Iterator[Symbol]:
    words, result = _modifiers(tree), _annotation(tree.field("return_type"))
    if tree.child("get"):
        yield Symbol(path, SymbolKind.PROPERTY, line, None, result, words)
    elif not tree.child("set"):
        parameters = tuple(_read_script_parameters(tree))
        yield Symbol(path, SymbolKind.CALLABLE, line, parameters, result, words)


def _annotation(tree: Tree) -> str:
    return tree.text.removeprefix(":").strip()


def _make_value_or_function(tree: Tree, full_name: str, line: int) -> Symbol:
    """A variable or a field; one that holds a function is a function to callers."""
    type_ = ([Tree(), *tree.field("type").children()])[-1]
    value, words = type_ or tree.field("value"), _modifiers(tree)
    if value.kind in {*CLOSURES, "function_type"}:
        result = _annotation(value.field("return_type"))
        parameters = tuple(_read_script_parameters(value))
        return Symbol(full_name, SymbolKind.CALLABLE, line, parameters, result, words)
    return Symbol(full_name, SymbolKind.VALUE, line, None, type_.text, words)


def _read_variables(declarator: Tree) -> Iterator[Symbol]:
    name = declarator.field("name")
    if name.kind == "identifier":
        yield _make_value_or_function(declarator, name.raw, name.line)
    else:
        for each in _find_destructured_names(name):
            yield Symbol(each.raw, SymbolKind.VALUE, each.line)


def _find_destructured_names(pattern: Tree) -> Iterator[Tree]:
    """The names in a pattern such as ``{ a, b: c }``."""
    if pattern.kind in {"identifier", "shorthand_property_identifier_pattern"}:
        yield pattern
    elif pattern.kind in {"object_assignment_pattern", "assignment_pattern"}:
        yield from _find_destructured_names(pattern.field("left"))
    elif pattern.kind == "pair_pattern":
        yield from _find_destructured_names(pattern.field("value"))
    elif pattern.kind in {"rest_pattern", "object_pattern", "array_pattern"}:
        for child in pattern.children():
            yield from _find_destructured_names(child)


def _read_script_parameters(function: Tree) -> Iterator[Parameter]:
    single = function.field("parameter")
    for child in [single] if single else function.field("parameters").named_children():
        pattern = child.field("pattern") or child.field("left") or child
        if child.kind != "comment" and pattern.kind != "this":
            yield _parameter(child, pattern)


def _parameter(tree: Tree, pattern: Tree) -> Parameter:
    rest = pattern.kind == "rest_pattern"
    default = bool(tree.field("value")) or tree.kind == "assignment_pattern"
    optional = default or rest or tree.kind == "optional_parameter"
    passing = Passing.REST if rest else Passing.POSITION
    name = tidy(pattern.text.removeprefix("...").strip("."))
    return Parameter(name, _annotation(tree.field("type")), optional, passing)
