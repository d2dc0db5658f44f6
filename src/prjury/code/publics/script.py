"""What JavaScript and TypeScript export: names, and the public members of exported classes.

A name with a leading underscore is private by everybody's convention, and so are protected members:
they are no business of callers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from prjury.code.names.binding import Rule, any_kind, inside
from prjury.code.publics.model import (
    Brackets,
    Declaration,
    Grammar,
    Parameter,
    Passing,
    Publics,
    Symbol,
    SymbolKind,
    tidy,
)

_FUNCTIONS = "function_declaration generator_function_declaration method_definition"
_CLOSURES = "arrow_function function_expression generator_function"
_VARIABLES = "lexical_declaration variable_declaration"


def _only(*, outside: str, bodies: str) -> dict[str, Rule]:
    """Variables count outside of functions; every function ends a heading."""
    variables: Rule = {"inside": any_kind("program", *outside.split())}
    blocks: Rule = {"inside": any_kind(*f"{_FUNCTIONS} {_CLOSURES} {bodies}".split())}
    return {**dict.fromkeys(_VARIABLES.split(), variables), "statement_block": blocks}


JAVASCRIPT = Grammar(
    {
        "wrapper": "export_statement",
        "type": "class_declaration",
        "callable": _FUNCTIONS,
        "value": f"field_definition {_VARIABLES}",
    },
    "class_body statement_block",
    _only(outside="export_statement", bodies=""),
)
TYPESCRIPT = Grammar(
    {
        "wrapper": "export_statement ambient_declaration",
        "type": "class_declaration abstract_class_declaration interface_declaration "
        "enum_declaration internal_module module",
        "callable": f"{_FUNCTIONS} method_signature abstract_method_signature function_signature",
        "value": "public_field_definition type_alias_declaration import_alias property_signature "
        f"{_VARIABLES}",
        "constant": "property_identifier string enum_assignment",
    },
    "class_body interface_body enum_body statement_block",
    {
        **_only(outside="export_statement ambient_declaration", bodies="internal_module module"),
        "property_signature": inside("interface_body"),
        "property_identifier": inside("enum_body"),
        "string": inside("enum_body"),
    },
)

_BRACKETS = Brackets(quotes=True)
_LOOSE = Brackets(quotes=True, angles=False)
_DECORATOR = re.compile(r"@[\w.$]+\s*")
_WORD = re.compile(
    r"(export|default|declare|async|static|public|private|protected|readonly|abstract|override"
    r"|get|set|accessor|const|let|var|type|function\*?|class|interface|enum|namespace|module)\s+"
    r"(?=[\w$#*\[{'\"])"
)
_NAME = re.compile(r"\*?\s*([\w$#]+|'[^']*'|\"[^\"]*\"|\[[^\]]*\])\s*([?!]?)\s*")
_ARROW = re.compile(r"(?:async )?([\w$]+) =>")
_CLOSURE = re.compile(r"(?:async\s*)?(?:function\b\s*\*?\s*[\w$]*\s*)?(?=[(<])")
_EXPORTS = re.compile(r"export (?:type )?\{([^}]*)\}\s*(from\b)?|export \* as ([\w$]+)")
_NAMED_DEFAULT = re.compile(r"export (?:default|=) ([\w$]+) ?;?$")
_BASES = re.compile(r"\b(?:extends|implements)\b")
_MATTERING = frozenset({"static", "abstract", "readonly"})


@dataclass(frozen=True, slots=True)
class _Heading:
    words: frozenset[str]
    name: str
    optional: bool
    rest: str


@lru_cache(maxsize=8_192)
def _heading(text: str) -> _Heading:
    found = _LOOSE.heading(text, _DECORATOR, _WORD)
    match = _NAME.match(found.rest)
    if match is None:
        return _Heading(found.modifiers, "", optional=False, rest=found.rest)
    name = match[1].strip("'\"")
    return _Heading(found.modifiers, name, match[2] == "?", found.rest[match.end() :])


@dataclass(frozen=True, slots=True)
class _Type:
    prefix: str
    word: str


def read(found: Sequence[Declaration]) -> Publics:
    """The exported names of a text."""
    types: dict[int, _Type] = {}
    symbols: list[Symbol] = []
    renamed: list[tuple[str, str, int, bool]] = []
    for number, each in enumerate(found):
        outer, exported, default = _around(found, each)
        if each.role == "wrapper":
            renamed += _renamed(each)
            continue
        inside = types.get(outer)
        if (outer >= 0 and inside is None) or (
            inside and inside.word in {"namespace", "module"} and not exported
        ):
            continue
        for symbol in _symbols(each, default=default):
            prefix = inside.prefix if inside else ""
            if not inside or not symbol.name.startswith(("_", "#")):
                offered = bool(inside) or exported
                symbols.append(replace(symbol, name=prefix + symbol.name, offered=offered))
            if each.role == "type":
                word = symbol.result.partition(" ")[0]
                types[number] = _Type(f"{prefix}{symbol.name}.", word)
    return Publics(tuple(_exported(symbols, renamed)))


def _around(found: Sequence[Declaration], each: Declaration) -> tuple[int, bool, bool]:
    """The declaration around it, and whether it is exported, and as the default."""
    parent, exported, default = each.parent, False, False
    while parent >= 0 and found[parent].role == "wrapper":
        words = found[parent].heading.split()
        exported = exported or "export" in words
        default = default or "default" in words
        parent = found[parent].parent
    return parent, exported, default


def _renamed(each: Declaration) -> Iterator[tuple[str, str, int, bool]]:
    """What an export of names lists: the local name, the public one, the line, whether from here.

    A star brings names that this text does not hold.
    """
    line = each.line
    if match := _NAMED_DEFAULT.match(each.heading):
        yield match[1], "default", line, True
    elif each.heading.startswith("export default "):
        yield "", "default", line, False
    elif match := _EXPORTS.match(each.heading):
        if match[3]:
            yield "", match[3], line, False
        for part in (match[1] or "").split(","):
            words = part.replace("type ", "").split()
            if words:
                yield words[0], words[-1], line, not match[2]


def _exported(
    symbols: Sequence[Symbol], renamed: Iterable[tuple[str, str, int, bool]]
) -> Iterator[Symbol]:
    """The symbols, of which members belong to a type that is exported, and the lists' names."""
    offered = {each.name for each in symbols if each.offered and "." not in each.name}
    for each in symbols:
        if each.name.partition(".")[0] in offered:
            yield each
    for local, public, line, here in renamed:
        own = [each for each in symbols if here and each.name.partition(".")[0] == local]
        for each in own:
            yield replace(each, name=public + each.name[len(local) :], offered=True)
        if not own:
            yield Symbol(public, SymbolKind.ALIAS, line)


def _symbols(each: Declaration, *, default: bool) -> Iterator[Symbol]:
    heading = _heading(each.heading)
    if heading.words & {"private", "protected"} or heading.name.startswith("["):
        return
    kept = frozenset(heading.words & _MATTERING)
    kept |= {"optional"} if heading.optional else frozenset()
    line = each.line_of(heading.name) if heading.name else each.line
    name = heading.name or ("default" if default else "")
    if each.role == "constant" and name:
        yield Symbol(name, SymbolKind.VALUE, line)
    elif each.role == "type":
        yield from _type(name, heading, line, kept)
    elif each.role == "callable":
        if name and "set" not in heading.words:
            yield _callable(name, heading, line, kept)
    elif "type" in heading.words:
        yield Symbol(name, SymbolKind.TYPE, line, result=f"type {tidy(heading.rest.rstrip('; '))}")
    else:
        yield from _values(each, heading, line, kept)


def _type(name: str, heading: _Heading, line: int, kept: frozenset[str]) -> Iterator[Symbol]:
    known = ("class", "interface", "enum", "namespace", "module")
    word = next((word for word in known if word in heading.words), "class")
    if not name or name == "global" or '"' in heading.rest[:1]:
        return
    variables, rest = _BRACKETS.variables(heading.rest)
    bases = tuple(
        tidy(base).partition("<")[0].rpartition(".")[2]
        for part in _BASES.split(rest)[1:]
        for base in _BRACKETS.split(part)
    )
    yield Symbol(name, SymbolKind.TYPE, line, None, f"{word} {variables}".strip(), kept, bases)


def _callable(name: str, heading: _Heading, line: int, kept: frozenset[str]) -> Symbol:
    group = _BRACKETS.group(heading.rest)
    result = tidy(group[2].lstrip(": ").rstrip(";{ ")) if group else ""
    if "get" in heading.words:
        return Symbol(name, SymbolKind.PROPERTY, line, None, result, kept)
    parameters = parameters_of(group[1]) if group else ()
    return Symbol(name, SymbolKind.CALLABLE, line, parameters, result, kept)


def _values(
    each: Declaration, heading: _Heading, line: int, kept: frozenset[str]
) -> Iterator[Symbol]:
    if not heading.name:  # destructured: `{ a, b: c } = …`
        inner = _BRACKETS.group(heading.rest, "{") or _BRACKETS.group(heading.rest, "[")
        for part in _BRACKETS.split(inner[1]) if inner and not inner[0] else ():
            name = _BRACKETS.cut(part, "=").rpartition(":")[2].strip(" .")
            if re.fullmatch(r"[\w$]+", name):
                yield Symbol(name, SymbolKind.VALUE, each.line_of(name))
        return
    type_ = tidy(_BRACKETS.cut(heading.rest, "=", ";").lstrip(": "))
    value = _BRACKETS.after(heading.rest, "=")
    yield _closure(heading.name, value, type_, line, kept) or Symbol(
        heading.name,
        SymbolKind.VALUE,
        line,
        None,
        tidy(_BRACKETS.split(type_)[0] if type_ else ""),
        kept,
    )
    for part in _LOOSE.split(heading.rest)[1:]:
        if more := re.match(r"([\w$]+)\s*(?::[^=]*)?=(?!=|>)", part):
            yield Symbol(more[1], SymbolKind.VALUE, each.line_of(more[1]))


def _closure(name: str, value: str, type_: str, line: int, kept: frozenset[str]) -> Symbol | None:
    """A variable that holds a function, which is a function to callers."""
    if type_:
        value = type_ if type_.startswith(("(", "<")) else ""
    if match := _ARROW.match(value):
        return Symbol(name, SymbolKind.CALLABLE, line, parameters_of(match[1]), "", kept)
    if _CLOSURE.match(value) is None or (group := _BRACKETS.group(value)) is None:
        return None
    if "=>" not in group[2] and "function" not in group[0]:
        return None
    result = tidy(_BRACKETS.cut(group[2], "=>").lstrip(": ").rstrip("{ "))
    return Symbol(name, SymbolKind.CALLABLE, line, parameters_of(group[1]), result, kept)


@lru_cache(maxsize=4_096)
def parameters_of(text: str) -> tuple[Parameter, ...]:
    """The parameters between the brackets of a function."""
    return tuple(_parameter(part) for part in _BRACKETS.split(text) if not part.startswith("this:"))


def _parameter(text: str) -> Parameter:
    while match := _WORD.match(text):
        text = text[match.end() :]
    rest = text.startswith("...")
    default = bool(_BRACKETS.after(text, "="))
    declared = _BRACKETS.cut(text.removeprefix("..."), "=")
    name = _BRACKETS.cut(declared, ":", "?")
    type_ = tidy(_BRACKETS.after(declared, ":"))
    optional = default or rest or declared[len(name) :].lstrip().startswith("?")
    passing = Passing.REST if rest else Passing.POSITION
    return Parameter(tidy(name), type_, optional, passing)
