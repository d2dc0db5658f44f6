"""What a Java text offers: public and protected types and members.

A method that overrides another one is offered by the type that it is inherited from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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
        "package": "package_declaration",
        "type": "class_declaration interface_declaration enum_declaration record_declaration "
        "annotation_type_declaration",
        "callable": "method_declaration constructor_declaration "
        "annotation_type_element_declaration",
        "value": "field_declaration constant_declaration",
        "constant": "enum_constant",
        "hidden": "static_initializer compact_constructor_declaration",
    },
    "class_body interface_body enum_body annotation_type_body block constructor_body",
    {"block": inside("method_declaration")},
)

_BRACKETS = Brackets()
_ANNOTATION = re.compile(r"@(?!interface\b)[\w.]+\s*")
_INNER_ANNOTATION = re.compile(r"@[\w.]+(?:\([^()]*\))?\s*")
_QUALIFIER = re.compile(r"\b(?:[a-z_][\w]*\.)+(?=[A-Z])")
_MODIFIER = re.compile(
    r"(public|protected|private|static|final|abstract|default|sealed|non-sealed|strictfp"
    r"|synchronized|native|transient|volatile)\b\s*"
)
_TYPE = re.compile(r"(class|interface|enum|record|@interface)\s+(\w+)\s*")
_CLAUSE = re.compile(r"\b(extends|implements|permits)\b")
_NAME = re.compile(r"(\w+)\s*$")
_DECLARATOR = re.compile(r"(\w+)\s*((?:\[\s*\]\s*)*)$")
#: Annotations that write constructors, so that none is there by itself.
_CONSTRUCTING = re.compile(r"@(?:\w+\.)*(?:\w+ArgsConstructor|Data|Value|Builder|SuperBuilder)\b")
_MATTERING = frozenset({"static", "abstract", "final", "sealed"})


@lru_cache(maxsize=8_192)
def _heading(text: str) -> Heading:
    return _BRACKETS.heading(text, _ANNOTATION, _MODIFIER)


def read(found: Sequence[Declaration]) -> Publics:
    """The public names of a text."""
    package = next((each.heading for each in found if each.role == "package"), "package ;")
    types: dict[int, tuple[str, str]] = {}
    built: set[int] = set()
    written: set[str] = set()
    symbols: list[Symbol] = []
    for number, each in enumerate(found):
        outer = types.get(each.parent)
        if each.role == "package" or (each.parent >= 0 and outer is None):
            continue
        heading = _heading(each.heading)
        if each.role == "callable" and outer and heading.rest.startswith(f"{_last(outer[0])}("):
            built.add(each.parent)
            written.add(outer[0])
        if not _is_public(heading, outer, each.role) or "@Override" in heading.annotations:
            continue
        prefix = f"{outer[0]}." if outer else ""
        for symbol in _symbols(each, heading, prefix):
            symbols.append(symbol)
            if symbol.kind is SymbolKind.TYPE:
                types[number] = symbol.name, symbol.result
                if symbol.result.split(" ")[0] != "class" or _CONSTRUCTING.search(
                    heading.annotations
                ):
                    built.add(number)
    implicit = (
        _implicit(found[number], name)
        for number, (name, _) in types.items()
        if number not in built and not _constructs(found[number].source.text, _last(name))
    )
    offered = (*map(_sealed_off(symbols, written), symbols), *implicit)
    return Publics(offered, package.removeprefix("package ").rstrip("; "))


def _sealed_off(symbols: Sequence[Symbol], written: set[str]) -> Callable[[Symbol], Symbol]:
    """Takes ``final`` from classes whose constructors are all hidden: none can be extended anyway.

    Args:
        written: the classes that write a constructor.
    """
    offered = {each.name for each in symbols}
    closed = {name for name in written if f"{name}.{_last(name)}" not in offered}

    def settled(each: Symbol) -> Symbol:
        return replace(each, modifiers=each.modifiers - {"final"}) if each.name in closed else each

    return settled


def _constructs(text: str, name: str) -> bool:
    """Whether a constructor is written that did not parse."""
    written = rf"(?m)^\s*(?:public |protected |private )?{name}\s*\("
    return re.search(written, text) is not None


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _is_public(heading: Heading, outer: tuple[str, str] | None, role: str) -> bool:
    if role == "constant":
        return True
    if outer and outer[1].split(" ")[0] in {"interface", "@interface"}:
        return "private" not in heading.modifiers
    return bool(heading.modifiers & {"public", "protected"})


def _symbols(each: Declaration, heading: Heading, prefix: str) -> Iterator[Symbol]:
    kept = heading.modifiers & _MATTERING
    if each.role == "type":
        yield from _type(each, heading, prefix)
    elif each.role == "callable":
        group = _BRACKETS.group(heading.rest)
        if group and (name := _NAME.search(group[0])):
            result = _plain(group[0][: name.start()])
            parameters = tuple(_parameters(group[1]))
            line = each.line_of(name[1])
            yield Symbol(prefix + name[1], SymbolKind.CALLABLE, line, parameters, result, kept)
    elif each.role == "constant":
        name_only = re.split(r"[\s({]", heading.rest, maxsplit=1)[0]
        yield Symbol(prefix + name_only, SymbolKind.VALUE, each.line_of(name_only))
    else:
        for name_, type_ in _fields(heading.rest):
            line = each.line_of(name_)
            yield Symbol(prefix + name_, SymbolKind.VALUE, line, None, type_, kept)


def _type(each: Declaration, heading: Heading, prefix: str) -> Iterator[Symbol]:
    match = _TYPE.match(heading.rest)
    if match is None:
        return
    variables, rest = _BRACKETS.variables(heading.rest[match.end() :])
    parameters = None
    if rest.startswith("(") and (group := _BRACKETS.group(rest)):
        parameters, rest = tuple(_parameters(group[1], named=True)), group[2]
    clauses = _CLAUSE.split(rest)
    bases = tuple(
        tidy(_plain(base)).partition("<")[0]
        for word, listed in zip(clauses[1::2], clauses[2::2], strict=True)
        if word != "permits"
        for base in _BRACKETS.split(listed)
    )
    name = prefix + match[2]
    line = each.line_of(match[2])
    kept = heading.modifiers & _MATTERING if match[1] == "class" else frozenset[str]()
    if not prefix:
        kept -= {"static"}
    yield Symbol(
        name,
        SymbolKind.TYPE,
        line,
        parameters,
        f"{match[1]} {_plain(variables)}".rstrip(),
        kept,
        bases,
    )


def _implicit(each: Declaration, name: str) -> Symbol:
    """The constructor that a class has as long as it writes none."""
    line = each.line_of(_last(name))
    return Symbol(f"{name}.{_last(name)}", SymbolKind.CALLABLE, line, ())


def _parameters(text: str, *, named: bool = False) -> Iterator[Parameter]:
    for part in _BRACKETS.split(text):
        match = _DECLARATOR.search(part)
        if match is None or match[1] == "this":
            continue
        type_ = _plain(part[: match.start()]).removeprefix("final ")
        yield Parameter(match[1] if named else "", tidy(type_ + match[2]))


def _plain(type_: str) -> str:
    """A type without annotations and packages."""
    return tidy(_QUALIFIER.sub("", _INNER_ANNOTATION.sub("", type_)))


def _fields(text: str) -> Iterator[tuple[str, str]]:
    first, *others = _BRACKETS.split(_BRACKETS.cut(text, "=", ";"))
    start = _DECLARATOR.search(first)
    if start is None:
        return
    type_ = _plain(first[: start.start()])
    for part in (start[0], *others, *_initialised(text)):
        if match := _DECLARATOR.search(_BRACKETS.cut(part, "=")):
            yield match[1], tidy(type_ + match[2])


def _initialised(text: str) -> Iterator[str]:
    """Further fields behind the value of the first one."""
    value = Brackets(angles=False).after(text.rstrip("; "), "=")
    for part in Brackets(angles=False).split(value)[1:]:
        if re.match(r"\w+\s*(\[\s*\]\s*)*(=|$)", part):
            yield part
