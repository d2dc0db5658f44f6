"""Names in Python: ``import a.b as c``, ``from a import b as c``, ``from a import *``, builtins.

What stands under a condition on a version (``sys.version_info``, ``six.PY2``) or in a ``try`` that
catches a failed import is there for those who lack the other way: it is no use of the name.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence

from prjury.code.names.binding import Binding, Chain, Node, Rule, dotted, one_of, split_everywhere

SEPARATORS = "."
ABSOLUTE = False

#: A name that nothing in the file binds is one of Python's own.
_BUILTINS = "builtins"
_OWN_NAMES = frozenset(dir(builtins))

_ON_VERSIONS = (
    r"version_info|hexversion|\bPY[23]\d*\b|\bPYTHON_?VERSION\b|\bVERSION\b|__version__"
    r"|\b[A-Z_]+_V\d\b|_(?:GE|GTE|LT)_?\d|\bsix\.PY"
)
_FAILED_IMPORT = r"^except\s*\(?[^:]*\b(?:ImportError|ModuleNotFoundError)"
_FAILED_NAME = r"^except\s*\(?[^:]*\b(?:AttributeError|NameError)"
GUARDED: Rule = {
    "inside": {
        "stopBy": "end",
        "any": [
            {"kind": "if_statement", "has": {"field": "condition", "regex": _ON_VERSIONS}},
            {"kind": "conditional_expression", "regex": _ON_VERSIONS},
            {
                "kind": "try_statement",
                "has": {"kind": "except_clause", "regex": _FAILED_IMPORT},
            },
            {
                "kind": "try_statement",
                "has": {"kind": "except_clause", "regex": _FAILED_NAME},
                "not": {"has": {"field": "body", "has": {"nthChild": 2}}},
            },
        ],
    }
}
#: One of several imports of a name: which of them it is, depends on what is installed.
_ONE_OF_SEVERAL: Rule = {
    "inside": {
        "stopBy": "end",
        "any": [
            {"kind": "if_statement", "has": {"field": "condition", "regex": _ON_VERSIONS}},
            {
                "kind": "try_statement",
                "has": {
                    "kind": "except_clause",
                    "regex": _FAILED_IMPORT,
                    "has": {
                        "stopBy": "end",
                        "any": [{"kind": "import_statement"}, {"kind": "import_from_statement"}],
                    },
                },
            },
        ],
    }
}
_TARGETS: Rule = {
    "any": [
        {"inside": {"kind": "assignment", "field": "left"}},
        {"inside": {"kind": "named_expression", "field": "name"}},
        {"inside": {"kind": "for_statement", "field": "left"}},
        {"inside": {"kind": "for_in_clause", "field": "left"}},
        {"inside": {"kind": "as_pattern_target"}},
        {"inside": {"any": [{"kind": "pattern_list"}, {"kind": "tuple_pattern"}]}},
        {"inside": {"any": [{"kind": "parameters"}, {"kind": "lambda_parameters"}]}},
        {"inside": {"kind": "default_parameter", "field": "name"}},
        {"inside": {"kind": "typed_parameter"}},
        {"inside": {"kind": "typed_default_parameter", "field": "name"}},
        {"inside": {"any": [{"kind": "list_splat_pattern"}, {"kind": "dictionary_splat_pattern"}]}},
    ]
}
_DEFINED: Rule = {
    "any": [
        {"inside": {"kind": "function_definition", "field": "name"}},
        {"inside": {"kind": "class_definition", "field": "name"}},
    ]
}
_NO_VALUE: Rule = {
    "any": [
        _TARGETS,
        _DEFINED,
        {"inside": {"kind": "keyword_argument", "field": "name"}},
        {"inside": {"kind": "attribute", "field": "attribute"}},
        {"inside": {"kind": "dotted_name"}},
        {"inside": {"kind": "aliased_import", "field": "alias"}},
        {"inside": {"any": [{"kind": "global_statement"}, {"kind": "nonlocal_statement"}]}},
    ]
}
_SCOPES: Rule = {"any": [{"kind": "function_definition"}, {"kind": "lambda"}]}


def bindings(root: Node, names: Sequence[str]) -> Iterator[Binding]:
    """What the imports of a file call things, wherever they stand."""
    found = list(_imported(root))
    sure = [binding for binding, unsure in found if not unsure]
    stars = [binding.target for binding in sure if not binding.local]
    yield from (binding for binding in sure if binding.local)
    if any(name.startswith(_BUILTINS) for name in names):
        stars.append(_BUILTINS)
    if not stars:
        return
    taken = {binding.local for binding, _ in found}
    places = {"kind": "identifier", "any": [_TARGETS, _DEFINED]}
    taken |= {node.text() for node in root.find_all({"rule": places})}
    for module in stars:
        own = frozenset() if module == _BUILTINS else _OWN_NAMES
        yield Binding("", module, own | frozenset(taken))


def _imported(root: Node) -> Iterator[tuple[Binding, bool]]:
    """What each import binds, and whether another import may bind it instead."""
    for kind, read in (("import_statement", _modules), ("import_from_statement", _members)):
        for node in root.find_all(kind=kind):
            unsure = node.matches(**_ONE_OF_SEVERAL)
            yield from ((binding, unsure) for binding in read(node))


def _modules(node: Node) -> Iterator[Binding]:
    for name in node.field_children("name"):
        target, alias = _named(name)
        yield Binding(alias or _first(target), target if alias else _first(target))


def _members(node: Node) -> Iterator[Binding]:
    module = node.field("module_name").text()
    names = node.field_children("name")
    for name in names:
        target, alias = _named(name)
        yield Binding(alias or target, f"{module}.{target}")
    if not names:
        yield Binding("", module)


def _named(node: Node) -> tuple[str, str | None]:
    """The name that is imported, and what it is called here if that differs."""
    if node.kind() != "aliased_import":
        return "".join(node.text().split()), None
    return "".join(node.field("name").text().split()), node.field("alias").text()


def _first(name: str) -> str:
    return name.partition(".")[0]


def references(chains: Sequence[Chain]) -> Rule:
    """Identifiers and attributes; neither what binds them nor keywords nor guarded code."""
    single = [chain[0] for chain in chains if len(chain) == 1]
    longer = [chain for chain in chains if len(chain) > 1]
    rules: list[Rule] = []
    if single:
        rules.append({"kind": "identifier", "regex": one_of(single), "not": _NO_VALUE})
    if longer:
        rules.append({"kind": "attribute", "regex": dotted(longer)})
    firsts = sorted({chain[0] for chain in chains})
    return {"all": [{"any": rules}, {"not": GUARDED}, *({"not": _shadowed(n)} for n in firsts)]}


def _shadowed(name: str) -> Rule:
    """A use of the name in a function that means something else by it."""
    own = {
        "kind": "identifier",
        "regex": one_of([name]),
        **_TARGETS,
        "not": {"inside": {"kind": "attribute"}},
    }
    spelled = {"regex": rf"^{name}\b"}
    inside = {"stopBy": "end", **_SCOPES, "has": {"stopBy": "end", **own}}
    return {"all": [spelled, {"inside": inside}]}


def imports(names: Sequence[str]) -> Rule:
    """The dotted name in an import: the module's, or that of a member of it."""
    modules = "|".join(_escaped(name) for name in names)
    below = rf"^(?:{modules})(?:\.|$)"
    rules: list[Rule] = [
        {
            "kind": "dotted_name",
            "regex": below,
            "any": [
                {"inside": {"kind": "import_statement"}},
                {"inside": {"kind": "aliased_import", "inside": {"kind": "import_statement"}}},
                {"inside": {"kind": "import_from_statement", "field": "module_name"}},
            ],
        }
    ]
    for name in names:
        rules += [_member(module, member) for module, member in split_everywhere(name)]
    return {"all": [{"any": rules}, {"not": GUARDED}]}


def _member(module: str, member: str) -> Rule:
    statement = {
        "kind": "import_from_statement",
        "has": {"field": "module_name", "regex": rf"^{_escaped(module)}$"},
    }
    aliased = {"kind": "aliased_import", "inside": statement}
    return {
        "kind": "dotted_name",
        "regex": rf"^{_escaped(member)}$",
        "not": {"inside": {"kind": "import_from_statement", "field": "module_name"}},
        "inside": {"any": [statement, aliased]},
    }


def _escaped(name: str) -> str:
    return name.replace(".", r"\.")
