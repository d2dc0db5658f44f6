"""Where the functions and classes of a text are: their headings, and how far they reach.

A definition is a function or a class in a wide sense: a method, a constructor and JavaScript's
``const f = () => …`` are functions; an interface, a Rust ``impl`` and the ``describe`` of a test
are classes. A function without a name in the middle of a statement belongs to what is around it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from prjury.code.languages import Language
from prjury.code.names.binding import Rule, any_kind
from prjury.code.parser import Job, Parsed, Parser, Range, job
from prjury.code.source import Source
from prjury.deadline import Deadline

#: Characters; what is longer ends there, so that headings within headings cost no more than that.
_LONGEST_HEADING = 10_000


class DefinitionKind(StrEnum):
    """What is defined."""

    FUNCTION = "function"
    CLASS = "class"


class Definition(Struct, frozen=True):
    """The lines of a definition, in git's numbers.

    Attributes:
        first: the first line, of its annotations or decorators if it has any.
        heading: the last line of what stands before its body, such as the end of a signature.
        last: the last line.
    """

    kind: DefinitionKind
    first: int
    heading: int
    last: int


def has_definitions(language: Language) -> bool:
    """Return whether definitions are known in a language at all."""
    return language.parser in _GRAMMARS


def definitions(
    sources: Sequence[Source], parser: Parser, deadline: Deadline
) -> list[tuple[Definition, ...]]:
    """The definitions of each text, outer ones before those inside of them.

    There are none of a text whose language has none, that cannot be parsed, or whose turn does
    not come before the deadline.
    """
    jobs = {number: wanted for number, source in enumerate(sources) if (wanted := _job(source))}
    replies = dict(zip(jobs, parser.parse(list(jobs.values()), deadline), strict=True))
    return [
        _definitions(source, reply) if isinstance(reply := replies.get(number), Parsed) else ()
        for number, source in enumerate(sources)
    ]


def _job(source: Source) -> Job | None:
    grammar = _GRAMMARS.get(source.language.parser or "")
    if grammar is None:
        return None
    rules = [{"rule": rule} for rule in grammar]
    return {**job(source.text, source.language, rules), "comments": [], "strings": []}


def _definitions(source: Source, parsed: Parsed) -> tuple[Definition, ...]:
    ranges: tuple[list[Range], ...] = ([], [], [], [])
    for rule, place in parsed.found:
        ranges[rule].append(place)
    functions, classes, bodies, leading = ranges
    bodies.sort()
    above = _above(source, leading)
    made = [
        Definition(
            kind,
            _first(source, place, above),
            _heading(source, place, bodies),
            _last(source, place),
        )
        for kind, places in (
            (DefinitionKind.CLASS, classes),
            (DefinitionKind.FUNCTION, functions),
        )
        for place in places
    ]
    return tuple(sorted(made, key=lambda each: (each.first, -each.last)))


def _above(source: Source, leading: Sequence[Range]) -> Mapping[int, int]:
    """Return where a row of decorators begins, by the line in which it ends, or goes on."""
    above: dict[int, int] = {}
    for place in sorted(leading):
        first = source.line_at(place[0])
        above[_last(source, place)] = above.get(first, above.get(first - 1, first))
    return above


def _first(source: Source, place: Range, above: Mapping[int, int]) -> int:
    first = source.line_at(place[0])
    return above.get(first - 1, first)


def _last(source: Source, place: Range) -> int:
    start, end = place
    return source.line_at(max(start, end - 1))


def _heading(source: Source, place: Range, bodies: Sequence[Range]) -> int:
    """The last line before the body, without what Python's comments add to it."""
    start, end = place
    at = bisect_left(bodies, (start, start))
    body = bodies[at][0] if at < len(bodies) and bodies[at][0] < end else end
    lines = source.text[start : min(body, start + _LONGEST_HEADING)].split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return _last(source, (start, start + len("\n".join(lines))))


#: What is looked for: functions, classes, the bodies of both, and what stands before a definition
#: without being part of it, such as decorators. `_definitions` knows them by their places.
_Grammar: TypeAlias = tuple[Rule, Rule, Rule, Rule]

#: A rule of no node, where a language has none of a sort.
_NONE: Rule = {"kind": "ERROR", "regex": "^.^"}


def _kinds(text: str) -> Rule:
    return any_kind(*text.split()) if text else _NONE


def _grammar(
    functions: str, classes: str, bodies: str = "", blocks: str = "", leading: str = ""
) -> _Grammar:
    """A language whose definitions are nodes of these kinds.

    Args:
        blocks: the kinds that are bodies as children of a definition, and elsewhere mere blocks.
    """
    parents = _kinds(f"{functions} {classes}")
    inner = {**_kinds(blocks), "inside": parents} if blocks else _NONE
    rules = _kinds(functions), _kinds(classes), {"any": [_kinds(bodies), inner]}
    return (*rules, _kinds(leading))


_CLOSURES = "arrow_function function_expression generator_function"
_SCRIPT_FUNCTIONS = (
    "function_declaration generator_function_declaration method_definition class_static_block"
)


def _script(fields: str, classes: str, bodies: str) -> _Grammar:
    """JavaScript, or TypeScript with the kinds that it has besides."""
    closures = [
        {"kind": kind, "has": {"field": field, **_kinds(_CLOSURES)}}
        for kind, field in (
            ("variable_declarator", "value"),
            ("assignment_expression", "right"),
            ("pair", "value"),
            (fields, "value"),
        )
    ]
    tests = _test_call("it|test|before|after|beforeEach|afterEach|beforeAll|afterAll")
    parents = f"{_SCRIPT_FUNCTIONS} {_CLOSURES}"
    _, _, body, decorators = _grammar(parents, classes, bodies, "statement_block", "decorator")
    return (
        {"any": [_kinds(_SCRIPT_FUNCTIONS), *closures, tests]},
        {"any": [_kinds(classes), _test_call("describe|suite|context")]},
        body,
        decorators,
    )


def _test_call(names: str) -> Rule:
    """A call of one of a test framework's functions with a function, also ``it.each(…)(…)``."""
    variants = r"(?:\.(?:concurrent|each|failing|only|sequential|skip|todo))*"
    callee = {"field": "function", "regex": rf"^(?:{names}){variants}(?:[(`]|$)"}
    body = {"field": "arguments", "has": _kinds(_CLOSURES)}
    return {"kind": "call_expression", "all": [{"has": callee}, {"has": body}]}


def _go() -> _Grammar:
    functions, _, bodies, leading = _grammar(
        "function_declaration method_declaration",
        "",
        "field_declaration_list interface_type",
        "block",
    )
    types = {"field": "type", **_kinds("struct_type interface_type")}
    return functions, {"kind": "type_spec", "has": types}, bodies, leading


_TYPESCRIPT = _script(
    "public_field_definition",
    "class_declaration class abstract_class_declaration interface_declaration enum_declaration "
    "internal_module module",
    "class_body interface_body enum_body",
)

#: By the parser's word for the language.
_GRAMMARS: Mapping[str, _Grammar] = {
    "java": _grammar(
        "method_declaration constructor_declaration compact_constructor_declaration "
        "static_initializer",
        "class_declaration interface_declaration enum_declaration record_declaration "
        "annotation_type_declaration",
        "class_body interface_body enum_body annotation_type_body constructor_body",
        "block",
    ),
    "kotlin": _grammar(
        "function_declaration secondary_constructor anonymous_initializer getter setter",
        "class_declaration object_declaration companion_object",
        "function_body class_body enum_class_body",
        "statements",
    ),
    "python": _grammar("function_definition", "class_definition", "", "block", "decorator"),
    "javascript": _script("field_definition", "class_declaration class", "class_body"),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": _go(),
    "rust": _grammar(
        "function_item function_signature_item macro_definition",
        "struct_item enum_item union_item trait_item impl_item mod_item",
        "field_declaration_list enum_variant_list declaration_list macro_rule",
        "block",
        "attribute_item",
    ),
    "bash": _grammar("function_definition", "", "", "compound_statement subshell"),
}
