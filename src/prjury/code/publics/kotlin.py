"""What a Kotlin text offers: everything that is neither private nor internal."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.code.publics.declared import Tree
from prjury.code.publics.model import Parameter, Publics, Symbol, SymbolKind

_HIDDEN = frozenset({"private", "internal", "override"})
_MATTERING = frozenset({"abstract", "final", "sealed", "suspend"})
_BODIES = ("class_body", "enum_class_body")


def read(root: Tree) -> Publics:
    package = root.child("package_header").child("identifier")
    return Publics(tuple(_find_public_kotlin_members(root, "")), package.text)


def _find_public_kotlin_members(tree: Tree, prefix: str) -> Iterator[Symbol]:
    for child in tree.open_children("ERROR"):
        if child.modifiers & _HIDDEN:
            continue
        if child.kind in {"class_declaration", "object_declaration", "companion_object"}:
            yield from _read_kotlin_type_constructor_and_members(child, prefix)
        elif child.kind == "infix_expression":
            yield from _read_object(child, prefix)
        else:
            yield from _read_declaration(child, prefix)


def _read_declaration(tree: Tree, prefix: str) -> Iterator[Symbol]:
    words, name = tree.modifiers & _MATTERING, tree.child("simple_identifier")
    receiver = tree.child("receiver_type").text
    path = f"{prefix}{receiver}." if receiver else prefix
    listed = tree.child("function_value_parameters")
    if tree.kind == "function_declaration" and name and listed:
        parameters, result = tuple(_read_kotlin_parameters(listed)), tree.child_after(":").text
        path += name.text
        yield Symbol(path, SymbolKind.CALLABLE, name.line, parameters, result, words)
    elif tree.kind == "secondary_constructor":
        owner = prefix.rstrip(".").rpartition(".")[2]
        parameters = tuple(_read_kotlin_parameters(listed))
        yield Symbol(prefix + owner, SymbolKind.CALLABLE, tree.line, parameters)
    elif tree.kind == "property_declaration":
        several = tree.child("multi_variable_declaration")
        for child in (several or tree).children("variable_declaration"):
            if name := child.child("simple_identifier"):
                own, result = path + name.text, child.child_after(":").text
                yield Symbol(own, SymbolKind.VALUE, name.line, None, result, words | _var(tree))
    elif tree.kind == "enum_entry" and name:
        yield Symbol(prefix + name.text, SymbolKind.VALUE, name.line)
    elif tree.kind == "type_alias" and (name := tree.child("type_identifier")):
        result = f"typealias {tree.child_after('=').text}"
        yield Symbol(prefix + name.text, SymbolKind.TYPE, name.line, None, result)


def _read_kotlin_parameters(listed: Tree) -> Iterator[Parameter]:
    variable, last = "", None
    for child in listed.children():
        if child.kind == "parameter_modifiers":
            variable = "vararg " if "vararg" in child.raw.split() else ""
        elif child.kind in {"parameter", ","}:
            if last:
                yield last
            last = _parameter(child, variable) if child.kind == "parameter" else None
            variable = ""
        elif child.kind == "=" and last:
            last = Parameter(last.name, last.type, optional=True)
    if last:
        yield last


def _parameter(tree: Tree, variable: str) -> Parameter:
    name, type_ = tree.child("simple_identifier").text, variable + tree.child_after(":").text
    return Parameter(name, type_, optional=bool(tree.child("=")))


def _var(tree: Tree) -> frozenset[str]:
    return frozenset({"var"} & {tree.child("binding_pattern_kind").text})


def _read_kotlin_type_constructor_and_members(tree: Tree, prefix: str) -> Iterator[Symbol]:
    name, words = tree.child("type_identifier"), tree.modifiers
    path = prefix + (name.text or "Companion")
    word = "object"
    if tree.kind == "class_declaration":
        keywords = words | {child.kind for child in tree.children()}
        word = next((each for each in ("enum", "interface") if each in keywords), "class")
    bases = tuple(
        Tree(base).text.partition("<")[0]
        for specifier in tree.children("delegation_specifier")
        if (base := specifier.node.find(kind="user_type"))
    )
    line, words = (name or tree).line, words & _MATTERING
    result = f"{word} {tree.child('type_parameters').text}".strip()
    yield Symbol(path, SymbolKind.TYPE, line, None, result, words, bases)
    constructor = tree.child("primary_constructor")
    if constructor and name and not constructor.modifiers & _HIDDEN:
        listed = constructor.children("class_parameter")
        parameters = tuple(
            _parameter(each, "vararg " * ("vararg" in each.modifiers)) for each in listed
        )
        yield Symbol(f"{path}.{name.text}", SymbolKind.CALLABLE, line, parameters)
        for each in listed:
            if each.child("binding_pattern_kind") and not each.modifiers & _HIDDEN:
                parameter = _parameter(each, "")
                own = f"{path}.{parameter.name}"
                yield Symbol(own, SymbolKind.VALUE, line, None, parameter.type, _var(each))
    yield from _find_public_kotlin_members(tree.child(*_BODIES), f"{path}.")


def _read_object(tree: Tree, prefix: str) -> Iterator[Symbol]:
    """An object that the grammar takes for an infix expression."""
    first, name, body = ([*tree.children(), Tree(), Tree(), Tree()])[:3]
    if first.raw == "object" and name and body.kind == "lambda_literal":
        yield Symbol(prefix + name.text, SymbolKind.TYPE, name.line, None, "object")
        statements = body.child("statements")
        yield from _find_public_kotlin_members(statements, f"{prefix}{name.text}.")
