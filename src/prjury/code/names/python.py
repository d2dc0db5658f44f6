"""Names in Python: what imports call things, uses of names, code under conditions on versions.

Such code, and an import in a ``try`` that catches its failure, is for those who lack the other way.
"""

from __future__ import annotations

import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from prjury.code.names import (
    Binding,
    Chain,
    Node,
    Rule,
    any_kind,
    has_field,
    inside,
    is_below,
    list_places,
    match_chains,
    match_one,
    somewhere_in,
    split_everywhere,
)

_CONDITIONAL = any_kind("if_statement elif_clause conditional_expression boolean_operator")
#: Where the condition of a statement ends.
_BRANCHES = any_kind("block elif_clause else_clause")
_VERSION: Rule = {
    "any": [
        {
            "kind": "identifier",
            "regex": r"^(?:version_(?:info|tuple)|hexversion|__version(?:_info)?__|PYVERSION"
            r"|(?:python|np|sk|sklearn|torch|tf)_version(?:_tuple)?|(?:[A-Z0-9]+_)?VERSION(?:_INFO)?)$",
        },
        {"kind": "attribute", "regex": r"^(?:sys|pymongo)\.version$"},
    ]
}
#: What libraries usually call the outcome of such a comparison.
_FLAG: Rule = {
    "kind": "identifier",
    "regex": r"^(?:(?i:(?:IS_?|HAS_?)?PY(?:THON)?_?[23][0-9]*K?)|[A-Z_]+_V(?:[0-9]+|_[0-9]\w*)"
    r"|[A-Za-z_]*_(?:GE|GTE|LT|LTE)_?[0-9].*|np_version_.+"
    r"|_?(?:[Ii][Ss]_|[Hh][Aa][Ss]_)?(?i:np|numpy|pd|pandas|scipy|tf|pydantic|django|sqla(?:lchemy)?)"
    r"_?[Vv]?_?[0-9]\w*)$",
}
_ON_VERSIONS: Rule = {
    "any": [
        {"kind": "comparison_operator", "has": {"stopBy": "end", **_VERSION}},
        {"kind": "call", **has_field("function", "(?:version|VERSION)_*[.]startswith$")},
        _FLAG,
    ]
}


def _match_under(condition: Rule) -> Rule:
    return {**_CONDITIONAL, "has": {"stopBy": _BRANCHES, **condition}}


ON_VERSIONS = somewhere_in(_match_under(_ON_VERSIONS))

_FAILED_IMPORT = r"^except\s*\(?[^:]*\b(?:ImportError|ModuleNotFoundError)"
_FAILED_NAME = r"^except\s*\(?[^:]*\b(?:AttributeError|NameError)"
_IMPORTS = any_kind("import_statement import_from_statement")


def _match_code_in_try(except_regex: str, **form: Rule) -> Rule:
    """Match what a ``try`` of this form attempts or does instead, not what it does after it."""
    reach = {"stopBy": {"kind": "function_definition"}}
    clause = {"kind": "except_clause", "regex": except_regex}
    attempt = {"kind": "try_statement", "has": clause, **form}
    return {
        "any": [
            {"inside": {**reach, "field": "body", **attempt}},
            {"inside": {**reach, **clause, "inside": attempt}},
        ]
    }


#: Only imports fail to be imported: whatever else stands beside them is used if they do not.
_TRIED_IMPORT: Rule = {
    "all": [
        {"any": [*_IMPORTS["any"], somewhere_in(_IMPORTS)]},
        _match_code_in_try(_FAILED_IMPORT),
    ]
}
_SEVERAL_STATEMENTS: Rule = {"has": {"field": "body", "has": {"nthChild": 2}}}
_TRIED_NAME = _match_code_in_try(_FAILED_NAME, **{"not": _SEVERAL_STATEMENTS})

_FAILURES = r"(?:ImportError|ModuleNotFoundError|AttributeError|NameError)"
#: What may fail on purpose, or is not run with every version.
_FAILING = {
    "kind": "with_clause",
    "regex": rf"\b(?:suppress|raises|assertRaises)\([^)]*{_FAILURES}",
}
_SKIPPED = {"kind": "decorator", "regex": r"(?s)\bskip[iI]f\(.*(?:version|VERSION)"}
_LET_FAIL = somewhere_in(
    {
        "any": [
            {"kind": "with_statement", "has": _FAILING},
            {"kind": "decorated_definition", "has": _SKIPPED},
        ]
    }
)

GUARDED: Rule = {"any": [ON_VERSIONS, _TRIED_IMPORT, _TRIED_NAME, _LET_FAIL]}


#: Code for those who have a module, or that only type checkers read.
_PRESENCE: list[Rule] = [
    {"kind": "identifier", "regex": "^TYPE_CHECKING$"},
    {"kind": "call", **has_field("function", "(?:^|[.])find_spec$")},
]
_ON_PRESENCE = somewhere_in(_match_under({"any": _PRESENCE}))
#: What asks whether something is there, and where the asking ends.
_ASKS = any_kind(
    "comparison_operator boolean_operator not_operator conditional_expression"
    " if_statement elif_clause while_statement assert_statement decorator"
)
_STATEMENT_PARTS = any_kind("block else_clause")


def match_ifs(members: Iterable[str]) -> Rule:
    """Code under ``hasattr(..., "member")``."""
    quoted = {"kind": "string", "regex": rf"^['\"]{match_one(members)[1:-1]}['\"]$"}
    return somewhere_in(_match_under(_hasattr(quoted)))


def match_hasattr_fallbacks(members: Sequence[Chain]) -> list[Rule]:
    """Code for an owner of these members that lacks another one, checked by ``hasattr``."""
    if not members:
        return []
    owners = match_chains(member[:-1] for member in members)
    lookup = _hasattr({"regex": owners, "nthChild": 1})
    asking = {"has": {"stopBy": _BRANCHES, **lookup}}
    denied = {"kind": "if_statement", "has": {"field": "condition", "kind": "not_operator"}}
    places = [
        {"kind": "else_clause", "inside": {"kind": "if_statement", **asking}},
        {"any": [denied, *any_kind("conditional_expression boolean_operator")["any"]], **asking},
    ]
    return [somewhere_in({"any": places})]


def _hasattr(argument: Rule) -> Rule:
    arguments = {"has": {"field": "arguments", "has": argument}}
    return {"kind": "call", "all": [has_field("function", "^(?:has|get)attr$"), arguments]}


def list_import_alternatives(import_node: Node) -> list[Node]:
    """The other parts of each ``try`` around an import that catches its failure."""
    others: list[Node] = []
    for outer in import_node.ancestors():
        if outer.kind() == "try_statement":
            clauses = [child for child in outer.children() if child.kind() == "except_clause"]
            failed = [clause for clause in clauses if clause.matches(regex=_FAILED_IMPORT)]
            parts = [outer.field("body"), *failed]
            if failed and any(_contains(part, import_node) for part in parts):
                others += (part for part in parts if not _contains(part, import_node))
    return others


def _contains(part: Node, node: Node) -> bool:
    outer, inner = part.range(), node.range()
    return bool(outer.start.index <= inner.start.index and inner.end.index <= outer.end.index)


SEPARATORS = "."
ABSOLUTE = False

_LOADS = (
    r"=\s*(?:pytest\.importorskip|importlib\.import_module|import_module)\(\s*['\"]([\w.]+)['\"]"
)
#: A name that nothing in the file binds is one of Python's own.
_BUILTINS = "builtins"
_OWN_NAMES = frozenset(dir(builtins))

_CASE = any_kind("case_pattern keyword_pattern")
_TARGETS: Rule = {
    "any": [
        {"inside": {"kind": "assignment", "field": "left", "not": {"regex": _LOADS}}},
        *list_places(
            "named_expression.name for_statement.left for_in_clause.left as_pattern_target"
            " pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern"
            " splat_pattern parameters lambda_parameters default_parameter.name typed_parameter"
            " typed_default_parameter.name"
        ),
        {"inside": {**any_kind("tuple list"), "inside": {"kind": "as_pattern_target"}}},
        {"inside": {"kind": "dotted_name", "regex": "^[^.]+$", "inside": _CASE}},
        inside("as_pattern", "case_pattern"),
    ]
}
_DEFINITIONS = any_kind("function_definition class_definition")
_DEFINED: Rule = {"inside": {**_DEFINITIONS, "field": "name"}}
_NO_VALUE: Rule = {
    "any": [
        _TARGETS,
        _DEFINED,
        *list_places(
            "keyword_argument.name attribute.attribute dotted_name aliased_import.alias"
            " global_statement nonlocal_statement"
        ),
    ]
}
_FUNCTIONS = (
    "function_definition lambda list_comprehension set_comprehension dictionary_comprehension"
    " generator_expression"
)
#: What has names of its own.
_SCOPES = any_kind(f"{_FUNCTIONS} class_definition")
_OF_A_SCOPE = somewhere_in(_SCOPES)
#: What binds a name for the whole file.
_OF_THE_FILE: Rule = {
    "kind": "identifier",
    "any": [
        {"all": [_TARGETS, {"not": _OF_A_SCOPE}]},
        {"inside": {**_DEFINITIONS, "field": "name", "not": _OF_A_SCOPE}},
    ],
}


def find_import_bindings(root: Node, removed_names: Sequence[str]) -> Iterator[Binding]:
    bindings_there = [
        (binding, node)
        for binding, node in _find_bindings_with_nodes(root)
        # Otherwise the import fails itself where one of the names is gone.
        if not any(is_below(binding.target, name, SEPARATORS) for name in removed_names)
        or not _is_missing_import_handled(root, binding, node)
    ]
    sure = _drop_ambiguous_and_conditional(bindings_there)
    # As in `tf = tf.compat.v1`: from there on it is another thing.
    values = (
        re.match(r"(\w+) *= *\1[.]", each.text()) for each in root.find_all(kind="assignment")
    )
    rebound = {match[1] for match in values if match}
    stars = [binding.target for binding in sure if not binding.local]
    yield from (each for each in sure if each.local and each.local not in rebound)
    if any(name.startswith(_BUILTINS) for name in removed_names):
        stars.append(_BUILTINS)
    if not stars:
        return
    taken = {binding.local for binding, _ in bindings_there}
    taken |= {node.text() for node in root.find_all({"rule": _OF_THE_FILE})}
    for module in stars:
        own = frozenset() if module == _BUILTINS else _OWN_NAMES
        yield Binding("", module, own | frozenset(taken))


def _is_missing_import_handled(root: Node, binding: Binding, node: Node) -> bool:
    """Tell an import with whose failure the file reckons, and whose name it uses accordingly."""
    if node.matches(**_ON_PRESENCE) or "importorskip" in node.text():
        return True
    if not binding.local or not (handlers := list_import_alternatives(node)):
        return False
    if any(handler.find(kind="raise_statement") for handler in handlers):
        return False
    flags = {
        each.field("left").text()
        for part in (node.parent(), *handlers)
        for each in part.find_all(kind="assignment")
    }
    names = {"kind": "identifier", "regex": match_one({binding.local, *flags})}
    question = root.find({"rule": {**names, "inside": {"stopBy": _STATEMENT_PARTS, **_ASKS}}})
    used = {
        **names,
        "regex": match_one([binding.local]),
        "not": {"any": [_NO_VALUE, somewhere_in(_IMPORTS)]},
    }
    return bool(question or node.parent().find({"rule": used}))


def _find_bindings_with_nodes(root: Node) -> Iterator[tuple[Binding, Node]]:
    for node in root.find_all(kind="import_statement"):
        for name in node.field_children("name"):
            target, alias = _read_alias(name)
            package = target.partition(".")[0]
            yield Binding(alias or package, target if alias else package), node
    for node in root.find_all(kind="import_from_statement"):
        module = node.field("module_name").text()
        names = [_read_alias(name) for name in node.field_children("name")]
        for target, alias in names:
            yield Binding(alias or target, f"{module}.{target}"), node
        if not names:
            yield Binding("", module), node
    for node in root.find_all(kind="assignment", regex=_LOADS):
        match = re.search(_LOADS, node.text())
        if match and node.field("left").kind() == "identifier":
            yield Binding(node.field("left").text(), match[1]), node.parent()


def _drop_ambiguous_and_conditional(imports: Sequence[tuple[Binding, Node]]) -> list[Binding]:
    """The bindings that no other one contests, or that alone stand under no condition."""
    alone = [
        (binding, node)
        for binding, node in imports
        if not node.matches(**ON_VERSIONS)
        and not any(_binds(part, binding.local) for part in list_import_alternatives(node))
    ]
    targets: dict[str, set[str]] = defaultdict(set)
    constant: dict[str, set[str]] = defaultdict(set)
    for binding, node in alone:
        targets[binding.local].add(binding.target)
        if node.parent().kind() == "module":
            constant[binding.local].add(binding.target)
    return [
        binding
        for binding, _ in alone
        if not binding.local
        or len(targets[binding.local]) == 1
        or constant[binding.local] == {binding.target}
    ]


def _binds(part: Node, local: str) -> bool:
    """Return true if the name is imported here, or stands for something of another make."""
    absent = {"not": has_field("right", "^(?:None|False)$")}
    assigned = {"kind": "assignment", "all": [has_field("left", match_one([local])), absent]}
    defined = {**_DEFINITIONS, **has_field("name", match_one([local]))}
    imported = (binding.local for binding, _ in _find_bindings_with_nodes(part))
    return local in imported or bool(local and part.find({"rule": {"any": [assigned, defined]}}))


def _read_alias(node: Node) -> tuple[str, str | None]:
    """The name that is imported, and what it is called here if that differs."""
    if node.kind() != "aliased_import":
        return "".join(node.text().split()), None
    return "".join(node.field("name").text().split()), node.field("alias").text()


def match_references(simple_names: Sequence[str], chains: Sequence[Chain]) -> Rule:
    """Identifiers and attributes; neither what binds them nor keywords nor guarded code."""
    rules: list[Rule] = []
    if simple_names:
        rules.append({"kind": "identifier", "regex": match_one(simple_names), "not": _NO_VALUE})
    if chains:
        # A module may be given another member, or a type of Python's own, in a member's place.
        owners = "|".join(sorted({re.escape(chain[0]) for chain in chains}))
        other = rf"^(?:(?:{owners})[.]|(?:bool|int|float|complex|object|str)$)"
        member = {"kind": "attribute", "regex": match_chains(chains)}
        sides = [has_field("right", other), {"has": {"field": "left", **member}}]
        setting = {"stopBy": "end", "kind": "assignment", "all": sides}
        rules.append({**member, "not": somewhere_in({"kind": "module", "has": setting})})
    parts = {*simple_names, *(part for chain in chains for part in chain)}
    shadows = map(_match_shadowed_uses, sorted({*simple_names, *(chain[0] for chain in chains)}))
    unwanted = [GUARDED, match_ifs(parts), *match_hasattr_fallbacks(chains), *shadows]
    return {"all": [{"any": rules}, *({"not": rule} for rule in unwanted)]}


def _match_shadowed_uses(name: str) -> Rule:
    """A use of the name in a function or a comprehension that means something else by it."""
    own = [
        {"all": [{"kind": "identifier", "regex": match_one([name])}, _TARGETS]},
        {**_DEFINITIONS, **has_field("name", match_one([name]))},
    ]
    scope = {**any_kind(_FUNCTIONS), "has": {"stopBy": _SCOPES, "any": own}}
    return {"all": [{"regex": rf"^{name}\b"}, somewhere_in(scope)]}


def match_imports(names: Sequence[str]) -> Rule:
    """The dotted name in an import: the module's, or that of a member of it."""
    modules = "|".join(re.escape(name) for name in names)
    below = rf"^(?:{modules})(?:\.|$)"
    places = list_places("import_statement import_from_statement.module_name")
    places.append(inside("aliased_import", "import_statement"))
    rules: list[Rule] = [{"kind": "dotted_name", "regex": below, "any": places}]
    for name in names:
        rules += [_match_import(module, member) for module, member in split_everywhere(name)]
    parts = {part for name in names for part in name.split(".")}
    return {
        "all": [{"any": rules}, {"not": GUARDED}, {"not": _ON_PRESENCE}, {"not": match_ifs(parts)}]
    }


def _match_import(module: str, member: str) -> Rule:
    source = has_field("module_name", rf"^{re.escape(module)}$")
    statement = {"kind": "import_from_statement", **source}
    aliased = {"kind": "aliased_import", "inside": statement}
    return {
        "kind": "dotted_name",
        "regex": rf"^{re.escape(member)}$",
        "not": inside("import_from_statement.module_name"),
        "inside": {"any": [statement, aliased]},
    }
