"""What a Python module offers: names without a leading underscore, or those in its ``__all__``.

Decorated definitions count with what stands in their ``def``, without types: none is enforced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from prjury.code.names import Node
from prjury.code.publics.declared import child_of, children_at, children_of, line_of, text_of
from prjury.code.publics.model import Parameter, Passing, Publics, Symbol, SymbolKind

#: Statements whose own statements are executed with the module's or the class's.
_BLOCKS = frozenset(
    {"ERROR", "block", "if_statement", "elif_clause", "else_clause", "try_statement"}
    | {"except_clause", "except_group_clause", "finally_clause", "with_statement"}
    | {"for_statement", "while_statement", "match_statement", "case_clause"}
)
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})
_STRING = re.compile(r"""(['"])(\w+)\1""")
_LISTED = re.compile(r"__all__\s*(?::[^=]*)?(\+?=|\.extend\(|\.append\()(.*)$", re.DOTALL)
#: Decorators of click and Typer: the parameters are a program's options, which nobody calls.
_COMMAND = re.compile(
    r"@[\w.]*\b(?:command|group|callback|result_callback|option|argument|pass_(?:context|obj))\b"
)
#: Names of Python's own that callers use under the name of the class.
_SPECIAL = frozenset({"__init__", "__call__"})


def read(root: Node) -> Publics:
    symbols = tuple(_find_python_members(root, "", 0, offered=True))
    strings = frozenset(match[2] for match in _STRING.finditer(root.text()))
    listed, computed = _read_dunder_all(root, strings)
    dynamic = computed or any(symbol.name == "__getattr__" for symbol in symbols)
    return Publics(symbols, None, listed, strings if dynamic else frozenset())


def _find_python_members(node: Node, prefix: str, depth: int, *, offered: bool) -> Iterator[Symbol]:
    """The names that a module or a class, offered itself or not, defines."""
    for child in children_at(node, depth):
        kind = child.kind()
        decorators = ""
        if kind == "decorated_definition":
            decorators = " ".join(each.text() for each in children_of(child, "decorator"))
            child = child.field("definition") or child  # noqa: PLW2901 - what it decorates
            kind = child.kind()
        if kind in _BLOCKS:
            yield from _find_python_members(child, prefix, depth + 1, offered=offered)
        elif kind == "class_definition":
            yield from _list_class(child, prefix, depth, offered=offered)
        else:
            for symbol in _list_symbols(child, decorators, member=bool(prefix)):
                public = offered and symbol.offered and _is_public(symbol.name)
                yield replace(symbol, name=prefix + symbol.name, offered=public)


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in _SPECIAL


def _list_class(node: Node, prefix: str, depth: int, *, offered: bool) -> Iterator[Symbol]:
    name, body, listed = node.field("name"), node.field("body"), node.field("superclasses")
    if name is None:
        return
    bases = tuple(
        text_of(base).partition("[")[0].rpartition(".")[2]
        for base in (listed.children() if listed else ())
        if base.is_named() and base.kind() not in {"keyword_argument", "comment"}
    )
    path, public = prefix + name.text(), offered and _is_public(name.text())
    line = line_of(name)
    yield Symbol(path, SymbolKind.TYPE, line, result="class", bases=bases, offered=public)
    if body:
        yield from _find_python_members(body, f"{path}.", depth + 1, offered=public)


def _list_symbols(node: Node, decorators: str, *, member: bool) -> Iterator[Symbol]:
    kind = node.kind()
    if kind == "function_definition":
        if symbol := _read_python_function(node, decorators, member=member):
            yield symbol
    elif kind == "expression_statement":
        for child in node.children():
            if child.kind() == "assignment":
                for name in _targets(child):
                    yield Symbol(name.text(), SymbolKind.VALUE, line_of(name))
    elif kind == "type_alias_statement":
        name = text_of(child_of(node, "type")).partition("[")[0]
        yield Symbol(name, SymbolKind.ALIAS, line_of(node), offered=not member)
    elif kind in {"import_statement", "import_from_statement"}:
        relative = child_of(node, "relative_import") is not None
        for name in _find_imports(node):
            yield Symbol(name, SymbolKind.ALIAS, line_of(node), offered=relative and not member)


def _read_python_function(node: Node, decorators: str, *, member: bool) -> Symbol | None:
    name, listed = node.field("name"), node.field("parameters")
    if name is None or listed is None or re.search(r"\.(setter|deleter)\b", decorators):
        return None
    if _COMMAND.search(decorators):
        return None
    if re.search(r"property\b", decorators):
        return Symbol(name.text(), SymbolKind.PROPERTY, line_of(name))
    parameters = _read_python_parameters(listed)
    if member and not re.search(r"@staticmethod\b", decorators):
        positions = {Passing.ANY, Passing.POSITION}
        if parameters and parameters[0].passing in positions and not parameters[0].optional:
            parameters = parameters[1:]
    return Symbol(
        name.text(),
        SymbolKind.CALLABLE,
        line_of(name),
        parameters,
        modifiers=frozenset({"async"} if child_of(node, "async") else ()),
        replaced=frozenset(match[2] for match in _STRING.finditer(decorators)),
    )


def _read_python_parameters(node: Node) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    passing = Passing.ANY
    for child in node.children():
        kind = child.kind()
        if kind == "typed_parameter":
            child = child.children()[0]  # noqa: PLW2901 - the type is not enforced
        if kind == "positional_separator":
            parameters = [replace(each, passing=Passing.POSITION) for each in parameters]
        elif kind == "keyword_separator":
            passing = Passing.KEYWORD
        elif child.kind() in {"list_splat_pattern", "dictionary_splat_pattern"}:
            rest = child.kind() == "list_splat_pattern"
            how = Passing.REST if rest else Passing.KEYWORDS
            parameters.append(Parameter(child.text().lstrip("* "), passing=how, optional=True))
            passing = Passing.KEYWORD if rest else passing
        elif kind in {"default_parameter", "typed_default_parameter"}:
            name = child.field("name").text()
            parameters.append(Parameter(name, passing=passing, optional=True))
        elif child.kind() == "identifier":
            parameters.append(Parameter(child.text(), passing=passing))
    return tuple(parameters)


def _targets(assignment: Node) -> Iterator[Node]:
    target, right = assignment.field("left"), assignment.field("right")
    yield from _target_names(target)
    if right and right.kind() == "assignment":
        yield from _targets(right)


def _target_names(target: Node) -> Iterator[Node]:
    if target.kind() == "identifier":
        yield target
    elif target.kind() in _PATTERNS:
        for child in target.children():
            yield from _target_names(child)


def _find_imports(node: Node) -> Iterator[str]:
    module = node.field("module_name")
    start = module.range().end.index if module else 0
    for child in children_of(node, "dotted_name", "aliased_import"):
        if child.range().start.index >= start:
            name = child.field("alias") if child.kind() == "aliased_import" else child
            yield name.text().partition(".")[0]


def _read_dunder_all(root: Node, quoted: frozenset[str]) -> tuple[frozenset[str] | None, bool]:
    """The names in ``__all__``, None without one or if all is computed; whether some are."""
    names: frozenset[str] | None = None
    computed = False
    for statement in _statements(root):
        match = _LISTED.match(statement.text())
        if match is None:
            continue
        strings = frozenset(name[2] for name in _STRING.finditer(match[2]))
        rest = re.sub(r"#[^\n]*", "", _STRING.sub("", match[2]))
        literal = not set(rest) - set("[](),") - set(" \t\r\n\\")
        if not literal and match[1] == "=":
            return None, True
        computed = computed or not literal
        names = (strings if match[1] == "=" else strings | (names or frozenset())) | (
            frozenset() if literal else quoted
        )
    return names, computed


def _statements(node: Node) -> Iterator[Node]:
    for child in node.children():
        if child.kind() == "expression_statement":
            yield child
        elif child.kind() in _BLOCKS:
            yield from _statements(child)
