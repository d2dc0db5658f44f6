"""What a Go package offers: names with a capital letter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from prjury.code.names.binding import any_kind, inside
from prjury.code.publics.model import (
    Brackets,
    Declaration,
    Grammar,
    Parameter,
    Publics,
    Symbol,
    SymbolKind,
    tidy,
)

GRAMMAR = Grammar(
    {
        "package": "package_clause",
        "type": "type_spec type_alias",
        "callable": "function_declaration method_declaration method_elem",
        "value": "const_spec var_spec field_declaration",
    },
    "block field_declaration_list interface_type",
    {
        "block": {"inside": any_kind("function_declaration", "method_declaration")},
        "field_declaration": inside("field_declaration_list"),
    },
)

_BRACKETS = Brackets(angles=False)
_RECEIVER = re.compile(r"(?:\w+\s+)?\*?\s*(\w+)")
_FUNCTION = re.compile(r"(?:func )?\s*(\w+)\s*(\[[^\]]*\])?\s*(?=\()")
_TYPE = re.compile(r"(\w+)\s*(\[\w[^\]]*\])?\s*(=?)\s*(.*)")


def read(found: Sequence[Declaration]) -> Publics:
    """The public names of a file; a program's own package offers none."""
    package = next((each.heading for each in found if each.role == "package"), "")
    if package == "package main":
        return Publics()
    types: dict[int, str] = {}
    symbols: list[Symbol] = []
    for number, each in enumerate(found):
        if each.role == "package" or (each.parent >= 0 and each.parent not in types):
            continue
        for symbol in _symbols(each, types.get(each.parent, "")):
            if all(part[:1].isupper() for part in symbol.name.split(".")):
                symbols.append(symbol)
                if each.role == "type":
                    types[number] = f"{symbol.name}."
    return Publics(tuple(symbols))


def _symbols(each: Declaration, prefix: str) -> Iterator[Symbol]:
    if each.role == "callable":
        if symbol := _function(each, prefix):
            yield symbol
    elif each.role == "type":
        if match := _TYPE.match(each.heading):
            what = f"{match[2] or ''} {match[3]} {tidy(match[4]) or 'interface'}"
            line = each.line_of(match[1])
            result = " ".join(f"type {what}".split())
            yield Symbol(match[1], SymbolKind.TYPE, line, result=result)
    else:
        declared = re.split(r"[`\"=]", each.heading)[0].strip()
        names, type_ = _named(declared)
        for name in names or [tidy(type_).lstrip("*").rpartition(".")[2].partition("[")[0]]:
            line = each.line_of(name)
            yield Symbol(prefix + name, SymbolKind.VALUE, line, result=tidy(type_))


def _named(text: str) -> tuple[list[str], str]:
    """The names of a field or a variable, and their type; no names for an embedded one."""
    match = re.match(r"((?:\w+\s*,\s*)*\w+)(?:\s+(.*))?$", text)
    if match is None or (match[2] is None and "," not in match[1] and not match[1]):
        return [], text
    return [name.strip() for name in match[1].split(",")], match[2] or ""


def _function(each: Declaration, prefix: str) -> Symbol | None:
    text = each.heading
    if each.role == "callable" and text.startswith("func ("):
        receiver = _BRACKETS.group(text)
        owner = _RECEIVER.match(receiver[1]) if receiver else None
        if receiver is None or owner is None:
            return None
        prefix, text = f"{owner[1]}.", receiver[2]
    match = _FUNCTION.match(text)
    group = _BRACKETS.group(text)
    if match is None or group is None:
        return None
    parameters = tuple(Parameter("", type_) for type_ in types_of(group[1]))
    result = group[2].rstrip("{ ")
    if result.startswith("(") and (results := _BRACKETS.group(result)):
        result = f"({', '.join(types_of(results[1]))})"
    line = each.line_of(match[1])
    result = tidy(result)
    return Symbol(prefix + match[1], SymbolKind.CALLABLE, line, parameters, result)


@lru_cache(maxsize=4_096)
def types_of(text: str) -> tuple[str, ...]:
    """The types in a list of parameters; ``a, b int`` are two of the same type."""
    parts = _BRACKETS.split(text)
    pairs = [re.match(r"(\w+)\s+(?=\S)(.*)$", part) for part in parts]
    keywords = {"chan", "func", "map", "struct", "interface"}
    named = [match if match and match[1] not in keywords else None for match in pairs]
    if not any(named):
        return tuple(map(tidy, parts))
    types: list[str] = []
    last = ""
    for match, part in zip(reversed(named), reversed(parts), strict=True):
        last = tidy(match[2]) if match else last or tidy(part)
        types.append(last)
    return tuple(reversed(types))
