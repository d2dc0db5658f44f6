"""What a Kotlin text offers: everything that is neither private nor internal.

A parameter with a default value that is added breaks what is compiled already, and so counts as
any other change of the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from prjury.code.names.binding import inside
from prjury.code.publics.model import (
    Brackets,
    Declaration,
    Grammar,
    Heading,
    Parameter,
    Publics,
    Symbol,
    SymbolKind,
    tidy,
)

GRAMMAR = Grammar(
    {
        "package": "package_header",
        # The grammar takes an object that follows a class for an infix expression.
        "type": "class_declaration object_declaration companion_object infix_expression",
        "callable": "function_declaration secondary_constructor",
        "value": "property_declaration type_alias",
        "constant": "enum_entry",
        "hidden": "anonymous_initializer getter setter",
    },
    "class_body enum_class_body function_body lambda_literal",
    {
        "infix_expression": {"regex": r"^object\s+\w+\s*\{"},
        "lambda_literal": inside("infix_expression"),
    },
)

_BRACKETS = Brackets()
_ANNOTATION = re.compile(r"@(?:\w+:)?[\w.]+\s*")
_MODIFIER = re.compile(
    r"(public|protected|private|internal|open|abstract|final|sealed|data|inline|value|inner|enum"
    r"|annotation|override|suspend|operator|infix|tailrec|external|const|lateinit|expect|actual"
    r"|companion|vararg|noinline|crossinline|fun(?= interface\b))\s+"
)
_TYPE = re.compile(r"(class|interface|object)\b\s*(\w*)\s*")
_FUNCTION = re.compile(r"fun\b\s*")
_PROPERTY = re.compile(r"(val|var|typealias)\s+")
_HIDDEN = frozenset({"private", "internal"})
_MATTERING = frozenset({"abstract", "final", "sealed", "suspend"})


@lru_cache(maxsize=4_096)
def _heading(text: str) -> Heading:
    return _BRACKETS.heading(text, _ANNOTATION, _MODIFIER)


def read(found: Sequence[Declaration]) -> Publics:
    """The public names of a file."""
    package = next((each.heading for each in found if each.role == "package"), "")
    types: dict[int, str] = {}
    symbols: list[Symbol] = []
    for number, each in enumerate(found):
        if each.role in {"package", "hidden"} or (each.parent >= 0 and each.parent not in types):
            continue
        heading = _heading(each.heading)
        if heading.modifiers & (_HIDDEN | {"override"}):
            continue
        prefix = types.get(each.parent, "")
        made = list(_symbols(each, heading, prefix))
        symbols += made
        if each.role == "type" and made:
            types[number] = f"{made[0].name}."
    return Publics(tuple(symbols), package.removeprefix("package ").rstrip("; "))


def _symbols(each: Declaration, heading: Heading, prefix: str) -> Iterator[Symbol]:
    kept = heading.modifiers & _MATTERING
    if each.role == "constant":
        name = re.split(r"\W", heading.rest, maxsplit=1)[0]
        yield Symbol(prefix + name, SymbolKind.VALUE, each.line_of(name))
    elif each.role == "type":
        yield from _type(each, heading, prefix)
    elif each.role == "callable":
        if symbol := _function(each, heading, prefix):
            yield symbol
    elif match := _PROPERTY.match(heading.rest):
        _, text = _BRACKETS.variables(heading.rest[match.end() :])
        declared = re.split(r"\s+by\s", _BRACKETS.cut(text, "="))[0]
        names, type_ = _BRACKETS.cut(declared, ":"), tidy(_BRACKETS.after(declared, ":"))
        alias = match[1] == "typealias"
        if alias:
            type_ = tidy(_BRACKETS.after(text, "="))
        for name in re.findall(r"[\w.?<>]+", names.strip("() ")):
            line = each.line_of(name.rpartition(".")[2])
            kind = SymbolKind.TYPE if alias else SymbolKind.VALUE
            word = "typealias " if alias else ""
            more = kept | ({"var"} if match[1] == "var" else set[str]())
            yield Symbol(prefix + tidy(name), kind, line, None, word + type_, more)


def _function(each: Declaration, heading: Heading, prefix: str) -> Symbol | None:
    kept = heading.modifiers & _MATTERING
    if heading.rest.startswith("constructor"):
        group = _BRACKETS.group(heading.rest)
        owner = prefix.rstrip(".").rpartition(".")[2]
        line = each.line
        parameters = tuple(parameters_of(group[1])) if group else ()
        return Symbol(prefix + owner, SymbolKind.CALLABLE, line, parameters)
    match = _FUNCTION.match(heading.rest)
    if match is None:
        return None
    _, text = _BRACKETS.variables(heading.rest[match.end() :])
    group = _BRACKETS.group(text)
    if group is None:
        return None
    name = tidy(group[0])
    line = each.line_of(name.rpartition(".")[2])
    result = tidy(_BRACKETS.cut(group[2], "=", "{").lstrip(": "))
    parameters = tuple(parameters_of(group[1]))
    return Symbol(prefix + name, SymbolKind.CALLABLE, line, parameters, result, kept)


def _type(each: Declaration, heading: Heading, prefix: str) -> Iterator[Symbol]:
    match = _TYPE.match(heading.rest)
    if match is None:
        return
    name = match[2] or "Companion"
    variables, rest = _BRACKETS.variables(heading.rest[match.end() :])
    constructor, supers = _constructor(rest)
    bases = tuple(
        tidy(_BRACKETS.cut(base, "(")).partition("<")[0].split(" by ")[0]
        for base in _BRACKETS.split(_BRACKETS.after(f" {supers}", ":"))
    )
    line = each.line_of(name)
    kept = heading.modifiers & _MATTERING
    word = "enum" if "enum" in heading.modifiers else match[1]
    what = f"{word} {variables}".strip()
    yield Symbol(prefix + name, SymbolKind.TYPE, line, None, what, kept, bases)
    if constructor is None:
        return
    last = f"{prefix}{name}.{name}"
    yield Symbol(last, SymbolKind.CALLABLE, line, tuple(parameters_of(constructor)))
    for part in _BRACKETS.split(constructor):
        own = _heading(part)
        if (field := _PROPERTY.match(own.rest)) and not own.modifiers & (_HIDDEN | {"override"}):
            text = _BRACKETS.cut(own.rest[field.end() :], "=")
            property_, type_ = _BRACKETS.cut(text, ":"), tidy(_BRACKETS.after(text, ":"))
            more = {"var"} if field[1] == "var" else set[str]()
            path = f"{prefix}{name}.{property_}"
            yield Symbol(path, SymbolKind.VALUE, line, None, type_, frozenset(more))


def _constructor(rest: str) -> tuple[str | None, str]:
    """The parameters of the primary constructor, None if it is hidden, and what follows it."""
    before = _BRACKETS.cut(rest, "(", ":")
    if not rest[len(before) :].lstrip().startswith("("):
        return None, rest
    group = _BRACKETS.group(rest)
    if group is None:
        return None, rest
    return (None if _HIDDEN & set(group[0].split()) else group[1]), group[2]


@lru_cache(maxsize=4_096)
def parameters_of(text: str) -> tuple[Parameter, ...]:
    """The parameters of a function; their names are what callers may write."""
    made = []
    for part in _BRACKETS.split(text):
        heading = _heading(part)
        declared = _BRACKETS.cut(_PROPERTY.sub("", heading.rest), "=")
        name, type_ = _BRACKETS.cut(declared, ":"), tidy(_BRACKETS.after(declared, ":"))
        vararg = "vararg " if "vararg" in heading.modifiers else ""
        made.append(Parameter(name, vararg + type_, bool(_BRACKETS.after(part, "="))))
    return tuple(made)
