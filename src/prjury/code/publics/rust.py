"""What a Rust module offers: ``pub`` items, the members of public traits, and variants of enums."""

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
        "type": "struct_item enum_item union_item trait_item impl_item mod_item",
        "callable": "function_item function_signature_item",
        "value": "const_item static_item type_item associated_type field_declaration",
        "constant": "enum_variant",
        "alias": "use_declaration",
        "hidden": "macro_definition macro_invocation",
    },
    "field_declaration_list enum_variant_list declaration_list block",
    {
        "field_declaration_list": {"inside": any_kind("struct_item", "union_item")},
        "block": inside("function_item"),
    },
)

_BRACKETS = Brackets()
_PUB = re.compile(r"pub\s+(?!\()")
_RESTRICTED = re.compile(r"pub\s*\([^)]*\)\s*")
_ITEM = re.compile(
    r"(?:(?:async|unsafe|const|extern(?: \"\w+\")?|default|auto)\s+)*"
    r"(struct|enum|union|trait|mod|fn|const|static|type)\s+(?:mut\s+)?(\w+)\s*"
)
_FIELD = re.compile(r"(\w+)\s*:\s*(.*)")
_IMPL = re.compile(r"(?:unsafe )?impl\b\s*")


def read(found: Sequence[Declaration]) -> Publics:
    """The public names of a file."""
    open_: dict[int, tuple[str, str]] = {}
    symbols: list[Symbol] = []
    for number, each in enumerate(found):
        outer = open_.get(each.parent)
        if each.role == "hidden" or (each.parent >= 0 and outer is None):
            continue
        if each.role == "type" and (owner := _inherent(each.heading)):
            open_[number] = f"{outer[0] if outer else ''}{owner}::", "impl"
            continue
        free = outer is not None and outer[1] in {"trait", "enum"}
        text = _RESTRICTED.sub("", each.heading)
        public = _PUB.match(each.heading) is not None
        if not public and not free:
            continue
        prefix = outer[0] if outer else ""
        for symbol in _symbols(each, _PUB.sub("", text, count=1), prefix):
            symbols.append(symbol)
            if each.role == "type":
                open_[number] = f"{symbol.name}::", symbol.result.partition(" ")[0]
    return Publics(tuple(symbols))


def _inherent(heading: str) -> str | None:
    """The type whose own members an ``impl`` holds; those of a trait belong to the trait."""
    match = _IMPL.match(heading)
    if match is None:
        return None
    _, rest = _BRACKETS.variables(heading[match.end() :])
    if re.search(r"\bfor\b", _BRACKETS.cut(rest, "{")):
        return None
    name = re.match(r"(?:\w+::)*(\w+)", rest)
    return name[1] if name else None


def _symbols(each: Declaration, text: str, prefix: str) -> Iterator[Symbol]:
    if each.role == "alias":
        for name in _used(text.removeprefix("use ").rstrip("; ")):
            yield Symbol(prefix + name, SymbolKind.ALIAS, each.line)
    elif each.role == "constant":
        name = re.split(r"\W", text, maxsplit=1)[0]
        fields = tidy(_BRACKETS.cut(text[len(name) :], "="))
        line = each.line_of(name)
        yield Symbol(prefix + name, SymbolKind.VALUE, line, result=fields)
    elif match := _ITEM.match(text):
        line = each.line_of(match[2])
        yield _item(prefix + match[2], match[1], text, text[match.end() :], line)
    elif match := _FIELD.match(text):
        line = each.line_of(match[1])
        yield Symbol(prefix + match[1], SymbolKind.VALUE, line, result=tidy(match[2]))


def _item(name: str, word: str, text: str, rest: str, line: int) -> Symbol:
    variables, rest = _BRACKETS.variables(rest)
    if word == "fn":
        group = _BRACKETS.group(rest)
        parameters = types_of(group[1]) if group else ()
        result = tidy(group[2].removeprefix("->").rstrip("{; ")) if group else ""
        words = frozenset(re.findall(r"\b(?:async|unsafe|const)\b", text.partition("fn ")[0]))
        return Symbol(name, SymbolKind.CALLABLE, line, parameters, variables + result, words)
    if word in {"const", "static", "type"}:
        kind = SymbolKind.TYPE if word == "type" else SymbolKind.VALUE
        type_ = rest if word == "type" else _BRACKETS.cut(rest, "=")
        return Symbol(name, kind, line, result=f"{word} {tidy(type_.lstrip(':= ').rstrip('; '))}")
    fields = tidy(rest.rstrip("; ")) if word == "struct" and rest.startswith("(") else ""
    return Symbol(name, SymbolKind.TYPE, line, result=f"{word} {variables}{fields}".strip())


@lru_cache(maxsize=4_096)
def types_of(text: str) -> tuple[Parameter, ...]:
    """The types in a list of parameters, and how it takes ``self``."""
    made = []
    for part in _BRACKETS.split(text):
        declared = re.sub(r"#\[[^\]]*\]\s*", "", part)
        type_ = _BRACKETS.after(declared, ":") or declared.removeprefix("mut ")
        made.append(Parameter("", tidy(type_)))
    return tuple(made)


def _used(text: str) -> Iterator[str]:
    """The names at the leaves of a ``use``; a star brings names that this text does not hold."""
    group = _BRACKETS.group(text, "{")
    if group:
        for part in _BRACKETS.split(group[1]):
            if part.startswith("self"):
                yield part.rpartition(" as ")[2] if " as " in part else _leaf(group[0].rstrip(":"))
            else:
                yield from _used(part)
    elif not text.endswith("*"):
        yield _leaf(text)


def _leaf(text: str) -> str:
    return text.rpartition(" as ")[2].rpartition("::")[2].strip()
