"""What a Python module offers: names without a leading underscore, or those in its ``__all__``.

Decorated definitions count with what stands in their ``def``; types are not enforced,
and so a parameter's type is no part of its signature. A stub repeats what a module says, and is not
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from prjury.code.names.binding import any_kind, inside
from prjury.code.publics.model import (
    Brackets,
    Declaration,
    Grammar,
    Parameter,
    Passing,
    Publics,
    Symbol,
    SymbolKind,
)

_BLOCK = {"kind": "block", "not": inside("function_definition")}
GRAMMAR = Grammar(
    {
        "wrapper": "decorated_definition",
        "type": "class_definition",
        "callable": "function_definition",
        "value": "expression_statement",
        "alias": "import_statement import_from_statement type_alias_statement",
    },
    "block",
    {
        "expression_statement": {
            "inside": {"any": [{"kind": "module"}, _BLOCK]},
            "any": [{"has": {"kind": "assignment"}}, {"regex": "^__all__"}],
        },
        "block": {"inside": any_kind("function_definition", "class_definition")},
    },
)

_BRACKETS = Brackets(quotes=True, angles=False)
_FUNCTION = re.compile(r"(async )?def (\w+) ?")
_CLASS = re.compile(r"class (\w+) ?")
_STRING = re.compile(r"""(['"])(\w+)\1""")
_IMPORT = re.compile(r"from (\S+?) ?import (.*)$|import (.*)$")
_LISTED = re.compile(r"__all__\s*(?::[^=]*)?(\+?=|\.extend\(|\.append\()(.*)$")
#: Names of Python's own that callers use under the name of the class.
_SPECIAL = frozenset({"__init__", "__call__"})


def read(found: Sequence[Declaration]) -> Publics:
    """The public names of a module."""
    types: dict[int, tuple[str, bool]] = {}
    symbols: list[Symbol] = []
    for number, each in enumerate(found):
        outer, decorators = _around(found, each)
        if each.role == "wrapper" or (outer >= 0 and outer not in types):
            continue
        prefix, open_ = types.get(outer, ("", True))
        for symbol in _symbols(each, decorators, member=outer >= 0):
            offered = open_ and symbol.offered and _is_public(symbol.name)
            symbols.append(replace(symbol, name=prefix + symbol.name, offered=offered))
            if symbol.kind is SymbolKind.TYPE:
                types[number] = f"{prefix}{symbol.name}.", offered
    strings = frozenset(
        match[2] for match in _STRING.finditer(found[0].source.text if found else "")
    )
    listed, computed = _listed(found, strings)
    dynamic = computed or any(each.name == "__getattr__" for each in symbols)
    return Publics(tuple(symbols), None, listed, strings if dynamic else frozenset())


def _around(found: Sequence[Declaration], each: Declaration) -> tuple[int, str]:
    """The class in which it stands, and its decorators."""
    if each.parent >= 0 and found[each.parent].role == "wrapper":
        return found[each.parent].parent, found[each.parent].heading
    return each.parent, ""


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in _SPECIAL


def _symbols(each: Declaration, decorators: str, *, member: bool) -> Iterator[Symbol]:
    if each.role == "callable":
        if symbol := _function(each, decorators, member=member):
            yield symbol
    elif each.role == "type":
        if match := _CLASS.match(each.heading):
            group = _BRACKETS.group(each.heading)
            listed = _BRACKETS.split(group[1]) if group else []
            bases = tuple(
                base.partition("[")[0].rpartition(".")[2] for base in listed if "=" not in base
            )
            line = each.line_of(match[1])
            yield Symbol(match[1], SymbolKind.TYPE, line, result="class", bases=bases)
    elif each.role == "value":
        for name in _targets(each.heading):
            yield Symbol(name, SymbolKind.VALUE, each.line_of(name))
    else:
        line = each.line
        for name, offered in _imported(each.heading):
            yield Symbol(name, SymbolKind.ALIAS, line, offered=offered and not member)


def _function(each: Declaration, decorators: str, *, member: bool) -> Symbol | None:
    match = _FUNCTION.match(each.heading)
    group = _BRACKETS.group(each.heading)
    if match is None or group is None or re.search(r"\.(setter|deleter)\b", decorators):
        return None
    line = each.line_of(match[2])
    if re.search(r"property\b", decorators):
        return Symbol(match[2], SymbolKind.PROPERTY, line)
    parameters = parameters_of(group[1])
    if member and not re.search(r"@staticmethod\b", decorators):
        parameters = parameters[1:] if parameters and _is_first(parameters[0]) else parameters
    return Symbol(
        match[2],
        SymbolKind.CALLABLE,
        line,
        parameters,
        modifiers=frozenset({"async"}) if match[1] else frozenset(),
        replaced=frozenset(name[2] for name in _STRING.finditer(decorators)),
    )


def _is_first(parameter: Parameter) -> bool:
    return parameter.passing in {Passing.ANY, Passing.POSITION} and not parameter.optional


@lru_cache(maxsize=4_096)
def parameters_of(text: str) -> tuple[Parameter, ...]:
    """The parameters between the brackets of a ``def``."""
    made: list[Parameter] = []
    passing = Passing.ANY
    for part in _BRACKETS.split(text):
        name = _BRACKETS.cut(part, ":", "=")
        if part == "/":
            made = [replace(each, passing=Passing.POSITION) for each in made]
        elif part == "*":
            passing = Passing.KEYWORD
        elif name.startswith("**"):
            made.append(Parameter(name[2:].strip(), passing=Passing.KEYWORDS, optional=True))
        elif name.startswith("*"):
            made.append(Parameter(name[1:].strip(), passing=Passing.REST, optional=True))
            passing = Passing.KEYWORD
        else:
            optional = bool(_BRACKETS.after(part, "="))
            made.append(Parameter(name, passing=passing, optional=optional))
    return tuple(made)


def _targets(text: str) -> Iterator[str]:
    """The names that an assignment gives a value to."""
    parts = _BRACKETS.split(text, "=")
    for part in parts[:-1] if len(parts) > 1 else parts:
        target = _BRACKETS.cut(part, ":")
        if not re.search(r"[.\[\]'\"]", target.strip("[]")):
            yield from re.findall(r"[^\W\d]\w*", target)


def _imported(text: str) -> Iterator[tuple[str, bool]]:
    """The names that an import or a ``type`` statement makes known, and whether it offers them."""
    if text.startswith("type "):
        yield text[5:].partition("=")[0].partition("[")[0].strip(), True
    elif match := _IMPORT.match(text):
        relative = bool(match[1] and match[1].startswith("."))
        for part in (match[2] or match[3]).strip("() ").split(","):
            name = part.rpartition(" as ")[2].strip()
            if re.fullmatch(r"[\w.]+", name):
                yield name.partition(".")[0], relative


def _listed(
    found: Sequence[Declaration], quoted: frozenset[str]
) -> tuple[frozenset[str] | None, bool]:
    """What ``__all__`` holds, and whether it is computed; None without one or if all of it is.

    What is added to a list by computing is taken to be among the strings of the text.
    """
    names: frozenset[str] | None = None
    computed = False
    for each in found:
        if each.role != "value" or not (match := _LISTED.match(each.heading)):
            continue
        strings = frozenset(name[2] for name in _STRING.finditer(match[2]))
        literal = not set(_STRING.sub("", match[2])) - set("[](), ")
        if not literal and match[1] == "=":
            return None, True
        computed = computed or not literal
        names = (strings if match[1] == "=" else strings | (names or frozenset())) | (
            frozenset() if literal else quoted
        )
    return names, computed
