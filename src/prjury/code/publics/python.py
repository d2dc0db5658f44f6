"""What a Python module offers: names without a leading underscore, or those in its ``__all__``.

Decorated definitions count with what stands in their ``def``, without types: none is enforced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from prjury.code.publics.declared import Tree
from prjury.code.publics.model import Parameter, Passing, Publics, Symbol, SymbolKind

#: Statements whose own statements are executed with the module's or the class's.
_BLOCKS = (
    "ERROR block if_statement elif_clause else_clause try_statement except_clause"
    " except_group_clause finally_clause with_statement for_statement while_statement"
    " match_statement case_clause"
).split()
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})
_STRING = re.compile(r"""(['"])(\w+)\1""")
_LISTED = re.compile(r"__all__\s*(?::[^=]*)?(\+?=|\.extend\(|\.append\()(.*)$", re.DOTALL)
#: Decorators of click and Typer: the parameters are a program's options, which nobody calls.
_COMMAND = re.compile(
    r"@[\w.]*\b(?:command|group|callback|result_callback|option|argument|pass_(?:context|obj))\b"
)
_ACCESSOR = re.compile(r"\.(setter|deleter)\b")
#: Names of Python's own that callers use under the name of the class.
_SPECIAL = frozenset({"__init__", "__call__"})


def read(root: Tree) -> Publics:
    symbols = tuple(
        replace(each, offered=each.offered and all(map(_is_public, each.name.split("."))))
        for each in _find_python_members(root, "")
    )
    strings = frozenset(match[2] for match in _STRING.finditer(root.raw))
    listed, computed = _read_dunder_all(root, strings)
    dynamic = computed or any(symbol.name == "__getattr__" for symbol in symbols)
    return Publics(symbols, None, listed, strings if dynamic else frozenset())


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in _SPECIAL


def _find_python_members(tree: Tree, prefix: str) -> Iterator[Symbol]:
    """The names that a module or a class defines."""
    for child in tree.open_children(*_BLOCKS):
        decorators = " ".join(each.raw for each in child.children("decorator"))
        node = child.field("definition") or child
        if node.kind == "class_definition":
            yield from _read_class_and_members(node, prefix)
        elif node.kind == "function_definition":
            yield from _read_python_callable_or_property(node, prefix, decorators)
        else:
            yield from _list_values_and_imports(node, prefix)


def _read_class_and_members(tree: Tree, prefix: str) -> Iterator[Symbol]:
    name = tree.field("name")
    bases = tuple(
        base.text.partition("[")[0].rpartition(".")[2]
        for base in tree.field("superclasses").named_children()
        if base.kind not in {"keyword_argument", "comment"}
    )
    if name:
        path = prefix + name.text
        yield Symbol(path, SymbolKind.TYPE, name.line, result="class", bases=bases)
        yield from _find_python_members(tree.field("body"), f"{path}.")


def _list_values_and_imports(tree: Tree, prefix: str) -> Iterator[Symbol]:
    if tree.kind == "expression_statement":
        for child in tree.children("assignment"):
            for name in _targets(child):
                yield Symbol(prefix + name.text, SymbolKind.VALUE, name.line)
    elif tree.kind == "type_alias_statement":
        path = prefix + tree.child("type").text.partition("[")[0]
        yield Symbol(path, SymbolKind.ALIAS, tree.line, offered=not prefix)
    elif tree.kind in {"import_statement", "import_from_statement"}:
        relative = bool(tree.child("relative_import"))
        for path in _find_imports(tree):
            offered = relative and not prefix
            yield Symbol(prefix + path, SymbolKind.ALIAS, tree.line, offered=offered)


def _read_python_callable_or_property(tree: Tree, prefix: str, decorators: str) -> Iterator[Symbol]:
    name, listed = tree.field("name"), tree.field("parameters")
    if not name or not listed or _ACCESSOR.search(decorators) or _COMMAND.search(decorators):
        return
    if re.search(r"property\b", decorators):
        yield Symbol(prefix + name.text, SymbolKind.PROPERTY, name.line)
        return
    parameters = _read_python_parameters(listed)
    if prefix and not re.search(r"@staticmethod\b", decorators):
        positions = {Passing.ANY, Passing.POSITION}
        if parameters and parameters[0].passing in positions and not parameters[0].optional:
            parameters = parameters[1:]
    yield Symbol(
        prefix + name.text,
        SymbolKind.CALLABLE,
        name.line,
        tuple(parameters),
        modifiers=tree.words({"async"}),
        replaced=frozenset(match[2] for match in _STRING.finditer(decorators)),
    )


def _read_python_parameters(listed: Tree) -> list[Parameter]:
    parameters: list[Parameter] = []
    passing = Passing.ANY
    for child in listed.children():
        # The type is not enforced.
        node = child.children()[0] if child.kind == "typed_parameter" else child
        if node.kind == "positional_separator":
            parameters = [replace(each, passing=Passing.POSITION) for each in parameters]
        elif node.kind == "keyword_separator":
            passing = Passing.KEYWORD
        elif node.kind in {"list_splat_pattern", "dictionary_splat_pattern"}:
            rest = node.kind == "list_splat_pattern"
            how = Passing.REST if rest else Passing.KEYWORDS
            parameters.append(Parameter(node.raw.lstrip("* "), passing=how, optional=True))
            passing = Passing.KEYWORD if rest else passing
        elif node.kind in {"default_parameter", "typed_default_parameter"}:
            name = node.field("name").raw
            parameters.append(Parameter(name, passing=passing, optional=True))
        elif node.kind == "identifier":
            parameters.append(Parameter(node.raw, passing=passing))
    return parameters


def _targets(assignment: Tree) -> Iterator[Tree]:
    yield from _target_names(assignment.field("left"))
    if assignment.field("right").kind == "assignment":
        yield from _targets(assignment.field("right"))


def _target_names(target: Tree) -> Iterator[Tree]:
    if target.kind == "identifier":
        yield target
    elif target.kind in _PATTERNS:
        for child in target.children():
            yield from _target_names(child)


def _find_imports(tree: Tree) -> Iterator[str]:
    for node in tree.node.field_children("name"):
        name = Tree(node)
        yield (name.field("alias") or name).raw.partition(".")[0]


def _read_dunder_all(root: Tree, quoted: frozenset[str]) -> tuple[frozenset[str] | None, bool]:
    """The names in ``__all__``, None without one or if all is computed; whether some are."""
    names: frozenset[str] | None = None
    computed = False
    for statement in root.open_children(*_BLOCKS):
        match = _LISTED.match(statement.raw) if statement.kind == "expression_statement" else None
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
