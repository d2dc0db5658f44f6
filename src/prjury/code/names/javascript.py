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
    inside,
    match_any,
    match_chain,
    match_chains,
    match_one,
    split_everywhere,
)

#: A text without anything to fill in.
STRINGS: list[Rule] = [
    {"kind": "string"},
    {"kind": "template_string", "not": {"has": {"kind": "template_substitution"}}},
]


def find_import_statement_bindings(root: Node) -> Iterator[Binding]:
    for statement in root.find_all(kind="import_statement"):
        source = statement.field("source")
        if source is None:
            yield from _find_import_require(statement)
            continue
        module = _module(source)
        for node in statement.find_all(kind="import_clause"):
            for child in node.children():
                if child.kind() == "identifier":
                    yield from _match_whole(child.text(), module)
        for node in statement.find_all(kind="namespace_import"):
            yield Binding(node.children()[-1].text(), module)
        for node in statement.find_all(kind="import_specifier"):
            name, alias = node.field("name"), node.field("alias")
            yield Binding((alias or name).text(), f"{module}.{name.text()}")


def _find_import_require(statement: Node) -> Iterator[Binding]:
    """TypeScript's ``import a = require("b")``."""
    for clause in statement.children():
        if clause.kind() != "import_require_clause":
            continue
        source = clause.find(kind="string")
        name = clause.find(kind="identifier")
        if source and name:
            yield from _match_whole(name.text(), _module(source))


def find_require_bindings(root: Node) -> Iterator[Binding]:
    for declarator in root.find_all(kind="variable_declarator"):
        value = declarator.field("value")
        target = _read_loaded_name(value) if value else None
        if target is None:
            continue
        name = declarator.field("name")
        if name.kind() == "identifier":
            yield from _match_whole(name.text(), target)
        else:
            yield from _find_parts(name, target)


def find_destructured(root: Node, known: dict[str, str]) -> list[Binding]:
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


def _read_loaded_name(value: Node) -> str | None:
    """The qualified name of ``require("a").b`` and of ``await import("a")``."""
    kind = value.kind()
    if kind == "member_expression":
        inner = _read_loaded_name(value.field("object"))
        return inner and f"{inner}.{value.field('property').text()}"
    if kind == "await_expression":
        return _read_loaded_name(value.children()[-1])
    if kind != "call_expression" or value.field("function").text() not in {"require", "import"}:
        return None
    first = value.field("arguments").find({"rule": {"any": STRINGS}})
    return _module(first) if first else None


def _match_whole(local: str, module: str) -> Iterator[Binding]:
    yield Binding(local, module)
    yield Binding(local, f"{module}.default")


def _module(string: Node) -> str:
    return string.text()[1:-1].removeprefix("node:")  # type: ignore[no-any-return]


#: What nothing in the file binds is a global; so is every member of these.
_GLOBALS = "globalThis"
_GLOBAL_OBJECTS = ("globalThis", "global", "window", "self")

_BINDS: list[Rule] = [
    inside("variable_declarator.name"),
    inside("formal_parameters"),
    inside("arrow_function.parameter"),
    inside("assignment_pattern.left"),
    inside("function_declaration.name"),
    inside("class_declaration.name"),
    inside("catch_clause.parameter"),
    inside("for_in_statement.left"),
    inside("array_pattern"),
    inside("pair_pattern.value"),
]
_TYPED_BINDS: list[Rule] = [
    inside("required_parameter.pattern"),
    inside("optional_parameter.pattern"),
]
_IN_IMPORT: list[Rule] = [
    inside("import_clause"),
    inside("import_specifier"),
    inside("namespace_import"),
    inside("export_specifier"),
]
_IN_REQUIRE: Rule = inside("import_require_clause")
_NAMES = ("identifier", "shorthand_property_identifier")
_TYPED_NAMES = ("type_identifier",)
_MEMBERS = ("member_expression",)
_TYPED_MEMBERS = ("nested_type_identifier",)
_SCOPES: Rule = any_kind(
    "function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
    "generator_function",
    "generator_function_declaration",
    "for_in_statement",
    "catch_clause",
)
_DEFINITIONS: Rule = any_kind(
    "function_declaration", "generator_function_declaration", "class_declaration"
)
_LOADS: Rule = {
    "kind": "call_expression",
    "has": {"field": "function", "regex": r"^(?:require|import|require\.resolve)$"},
}
_SHORTHAND: Rule = {"kind": "shorthand_property_identifier_pattern"}
_VARIABLES = ("identifier", "shorthand_property_identifier_pattern")
_STATEMENTS: Rule = {"any": [_SCOPES, {"kind": "statement_block"}]}


def _find_brought(known: Sequence[str]) -> Rule:
    """A declaration whose names come from a module, or from one of these that do."""
    loaded = r"(?:await\s+)?(?:require|import)\s*\("
    names = "|".join(map(re.escape, known))
    value = rf"^(?:{loaded}|(?:{names})$)"
    return {"kind": "variable_declarator", "has": {"field": "value", "regex": value}}


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
_TRIED: Rule = {
    "inside": {
        "stopBy": _SCOPES,
        "kind": "statement_block",
        "inside": {
            "kind": "try_statement",
            "field": "body",
            "has": {"field": "handler", "regex": "."},
        },
    }
}


def match_ifs(chains: Sequence[Chain]) -> Rule:
    """Code under a condition on what these spellings stand for, or on the runtime's version."""
    members = sorted({chain[-1] for chain in chains})
    called = {"inside": {"kind": "call_expression", "field": "function"}}
    mention = {
        "any": [
            {
                "regex": match_chains(chains, r"\??\."),
                **any_kind("identifier", *_MEMBERS),
                "not": called,
            },
            {"kind": "string", "regex": rf"^.{match_one(members)[1:-1]}.$"},
        ]
    }
    asks = {"any": [mention, {"has": {"stopBy": "end", **mention}}, {"regex": _ON_VERSIONS}]}
    places = [
        {"kind": "if_statement", "has": {"field": "condition", **asks}},
        {"kind": "ternary_expression", "has": {"field": "condition", **asks}},
        {"kind": "binary_expression", "has": {"field": "left", **asks}, "regex": "&&"},
    ]
    optional = {"kind": "call_expression", "has": {"kind": "optional_chain"}}
    return {"any": [{"inside": {"stopBy": "end", "any": places}}, {"inside": optional}]}


class ScriptNaming(Struct, frozen=True):
    """Names in JavaScript or, with types, in TypeScript, whose grammar has more kinds of nodes."""

    typed: bool
    SEPARATORS: ClassVar[str] = "/."
    ABSOLUTE: ClassVar[bool] = False

    @property
    def _binds(self) -> list[Rule]:
        return [*_BINDS, *(_TYPED_BINDS if self.typed else [])]

    def find_bindings(self, root: Node, names: Sequence[str]) -> Iterator[Binding]:
        """The names of imports and ``require``; ``const {a} = b`` binds as well."""
        bindings_there = [*find_import_statement_bindings(root), *find_require_bindings(root)]
        modules: dict[str, set[str]] = defaultdict(set)
        for each in bindings_there:
            modules[each.local].add(each.target.removesuffix(".default"))
        # A name that stands for several modules may be any of them.
        bindings_there = [each for each in bindings_there if len(modules[each.local]) == 1]
        targets = {binding.local: binding.target for binding in reversed(bindings_there)}
        bindings_there += find_destructured(root, targets)
        yield from bindings_there
        if any(name.startswith(_GLOBALS) for name in names):
            # What binds a name outside of every function.
            outside = {"not": {"inside": {"stopBy": "end", **_SCOPES}}}
            names_of = any_kind(*self._node_kinds(("identifier",), _TYPED_NAMES))
            defined = {"inside": {**_DEFINITIONS, "field": "name", **outside}}
            bound = {"any": [_SHORTHAND, {"any": self._binds}], **outside}
            variables = {"all": [any_kind(*_VARIABLES), bound]}
            places = {"any": [{"all": [names_of, defined]}, variables]}
            taken = {node.text() for node in root.find_all({"rule": places})}
            taken |= {binding.local for binding in bindings_there}
            yield Binding("", _GLOBALS, frozenset(taken))
            yield from (Binding(name, _GLOBALS) for name in _GLOBAL_OBJECTS if name not in taken)

    def match_references(self, chains: Sequence[Chain]) -> Rule:
        """Identifiers, member expressions and JSX names; not what binds them."""
        single = [chain[0] for chain in chains if len(chain) == 1]
        longer = [chain for chain in chains if len(chain) > 1]
        rules: list[Rule] = []
        if single:
            names = any_kind(*self._node_kinds(_NAMES, _TYPED_NAMES))
            binds = [*self._binds, *_IN_IMPORT, *([_IN_REQUIRE] if self.typed else [])]
            rules.append({"regex": match_one(single), **names, "not": {"any": binds}})
        if longer:
            members = any_kind(*self._node_kinds(_MEMBERS, _TYPED_MEMBERS))
            rules.append({"regex": match_chains(longer, r"\??\."), **members})
            rules.append({"kind": "subscript_expression", "regex": _match_subscripts(longer)})
        firsts = sorted({chain[0] for chain in chains})
        shadows = [{"not": self._match_shadowed(name, firsts)} for name in firsts]
        return {"all": [{"any": rules}, {"not": match_ifs(chains)}, *shadows]}

    def _node_kinds(self, plain: Sequence[str], typed: Sequence[str]) -> list[str]:
        return [*plain, *(typed if self.typed else ())]

    def _match_shadowed(self, name: str, known: Sequence[str]) -> Rule:
        """A use of the name in a function that means something else by it."""
        is_name = {"regex": match_one([name])}
        variable = {"kind": "identifier", **is_name, "any": self._binds}
        own = {
            "any": [variable, {**_SHORTHAND, **is_name}],
            "not": {"inside": {"stopBy": _STATEMENTS, **_find_brought(known)}},
        }
        defined = {**_DEFINITIONS, "has": {"field": "name", **is_name}}
        inside = {**_SCOPES, "has": {"stopBy": _SCOPES, "any": [own, defined]}}
        spelled = {"regex": rf"^{re.escape(name)}(?:[^\w$]|$)"}
        return {"all": [spelled, {"inside": {"stopBy": "end", **inside}}]}

    def match_imports(self, names: Sequence[str]) -> Rule:
        """The string that names a module, or the name of a member of it."""
        modules = "|".join(map(re.escape, names))
        below = {"any": STRINGS, "regex": rf"^.(?:node:)?(?:{modules})(?:/.*)?.$"}
        loads = {"inside": {"kind": "arguments", "inside": _LOADS}}
        sources = self._node_kinds(
            ("import_statement", "export_statement"), ("import_require_clause",)
        )
        statement = {"inside": any_kind(*sources)}
        rules = [{"all": [below, {"any": [statement, loads]}]}]
        for name in names:
            rules += [_match_member(module, member) for module, member in split_everywhere(name)]
        return {"any": rules, "not": _TRIED}


JAVASCRIPT = ScriptNaming(typed=False)
TYPESCRIPT = ScriptNaming(typed=True)


def _match_member(module: str, member: str) -> Rule:
    source = rf"^.(?:node:)?{re.escape(module)}.$"
    statements = any_kind("import_statement", "export_statement")
    statement = {**statements, "has": {"field": "source", "regex": source}}
    specifier = {
        **any_kind("import_specifier", "export_specifier"),
        "has": {"field": "name", "regex": match_one([member])},
        "inside": {"stopBy": "end", **statement},
    }
    required = {
        "kind": "call_expression",
        "all": [
            _LOADS,
            {"has": {"field": "arguments", "has": {"any": STRINGS, "regex": source}}},
        ],
    }
    declarator = {"kind": "variable_declarator", "has": {"field": "value", **required}}
    taken = {"inside": {"kind": "object_pattern", "inside": declarator}}
    renamed = {"kind": "pair_pattern", "has": {"field": "key", "regex": match_one([member])}}
    shorthand = {"kind": "shorthand_property_identifier_pattern", "regex": match_one([member])}
    pattern = {"any": [shorthand, renamed], **taken}
    direct = {
        "kind": "member_expression",
        "all": [
            {"has": {"field": "object", **required}},
            {"has": {"field": "property", "regex": match_one([member])}},
        ],
    }
    return {"any": [specifier, pattern, direct]}
