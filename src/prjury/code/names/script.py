"""Names in JavaScript and TypeScript; a default import is the module or its ``default``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import ClassVar

from msgspec import Struct

from prjury.code.names import (
    Binding,
    Chain,
    Node,
    Rule,
    any_kind,
    has_field,
    list_places,
    match_any,
    match_chain,
    match_chains,
    match_one,
    somewhere_in,
    split_everywhere,
)

#: A text without anything to fill in.
STRINGS: list[Rule] = [
    {"kind": "string"},
    {"kind": "template_string", "not": {"has": {"kind": "template_substitution"}}},
]


def find_import_statement_bindings(root: Node) -> Iterator[Binding]:
    """The names that ``import`` binds, also as TypeScript's ``import a = require("b")``."""
    for statement in root.find_all(kind="import_statement"):
        for clause in statement.children():
            source = statement.field("source") or clause.field("source")
            if clause.kind() not in {"import_clause", "import_require_clause"} or not source:
                continue
            module = _module(source)
            for child in clause.children():
                if child.kind() == "identifier":
                    yield from _bind_whole(child.text(), module)
            for node in clause.find_all(kind="namespace_import"):
                yield Binding(node.children()[-1].text(), module)
            for node in clause.find_all(kind="import_specifier"):
                name, alias = node.field("name"), node.field("alias")
                yield Binding((alias or name).text(), f"{module}.{name.text()}")


def find_require_bindings(root: Node) -> Iterator[Binding]:
    for declarator in root.find_all(kind="variable_declarator"):
        value = declarator.field("value")
        target = _read_require_target(value) if value else None
        if target is None:
            continue
        name = declarator.field("name")
        if name.kind() == "identifier":
            yield from _bind_whole(name.text(), target)
        else:
            yield from _find_parts(name, target)


def find_destructured_bindings(root: Node, known: dict[str, str]) -> list[Binding]:
    """The names that ``const {a} = b`` binds, where it is known what ``b`` is."""
    return [
        binding
        for declarator in root.find_all(kind="variable_declarator")
        if (value := declarator.field("value")) is not None and value.text() in known
        for binding in _find_parts(declarator.field("name"), known[value.text()])
    ]


def _find_parts(pattern: Node, target: str) -> Iterator[Binding]:
    for child in pattern.children():
        if child.kind() == "shorthand_property_identifier_pattern":
            yield Binding(child.text(), f"{target}.{child.text()}")
        elif child.kind() == "pair_pattern" and child.field("value").kind() == "identifier":
            yield Binding(child.field("value").text(), f"{target}.{child.field('key').text()}")


def _read_require_target(value: Node) -> str | None:
    """The qualified name of ``require("a").b`` and of ``await import("a")``."""
    kind = value.kind()
    if kind == "member_expression":
        inner = _read_require_target(value.field("object"))
        return inner and f"{inner}.{value.field('property').text()}"
    if kind == "await_expression":
        return _read_require_target(value.children()[-1])
    if kind != "call_expression" or value.field("function").text() not in {"require", "import"}:
        return None
    first = value.field("arguments").find({"rule": {"any": STRINGS}})
    return _module(first) if first else None


def _bind_whole(local: str, module: str) -> Iterator[Binding]:
    yield Binding(local, module)
    yield Binding(local, f"{module}.default")


def _module(string: Node) -> str:
    return string.text()[1:-1].removeprefix("node:")  # type: ignore[no-any-return]


#: What nothing in the file binds is a global; so is every member of these.
_GLOBALS = "globalThis"
_GLOBAL_OBJECTS = ("globalThis", "global", "window", "self")

_BINDS = list_places(
    "variable_declarator.name formal_parameters arrow_function.parameter assignment_pattern.left"
    " function_declaration.name class_declaration.name catch_clause.parameter for_in_statement.left"
    " array_pattern pair_pattern.value"
)
_TYPED_BINDS = list_places("required_parameter.pattern optional_parameter.pattern")
_IN_IMPORT = list_places("import_clause import_specifier namespace_import export_specifier")
_SCOPES = any_kind(
    "function_declaration function_expression arrow_function method_definition generator_function"
    " generator_function_declaration for_in_statement catch_clause"
)
_DEFINITIONS = any_kind("function_declaration generator_function_declaration class_declaration")
_STATEMENTS = any_kind("import_statement export_statement")
_LOADS: Rule = {
    "kind": "call_expression",
    **has_field("function", r"^(?:require|import|require\.resolve)$"),
}
_SHORTHAND: Rule = {"kind": "shorthand_property_identifier_pattern"}
_BLOCKS: Rule = {"any": [_SCOPES, {"kind": "statement_block"}]}


def _match_brought(known: Sequence[str]) -> Rule:
    """A declaration whose names come from a module, or from one of these that do."""
    loaded = r"(?:await\s+)?(?:require|import)\s*\("
    names = "|".join(map(re.escape, known))
    value = rf"^(?:{loaded}|(?:{names})$)"
    return {"kind": "variable_declarator", **has_field("value", value)}


def _match_subscripts(chains: Sequence[Chain]) -> str:
    members = (
        match_chain(chain[:-1], r"\??\.")
        + rf"\s*(?:\?\.)?\[\s*[\"'`]{re.escape(chain[-1])}[\"'`]\s*\]"
        for chain in chains
    )
    return match_any(members)


#: Conditions on versions of the runtime.
_ON_VERSIONS = r"\bprocess\.versions?\b|\bsemver\b|[Vv]ersion|VERSION"
#: An attempt whose failure is caught.
_CAUGHT = {"kind": "try_statement", "field": "body", **has_field("handler", ".")}
_TRIED: Rule = {"inside": {"stopBy": _SCOPES, "kind": "statement_block", "inside": _CAUGHT}}


def match_conditional_code(chains: Sequence[Chain]) -> Rule:
    """Code under a condition on what these spellings stand for, or on the runtime's version."""
    up = {"stopBy": {"not": {"kind": "member_expression"}}}  # a call of a member asks for nothing
    called = {"inside": {**up, "kind": "call_expression", "field": "function"}}
    spelled = any_kind("identifier member_expression")
    mention = {
        "any": [
            {"regex": match_chains(chains, r"\??\."), **spelled, "not": called},
            {"kind": "string", "regex": rf"^.{match_one(sorted({c[-1] for c in chains}))[1:-1]}.$"},
        ]
    }
    asks = {"any": [mention, {"has": {"stopBy": "end", **mention}}, {"regex": _ON_VERSIONS}]}
    places = [
        {"kind": "if_statement", "has": {"field": "condition", **asks}},
        {"kind": "ternary_expression", "has": {"field": "condition", **asks}},
        {"kind": "binary_expression", "has": {"field": "left", **asks}, "regex": "&&"},
    ]
    optional = {"kind": "call_expression", "has": {"kind": "optional_chain"}}
    return {"any": [somewhere_in({"any": places}), {"inside": optional}]}


_REQUIRE = "import_require_clause"


class ScriptNaming(Struct, frozen=True):
    """Names in JavaScript or, with types, in TypeScript, whose grammar has more kinds of nodes."""

    typed: bool
    SEPARATORS: ClassVar[str] = "/."
    ABSOLUTE: ClassVar[bool] = False

    @property
    def _binds(self) -> list[Rule]:
        return [*_BINDS, *(_TYPED_BINDS if self.typed else [])]

    def find_import_bindings(self, root: Node, removed_names: Sequence[str]) -> Iterator[Binding]:
        """The names of imports and ``require``; ``const {a} = b`` binds as well."""
        bindings_there = [*find_import_statement_bindings(root), *find_require_bindings(root)]
        modules: dict[str, set[str]] = defaultdict(set)
        for each in bindings_there:
            modules[each.local].add(each.target.removesuffix(".default"))
        # A name that stands for several modules may be any of them.
        bindings_there = [each for each in bindings_there if len(modules[each.local]) == 1]
        targets = {binding.local: binding.target for binding in reversed(bindings_there)}
        bindings_there += find_destructured_bindings(root, targets)
        yield from bindings_there
        if any(name.startswith(_GLOBALS) for name in removed_names):
            # What binds a name outside of every function.
            outside = {"not": somewhere_in(_SCOPES)}
            defined = {"inside": {**_DEFINITIONS, "field": "name", **outside}}
            names_of = any_kind(self._join_kinds("identifier", "type_identifier"))
            variables = any_kind("identifier shorthand_property_identifier_pattern")
            bound = {"any": [_SHORTHAND, *self._binds], **outside}
            places = {"any": [{"all": [names_of, defined]}, {"all": [variables, bound]}]}
            taken = {node.text() for node in root.find_all({"rule": places})}
            taken |= {binding.local for binding in bindings_there}
            yield Binding("", _GLOBALS, frozenset(taken))
            yield from (Binding(name, _GLOBALS) for name in _GLOBAL_OBJECTS if name not in taken)

    def match_references(self, simple_names: Sequence[str], chains: Sequence[Chain]) -> Rule:
        """Identifiers, member expressions and JSX names; not what binds them."""
        rules: list[Rule] = []
        if simple_names:
            plain = "identifier shorthand_property_identifier"
            names = any_kind(self._join_kinds(plain, "type_identifier"))
            binds = [*self._binds, *_IN_IMPORT, *list_places(self._join_kinds("", _REQUIRE))]
            rules.append({"regex": match_one(simple_names), **names, "not": {"any": binds}})
        if chains:
            members = self._join_kinds("member_expression", "nested_type_identifier")
            rules.append({"regex": match_chains(chains, r"\??\."), **any_kind(members)})
            rules.append({"kind": "subscript_expression", "regex": _match_subscripts(chains)})
        firsts = sorted({*simple_names, *(chain[0] for chain in chains)})
        shadows = [{"not": self._match_shadowed_uses(name, firsts)} for name in firsts]
        ifs = match_conditional_code([*((name,) for name in simple_names), *chains])
        return {"all": [{"any": rules}, {"not": ifs}, *shadows]}

    def _join_kinds(self, plain: str, typed: str) -> str:
        return f"{plain} {typed}" if self.typed else plain

    def _match_shadowed_uses(self, name: str, others: Sequence[str]) -> Rule:
        """A use of the name in a function that means something else by it."""
        is_name = {"regex": match_one([name])}
        variable = {"kind": "identifier", **is_name, "any": self._binds}
        own = {
            "any": [variable, {**_SHORTHAND, **is_name}],
            "not": {"inside": {"stopBy": _BLOCKS, **_match_brought(others)}},
        }
        defined = {**_DEFINITIONS, **has_field("name", match_one([name]))}
        scope = {**_SCOPES, "has": {"stopBy": _SCOPES, "any": [own, defined]}}
        spelled = {"regex": rf"^{re.escape(name)}(?:[^\w$]|$)"}
        return {"all": [spelled, somewhere_in(scope)]}

    def match_imports(self, names: Sequence[str]) -> Rule:
        """The string that names a module, or the name of a member of it."""
        modules = "|".join(map(re.escape, names))
        below = {"any": STRINGS, "regex": rf"^.(?:node:)?(?:{modules})(?:/.*)?.$"}
        loads = {"inside": {"kind": "arguments", "inside": _LOADS}}
        sources = list_places(self._join_kinds("import_statement export_statement", _REQUIRE))
        rules = [{"all": [below, {"any": [*sources, loads]}]}]
        for name in names:
            rules += [_match_import(module, member) for module, member in split_everywhere(name)]
        return {"any": rules, "not": _TRIED}


_TYPESCRIPT = ScriptNaming(typed=True)
NAMINGS = {
    "javascript": ScriptNaming(typed=False),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
}


def _match_import(module: str, member: str) -> Rule:
    source = rf"^.(?:node:)?{re.escape(module)}.$"
    specifier = {
        **any_kind("import_specifier export_specifier"),
        **has_field("name", match_one([member])),
        **somewhere_in({**_STATEMENTS, **has_field("source", source)}),
    }
    loaded = {"has": {"field": "arguments", "has": {"any": STRINGS, "regex": source}}}
    required = {"kind": "call_expression", "all": [_LOADS, loaded]}
    declarator = {"kind": "variable_declarator", "has": {"field": "value", **required}}
    renamed = {"kind": "pair_pattern", **has_field("key", match_one([member]))}
    pattern = {
        "any": [{**_SHORTHAND, "regex": match_one([member])}, renamed],
        "inside": {"kind": "object_pattern", "inside": declarator},
    }
    owner = {"has": {"field": "object", **required}}
    direct = {
        "kind": "member_expression",
        "all": [owner, has_field("property", match_one([member]))],
    }
    return {"any": [specifier, pattern, direct]}
